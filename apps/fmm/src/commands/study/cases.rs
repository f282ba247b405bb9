//! What `fmm study` measures.

use super::StudyArgs;
use super::case::Case;
use crate::commands::input::{Input, KernelName, PrecisionArg};
use crate::points::Distribution;
use greenup_app::{AppError, Result};

/// Distribution, number of points, ncrit.
const INPUTS: &[(Distribution, usize, usize)] = &[
    (Distribution::Cube, 250_000, 128),
    (Distribution::Cube, 250_000, 1024),
    (Distribution::Cube, 1_000_000, 64),
    (Distribution::Cube, 1_000_000, 384),
    (Distribution::Plummer, 250_000, 96),
    (Distribution::Plummer, 1_000_000, 256),
    (Distribution::Sphere, 500_000, 128),
    (Distribution::Clusters, 1_000_000, 192),
];

/// Precision, accuracy, gradients.
const SETTINGS: &[(PrecisionArg, f64, bool)] = &[
    (PrecisionArg::F32, 1e-4, false),
    (PrecisionArg::F64, 1e-6, false),
    (PrecisionArg::F32, 1e-3, true),
    (PrecisionArg::F64, 1e-6, true),
];

/// Seed of points and charges.
pub const SEED: u64 = 1;

/// The cases that the user wants.
/// # Errors
/// The scale is invalid, or no case is left.
pub fn cases(args: &StudyArgs) -> Result<Vec<Case>> {
    if !(args.scale.is_finite() && args.scale > 0.0) {
        let why = format!("invalid --scale {}: use a factor above 0", args.scale);
        return Err(AppError::new(why));
    }
    let case = |(precision, accuracy, gradient), (distribution, n, ncrit)| Case {
        ncrit,
        device: args.device.of_rank((0, 1), 1),
        input: Input {
            points: None,
            targets: None,
            distribution,
            n: ((n as f64 * args.scale) as usize).max(1),
            seed: SEED,
            kernel: KernelName::Laplace,
            kappa: None,
            k: None,
            mu: None,
            accuracy: Some(accuracy),
            gradient,
            precision,
            order: None,
            threads: Default::default(),
        },
    };
    let wanted: Vec<Case> = (SETTINGS.iter())
        .flat_map(|s| INPUTS.iter().map(move |i| case(*s, *i)))
        .take(args.first.unwrap_or(usize::MAX))
        .skip(args.skip)
        .collect();
    if wanted.is_empty() {
        let all = SETTINGS.len() * INPUTS.len();
        let first = args.first.unwrap_or(all).min(all);
        let why = format!("no case is left of the first {first} without {}", args.skip);
        return Err(AppError::new(why).hint(format!("there are {all} cases")));
    }
    Ok(wanted)
}
