//! Errors of runs that ended early, and what they keep.

use crate::commands::run::ranks::of_all;
use crate::commands::run::snapshots;
use crate::engine::State;
use crate::session::run::Run;
use crate::session::settings::Settings;
use crate::time::stepping::{Clock, Termination};
use greenup_app::interrupt;
use greenup_app::{AppError, Result};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// The error of a run that was stopped before its end.
pub fn stopped(s: &Settings, clock: &Clock) -> Result {
    if clock.t < s.t_final() && (s.steps.is_none() || interrupt::requested()) {
        let go_on = s.checkpoint.as_ref().map_or_else(String::new, |p| {
            format!("; `hydro restart {}` continues", p.display())
        });
        return Err(AppError::new(format!("stopped at t = {}{go_on}", clock.t)));
    }
    Ok(())
}

/// The error of a run whose zones inverted; the last state is written next to the checkpoint. All ranks call it.
pub fn inverted_error(inverted: &Termination, run: &Run, state: &State) -> Result<AppError> {
    let ranks = &*run.ranks;
    let mut name = unused_name(run.settings.checkpoint.as_deref(), ranks.size() > 1)
        .into_os_string()
        .into_vec();
    ranks.broadcast(&mut name);
    let path = PathBuf::from(OsString::from_vec(name));
    let folder = path.parent().unwrap_or(Path::new(""));
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let written = match snapshots::fields(folder, &stem, (&run.hydro, state), ranks) {
        Ok(_) => format!("the last accepted state is in {}", path.display()),
        Err(e) => e.to_string(),
    };
    let (zone, j, position) = run.hydro.most_distorted_zone(state);
    let number = run.number(zone);
    let here = format!(
        "the most distorted zone is {number}, near {position:.4?}, with |J| {j:.2e} of its start"
    );
    let worst = of_all(ranks, -j, &here);
    Ok(AppError::new(format!(
        "{inverted}: {worst}; {written}. Fix: a smaller --cfl, a lower --order, a mesh that follows the flow, or an earlier --t-final"
    )))
}

/// An unused name next to the checkpoint.
fn unused_name(checkpoint: Option<&Path>, parallel: bool) -> PathBuf {
    let mut stem = checkpoint.map_or_else(Default::default, |p| {
        let mut name = p.as_os_str().to_owned();
        name.push(".");
        name
    });
    stem.push("inverted");
    greenup_files::outputs::unused(stem, if parallel { "pvtu" } else { "vtu" })
}
