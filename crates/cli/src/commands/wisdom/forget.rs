//! `greenup wisdom forget`.

use crate::args::WisdomForgetArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{print, wisdom};
use greenup_wisdom::{Entry, Store};

pub fn run(args: &WisdomForgetArgs) -> Result {
    let Some(path) = wisdom::path()? else {
        return Err(AppError::new("wisdom is not used").hint("name a file with --wisdom FILE"));
    };
    let named = |e: &Entry, id: &String| id.len() >= 2 && e.id().starts_with(id.as_str());
    let gone = Store::update(&path, |store| {
        let missing = (args.ids.iter()).find(|id| !store.entries.iter().any(|e| named(e, id)));
        if let Some(id) = missing {
            return Err(
                AppError::new(format!("{} has no entry `{id}`", path.display()))
                    .hint("`greenup wisdom list --own` prints the ids; shipped entries stay"),
            );
        }
        let before = store.entries.len();
        store
            .entries
            .retain(|e| !args.ids.iter().any(|id| named(e, id)));
        Ok(before - store.entries.len())
    })??;
    print::note(format!("removed {gone} entries of {}", path.display()));
    Ok(())
}
