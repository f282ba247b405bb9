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
use greenup_app::error::{AppError, Result};
use greenup_wisdom::{Entry, Origin, Wisdom};

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

/// Entries by ids or their first digits.
fn by_ids<'a>(wisdom: &'a Wisdom, ids: &[String]) -> Result<Vec<&'a (Entry, Origin)>> {
    let mut out = Vec::new();
    for id in ids {
        let found: Vec<_> = (wisdom.known.iter())
            .filter(|(e, _)| id.len() >= 2 && e.id().starts_with(id.as_str()))
            .collect();
        if found.is_empty() {
            return Err(AppError::new(format!("there is no entry `{id}`"))
                .hint("`greenup wisdom list` prints the ids"));
        }
        out.extend(found);
    }
    Ok(out)
}

/// Where an entry is, in a word.
fn place(origin: &Origin) -> &'static str {
    match origin {
        Origin::User(_) => "own",
        Origin::Shipped => "shipped",
    }
}
