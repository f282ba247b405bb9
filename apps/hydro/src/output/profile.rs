//! Fields over the distance from the origin, beside the exact solution where there is one.

use super::exact::{Solution, exact};
use super::fields::sample;
use crate::engine::State;
use crate::hydro::Hydro;
use crate::problem::Standard;
use greenup_report::axis::{Area, Linear, frame};
use greenup_report::si::three;
use greenup_report::svg::{Anchor, FAINT, QUIET, Svg, colour};
use std::fmt::Write as _;

/// Points by rising distance: (distance, density, pressure, speed, volume that it stands for).
pub struct Profile {
    pub rows: Vec<[f64; 5]>,
    pub t: f64,
    solution: Option<Solution>,
}

/// Samples all quadrature points.
pub fn profile(h: &Hydro, s: &State, t: f64, e0: f64) -> Profile {
    let e = &h.space.element;
    let all = sample(h, s, &e.places);
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
    let name = h.problem.standard().map_or("", Standard::name);
    Profile {
        rows,
        t,
        solution: exact(name, h.space.dim, t, e0),
    }
}

impl Profile {
    /// Where the exact shock is.
    pub fn exact_shock(&self) -> Option<f64> {
        self.solution.as_ref().map(|s| s.0)
    }

    /// Where the computed shock is: half-way up the outermost steep rise of the pressure, as averages over shells say.
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

    /// ∫ |ρ − exact| over the volume, over the volume.
    pub fn density_error(&self) -> Option<f64> {
        let (_, f) = self.solution.as_ref()?;
        let (off, all) = self.rows.iter().fold((0.0, 0.0), |(a, b), row| {
            (a + (row[1] - f(row[0]).density).abs() * row[4], b + row[4])
        });
        Some(off / all)
    }

    pub fn csv(&self) -> String {
        let mut out = String::from("r,density,pressure,speed");
        if self.solution.is_some() {
            out.push_str(",exact_density,exact_pressure,exact_speed");
        }
        out.push('\n');
        for [r, d, p, v, _] in &self.rows {
            let _ = write!(out, "{r:e},{d:e},{p:e},{v:e}");
            if let Some((_, f)) = &self.solution {
                let e = f(*r);
                let _ = write!(out, ",{:e},{:e},{:e}", e.density, e.pressure, e.speed);
            }
            out.push('\n');
        }
        out
    }

    /// Densities over distances, with the exact ones as a line.
    pub fn svg(&self) -> String {
        let area = Area {
            left: 70.0,
            top: 40.0,
            width: 620.0,
            height: 380.0,
        };
        let mut svg = Svg::new();
        frame(&mut svg, area, ("distance from the origin", "density"));
        svg.text(
            (area.left, 24.0),
            Anchor::Start,
            "font-size=\"14\" font-weight=\"bold\"",
            &format!("density at t = {}", three(self.t)),
        );
        let x = Linear::around([0.0].into_iter().chain(self.rows.iter().map(|r| r[0])));
        let y = Linear::around([0.0].into_iter().chain(self.rows.iter().map(|r| r[1])));
        let at = |r: f64, d: f64| {
            (
                area.left + area.width * x.share(r),
                area.bottom() - area.height * y.share(d),
            )
        };
        let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
        for v in x.ticks() {
            let p = at(v, 0.0).0;
            svg.line(
                (p, area.top),
                (p, area.bottom()),
                &format!("stroke=\"{FAINT}\""),
            );
            svg.text((p, area.bottom() + 15.0), Anchor::Middle, &small, &three(v));
        }
        for v in y.ticks() {
            let p = at(0.0, v).1;
            svg.line(
                (area.left, p),
                (area.right(), p),
                &format!("stroke=\"{FAINT}\""),
            );
            svg.text((area.left - 6.0, p + 4.0), Anchor::End, &small, &three(v));
        }
        // At most a few thousand points.
        let step = self.rows.len().div_ceil(4000).max(1);
        for row in self.rows.iter().step_by(step) {
            let (px, py) = at(row[0], row[1]);
            svg.element(
                "circle",
                &format!(
                    "cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"1.4\" fill=\"{}\" fill-opacity=\"0.5\"",
                    colour(0)
                ),
            );
        }
        if let Some((shock, f)) = &self.solution {
            let end = self.rows.last().map_or(1.0, |r| r[0]);
            let mut places: Vec<f64> = (0..800)
                .map(|i| end * (f64::from(i) + 0.5) / 800.0)
                .collect();
            places.extend([shock * 0.999_999, shock * 1.000_001]);
            places.sort_by(f64::total_cmp);
            let line: Vec<(f64, f64)> = places.iter().map(|r| at(*r, f(*r).density)).collect();
            svg.polyline(
                &line,
                &format!("stroke=\"{}\" stroke-width=\"1.6\"", colour(1)),
            );
            svg.text(
                (area.right() - 8.0, area.top + 18.0),
                Anchor::End,
                &format!("font-size=\"12\" fill=\"{}\"", colour(1)),
                "exact",
            );
        }
        svg.document(
            area.right() + 24.0,
            area.bottom() + 48.0,
            "density over distance",
        )
    }
}
