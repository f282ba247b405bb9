//! Exact solutions: of the Sedov and Noh problems over the distance from the origin, of shock tubes over x.

use super::fields::Field;
use super::solution::{Exact, Fields, Solution};
use super::tube::tube;
use crate::hydro::Hydro;
use crate::problem::Standard;
use crate::problem::origin::corners_at_origin;
use std::f64::consts::PI;

/// Exact solution of a run at time `t`; `energy` is that of the Sedov problem. `None` if no solution is known.
pub fn exact(h: &Hydro, t: f64, energy: f64) -> Option<Solution> {
    let name = h.problem.standard().map_or("", Standard::name);
    match radial(name, h.space.dim, t, energy) {
        Some((shock, fields)) => radial_holds(h, t, shock).then(|| Solution {
            shock: Some(shock),
            planar: false,
            kinks: vec![shock],
            // The Sedov solution is hottest at its centre, where no gas is left.
            unbounded: (name == "sedov").then_some(Field::Energy),
            fields,
        }),
        None => tube(h, t),
    }
}

/// Whether a radial flow is that of the mesh: its zones meet at the origin, walls there are planes through it, and the shock
/// has reached no other side.
fn radial_holds(h: &Hydro, t: f64, shock: f64) -> bool {
    let space = &h.space;
    let n = space.nodes;
    let size = space.start.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let is_zero = |x: f64| x.abs() <= 1e-9 * size;
    let distance = |node: usize| -> f64 {
        let squares = (0..space.dim).map(|c| space.start[c * n + node].powi(2));
        squares.sum::<f64>().sqrt()
    };
    let flows_in = h.problem.standard() == Some(Standard::Noh);
    let walls = (space.constrained.iter().enumerate())
        .filter(|(_, constrained)| **constrained)
        .all(|(i, _)| is_zero(space.start[i]) || !flows_in && distance(i % n) >= shock);
    // Free sides move to the origin at speed 1.
    let sides = space.start.chunks(n).all(|x| {
        let low = x.iter().copied().fold(f64::INFINITY, f64::min);
        let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let is_far = |end: &f64| is_zero(*end) || end.abs() - t >= shock;
        !flows_in || [low, high].iter().all(is_far)
    });
    walls && sides && space.driven.is_empty() && !corners_at_origin(space).is_empty()
}

/// Radius of the shock, and the solution over the distance.
type Radial = (f64, Fields);

fn radial(name: &str, dim: usize, t: f64, energy: f64) -> Option<Radial> {
    match name {
        "sedov" if t > 0.0 => Some(sedov(dim, 1.4, energy, t)),
        "noh" if t > 0.0 => Some(noh(dim, 5.0 / 3.0, t)),
        _ => None,
    }
}

/// Noh problem: cold gas of initial density 1 that flows to the origin at speed 1.
fn noh(dim: usize, gamma: f64, t: f64) -> Radial {
    let shock = 0.5 * (gamma - 1.0) * t;
    let jump = (gamma + 1.0) / (gamma - 1.0);
    let power = dim as i32;
    let f = move |r: f64| {
        if r < shock {
            let density = jump.powi(power);
            Exact {
                density,
                // The flow before the shock is cold: p = (γ − 1) ρ e with e = ½.
                pressure: 0.5 * (gamma - 1.0) * density,
                speed: 0.0,
                energy: 0.5,
            }
        } else {
            Exact {
                density: (1.0 + t / r).powi(power - 1),
                pressure: 0.0,
                speed: 1.0,
                energy: 0.0,
            }
        }
    };
    (shock, Box::new(f))
}

