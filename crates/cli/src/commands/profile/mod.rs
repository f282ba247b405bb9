//! `greenup profile`.

mod program;
mod sensors;
mod sweep;
mod terminal;

use crate::args::ProfileArgs;
use greenup_app::error::{AppError, Result};

pub fn run(args: &ProfileArgs) -> Result {
    match (&args.problem, &args.sweep, &args.from) {
        (Some(problem), Some(folder), _) => sweep::run(args, problem, folder),
        (_, _, Some(from)) => program::redraw(args, from),
        _ if args.command.is_empty() => Err(AppError::new("there is no program to profile")
            .hint("name it after `--`: greenup profile -- ./app; or draw an earlier page again with --from DIR")),
        _ => program::run(args),
    }
}
