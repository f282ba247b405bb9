//! Help of flags with defaults.

use clap::ValueEnum;
use std::fmt::Display;

/// The help of a flag with its default. The flags stay empty until the run is resolved, as files may give their values.
pub fn or(help: &str, default: impl Display) -> String {
    format!("{help} [default: {default}]")
}

/// A value as its flag takes it.
pub fn name(value: &impl ValueEnum) -> String {
    let possible = value.to_possible_value();
    possible.map_or_else(String::new, |v| v.get_name().to_owned())
}
