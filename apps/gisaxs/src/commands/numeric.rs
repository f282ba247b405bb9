//! How form factors of meshes are computed, as flags.

use super::device::DeviceArg;
use clap::{Args, ValueEnum};
use greenup_gisaxs::numeric::{FINEST, Precision, Rule, Settings, Way};
use greenup_gisaxs::wisdom;

#[derive(Args, Clone, Debug)]
pub struct NumericArgs {
    #[command(flatten)]
    device: DeviceArg,
    /// How form factors of meshes are computed; by default the cheapest that is accurate enough
    #[arg(long, value_enum)]
    pub way: Option<WayArg>,
    /// Largest |F − F_exact| of a mesh over its volume V = F(0), at best 1e-12; the summary's `error` is the same
    /// quantity, for the nonuniform transform a bound
    #[arg(long, default_value_t = 1e-9, value_name = "E")]
    pub accuracy: f64,
    /// Of direct sums and products; single where the accuracy allows it
    #[arg(long, value_enum)]
    pub precision: Option<PrecisionArg>,
    /// Points a triangle; by default as many as the accuracy needs
    #[arg(long, value_enum)]
    pub points: Option<PointsArg>,
    /// Memory for tables, such as 500M or 2G
    #[arg(long, default_value = "2G", value_parser = bytes, value_name = "SIZE")]
    pub memory: u64,
    /// Threads; by default all cores
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum WayArg {
    /// One exponential for each triangle and q
    Direct,
    /// The transform of each flat triangle
    Exact,
    /// Matrix products
    Product,
    /// The nonuniform transform
    Nufft,
}

impl From<WayArg> for Way {
    fn from(w: WayArg) -> Self {
        match w {
            WayArg::Direct => Self::Direct,
            WayArg::Exact => Self::Exact,
            WayArg::Product => Self::Product,
            WayArg::Nufft => Self::Nufft,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PrecisionArg {
    F32,
    F64,
    /// Two halves a number, on tensor cores: products on tensor grids
    F16x2,
}

impl From<PrecisionArg> for Precision {
    fn from(p: PrecisionArg) -> Self {
        match p {
            PrecisionArg::F32 => Self::Single,
            PrecisionArg::F64 => Self::Double,
            PrecisionArg::F16x2 => Self::Split,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum PointsArg {
    /// The centroid
    One,
    /// The centroid with its second order, in direct sums
    Corrected,
    Three,
    Six,
}

impl NumericArgs {
    /// The settings; takes the device, starts as many threads as were asked for.
    ///
    /// # Errors
    /// An accuracy that is none, a GPU that is not there.
    pub fn settings(&self) -> Result<Settings, String> {
        if !(self.accuracy >= FINEST && self.accuracy < 1.0) {
            return Err(format!(
                "--accuracy {}: it must lie between {FINEST:e} and 1",
                self.accuracy
            ));
        }
        if let Some(n) = self.threads {
            // A second call finds the pool made already, of the same size.
            let _ = rayon::ThreadPoolBuilder::new()
                .num_threads(n.max(1))
                .build_global();
        }
        Ok(Settings {
            way: self.way.map(Way::from),
            accuracy: self.accuracy,
            precision: self.precision.map(Precision::from),
            rule: self.points.map(|p| match p {
                PointsArg::One => Some(Rule::Centroid),
                PointsArg::Corrected => None,
                PointsArg::Three => Some(Rule::Three),
                PointsArg::Six => Some(Rule::Six),
            }),
            blocks: wisdom::read()?.blocks(&wisdom::cpu()),
            memory: self.memory,
            on: self.device.service()?,
        })
    }
}

/// A number of bytes with K, M or G behind.
fn bytes(text: &str) -> Result<u64, String> {
    let (digits, scale) = match text.trim_end_matches(['B', 'b']) {
        t if t.ends_with(['K', 'k']) => (&t[..t.len() - 1], 1 << 10),
        t if t.ends_with(['M', 'm']) => (&t[..t.len() - 1], 1 << 20),
        t if t.ends_with(['G', 'g']) => (&t[..t.len() - 1], 1 << 30),
        t => (t, 1),
    };
    match digits.parse::<f64>() {
        Ok(n) if n > 0.0 && n.is_finite() => Ok((n * f64::from(scale)) as u64),
        _ => Err(format!("\"{text}\" is no size: write 500M or 2G")),
    }
}
