//! Profiles: fields over the distance from the origin, with the exact solution if one is known.

use super::exact::exact;
use super::fields::{Field, sample};
use crate::engine::State;
use crate::hydro::Hydro;
use crate::output::solution::{Exact, Solution};
use greenup_report::chart::axis::short;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit,
};
use greenup_report::table::Columns;

/// Fields at all quadrature points over the distance from the origin.
pub struct Profile {
    /// Distance, density, pressure, speed and volume of each point, by increasing distance.
    pub rows: Vec<[f64; 5]>,
    /// Time.
    pub t: f64,
    solution: Option<Solution>,
}

/// Samples a state at time `t` at all quadrature points; `e0` is the energy of the Sedov problem.
pub fn profile(h: &Hydro, s: &State, t: f64, e0: f64) -> Profile {
    let e = &h.space.element;
    let all = sample(h, s, &e.positions);
    let mut rows = Vec::new();
    for (z, zone) in all.iter().enumerate() {
        for (q, p) in zone.iter().enumerate() {
            let r = p.x.iter().map(|x| x * x).sum::<f64>().sqrt();
            let speed = p.v.iter().map(|v| v * v).sum::<f64>().sqrt();
            let volume = h.mass[z * e.points() + q] / p.density;
            rows.push([r, p.density, p.pressure, speed, volume]);
        }
    }
    rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
    // In one dimension the distance is x.
    let over_distance =
        |s: &Solution| !s.planar || h.space.dim == 1 && not_negative(&h.space.start);
    Profile {
        rows,
        t,
        solution: exact(h, t, e0).filter(over_distance),
    }
}

fn not_negative(x: &[f64]) -> bool {
    x.iter().all(|x| *x >= 0.0)
}

impl Profile {
    /// Radius of the exact shock; `None` without an exact solution.
    pub fn exact_shock(&self) -> Option<f64> {
        self.solution.as_ref()?.shock
    }

    /// Radius of the computed shock: the outermost radius where the pressure, averaged over spherical shells, is half
    /// of its maximum. `None` if the pressure does not fall below that.
    pub fn shock(&self) -> Option<f64> {
        let last = self.rows.last()?[0];
        let n = 200;
        let mut sums = vec![(0.0, 0.0); n];
        for [r, _, p, _, v] in &self.rows {
            let i = ((r / last * n as f64) as usize).min(n - 1);
            sums[i].0 += p * v;
            sums[i].1 += v;
        }
        let shells: Vec<(f64, f64)> = sums
            .iter()
            .enumerate()
            .filter(|(_, s)| s.1 > 0.0)
            .map(|(i, s)| ((i as f64 + 0.5) * last / n as f64, s.0 / s.1))
            .collect();
        let top = shells.iter().map(|s| s.1).fold(0.0, f64::max);
        let i = shells.iter().rposition(|s| s.1 > 0.5 * top)?;
        let ((r, p), next) = (shells[i], shells.get(i + 1)?);
        Some(r + (next.0 - r) * (p - 0.5 * top) / (p - next.1))
    }

    /// Mean of |ρ − ρ_exact| over the volume; `None` without an exact solution.
    pub fn density_error(&self) -> Option<f64> {
        let f = &self.solution.as_ref()?.fields;
        let (off, all) = self.rows.iter().fold((0.0, 0.0), |(a, b), row| {
            (a + (row[1] - f(row[0]).density).abs() * row[4], b + row[4])
        });
        Some(off / all)
    }

    /// [`Self::density_error`] over the difference of the highest and the lowest exact density.
    pub fn relative_density_error(&self) -> Option<f64> {
        let f = &self.solution.as_ref()?.fields;
        let all = || self.rows.iter().map(|row| f(row[0]).density);
        let range = all().fold(0.0, f64::max) - all().fold(f64::INFINITY, f64::min);
        Some(self.density_error()? / range).filter(|e| e.is_finite())
    }

    /// The profile as CSV, with a header line.
    pub fn csv(&self) -> String {
        let exact = |r| self.solution.as_ref().map(|s| (s.fields)(r));
        let rows = self.rows.iter().map(|row| (row, exact(row[0])));
        Columns::<(&[f64; 5], Option<Exact>)>::new()
            .exact("r", |(row, _)| row[0])
            .exact("density", |(row, _)| row[1])
            .exact("pressure", |(row, _)| row[2])
            .exact("speed", |(row, _)| row[3])
            .and_if(self.solution.is_some(), |all| {
                all.exact("exact_density", |(_, e)| e.map(|e| e.density))
                    .exact("exact_pressure", |(_, e)| e.map(|e| e.pressure))
                    .exact("exact_speed", |(_, e)| e.map(|e| e.speed))
            })
            .csv(rows)
    }

    /// Density, pressure and speed over the distance: points, with the exact solution as a line.
    pub fn chart(&self) -> Chart {
        /// More points would not be told apart.
        const MOST: usize = 3000;
        let step = self.rows.len().div_ceil(MOST).max(1);
        let end = self.rows.last().map_or(1.0, |r| r[0]);
        let line = self
            .solution
            .as_ref()
            .map(|s| s.line(&[0.0; 3], &[end, 0.0, 0.0]));
        let panel = |(field, column): (Field, usize)| {
            let x = Axis::new("distance from the origin", Unit::None, Scale::Linear).from_zero();
            let y = Axis::new(field.name(), Unit::None, Scale::Linear).from_zero();
            let mut panel = Panel::new("", x, y);
            panel.height = Height::Ratio(0.7);
            let marks = (self.rows.iter().step_by(step))
                .map(|r| Mark {
                    x: r[0],
                    y: r[column],
                    ..Mark::default()
                })
                .collect();
            panel.push(Layer::points(0, marks, 3.0));
            if let Some(line) = &line {
                let points = (line.iter())
                    .filter_map(|(s, e)| Some((s * end, e.of(field)?)))
                    .collect();
                panel.push(Layer::dashed(1, points, 1.8, "", ""));
            }
            panel
        };
        Chart {
            title: format!("fields over the distance at t = {}", short(self.t)),
            series: vec![
                Series::new("computed", Ink::Series(0), Sign::Dot),
                Series::new("exact", Ink::Series(1), Sign::Line),
            ],
            panels: [(Field::Density, 1), (Field::Pressure, 2), (Field::Speed, 3)]
                .map(panel)
                .to_vec(),
            least_width: 280.0,
            ..Chart::default()
        }
    }
}
