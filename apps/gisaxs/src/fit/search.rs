//! The search: a particle swarm within the bounds (Kennedy and Eberhart), then Levenberg–Marquardt from its best
//! position, kept within the bounds by MINUIT's sine transformation; uncertainties from the curvature there.

use super::evaluate::{Crew, Wanted};
use super::input::FitInput;
use super::least_squares::{Squares, slopes, termination};
use super::model::Model;
use super::result::{Fitted, Stage, Uncertainty};
use super::target::{Free, Noise, Target};
use crate::GisaxsError;
use crate::fit::model::shares;
use crate::mesh_form_factor::Watch;
use argmin::core::{CostFunction, Executor, State, SyncAlias};
use argmin::solver::particleswarm::ParticleSwarm;
use greenup_ranks::Ranks;
use levenberg_marquardt::LevenbergMarquardt;
use nalgebra::DVector;
use rand::SeedableRng;
use std::borrow::Borrow;
use std::cell::{Cell, RefCell};

/// Called with a line of text after each start.
pub type Progress<'a> = dyn Fn(&str) + Sync + 'a;

impl Free {
    /// The value at a fraction of the interval between the bounds.
    pub(super) fn at(&self, share: f64) -> f64 {
        if self.log {
            self.from * (self.to / self.from).powf(share)
        } else {
            self.from + (self.to - self.from) * share
        }
    }

