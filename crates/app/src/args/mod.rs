//! Flags that mean the same in every command, to be flattened into `clap` arguments.

mod devices;
mod numbers;
mod pin;

pub use devices::*;
pub use numbers::*;
pub use pin::*;

use crate::error::Result;
use crate::pool;
use clap::Args;
use greenup_model::Machine;
use greenup_process::threads;
use greenup_report::chart::{FileStyle, Style};

/// How figure files look.
#[derive(Args, Clone, Copy, Debug)]
pub struct FigureArgs {
    /// Width of the figure in pixels of 1/96 inch; text keeps its size
    #[arg(long, default_value_t = 900.0, value_name = "PX", value_parser = figure_width)]
    pub width: f64,
    /// Resolution of PNG files in pixels per inch
    #[arg(long, default_value_t = 192.0, value_name = "DPI", value_parser = figure_dpi)]
    pub dpi: f64,
    /// Colours of the figure: for a light or a dark background, or for print
    #[arg(long, default_value = "light", value_name = "light|dark|print", value_parser = figure_style)]
    pub style: Style,
}

impl Default for FigureArgs {
    fn default() -> Self {
        let FileStyle { style, width, dpi } = FileStyle::default();
        Self { width, dpi, style }
    }
}

impl FigureArgs {
    /// The same for drawing.
    pub fn look(&self) -> FileStyle {
        FileStyle {
            style: self.style,
            width: self.width,
            dpi: self.dpi,
        }
    }
}

fn within(text: &str, lo: f64, hi: f64) -> std::result::Result<f64, String> {
    text.parse()
        .ok()
        .filter(|v| (lo..=hi).contains(v))
        .ok_or_else(|| format!("use a number from {lo} to {hi}"))
}

fn figure_width(text: &str) -> std::result::Result<f64, String> {
    within(text, 240.0, 6000.0)
}

fn figure_dpi(text: &str) -> std::result::Result<f64, String> {
    within(text, 24.0, 1200.0)
}

fn figure_style(text: &str) -> std::result::Result<Style, String> {
    match text {
        "light" => Ok(Style::Light),
        "dark" => Ok(Style::Dark),
        "print" => Ok(Style::Print),
        _ => Err("use light, dark or print".into()),
    }
}

/// `--threads`.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct ThreadsArg {
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads::parse)]
    pub threads: Option<usize>,
}

impl ThreadsArg {
    /// Starts the pool of threads of this process.
    ///
    /// # Errors
    /// The system does not start that many.
    pub fn start(self) -> Result {
        pool::start(self.threads)
    }
}

/// `--machine`, for predictions.
#[derive(Args, Clone, Debug, Default)]
pub struct MachineArg {
    /// Machine that predicts time and energy: a name of `greenup machines`, or a file
    #[arg(long, value_name = "NAME|FILE")]
    pub machine: Option<String>,
}

impl MachineArg {
    /// The machine, if one is named.
    ///
    /// # Errors
    /// It does not exist or is invalid.
    pub fn load(&self) -> Result<Option<Machine>> {
        let load = |name: &String| Ok(crate::machine::load(name)?);
        self.machine.as_ref().map(load).transpose()
    }
}

/// `--sensor`.
#[derive(Args, Clone, Debug, Default)]
pub struct SensorArg {
    /// Energy sensor: an id of `greenup doctor`, external:FILE, external:cmd:COMMAND, recorded:FILE, or none [default: the
    /// best usable one of the device that is measured]
    #[arg(long, value_name = "ID")]
    pub sensor: Option<String>,
}

/// A number of bytes: plain, or with K, M or G behind, as `512M` or `2G`.
///
/// # Errors
/// The text is not such a number, or not positive.
pub fn bytes(text: &str) -> std::result::Result<u64, InvalidSize> {
    let digits = text.trim_end_matches(['B', 'b']);
    let (digits, scale) = match digits.chars().last() {
        Some('k' | 'K') => (&digits[..digits.len() - 1], 1_u32 << 10),
        Some('m' | 'M') => (&digits[..digits.len() - 1], 1 << 20),
        Some('g' | 'G') => (&digits[..digits.len() - 1], 1 << 30),
        _ => (digits, 1),
    };
    match digits.trim().parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok((n * f64::from(scale)) as u64),
        _ => Err(InvalidSize),
    }
}

/// A text that is not a number of bytes.
#[derive(Debug, thiserror::Error)]
#[error("give a size like 512M or 2G")]
pub struct InvalidSize;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes() {
        for (text, n) in [
            ("7", 7),
            ("3kB", 3 << 10),
            ("0.5M", 1 << 19),
            ("2G", 2 << 30),
        ] {
            assert_eq!(bytes(text).unwrap(), n, "{text}");
        }
        for bad in ["", "G", "-1", "0", "inf", "nan", "2T", "é"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
