//! Exact solutions of Sedov's and Noh's problems, over the distance from the origin.

use std::f64::consts::PI;

/// Density, pressure and speed at a distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    pub density: f64,
    pub pressure: f64,
    pub speed: f64,
}

/// Where the shock is, and the solution at any distance.
pub type Solution = (f64, Box<dyn Fn(f64) -> Exact>);

/// The solution of a problem by its name, of a dimension at a time; none where there is none.
pub fn exact(name: &str, dim: usize, t: f64, energy: f64) -> Option<Solution> {
    match name {
        "sedov" if t > 0.0 => Some(sedov(dim, 1.4, energy, t)),
        "noh" if t > 0.0 => Some(noh(dim, 5.0 / 3.0, t)),
        _ => None,
    }
}

/// Cold matter that flows to the origin at speed 1, with density 1 at the start.
fn noh(dim: usize, gamma: f64, t: f64) -> Solution {
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
            }
        } else {
            Exact {
                density: (1.0 + t / r).powi(power - 1),
                pressure: 0.0,
                speed: 1.0,
            }
        }
    };
    (shock, Box::new(f))
}

/// Energy in a point of matter of density 1: Sedov's self-similar solution as Kamm and Timmes write it (LA-UR-07-2849),
/// for uniform density.
fn sedov(dim: usize, g: f64, energy: f64, t: f64) -> Solution {
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
        Exact {
            density: behind.1 * at(2),
            pressure: behind.2 * scale * scale * at(3),
            speed: behind.0 * scale * at(1),
        }
    };
    (shock, Box::new(f))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sedov_has_the_published_shocks() {
        // Kamm and Timmes: with these energies the shock is at these places (γ = 1.4, t = 1).
        for (dim, energy, place) in [
            // Of one half of space there.
            (1, 2.0 * 0.067_318_5, 0.5),
            (2, 0.311_357, 0.75),
            (3, 0.851_072, 1.0),
        ] {
            let (shock, f) = exact("sedov", dim, 1.0, energy).unwrap();
            assert!((shock / place - 1.0).abs() < 3e-4, "{dim}: {shock}");
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
    fn noh_has_its_jump() {
        let (shock, f) = exact("noh", 2, 0.6, 0.0).unwrap();
        assert!((shock - 0.2).abs() < 1e-15);
        assert!((f(0.1).density - 16.0).abs() < 1e-12);
        assert!((f(0.3).density - 3.0).abs() < 1e-12);
    }
}
