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
        for id in &args.ids {
            let fits = store.entries.iter().filter(|e| named(e, id)).count();
            if fits == 0 {
                let none = format!("{} has no entry `{id}`", path.display());
                return Err(AppError::new(none)
                    .hint("`greenup wisdom list --own` prints the ids; shipped entries stay"));
            }
            if fits > 1 {
                let several = format!("{fits} entries of {} begin with `{id}`", path.display());
                return Err(AppError::new(several).hint("give more digits"));
            }
        }
        let any = |e: &Entry| args.ids.iter().any(|id| named(e, id));
        let (gone, kept) = store.entries.drain(..).partition(any);
        store.entries = kept;
        Ok::<Vec<Entry>, AppError>(gone)
    })??;
    if args.json {
        return print::json(&serde_json::json!({ "file": print::lossy(&path), "entries": gone }));
    }
    print::note(format!(
        "removed {} entries of {}",
        gone.len(),
        path.display()
    ));
    Ok(())
}
