//! An external meter: lines `time,watts` from a file, a pipe or a command — the successor of PowerMon — and a recorded
//! trace of the same form.
//!
//! | module | what it does |
//! |---|---|
//! | `line`, `stamp` | fields, units and times of a line |
//! | `clock` | the meter's clock against the host's |
//! | `trace_clock` | the times of a recorded trace |
//! | `still` | values that repeat themselves |
//! | `feed` | all of them together, with what was passed over |
//! | `input`, `live` | bytes of a file, a pipe or a command, read by a thread |
//! | `recorded` | a trace that is replayed |
//! | [`log`] | a log, and the energy between two of its times |
//! | `nvidia` | what `nvidia-smi` prints without a header, as `dmon` and as `-q -d POWER` |

mod clock;
#[cfg(test)]
mod faults;
mod feed;
mod input;
mod line;
mod live;
pub mod log;
mod nvidia;
mod recorded;
mod stamp;
mod still;
mod trace_clock;

use greenup_setting::setting;

pub use live::External;
pub use recorded::Recorded;

/// What to measure with where the host has no sensor.
pub fn suggestion() -> String {
    let external = setting("sensor").to("external:…");
    format!("an external meter (`{external}`)")
}
