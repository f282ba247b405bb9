//! `greenup sweeps`.

mod list;
mod merge;
mod overview;
mod show;

use crate::args::{SweepsArgs, SweepsCommand};
use greenup_app::error::Result;
use overview::Overview;

pub fn run(args: &SweepsArgs) -> Result {
    match &args.command {
        SweepsCommand::Merge(a) => merge::run(a),
        SweepsCommand::List(a) => list::run(a),
        SweepsCommand::Show(a) => show::run(a),
    }
}
