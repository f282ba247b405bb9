//! `greenup wisdom`.

mod export;
mod find;
mod forget;
mod import;
mod list;
mod show;
mod transfer;

pub use list::list_problem;

use crate::args::{Selection, WisdomArgs, WisdomCommand};
use greenup_app::error::Result;
use greenup_wisdom::Entry;

pub fn run(args: &WisdomArgs) -> Result {
    match &args.command {
        WisdomCommand::List(a) => list::run(a),
        WisdomCommand::Show(a) => show::run(a),
        WisdomCommand::Find(a) => find::run(a),
        WisdomCommand::Export(a) => export::run(a),
        WisdomCommand::Import(a) => import::run(a),
        WisdomCommand::Forget(a) => forget::run(a),
        WisdomCommand::Transfer(a) => transfer::run(a),
    }
}

impl Selection {
    /// Whether an entry is selected.
    fn takes(&self, e: &Entry) -> bool {
        let lower = e.device.name.to_lowercase();
        let any = |list: &[String], f: &dyn Fn(&str) -> bool| {
            list.is_empty() || list.iter().any(|x| f(x))
        };
        any(&self.problem, &|p| e.problem == p)
            && any(&self.device, &|d| lower.contains(&d.to_lowercase()))
            && any(&self.objective, &|o| e.objective == o)
    }
}
