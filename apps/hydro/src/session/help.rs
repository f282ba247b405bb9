//! Help of flags with defaults.

use clap::{Arg, ValueEnum};
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

/// A flag of `hydro restart`: where the checkpoint remembers its value, its help says so instead of the default. `remembered`
/// has the names of these flags.
pub fn of_restart(flag: Arg, remembered: &[&str]) -> Arg {
    if !remembered.contains(&flag.get_id().as_str()) {
        return flag;
    }
    let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
    let text = help.split(" [default:").next().unwrap_or_default();
    flag.help(or(text, "as in the checkpoint"))
}
