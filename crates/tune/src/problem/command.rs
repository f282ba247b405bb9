//! The command of a problem that is no kernel.

use super::{Language, ValueError};
use crate::command::Runnable;
use crate::problem::written::Written;
use greenup_space::Space;
use std::path::Path;

/// The command, where the problem has a `[run]`.
///
/// # Errors
/// Its tables are wrong, or those of a kernel stand beside it.
pub(super) fn runnable(
    written: &mut Written,
    dir: &Path,
    space: &Space,
) -> Result<Option<Runnable>, ValueError> {
    let wrong = |what: &str, cause: &str| ValueError::Command {
        what: what.to_owned(),
        cause: cause.to_owned(),
    };
    let Some(run) = written.run.take() else {
        if let Some(b) = &written.baseline {
            if b.command.is_some() {
                let cause = "belongs to a [run] command; the baseline of a kernel has `sources` and `entry`";
                return Err(wrong("[baseline] command", cause));
            }
            if b.sources.is_empty() || b.entry.is_empty() {
                return Err(wrong("[baseline]", "give its `sources` and `entry`"));
            }
        }
        if written.build.command.is_some() {
            return Err(wrong(
                "[build] command",
                "there is no [run] command that runs what it builds",
            ));
        }
        return Ok(None);
    };
    let kernels = [
        ("[[arguments]]", !written.arguments.is_empty()),
        ("[[launch]]", !written.launch.is_empty()),
        ("[reference]", written.reference.is_some()),
        ("[setup]", written.setup.is_some()),
        ("[compiled]", !written.compiled.is_empty()),
        ("[build] entry", !written.build.entry.is_empty()),
        ("[build] compiler", written.build.compiler.is_some()),
        ("[build] flags", written.build.flags.is_some()),
        ("[build] arch", written.build.arch.is_some()),
    ];
    if let Some((what, _)) = kernels.iter().find(|(_, there)| *there) {
        let cause = "belongs to a kernel; a [run] command is checked by `check` or [run.expect]";
        return Err(wrong(what, cause));
    }
    let baseline = match written.baseline.take() {
        None => None,
        Some(b) if !b.sources.is_empty() || !b.entry.is_empty() => {
            let cause = "`sources` and `entry` belong to a kernel; give `command`";
            return Err(wrong("[baseline]", cause));
        }
        Some(b) => match b.command {
            None => return Err(wrong("[baseline]", "give its `command`")),
            command => command,
        },
    };
    written.build.language = Language::Command;
    Runnable::new(&written.build, &run, baseline.as_deref(), dir, space).map(Some)
}
