//! Restart from a checkpoint. It stores the settings, which flags override where that keeps its state valid; names of
//! outputs come from flags alone.

use crate::commands::run::{How, run};
use crate::session::restart::{Restart, problem};
use crate::session::settings::Settings;
use greenup_app::{AppError, Result, print};
use greenup_setting::setting;
use std::path::Path;

pub fn restart(path: &Path, flags: &Settings, how: &How) -> Result {
    let (before, inputs, from) = Restart::read(path)?;
    let mut s = flags.clone();
    Settings {
        checkpoint: Some(path.to_owned()),
        ..s.clone()
    }
    .only_of_outputs()?;
    same_state(&s, &before)?;
    s.fill(before);
    let problem = problem(&s, &inputs)?;
    s.checkpoint.get_or_insert_with(|| path.to_owned());
    let clock = &from.clock;
    if s.t_final() < clock.t {
        return Err(AppError::new(format!(
            "--t-final {}: the checkpoint is already at t = {}",
            s.t_final(),
            clock.t
        )));
    }
    if let Some(n) = flags.steps.filter(|n| *n < clock.steps) {
        return Err(AppError::new(format!(
            "--steps {n}: the checkpoint is already at step {}; steps count from the start of the run",
            clock.steps
        )));
    }
    let shown: String = (s.flags()?.iter())
        .map(|(flag, value)| format!(" {flag} {value}"))
        .collect();
    print::note(format!(
        "restart at step {}, t = {}, with{shown}",
        clock.steps, clock.t,
    ));
    flags.on(&s).only_with_effect(&problem)?;
    let from = if s.t_final() > clock.t {
        from.uncut()
    } else {
        from
    };
    run(&problem, &s, Some(&from), how)
}

/// Refuses flags for which the state of the checkpoint would have no meaning.
fn same_state(flags: &Settings, before: &Settings) -> Result {
    let number = |n: Option<usize>| n.map(|n| n.to_string());
    // Files may have moved; their content is compared later.
    let files = |name: &str, s: &Settings| s.input_files().iter().any(|(n, _)| *n == name);
    for (name, new, old) in [
        ("problem", flags.problem.clone(), before.problem.clone()),
        ("mesh", flags.mesh.clone(), before.mesh.clone()),
        ("refine", number(flags.refine), number(before.refine)),
        ("order", number(flags.order), number(before.order)),
        (
            "energy_order",
            number(flags.energy_order),
            number(before.energy_order),
        ),
        (
            "e0",
            flags.e0.map(|e| e.to_string()),
            before.e0.map(|e| e.to_string()),
        ),
    ] {
        if let (Some(new), Some(old)) = (new, old)
            && new != old
            && !(files(name, flags) && files(name, before))
        {
            return Err(AppError::new(format!(
                "{}: the state in the checkpoint was computed with {}, which a restart cannot change; start another run with `hydro run`",
                setting(name).to(new),
                setting(name).to(old)
            )));
        }
    }
    Ok(())
}
