//! Arguments of `greenup run`.

use super::parse::{accepted, share};
use clap::Args;
use greenup_app::args::{SensorArg, at_least_one};
use greenup_meter::interleaved::Accepted;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  greenup run 'sleep 0.2'\n  greenup run 'gzip -1 -kc FILE' 'gzip -9 -kc FILE'\n  greenup run --compare './app --new' -- ./app\n  greenup run --rel-error 1% --export json -- ./app\n  greenup run --parameter-list level 1,6,9 -- gzip -{level} -kc FILE\n  greenup run --parameter-scan threads 1 8 --prepare 'rm -f out' -- ./app --threads {threads}"
)]
pub struct RunArgs {
    /// Another command to compare with; repeatable. The command after `--`, or the first in quotes, is the baseline
    #[arg(long, value_name = "CMD")]
    pub compare: Vec<String>,
    /// Warm-up runs, not counted
    #[arg(short, long, default_value_t = 0)]
    pub warmup: usize,
    /// Number of runs [default: at least 10, and at least 3 seconds]
    #[arg(short, long, conflicts_with = "rel_error")]
    pub runs: Option<usize>,
    /// Least number of runs [default: 10]
    #[arg(short, long, value_name = "N", value_parser = at_least_one, conflicts_with_all = ["runs", "rel_error"])]
    pub min_runs: Option<usize>,
    /// Largest number of runs [default: 1000]
    #[arg(short = 'M', long, value_name = "N", value_parser = at_least_one, conflicts_with_all = ["runs", "rel_error"])]
    pub max_runs: Option<usize>,
    /// Repeat until the 95 % interval of the median is this narrow, e.g. 1%
    #[arg(long, value_parser = share, value_name = "SHARE")]
    pub rel_error: Option<f64>,
    /// Shell command before each run, not timed; once for all commands, or repeated once per command
    #[arg(short, long, value_name = "CMD")]
    pub prepare: Vec<String>,
    /// Shell command before all runs, not timed; with {VAR} it runs once per value
    #[arg(short, long, value_name = "CMD")]
    pub setup: Option<String>,
    /// Shell command after all runs, also after a failure or Ctrl-C; with {VAR} it runs once per value
    #[arg(short, long, value_name = "CMD")]
    pub cleanup: Option<String>,
    /// Run each command that contains {VAR} with every value from MIN to MAX
    #[arg(short = 'P', long, num_args = 3, value_names = ["VAR", "MIN", "MAX"], allow_negative_numbers = true)]
    pub parameter_scan: Vec<String>,
    /// Step of --parameter-scan [default: 1]
    #[arg(
        short = 'D',
        long,
        value_name = "D",
        requires = "parameter_scan",
        allow_negative_numbers = true
    )]
    pub parameter_step_size: Option<String>,
    /// Run each command that contains {VAR} with every value of a list; repeatable for all combinations. A comma within a value is written `\,`
    #[arg(short = 'L', long, num_args = 2, value_names = ["VAR", "VALUE,VALUE,…"], action = clap::ArgAction::Append, allow_negative_numbers = true)]
    pub parameter_list: Vec<String>,
    /// Name of a command in the results; repeatable, the baseline first
    #[arg(short, long, alias = "command-name", value_name = "NAME")]
    pub name: Vec<String>,
    /// File that each run reads as its standard input [default: none, /dev/null]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Print the result in this format, or write it to a file with FORMAT:FILE; repeatable
    #[arg(long, value_name = "json|csv|md[:FILE]")]
    pub export: Vec<String>,
    /// As hyperfine calls --export json:FILE
    #[arg(long, value_name = "FILE", hide = true)]
    pub export_json: Option<String>,
    /// As hyperfine calls --export csv:FILE
    #[arg(long, value_name = "FILE", hide = true)]
    pub export_csv: Option<String>,
    /// As hyperfine calls --export md:FILE
    #[arg(long, value_name = "FILE", hide = true)]
    pub export_markdown: Option<String>,
    /// As hyperfine says that there is no shell, which is so here in any case
    #[arg(short = 'N', hide = true)]
    pub no_shell: bool,
    /// Print the result as JSON (same as --export json)
    #[arg(long)]
    pub json: bool,
    /// Continue when a command exits with one of these codes, e.g. 1,2, or without them with any: then it is not ranked
    #[arg(short, long, value_name = "CODES", num_args = 0..=1, require_equals = true, default_missing_value = "all-non-zero",
        value_parser = accepted)]
    pub ignore_failure: Option<Accepted>,
    /// Show the command's output; on standard error where results are exported
    #[arg(long)]
    pub show_output: bool,
    /// Where standard output of the commands goes: null, pipe (read to its end), inherit (as --show-output), or a file that each
    /// run writes anew [default: null]
    #[arg(
        long,
        value_name = "null|pipe|inherit|FILE",
        conflicts_with = "show_output"
    )]
    pub output: Option<String>,
    #[command(flatten)]
    pub sensor: SensorArg,
    /// The command and its arguments, or several commands in quotes to compare; they run without a shell
    #[arg(required = true, trailing_var_arg = true, value_name = "CMD")]
    pub command: Vec<String>,
}

impl RunArgs {
    /// All exports, as `--export` takes them.
    pub fn exports(&self) -> Vec<String> {
        let named = [
            ("json", &self.export_json),
            ("csv", &self.export_csv),
            ("md", &self.export_markdown),
        ];
        let mut all = self.export.clone();
        all.extend(
            (named.into_iter()).filter_map(|(f, file)| Some(format!("{f}:{}", file.as_ref()?))),
        );
        if self.json {
            all.push("json".to_owned());
        }
        all
    }

    /// Whether standard output has results.
    pub fn prints_results(&self) -> bool {
        let printed = |e: &String| !e.contains(':') || e.ends_with(":-");
        self.exports().iter().any(printed)
    }
}
