//! What a machine model predicts of the configs of a recorded sweep, for the strategy `steered`.

use crate::args::ReplayArgs;
use crate::{facts, search};
use greenup_app::error::{AppError, Result};
use greenup_app::machine;
use greenup_model::predict;
use greenup_tune::strategy::Steering;
use greenup_tune::{Cost, Sweep};

/// Predicted objective of each trial; `None` where the model has none.
pub struct Predictions(Vec<Option<f64>>);

impl Predictions {
    /// The same for one search.
    pub fn steering(&self) -> Steering {
        let values = self.0.clone();
        Box::new(move |p| {
            usize::try_from(p)
                .ok()
                .and_then(|i| values.get(i).copied()?)
        })
    }
}

/// Predictions by the machine and the problem that the user named; `None` without them.
///
/// # Errors
/// The problem or the machine cannot be read, the problem has no work, or its parameters are not those of the sweep.
pub fn predictions(args: &ReplayArgs, sweep: &Sweep) -> Result<Option<Predictions>> {
    let (Some(file), Some(name)) = (&args.problem, &args.machine) else {
        return Ok(None);
    };
    let text = greenup_files::read_text(file)?;
    let problem = search::problem_with(file, &args.named, &facts::to_count(&text, None)?)?;
    let model = machine::load(name)?;
    let known = &sweep.facts.parameters;
    let places: Option<Vec<usize>> = (problem.space.names())
        .map(|n| known.iter().position(|k| k == n))
        .collect();
    let Some(places) = places.filter(|p| p.len() == known.len()) else {
        let own: Vec<&str> = problem.space.names().collect();
        return Err(AppError::new(format!(
            "the sweep's parameters are {}, the problem's {}",
            known.join(", "),
            own.join(", ")
        ))
        .hint("give the problem that the sweep was made of"));
    };
    if !problem.has_work() {
        return Err(AppError::new(format!("{}: no [work]", file.display()))
            .hint("give the operations of one run in the problem"));
    }
    let of = |t: &greenup_tune::Trial| {
        let config: Vec<_> = places.iter().map(|&i| t.config[i].clone()).collect();
        let work = problem.work(&config).ok()?;
        let p = predict(&model, &work).ok()?;
        let cost = Cost {
            metric: None,
            time_s: p.time_s,
            energy_j: p.energy_j,
        };
        args.objective[0].value(cost, Some(work.flops()))
    };
    Ok(Some(Predictions(sweep.trials.iter().map(of).collect())))
}
