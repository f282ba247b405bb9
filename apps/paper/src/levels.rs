//! Costs of the levels of the memory hierarchy (thesis, table 6), from records of `greenup calibrate --levels --json`.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::table::{Columns, Table};
use serde::Deserialize;

/// The table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Levels {
    /// JSON records, one a device.
    pub records: Vec<String>,
}

#[derive(Deserialize)]
struct Recorded {
    device: String,
    levels: Vec<Level>,
}

#[derive(Deserialize)]
struct Level {
    level: String,
    byte: Option<Cost>,
    access: Option<Cost>,
    latency_s: Option<f64>,
}

#[derive(Deserialize)]
struct Cost {
    time_s: f64,
    energy_j: Option<f64>,
}

impl Levels {
    /// A row a level of each device.
    ///
    /// # Errors
    /// A record is missing or not one of `greenup calibrate --levels`.
    pub fn table(&self, records: &Records) -> Result<Table, PaperError> {
        let mut devices: Vec<Recorded> = Vec::new();
        for name in &self.records {
            let device = serde_json::from_value(records.json(name)?)
                .map_err(|e| broken(std::path::Path::new(name), e))?;
            devices.push(device);
        }
        let rows = (devices.iter()).flat_map(|d| d.levels.iter().map(move |l| (&d.device, l)));
        let rate = |c: &Option<Cost>| c.as_ref().map(|c| 1.0 / c.time_s);
        let energy = |c: &Option<Cost>| c.as_ref()?.energy_j;
        Ok(Columns::<(&String, &Level)>::new()
            .text("device", "", |(device, _)| (*device).clone())
            .text(
                "level",
                "shared memory for streams of a GPU's L1",
                |(_, l)| l.level.clone(),
            )
            .si("stream", "bytes read a second", "B/s", move |(_, l)| {
                rate(&l.byte)
            })
            .si(
                "energy of a byte",
                "with constant power",
                "J",
                move |(_, l)| energy(&l.byte),
            )
            .si(
                "random accesses",
                "a second, each to another line",
                "/s",
                move |(_, l)| rate(&l.access),
            )
            .si(
                "energy of an access",
                "with constant power",
                "J",
                move |(_, l)| energy(&l.access),
            )
            .si(
                "latency",
                "of an access that waits for the one before, one thread",
                "s",
                |(_, l)| l.latency_s,
            )
            .table("Costs of the levels of memory, all cores together", rows))
    }
}