    /// The fraction of the interval between the bounds at which a value lies.
    pub(super) fn share(&self, value: f64) -> f64 {
        if self.log {
            (value / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        }
    }

    /// Derivative of the value with respect to that fraction, at a value.
    fn slope(&self, value: f64) -> f64 {
        if self.log {
            value * (self.to / self.from).ln()
        } else {
            self.to - self.from
        }
    }
}

/// The best fit of all starts; `None` if stopped before the first one ended, and on all ranks but the first. Ranks share
/// the models of each step of the swarm and of each derivative; the digits are those of one rank.
///
/// # Errors
/// A model cannot be computed.
pub fn fit(
    page: &FitInput,
    target: &Target,
    ranks: &dyn Ranks,
    progress: &Progress,
    watch: &Watch,
) -> Result<Option<Fitted>, GisaxsError> {
    let crew = Crew {
        target,
        ranks,
        watch,
    };
    if ranks.rank() > 0 {
        crew.serve();
        return Ok(None);
    }
    let found = search(page, &crew, progress);
    crew.end();
    found
}

fn search(
    page: &FitInput,
    crew: &Crew,
    progress: &Progress,
) -> Result<Option<Fitted>, GisaxsError> {
    let (target, watch) = (crew.target, crew.watch);
    let model = Model {
        target,
        watch,
        crew,
        count: RefCell::new(0),
        history: RefCell::default(),
        failure: RefCell::new(None),
    };
    let mut best: Option<Fitted> = None;
    let mut models = 0;
    let mut reached = Vec::new();
    for start in 0..page.starts {
        model.restart();
        let Some(found) = one(page, &model, start)? else {
            break;
        };
        models += *model.count.borrow();
        reached.push(found.chi2);
        progress(&if found.chi2.is_finite() {
            format!("start {}: χ² {:.4}", start + 1, found.chi2)
        } else {
            format!(
                "start {}: no model there{}",
                start + 1,
                target.why_outside()
            )
        });
        if (best.as_ref()).is_none_or(|b| found.chi2 < b.chi2 || !b.chi2.is_finite()) {
            best = Some(Fitted {
                convergence: model.history.take(),
                ..found
            });
        }
        watch.tick(1);
    }
    if best.as_ref().is_some_and(|b| !b.chi2.is_finite()) {
        return Err(GisaxsError::Invalid(format!(
            "the fit has no result, as no start had a finite model{}. Check the data, the bounds and the initial values",
            target.why_outside()
        )));
    }
    Ok(best.map(|b| Fitted {
        models,
        starts: reached,
        ..b
    }))
}

/// Random positions that are tried where the sample has no model, such as a core beyond its shell.
const DRAWS: usize = 50;

/// What one start reaches; `None` if stopped. Random values are drawn again where there is no model.
fn one(page: &FitInput, model: &Model, start: usize) -> Result<Option<Fitted>, GisaxsError> {
    let target = model.target;
    let mut rng = fastrand::Rng::with_seed(page.seed.wrapping_add(start as u64));
    let given = |f: &Free| f.start.filter(|_| start == 0);
    let all_given = target.free.iter().all(|f| given(f).is_some());
    for draw in 1.. {
        let mut from: Vec<f64> = (target.free.iter())
            .map(|f| given(f).map_or_else(|| rng.f64(), |s| f.share(s)))
            .collect();
        let mut began = from.clone();
        let mut handed = None;
        if page.swarm > 0
            && !all_given
            && let Some((first, found)) = swarm(page, model, rng.u64(..))?
        {
            (began, from) = (first, found);
            handed = Some(model.numbers(&from));
        }
        if model.watch.stopped() {
            return Ok(None);
        }
        let found = Fitted {
            start: model.numbers(&began),
            swarm: handed,
            ..polish(model, &from)?
        };
        // A swarm has looked at many positions already.
        if found.chi2.is_finite() || all_given || page.swarm > 0 || draw == DRAWS {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The distance that the swarm minimises, and the best of its first positions.
struct Distance<'a> {
    model: &'a Model<'a>,
    positions: usize,
    first: &'a RefCell<Option<(f64, Vec<f64>)>>,
}

impl CostFunction for Distance<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, p: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        let all = self.bulk_cost(std::slice::from_ref(p))?;
        Ok(all[0])
    }

    fn bulk_cost<P>(&self, positions: &[P]) -> Result<Vec<f64>, argmin::core::Error>
    where
        P: Borrow<Vec<f64>> + SyncAlias,
    {
        let all: Vec<Vec<f64>> = positions.iter().map(|p| p.borrow().clone()).collect();
        let values = self.model.many(&all, Wanted::Distance);
        let one = |(p, v): (&Vec<f64>, Option<Vec<f64>>)| {
            let count = self.model.count();
            // A position without a model is far away.
            let Some([cost, chi2]) = v.as_deref() else {
                return f64::MAX;
            };
            let stage = (Stage::Swarm, Some(self.positions));
            self.model.record(stage.0, stage.1, *chi2);
            let mut first = self.first.borrow_mut();
            let new = first.as_ref().is_none_or(|f| *cost < f.0);
            if new && count <= self.positions {
                *first = Some((*cost, p.clone()));
            }
            *cost
        };
        Ok(all.iter().zip(values).map(one).collect())
    }
}

/// The best of the swarm's first positions, and of all.
type Swarmed = (Vec<f64>, Vec<f64>);

fn swarm(page: &FitInput, model: &Model, seed: u64) -> Result<Option<Swarmed>, GisaxsError> {
    let n = model.target.free.len();
    let solver = ParticleSwarm::new((vec![0.0; n], vec![1.0; n]), page.swarm)
        .with_rng_generator(rand::rngs::StdRng::seed_from_u64(seed));
    let steps = page.steps;
    let first = RefCell::new(None);
    let distance = Distance {
        model,
        positions: page.swarm,
        first: &first,
    };
    let out = Executor::new(distance, solver)
        .configure(|s| s.max_iters(steps))
        .ctrlc(false)
        .run()
        .map_err(|e| GisaxsError::Sample(format!("the swarm ended: {e}")))?;
    model.failed()?;
    let found = out.state.get_best_param().map(|p| p.position.clone());
    Ok(found.map(|found| {
        let first = first.borrow_mut().take();
        (first.map_or_else(|| found.clone(), |f| f.1), found)
    }))
}

fn polish(model: &Model, from: &[f64]) -> Result<Fitted, GisaxsError> {
    let target = model.target;
    // On a bound the derivative of the sine vanishes: start slightly inside.
    let u = from
        .iter()
        .map(|s| (2.0 * s.clamp(0.001, 0.999) - 1.0).asin())
        .collect::<Vec<_>>();
    let search = || {
        LevenbergMarquardt::new()
            .with_ftol(1e-9)
            .with_xtol(1e-8)
            .with_patience(60)
    };
    // Likelihoods have local minima far from the data; differences of roots avoid them.
    let (near, _) = search().minimize(Squares {
        model,
        u: DVector::from_vec(u),
        rough: true,
        known: Cell::new(false),
    });
    let (done, report) = search().minimize(Squares {
        rough: false,
        ..near
    });
    model.failed()?;
    let best = shares(&done.u);
    let chi2 = 2.0 * report.objective_function / target.freedom();
    let j = slopes(model, &best, Wanted::Scaled);
    if model.watch.stopped() {
        return Err(GisaxsError::Sample("stopped: nothing was fitted".into()));
    }
    model.failed()?;
    // The error of counts is known; that of other data is estimated from the scatter.
    let scale = match target.noise {
        Noise::Poisson => chi2.max(1.0),
        Noise::Relative | Noise::Uniform => chi2,
    };
    let values = model.numbers(&best);
    let rates: Vec<f64> = (target.free.iter().zip(&values))
        .map(|(f, v)| f.slope(*v))
        .collect();
    let Uncertainty {
        errors,
        correlations,
        covariance,
    } = match (
        j,
        model
            .many(std::slice::from_ref(&best), Wanted::Scaled)
            .pop(),
    ) {
        (Some(j), Some(Some(data))) => {
            Uncertainty::new(&j, scale, &rates, DVector::from_vec(data).norm())
        }
        // Without a model on one side.
        _ => Uncertainty::unknown(&rates),
    };
    Ok(Fitted {
        errors,
        correlations,
        covariance,
        chi2,
        noise_scale: target.noise_scale(chi2),
        points: target.used(),
        termination: termination(&report.termination),
        at_bounds: target
            .free
            .iter()
            .zip(&best)
            .filter(|(_, s)| !(1e-4..=1.0 - 1e-4).contains(*s))
            .map(|(f, _)| f.path.clone())
            .collect(),
        values,
        // Known to the caller.
        models: 0,
        start: Vec::new(),
        swarm: None,
        convergence: Vec::new(),
        starts: Vec::new(),
    })
}
