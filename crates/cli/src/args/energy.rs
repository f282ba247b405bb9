//! Arguments of `greenup energy`.

use clap::Args;
use greenup_app::args::duration;
use greenup_meter::sensors::external::log::{Moment, MomentError, offset};
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  nvidia-smi --query-gpu=timestamp,index,power.draw --format=csv -lms 100 > gpu.csv      # while the program runs\n  greenup energy gpu.csv --from 2026-11-28T08:59:29 --to 09:02:11\n  greenup energy gpu.csv --device 1 --region solve=08:59:29..09:01:00 --region output=09:01:00..09:02:11\n  greenup energy dmon.txt --every 1s --json                # of `nvidia-smi dmon`, whose lines have no times\n  greenup energy meter.csv --from 10 --to 25               # seconds after the first sample"
)]
pub struct EnergyArgs {
    /// Power log: of `nvidia-smi` (CSV, dmon, or its long form with `-d POWER`), or lines of times and watts or joules of any meter
    #[arg(value_name = "LOG")]
    pub log: PathBuf,
    /// Start: a date and time or a time of day as in the log, seconds since 1970, or seconds after the first sample (in a log of plain seconds its own) [default: the first sample]
    #[arg(long, value_name = "TIME")]
    pub from: Option<Moment>,
    /// End, in the same forms [default: the last sample]
    #[arg(long, value_name = "TIME")]
    pub to: Option<Moment>,
    /// Two times, with a name for the table; repeatable
    #[arg(long = "region", value_name = "[NAME=]FROM..TO", conflicts_with_all = ["from", "to"])]
    pub regions: Vec<Region>,
    /// Only this device: index, UUID, PCI bus id or name, as the log has it
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Column of power, where the log has several [default: power.draw.instant, else power.draw, else power.draw.average]
    #[arg(long, value_name = "NAME")]
    pub power: Option<String>,
    /// Names of the columns of a log without a header (`--format=csv,noheader,nounits`), such as timestamp,index,power.draw
    #[arg(long, value_name = "NAMES")]
    pub columns: Option<String>,
    /// Time between the lines of a log of `nvidia-smi dmon` without times
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "columns")]
    pub every: Option<f64>,
    /// Offset of the log's clock from UTC, where --from and --to have a zone or are seconds since 1970
    #[arg(long, value_name = "+HH:MM", value_parser = offset, allow_hyphen_values = true)]
    pub utc_offset: Option<f64>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Two moments with a name.
#[derive(Clone, Debug)]
pub struct Region {
    pub name: String,
    pub from: Moment,
    pub to: Moment,
}

impl FromStr for Region {
    type Err = MomentError;

    fn from_str(text: &str) -> Result<Self, MomentError> {
        let (name, times) = match text.split_once('=') {
            Some((name, times)) => (name, times),
            None => (text, text),
        };
        let both = times
            .split_once("..")
            .ok_or_else(|| MomentError::NotATime(times.to_owned()))?;
        Ok(Self {
            name: name.to_owned(),
            from: both.0.parse()?,
            to: both.1.parse()?,
        })
    }
}
