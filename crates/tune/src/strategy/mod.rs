//! Search strategies: one file each behind one trait.

mod alternate;
mod anneal;
mod ask;
mod evolve;
mod exhaustive;
mod first;
mod genetic;
mod halving;
mod local;
mod nsga2;
mod portfolio;
mod steered;
mod surrogate;

pub use ask::{Ask, Feedback, History, Proposal, Strategy};
pub(crate) use first::First;
pub use steered::Steering;

use ask::{child, fresh, nearest};
use greenup_setting::setting;

/// Name and one line about each strategy.
pub const STRATEGIES: [(&str, &str); 13] = [
    (
        "portfolio",
        "forest, Gaussian process, annealing, local search and restarts over one history (the default)",
    ),
    (
        "forest",
        "Bayesian, with a forest of randomised trees as surrogate",
    ),
    ("gp", "Bayesian, with a Gaussian process as surrogate"),
    ("exhaustive", "every point, in random order"),
    ("random", "random points"),
    ("local", "steepest descent over neighbours, restarted"),
    ("anneal", "simulated annealing"),
    ("genetic", "genetic algorithm"),
    ("evolve", "differential evolution"),
    ("halving", "successive halving on measuring time"),
    ("nsga2", "NSGA-II for two objectives"),
    (
        "alternate",
        "the forest for one of several objectives after the other",
    ),
    ("steered", "in the order that the energy roofline predicts"),
];

/// The strategy used when none is named.
pub const DEFAULT: &str = "portfolio";

/// A strategy that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// No strategy has this name.
    #[error("there is no strategy `{name}`: {}", STRATEGIES.map(|s| s.0).join(", "))]
    Unknown {
        /// The name.
        name: String,
    },
    /// `steered` without predictions.
    #[error(
        "`steered` needs a machine and the work of each point: name a machine with {}, and give [work] in the problem",
        setting("machine")
    )]
    NoSteering,
}

/// The strategy of a name; `steering` is needed by `steered` alone.
///
/// # Errors
/// The names that exist, or what is missing.
pub fn strategy(
    name: &str,
    steering: Option<Steering>,
) -> Result<Box<dyn Strategy>, StrategyError> {
    Ok(match name {
        "portfolio" => Box::new(portfolio::Portfolio::default()),
        "forest" => Box::new(surrogate::Surrogate::forest()),
        "gp" => Box::new(surrogate::Surrogate::gaussian_process()),
        "exhaustive" | "random" => Box::new(exhaustive::Exhaustive::default()),
        "local" => Box::new(local::Local::default()),
        "anneal" => Box::new(anneal::Anneal::default()),
        "genetic" => Box::new(genetic::Genetic::default()),
        "evolve" => Box::new(evolve::Evolve::default()),
        "halving" => Box::new(halving::Halving::default()),
        "nsga2" => Box::new(nsga2::Nsga2::default()),
        "alternate" => Box::new(alternate::Alternate::default()),
        "steered" => match steering {
            Some(s) => Box::new(steered::Steered::new(s)),
            None => return Err(StrategyError::NoSteering),
        },
        _ => {
            return Err(StrategyError::Unknown {
                name: name.to_owned(),
            });
        }
    })
}
