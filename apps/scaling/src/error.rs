//! Errors of predictions.

use greenup_setting::setting;

/// Why scaling cannot be predicted.
#[derive(Debug, thiserror::Error)]
pub enum ScalingError {
    /// There is no record.
    #[error(
        "there is no record of {application} on `{machine}`. Fix: {} with the output of a run on one device with {}",
        setting("record"),
        setting("json").on()
    )]
    NoRecord {
        /// The application.
        application: String,
        /// The machine.
        machine: String,
    },
    /// No run matches.
    #[error("the record of {application} has no run on one device of this kind; it has {known}")]
    NoRun {
        /// The application.
        application: String,
        /// What it has.
        known: String,
    },
    /// A file is not a record.
    #[error("{name}: {cause}")]
    Unreadable {
        /// Its name.
        name: String,
        /// What is wrong.
        cause: String,
    },
}
