//! Generated sweeps: landscapes that mislead a search, with isolated optima, each from a seed.

use crate::sweep::{Failure, Outcome, Sweep, SweepFacts, Trial};
use greenup_space::Value;
use std::str::FromStr;

/// A kind of landscape. In all but the last two the best are four configs that differ in one parameter, far from
/// everything that looks good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// All other configs are alike.
    Flat,
    /// All other configs are alike, but for the neighbours of the four.
    Rim,
    /// A smooth basin leads elsewhere.
    Decoy,
    /// The code path of the four is worse for nearly all sizes.
    Paths,
    /// Times jump where sizes divide each other.
    Divisors,
    /// Each parameter acts by the values of two others, at random.
    Rugged,
    /// A smooth basin and configs that fail.
    Failing,
}

impl Family {
    /// All of them, with their names.
    pub const ALL: [(&str, Self); 7] = [
        ("flat", Self::Flat),
        ("rim", Self::Rim),
        ("decoy", Self::Decoy),
        ("paths", Self::Paths),
        ("divisors", Self::Divisors),
        ("rugged", Self::Rugged),
        ("failing", Self::Failing),
    ];
}

/// A family and a seed, as `decoy:3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// The kind of landscape.
    pub family: Family,
    /// Which of them.
    pub seed: u64,
}

/// Not the name of a generated sweep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid generated sweep `{0}`: use FAMILY:SEED, e.g. decoy:3; families: flat, rim, decoy, paths, divisors, rugged, failing"
)]
pub struct SyntheticError(String);

impl FromStr for Synthetic {
    type Err = SyntheticError;

    fn from_str(text: &str) -> Result<Self, SyntheticError> {
        let fail = || SyntheticError(text.to_owned());
        let (name, seed) = text.split_once(':').ok_or_else(fail)?;
        let family = Family::ALL.iter().find(|f| f.0 == name).ok_or_else(fail)?.1;
        let seed = seed.parse().map_err(|_| fail())?;
        Ok(Self { family, seed })
    }
}

/// Parameters and their values.
const PARAMETERS: [(&str, &[i64]); 7] = [
    ("block_x", &[16, 32, 64, 128]),
    ("block_y", &[1, 2, 4, 8]),
    ("tile", &[1, 2, 4]),
    ("unroll", &[1, 2, 3, 4]),
    ("path", &[0, 1]),
    ("padding", &[0, 1]),
    ("vector", &[1, 2]),
];

/// Threads of a block at most.
const THREADS: i64 = 512;
/// Time of an ordinary config, s.
const TIME: f64 = 1e-3;
/// Relative noise between configs.
const NOISE: f64 = 0.02;
/// Depth of the four best.
const BEST: [f64; 4] = [0.60, 0.62, 0.64, 0.66];

type Point = [usize; PARAMETERS.len()];

fn number(p: &Point, k: usize) -> f64 {
    PARAMETERS[k].1[p[k]] as f64
}

/// All valid points.
fn points() -> Vec<Point> {
    let count: usize = PARAMETERS.iter().map(|p| p.1.len()).product();
    (0..count)
        .map(|mut i| {
            PARAMETERS.map(|(_, values)| {
                let own = i % values.len();
                i /= values.len();
                own
            })
        })
        .filter(|p| {
            let threads = (number(p, 0) * number(p, 1)) as i64;
            (32..=THREADS).contains(&threads)
        })
        .collect()
}

/// Position of each value, 0 … 1.
fn place(p: &Point) -> [f64; PARAMETERS.len()] {
    let mut out = [0.0; PARAMETERS.len()];
    for (k, o) in out.iter_mut().enumerate() {
        *o = p[k] as f64 / (PARAMETERS[k].1.len() - 1) as f64;
    }
    out
}

/// A smooth basin around a point: 0.8 there, 2 far away.
fn basin(p: &Point, centre: &Point) -> f64 {
    let d: f64 = (place(p).iter().zip(place(centre)))
        .map(|(a, b)| (a - b).powi(2))
        .sum();
    0.8 + 1.2 * d / (1.0 + d)
}

/// How many parameters differ.
fn apart(a: &Point, b: &Point) -> usize {
    a.iter().zip(b).filter(|(x, y)| x != y).count()
}

