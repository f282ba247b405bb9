//! The config with which the best one of a search is compared.

use crate::plan::SessionOptions;
use crate::points::Points;
use crate::problem::Problem;
use crate::sweep::{DefaultConfig, DefaultOrigin};
use greenup_meter::Observer;

/// The config used until now, else that of the problem file, else the first of the points.
pub(super) fn before_tuning(
    problem: &Problem,
    options: &SessionOptions,
    points: &dyn Points,
    observer: &dyn Observer,
) -> DefaultConfig {
    let named = [
        (&options.default, DefaultOrigin::Used),
        (&problem.default, DefaultOrigin::Problem),
    ];
    for (config, origin) in named {
        let Some(config) = config else {
            continue;
        };
        if points.position(config).is_some() {
            return DefaultConfig {
                config: config.clone(),
                origin,
            };
        }
        observer.note(&format!(
            "{origin} is not among the configs that are searched: the best is compared with the first of these"
        ));
    }
    DefaultConfig {
        config: points.config(0),
        origin: DefaultOrigin::First,
    }
}
