//! Wisdom of searches: the config that one begins with, and the winner that is kept.

use greenup_app::error::Result;
use greenup_app::{print, wisdom};
use greenup_space::Value;
use greenup_tune::session::SessionResult;
use greenup_tune::sweep::wisdom::{entry, is_kept};
use greenup_tune::{Objective, Problem};
use greenup_wisdom::{Device, Query, fits};
use std::path::Path;

/// The config of the nearest entry that the space of a problem allows on a device; `None` without one. Constants that are
/// texts, 0 or 1 choose a variant of the problem and must be equal; larger ones are sizes.
pub fn first(
    problem: &Problem,
    device: &Device,
    objective: Objective,
) -> Result<Option<Vec<Value>>> {
    let is_variant = |v: &Value| v.as_int().is_none_or(|i| (0..2).contains(&i));
    let (mut exact, mut size) = (Vec::new(), Vec::new());
    for (name, v) in problem.space.constants() {
        match v.as_int().filter(|_| !is_variant(v)) {
            Some(i) => size.push((name.as_str(), i)),
            None => exact.push((name.as_str(), v.clone())),
        }
    }
    let objective = objective.to_string();
    let known = wisdom::load()?;
    let query = Query {
        problem: &problem.space.name,
        precision: "",
        objective: &objective,
        device,
        exact: &exact,
        size: &size,
    };
    let found = known.choose(&query, |e| {
        let all = fits::complete(&problem.space, &e.config)?;
        fits::listed(&problem.space, &all)?;
        fits::check(&problem.space, &all)?;
        Ok(all)
    });
    let Some((choice, config)) = found else {
        print::note("no wisdom for this problem: the search begins as usual");
        return Ok(None);
    };
    print::note(format!(
        "the search begins with the {}; {}",
        choice.text(),
        choice.origin
    ));
    Ok(Some(config))
}

/// Adds the winner of a search in the folder `dir` to the user's wisdom. A better config that is there stays.
pub fn winner(done: &SessionResult, dir: &Path) {
    if !is_kept(done.objective) {
        return;
    }
    let dir = dir.display().to_string();
    // Nothing was measured in full, as a stopped search may end.
    if let Ok(new) = entry(&done.sweep, done.objective, &dir) {
        wisdom::keep_winners(
            vec![new],
            &format!("`greenup wisdom import {dir}` adds it later"),
        );
    }
}
