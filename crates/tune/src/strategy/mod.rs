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
mod requested;
mod steered;
mod surrogate;

pub use ask::{Ask, Feedback, History, Proposal, Strategy};
pub(crate) use first::First;
pub use requested::{RequestFault, Requested};
pub use steered::Steering;

use ask::{child, fresh, nearest};
use greenup_setting::setting;

/// A strategy that is chosen by its name.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The name.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    make: Make,
}

type Made = Result<Box<dyn Strategy>, StrategyError>;
type Make = fn(Option<Steering>) -> Made;

const fn entry(name: &'static str, about: &'static str, make: Make) -> Entry {
    Entry { name, about, make }
}

/// All strategies, the default first.
pub const STRATEGIES: &[Entry] = &[
    entry(
        DEFAULT,
        "forest, Gaussian process, annealing, local search and restarts over one history (the default)",
        |_| Ok(Box::new(portfolio::Portfolio::default())),
    ),
    entry(
        "forest",
        "Bayesian, with a forest of randomised trees as surrogate",
        |_| Ok(Box::new(surrogate::Surrogate::forest())),
    ),
    entry(
        "gp",
        "Bayesian, with a Gaussian process as surrogate",
        |_| Ok(Box::new(surrogate::Surrogate::gaussian_process())),
    ),
    entry("exhaustive", "every point, in random order", |_| {
        Ok(Box::new(exhaustive::Exhaustive::default()))
    }),
    entry("random", "random points", |_| {
        Ok(Box::new(exhaustive::Exhaustive::default()))
    }),
    entry(
        "local",
        "steepest descent over neighbours, restarted",
        |_| Ok(Box::new(local::Local::default())),
    ),
    entry("anneal", "simulated annealing", |_| {
        Ok(Box::new(anneal::Anneal::default()))
    }),
    entry("genetic", "genetic algorithm", |_| {
        Ok(Box::new(genetic::Genetic::default()))
    }),
    entry("evolve", "differential evolution", |_| {
        Ok(Box::new(evolve::Evolve::default()))
    }),
    entry("halving", "successive halving on measuring time", |_| {
        Ok(Box::new(halving::Halving::default()))
    }),
    entry("nsga2", "NSGA-II for two objectives", |_| {
        Ok(Box::new(nsga2::Nsga2::default()))
    }),
    entry(
        "alternate",
        "the forest for one of several objectives after the other",
        |_| Ok(Box::new(alternate::Alternate::default())),
    ),
    entry(
        "steered",
        "in the order that the energy roofline predicts",
        |steering| match steering {
            Some(s) => Ok(Box::new(steered::Steered::new(s))),
            None => Err(StrategyError::NoSteering),
        },
    ),
];

/// The strategy used when none is named.
pub const DEFAULT: &str = "portfolio";

/// Names of all strategies, separated by commas.
pub fn names() -> String {
    let all: Vec<&str> = STRATEGIES.iter().map(|s| s.name).collect();
    all.join(", ")
}

/// A strategy that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// No strategy has this name.
    #[error("there is no strategy `{name}`: {}", names())]
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
pub fn strategy(name: &str, steering: Option<Steering>) -> Made {
    let entry = STRATEGIES.iter().find(|s| s.name == name);
    let unknown = || StrategyError::Unknown {
        name: name.to_owned(),
    };
    (entry.ok_or_else(unknown)?.make)(steering)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The docs have a line about each.
    #[test]
    fn every_strategy_is_in_the_docs() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tune.md");
        let docs = std::fs::read_to_string(page).unwrap();
        let (_, table) = docs.split_once("| `--strategy` | what |").unwrap();
        let (table, _) = table.split_once("\n\n").unwrap();
        for s in STRATEGIES {
            assert!(table.contains(&format!("`{}`", s.name)), "{}", s.name);
        }
    }
}
