//! What a machine model predicts of the configs of a recorded sweep, for the strategy `steered`.

use crate::args::ReplayArgs;
use crate::search::{self, facts};
use greenup_app::error::{AppError, Result};
use greenup_app::machine;
use greenup_model::predict;
use greenup_space::Value;
use greenup_tune::problem::ProblemFile;
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

/// Where the value of a parameter of the problem comes from.
enum Place {
    /// The sweep's parameter of this number.
    Recorded(usize),
    /// The only value.
    Value(Value),
}

/// Predictions by the machine and the problem that the user named; `None` without them.
///
/// # Errors
/// The problem or the machine cannot be read, the problem has no work, or its parameters are not those of the sweep.
pub fn predictions(args: &ReplayArgs, sweep: &Sweep) -> Result<Option<Predictions>> {
    let (Some(file), Some(name)) = (&args.problem, &args.machine) else {
        return Ok(None);
    };
    let file = ProblemFile::read(file)?;
    let problem = search::problem_with(&file, &args.named, &facts::to_count(&file, None)?)?;
    let model = machine::load(name)?;
    let known = &sweep.facts.parameters;
    // A parameter that is new since the sweep may stand in with one value.
    let only = |i: usize| match problem.space.list_of(i)?.as_slice() {
        [one] => Some(Place::Value(one.clone())),
        _ => None,
    };
    let places: Option<Vec<Place>> = (problem.space.names().enumerate())
        .map(|(i, n)| match known.iter().position(|k| k == n) {
            Some(at) => Some(Place::Recorded(at)),
            None => only(i),
        })
        .collect();
    let recorded = |p: &[Place]| p.iter().filter(|p| matches!(p, Place::Recorded(_))).count();
    let Some(places) = places.filter(|p| recorded(p) == known.len()) else {
        let own: Vec<&str> = problem.space.names().collect();
        return Err(AppError::new(format!(
            "the sweep's parameters are {}, the problem's {}",
            known.join(", "),
            own.join(", ")
        ))
        .hint("give the problem that the sweep was made of; a parameter that is new since then gets one value by --set NAME=VALUE"));
    };
    if !problem.has_work() {
        return Err(AppError::new(format!("{}: no [work]", file.path.display()))
            .hint("give the operations of one run in the problem"));
    }
    let of = |t: &greenup_tune::Trial| {
        let value = |p: &Place| match p {
            Place::Recorded(i) => t.config[*i].clone(),
            Place::Value(v) => v.clone(),
        };
        let config: Vec<_> = places.iter().map(value).collect();
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
