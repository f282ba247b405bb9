//! What is wrong with a line.

/// A line that is not a sample.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LineError {
    /// Other than two fields, and no header that names them.
    #[error("`{0}` is not `time,watts`")]
    Fields(String),
    /// More fields than two, and no header that names them.
    #[error(
        "`{0}` has {1} fields: name them in a header, such as `time,watts`; a decimal comma needs `;`, a tab or blanks between the fields"
    )]
    Unnamed(String, usize),
    /// Not the fields of the header.
    #[error("`{0}` has other fields than the header")]
    Other(String),
    /// Not a number, not finite or negative.
    #[error("`{0}` holds a value that cannot be a power")]
    NotAPower(String),
    /// The time cannot be read.
    #[error("`{0}` holds no time")]
    NotATime(String),
    /// A value without its unit, after those that had theirs.
    #[error("`{0}` has no unit, as the line before has: is it cut?")]
    Cut(String),
    /// A time that only makes sense in another unit.
    #[error(
        "`{0}`: its time is no count of seconds: name the unit in the header, as `time_ms` or `time_us`"
    )]
    NoSeconds(String),
    /// Neither of the fields can be read.
    #[error("`{0}` is not two numbers")]
    NotNumbers(String),
    /// A power that only makes sense in another unit.
    #[error("`{0}` would be {1} kW: name the unit, as `time_s,power_mw` in a header or `{2} mW`")]
    NoUnit(String, f64, f64),
    /// Times of a recorded trace that do not rise.
    #[error("time {0} does not rise")]
    Order(f64),
    /// A header without a column of power.
    #[error(
        "the header `{0}` names no column of power or energy: call it `watts`, `power_mw`, `power [W]` or `joules`"
    )]
    NoPower(String),
    /// A header without a column of time.
    #[error("the header `{0}` names no column of time: call it `time`, `time_ms` or `timestamp`")]
    NoTime(String),
    /// A unit that is not known.
    #[error(
        "the unit `{0}` is not known: use W, mW, kW, J, mJ, kJ or Wh; s, ms, us or ns for times"
    )]
    Unit(String),
    /// The same in a header.
    #[error(
        "the header's unit `{0}` is not known: use W, mW, kW, J, mJ, kJ or Wh; s, ms, us or ns for times"
    )]
    HeaderUnit(String),
    /// Several columns that could be meant.
    #[error(
        "the header names several columns of power, `{0}` and `{1}`: let the meter print one of them"
    )]
    Several(String, String),
    /// The column that is wanted is not there.
    #[error("the header `{0}` has no column of power `{1}`")]
    NoColumn(String, String),
    /// Watts and joules in one column.
    #[error("`{0}`: watts and joules in one column")]
    Mixed(String),
    /// Lines of several devices.
    #[error(
        "lines of several devices (`{0}` and `{1}`): let the meter print one, as `nvidia-smi -i 0` does; of a recorded file `recorded:FILE#{0}` is one"
    )]
    Devices(String, String),
    /// No sample among the first lines.
    #[error("none of the first {0} lines is a sample; the first: `{1}`")]
    NoSample(usize, String),
}

impl LineError {
    /// Whether no later line can be read either.
    pub fn is_final(&self) -> bool {
        matches!(
            self,
            Self::NoPower(_)
                | Self::NoTime(_)
                | Self::HeaderUnit(_)
                | Self::Several(..)
                | Self::NoColumn(..)
                | Self::Mixed(_)
                | Self::Devices(..)
                | Self::NoSample(..)
        )
    }
}

/// Bytes of a line that an error shows.
const SHOWN: usize = 80;

pub fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}