/// Generates a sweep: the same for the same seed.
pub fn sweep(of: Synthetic) -> Sweep {
    let mut rng = fastrand::Rng::with_seed(of.seed ^ 0x5eed_0000 ^ ((of.family as u64) << 32));
    let all = points();
    let pick = |rng: &mut fastrand::Rng| all[rng.usize(..all.len())];
    // The centre of the basin, and four points of one unrolled loop.
    let centre = pick(&mut rng);
    let needle = loop {
        let p = pick(&mut rng);
        if apart(&p, &centre) >= 5 {
            break p;
        }
    };
    let good_path = centre[4];
    let weights: Vec<f64> = (0..64 * PARAMETERS.len()).map(|_| rng.f64()).collect();
    let seed = rng.usize(..64);
    let mut costs: Vec<Option<f64>> = Vec::with_capacity(all.len());
    for p in &all {
        let noise = 1.0 + NOISE * (rng.f64() + rng.f64() - 1.0);
        let cost = match of.family {
            Family::Flat | Family::Rim => 1.0,
            Family::Decoy => basin(p, &centre),
            Family::Paths if p[4] == good_path => basin(p, &centre),
            Family::Paths => 1.35 + 0.3 * basin(p, &centre),
            Family::Divisors => {
                let n = |k| number(p, k) as i64;
                let jump = |yes: bool, by: f64| if yes { 1.0 } else { by };
                basin(p, &centre)
                    * jump((n(0) * n(1)) % (64 * n(6)) == 0, 1.3)
                    * jump((n(1) * n(2)) % n(3) == 0, 1.5)
                    * jump(n(5) == 1 || n(0) >= 32, 1.4)
            }
            Family::Rugged => {
                let sum: f64 = (0..PARAMETERS.len())
                    .map(|k| {
                        let m = PARAMETERS.len();
                        let key = p[k] + 5 * p[(k + 1) % m] + 25 * p[(k + 3) % m];
                        weights[(key * 37 + seed + 64 * k) % weights.len()]
                    })
                    .sum();
                0.6 + 0.35 * sum
            }
            Family::Failing => basin(p, &centre),
        };
        costs.push(Some(cost * noise));
    }
    let isolated = !matches!(of.family, Family::Rugged | Family::Failing);
    for (p, cost) in all.iter().zip(&mut costs) {
        let mut like = needle;
        like[3] = p[3];
        let own = apart(p, &like);
        if isolated && own == 0 {
            *cost = Some(BEST[(p[3] + needle[3]) % BEST.len()]);
        } else if of.family == Family::Rim && own == 1 {
            *cost = cost.map(|c| c * 0.9);
        } else if of.family == Family::Failing && rng.f64() < 0.3 + 0.4 * place(p)[3] {
            *cost = None;
        }
    }
    let name = Family::ALL.iter().find(|f| f.1 == of.family);
    let name = name.map_or("", |f| f.0);
    Sweep {
        facts: SweepFacts {
            name: format!("{name}:{}", of.seed),
            device: "generated".to_owned(),
            parameters: PARAMETERS.map(|p| p.0.to_owned()).to_vec(),
            ..SweepFacts::default()
        },
        trials: (all.iter().zip(costs))
            .map(|(p, cost)| trial(p, cost))
            .collect(),
        ..Sweep::default()
    }
}

fn trial(p: &Point, cost: Option<f64>) -> Trial {
    let config = (0..PARAMETERS.len()).map(|k| Value::Int(PARAMETERS[k].1[p[k]]));
    let outcome = match cost {
        Some(c) => Outcome::Measured {
            times_s: vec![c * TIME],
            time_s: c * TIME,
            energy_j: None,
            time_error: None,
        },
        None => Outcome::failed(Failure::Launch, "generated".to_owned()),
    };
    Trial::of(config.collect(), outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::Points as _;

    #[test]
    fn the_four_best_are_neighbours_and_their_seed_decides() {
        for (name, family) in Family::ALL {
            let of: Synthetic = format!("{name}:3").parse().unwrap();
            assert_eq!(of.family, family);
            let s = sweep(of);
            let times = |s: &Sweep| -> Vec<Option<f64>> {
                s.trials
                    .iter()
                    .map(|t| t.cost().map(|c| c.time_s))
                    .collect()
            };
            assert_eq!(times(&s), times(&sweep(of)));
            assert_ne!(times(&s), times(&sweep(Synthetic { seed: 4, ..of })));
            let table = s.table();
            let mut order: Vec<u64> = (0..table.len())
                .filter(|&p| s.trials[p as usize].cost().is_some())
                .collect();
            let time = |p: u64| s.trials[p as usize].cost().unwrap().time_s;
            order.sort_by(|&a, &b| time(a).total_cmp(&time(b)));
            if !matches!(family, Family::Rugged | Family::Failing) {
                let near = table.neighbours(order[0]);
                assert!(order[1..4].iter().all(|p| near.contains(p)), "{name}");
                assert!(time(order[4]) > 1.05 * time(order[3]), "{name}");
            }
        }
        for bad in ["decoy", "decoy:x", "hill:1"] {
            assert!(bad.parse::<Synthetic>().is_err(), "{bad}");
        }
    }
}
