//! The arguments of a program as data, for the completions and manual pages of a program that starts it.

use clap::{Arg, ArgAction, Command, ValueHint};
use serde::{Deserialize, Serialize};

/// Hidden command of every program that prints them.
pub const DESCRIBE: &str = "describe";

/// A command with its flags and the commands below it.
#[derive(Serialize, Deserialize)]
pub struct Described {
    name: String,
    about: Option<String>,
    after: Option<String>,
    args: Vec<Argument>,
    commands: Vec<Described>,
}

/// An argument of a command.
#[derive(Serialize, Deserialize)]
struct Argument {
    id: String,
    short: Option<char>,
    long: Option<String>,
    help: String,
    takes_values: bool,
    repeatable: bool,
    required: bool,
    is_path: bool,
    /// Least and largest number of values, where it is not that of their names.
    values: Option<(usize, usize)>,
    value_names: Vec<String>,
    possible: Vec<String>,
}

impl Described {
    /// A command that is not built yet. What all programs have is left out.
    pub fn of(command: &Command) -> Self {
        let text = |t: Option<&clap::builder::StyledStr>| t.map(ToString::to_string);
        let commands = command.get_subcommands().filter(|c| !c.is_hide_set());
        let args = command.get_arguments();
        Self {
            name: command.get_name().to_owned(),
            about: text(command.get_long_about().or(command.get_about())),
            after: text(command.get_after_help()),
            args: args
                .filter(|a| !a.is_hide_set() && !a.is_global_set())
                .map(Argument::of)
                .collect(),
            commands: commands
                .filter(|c| !["completions", "man"].contains(&c.get_name()))
                .map(Self::of)
                .collect(),
        }
    }

    /// The command again, by another name.
    pub fn command(self, name: &'static str) -> Command {
        let mut command = Command::new(name).args(self.args.into_iter().map(Argument::arg));
        if let Some(about) = self.about {
            command = command.about(about);
        }
        if let Some(after) = self.after {
            command = command.after_help(after);
        }
        let below = self.commands.into_iter();
        command.subcommands(below.map(|mut c| {
            let name = kept(std::mem::take(&mut c.name));
            c.command(name)
        }))
    }
}

impl Argument {
    fn of(arg: &Arg) -> Self {
        let names = arg.get_value_names().unwrap_or_default();
        let mut help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let default: Vec<_> = (arg.get_default_values().iter())
            .map(|v| v.to_string_lossy())
            .collect();
        let takes_values = arg.get_action().takes_values();
        if takes_values && !default.is_empty() && !arg.is_hide_default_value_set() {
            help += &format!(" [default: {}]", default.join(" "));
        }
        let possible = arg.get_possible_values();
        let shown = !arg.is_hide_possible_values_set();
        Self {
            id: arg.get_id().to_string(),
            short: arg.get_short(),
            long: arg.get_long().map(str::to_owned),
            help,
            takes_values,
            repeatable: matches!(arg.get_action(), ArgAction::Append),
            required: arg.is_required_set(),
            is_path: !matches!(arg.get_value_hint(), ValueHint::Unknown | ValueHint::Other),
            values: (arg.get_num_args()).map(|n| (n.min_values(), n.max_values())),
            value_names: names.iter().map(ToString::to_string).collect(),
            possible: (possible.iter().filter(|p| shown && !p.is_hide_set()))
                .map(|p| p.get_name().to_owned())
                .collect(),
        }
    }

    fn arg(self) -> Arg {
        let mut arg = Arg::new(kept(self.id))
            .help(self.help)
            .required(self.required)
            .action(match (self.takes_values, self.repeatable) {
                (false, _) => ArgAction::SetTrue,
                (true, true) => ArgAction::Append,
                (true, false) => ArgAction::Set,
            });
        if let Some(short) = self.short {
            arg = arg.short(short);
        }
        if let Some(long) = self.long {
            arg = arg.long(kept(long));
        }
        if !self.takes_values {
            return arg;
        }
        if !self.possible.is_empty() {
            let names: Vec<&'static str> = self.possible.into_iter().map(kept).collect();
            arg = arg.value_parser(names);
        }
        if !self.value_names.is_empty() {
            let names: Vec<&'static str> = self.value_names.into_iter().map(kept).collect();
            arg = arg.value_names(names);
        }
        if let Some((least, most)) = self.values {
            arg = arg.num_args(least..=most);
        }
        if self.is_path {
            arg = arg.value_hint(ValueHint::AnyPath);
        }
        arg
    }
}

/// A name for as long as the process runs, which a parser wants.
fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::value_parser;
    use std::path::PathBuf;

    #[test]
    fn a_command_is_the_same_again() {
        let run = Command::new("run")
            .about("Run a problem")
            .after_help("Example:\n  demo run")
            .arg(
                Arg::new("file")
                    .required(true)
                    .value_parser(value_parser!(PathBuf)),
            )
            .arg(
                Arg::new("size")
                    .long("size")
                    .num_args(2)
                    .value_names(["X", "Y"])
                    .help("Edges"),
            )
            .arg(
                Arg::new("kind")
                    .short('k')
                    .long("kind")
                    .value_parser(["a", "b"])
                    .default_value("a"),
            )
            .arg(Arg::new("json").long("json").action(ArgAction::SetTrue))
            .arg(Arg::new("secret").long("secret").hide(true));
        let demo = crate::command::common::with_common(Command::new("demo").subcommand(run));
        let text = serde_json::to_string(&Described::of(&demo)).unwrap();
        let described: Described = serde_json::from_str(&text).unwrap();
        let mut again = Command::new("greenup").subcommand(described.command("demo"));
        again.clone().debug_assert();
        again.build();
        let run = again
            .find_subcommand("demo")
            .unwrap()
            .find_subcommand("run");
        let help = run.unwrap().clone().render_long_help().to_string();
        for part in [
            "Run a problem",
            "--size <X> <Y>",
            "[default: a]",
            "-k, --kind <kind>",
            "possible values: a, b",
            "<file>",
            "--json",
            "Example:",
        ] {
            assert!(help.contains(part), "{part}: {help}");
        }
        assert!(!help.contains("secret"), "{help}");
    }
}
