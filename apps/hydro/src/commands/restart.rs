//! Restart from a checkpoint. It stores the settings, which flags override where that keeps its state valid; names of
//! outputs come from flags alone.

use crate::commands::run::{self, RestartState};
use crate::commands::settings::Settings;
use crate::commands::{checks, mark};
use greenup_app::{AppError, Result, print};
use greenup_hydro::output::checkpoint::{self, Checkpoint, Input};
use greenup_hydro::time::stepping::Clock;
use greenup_setting::setting;
use std::path::Path;

pub fn restart(path: &Path, flags: &Settings, json: bool) -> Result {
    let Checkpoint {
        setup,
        inputs,
        energy,
        clock,
        state,
    } = checkpoint::read::<Settings>(path)?;
    let before = mark::marked(setup, &inputs);
    let snapshots_every = before.snapshots_every();
    let mut s = flags.clone();
    Settings {
        checkpoint: Some(path.to_owned()),
        ..s.clone()
    }
    .only_of_outputs()?;
    same_state(&s, &before)?;
    s.fill(before);
    s.check()?;
    same_files(&s, &inputs)?;
    s.checkpoint.get_or_insert_with(|| path.to_owned());
    if s.t_final() < clock.t {
        return Err(AppError::new(format!(
            "--t-final {}: the checkpoint is already at t = {}",
            s.t_final(),
            clock.t
        )));
    }
    print::note(format!(
        "restart at step {}, t = {}, with{}",
        clock.steps,
        clock.t,
        shown(&s)?
    ));
    // Its [run] was part of the settings when the run began.
    let clock = if s.t_final() > clock.t {
        // The last step was cut to end at the final time of before.
        Clock {
            dt: clock.free,
            ..clock
        }
    } else {
        clock
    };
    let (problem, _) = Settings {
        problem: s.problem.clone(),
        ..Settings::default()
    }
    .resolved()?;
    flags.on(&s).only_with_effect(&problem)?;
    let restart = RestartState {
        energy,
        clock,
        state,
        snapshots_every,
    };
    run::run(problem, &s, Some(restart), json)
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

/// Refuses other content of the files that the run began with.
pub fn same_files(s: &Settings, inputs: &[Input]) -> Result {
    let now = checks::inputs(s)?;
    for ((name, path), now) in s.input_files().into_iter().zip(&now) {
        if inputs
            .iter()
            .any(|i| i.flag.strip_prefix("--") == Some(name) && i.crc32 != now.crc32)
        {
            return Err(AppError::new(format!(
                "{path} changed since the run began; name the original file with {}",
                setting(name)
            )));
        }
    }
    Ok(())
}

/// Settings as flags.
fn shown(s: &Settings) -> Result<String> {
    let all = serde_json::to_value(s)?;
    let mut out = String::new();
    for (name, value) in all.as_object().into_iter().flatten() {
        if name == "mark" {
            continue;
        }
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        out.push_str(&format!(" --{} {value}", name.replace('_', "-")));
    }
    Ok(out)
}
