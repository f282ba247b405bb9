//! Keeps the winner of a search as wisdom.

use greenup_app::error::Result;
use greenup_app::{print, wisdom};
use greenup_tune::session::SessionResult;
use greenup_tune::sweep::wisdom::entry;
use greenup_wisdom::merge::{Prefer, Verdict};
use std::path::Path;

/// Adds the winner of a search in the folder `dir` to the user's wisdom. A better config that is there stays.
pub fn winner(done: &SessionResult, dir: &Path) -> Result {
    // Nothing was measured in full, as a stopped search may end.
    let Ok(new) = entry(&done.sweep, done.objective, &dir.display().to_string()) else {
        return Ok(());
    };
    let Some(kept) = wisdom::keep(std::slice::from_ref(&new), Prefer::Current)? else {
        return Ok(());
    };
    let (id, path) = (new.id(), kept.path.display());
    let text = match kept.verdicts.first() {
        Some((Verdict::New, _)) => format!("kept as {id} in {path}"),
        Some((Verdict::Better { ratio }, _)) => {
            format!("kept as {id} in {path}: ×{ratio:.3} of the one there")
        }
        Some((_, true)) => format!("kept as {id} in {path}, in place of one of other sources"),
        Some((Verdict::Worse { ratio }, _)) => {
            format!(
                "{path} has a better config: this one takes ×{ratio:.3}; `greenup wisdom forget {id}` drops it"
            )
        }
        _ => format!("{path} has the same config"),
    };
    print::note(text);
    Ok(())
}