/// Sedov problem: a point source of energy in gas of density 1. Self-similar solution of Kamm and Timmes
/// (LA-UR-07-2849) for uniform density.
fn sedov(dim: usize, g: f64, energy: f64, t: f64) -> Radial {
    let j = dim as f64;
    let j2 = j + 2.0;
    let (v0, v2) = (2.0 / (j2 * g), 4.0 / (j2 * (g + 1.0)));
    let a0 = 2.0 / j2;
    let a2 = -(g - 1.0) / (2.0 * (g - 1.0) + j);
    let a1 = j2 * g / (2.0 + j * (g - 1.0)) * (2.0 * j * (2.0 - g) / (g * j2 * j2) - a2);
    let a3 = j / (2.0 * (g - 1.0) + j);
    let a4 = a1 * j2 / (2.0 - g);
    let a5 = -2.0 / (2.0 - g);
    let (a, b, c) = (j2 * (g + 1.0) / 4.0, (g + 1.0) / (g - 1.0), j2 * g / 2.0);
    let d = j2 * (g + 1.0) / (j2 * (g + 1.0) - 2.0 * (2.0 + j * (g - 1.0)));
    let e = (2.0 + j * (g - 1.0)) / 2.0;
    // (λ, speed, density, pressure) over those behind the shock, by rising λ.
    let n = 20_000;
    let table: Vec<[f64; 4]> = (1..=n)
        .map(|i| {
            // Close to v0, where λ is small, steps are small.
            let v = v0 + (v2 - v0) * (i as f64 / n as f64).powi(6);
            let (x1, x2) = (a * v, b * (c * v - 1.0));
            let (x3, x4) = (d * (1.0 - e * v), b * (1.0 - c * v / g));
            let lambda = x1.powf(-a0) * x2.powf(-a2) * x3.powf(-a1);
            [
                lambda,
                x1 * lambda,
                x2.powf(a3) * x3.powf(a4) * x4.powf(a5),
                x1.powf(a0 * j) * x3.powf(a4 - 2.0 * a1) * x4.powf(1.0 + a5),
            ]
        })
        .collect();
    // E = ρ₀ (r/t)² r^j k, with k from the energies inside.
    let surface = [2.0, 2.0 * PI, 4.0 * PI][dim - 1];
    let speed = 2.0 / j2;
    let behind = (2.0 * speed / (g + 1.0), b, 2.0 * speed * speed / (g + 1.0));
    let density_of = |row: &[f64; 4]| {
        let [l, f, d, p] = *row;
        let moving = 0.5 * behind.1 * d * (behind.0 * f).powi(2);
        (moving + behind.2 * p / (g - 1.0)) * l.powf(j - 1.0)
    };
    let k: f64 = surface
        * table
            .windows(2)
            .map(|w| 0.5 * (density_of(&w[0]) + density_of(&w[1])) * (w[1][0] - w[0][0]))
            .sum::<f64>();
    let shock = (energy * t * t / k).powf(1.0 / j2);
    let scale = shock / t;
    let f = move |r: f64| {
        let l = r / shock;
        if l > 1.0 {
            return Exact {
                density: 1.0,
                pressure: 0.0,
                speed: 0.0,
                energy: 0.0,
            };
        }
        let i = table.partition_point(|row| row[0] < l).min(table.len() - 1);
        let at = |m: usize| -> f64 {
            if i == 0 {
                return table[0][m];
            }
            let (low, high) = (&table[i - 1], &table[i]);
            low[m] + (high[m] - low[m]) * (l - low[0]) / (high[0] - low[0]).max(1e-300)
        };
        let (density, pressure) = (behind.1 * at(2), behind.2 * scale * scale * at(3));
        Exact {
            density,
            pressure,
            speed: behind.0 * scale * at(1),
            energy: pressure / ((g - 1.0) * density),
        }
    };
    (shock, Box::new(f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sedov_has_the_published_shocks() {
        // Kamm and Timmes: with these energies the shock is at these positions (γ = 1.4, t = 1).
        for (dim, energy, position) in [
            // Of one half of space there.
            (1, 2.0 * 0.067_318_5, 0.5),
            (2, 0.311_357, 0.75),
            (3, 0.851_072, 1.0),
        ] {
            let (shock, f) = radial("sedov", dim, 1.0, energy).unwrap();
            assert!((shock / position - 1.0).abs() < 3e-4, "{dim}: {shock}");
            assert!((f(0.999_999 * shock).density - 6.0).abs() < 1e-3);
            // All the mass is still there.
            let n = 20_000;
            let surface = [2.0, 2.0 * PI, 4.0 * PI][dim - 1];
            let mass: f64 = (0..n)
                .map(|i| {
                    let r = shock * (i as f64 + 0.5) / n as f64;
                    f(r).density * surface * r.powi(dim as i32 - 1) * shock / n as f64
                })
                .sum();
            let want = surface * shock.powi(dim as i32) / dim as f64;
            assert!((mass / want - 1.0).abs() < 1e-3, "{dim}: {mass} {want}");
        }
    }

    #[test]
    fn radial_solutions_are_given_only_where_they_hold() {
        use crate::mesh::Mesh;
        use crate::problem::initial_state::Orders;
        let o = Orders {
            kinematic: 1,
            energy: 0,
            ..Orders::default()
        };
        let faces = |from: f64, to: f64| -> Vec<f64> {
            (0..=4)
                .map(|i| from + 0.25 * f64::from(i) * (to - from))
                .collect()
        };
        let unit = || faces(0.0, 1.0);
        for (standard, sides, t, want) in [
            (Standard::Noh, vec![unit(), unit()], 0.6, true),
            (
                Standard::Noh,
                vec![faces(-1.0, 1.0), faces(-1.0, 1.0)],
                0.6,
                true,
            ),
            (Standard::Noh, vec![faces(-1.0, 1.0), unit()], 0.6, true),
            (Standard::Noh, vec![unit()], 0.6, true),
            // The shock at 0.267 meets the free sides at 0.2.
            (Standard::Noh, vec![unit(), unit()], 0.8, false),
            (
                Standard::Noh,
                vec![faces(0.05, 1.05), faces(0.05, 1.05)],
                0.2,
                false,
            ),
            (Standard::Noh, vec![unit(), faces(0.05, 1.05)], 0.2, false),
            (Standard::Noh, vec![faces(1.0, 2.0), unit()], 0.2, false),
            (Standard::Sedov, vec![unit(), unit()], 0.6, true),
            (Standard::Sedov, vec![faces(-1.0, 1.0), unit()], 0.6, true),
            (
                Standard::Sedov,
                vec![faces(-1.0, 1.0), faces(-1.0, 1.0)],
                0.6,
                true,
            ),
            (Standard::Sedov, vec![unit(), unit(), unit()], 0.6, true),
            // The shock has reached a wall.
            (Standard::Sedov, vec![unit(), unit()], 1.2, false),
            (
                Standard::Sedov,
                vec![faces(-0.25, 0.75), unit()],
                0.6,
                false,
            ),
        ] {
            let mesh = Mesh::of_box(&sides);
            let (h, _) = Hydro::new(&mesh, standard.into(), &o, 1.0).unwrap();
            let found = exact(&h, t, 1.0).is_some();
            assert_eq!(found, want, "{standard:?} {sides:?} {t}");
        }
    }

    #[test]
    fn noh_has_its_jump() {
        let (shock, f) = radial("noh", 2, 0.6, 0.0).unwrap();
        assert!((shock - 0.2).abs() < 1e-15);
        assert!((f(0.1).density - 16.0).abs() < 1e-12);
        assert!((f(0.3).density - 3.0).abs() < 1e-12);
    }
}
