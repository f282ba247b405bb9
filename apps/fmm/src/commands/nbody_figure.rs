//! The figure of energies over time.

use super::drawing::Drawing;
use crate::nbody::Energies;
use greenup_report::chart::{Axis, Chart, Height, Layer, Mark, Panel, Scale, Series, Sign, Unit};
use greenup_report::page::{Answer, Fact};

/// Relative change of the total energy since the start; none if that is zero or not finite.
fn drift(all: &[Energies]) -> Vec<(f64, f64)> {
    let Some(first) = all.first().map(Energies::total) else {
        return Vec::new();
    };
    all.iter()
        .map(|e| (e.t, (e.total() - first) / first.abs()))
        .filter(|p| p.1.is_finite())
        .collect()
}

/// Kinetic, potential and total energy over time, with signs by which bound bodies have them above zero, and the drift
/// of their sum.
pub fn chart(all: &[Energies]) -> Chart {
    type Energy = fn(&Energies) -> f64;
    let energies: [(&str, Energy); 3] = [
        ("kinetic", |e| e.kinetic),
        ("minus potential", |e| -e.potential),
        ("minus total", |e| -e.total()),
    ];
    let (lo, hi) = all
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), e| {
            (a.min(e.t), b.max(e.t))
        });
    let time = || {
        let axis = Axis::new("time", Unit::None, Scale::Linear);
        if lo < hi {
            // The last label stays inside of the drawing.
            axis.over(lo, hi + 0.03 * (hi - lo))
        } else {
            axis
        }
    };
    let mut energy = Panel::new(
        "",
        time(),
        Axis::new("energy", Unit::None, Scale::Linear).from_zero(),
    );
    energy.height = Height::Ratio(0.7);
    for (k, (name, of)) in energies.iter().enumerate() {
        let points = all.iter().map(|e| (e.t, of(e))).collect();
        energy.push(drawn(k, points, &format!("{name} energy")));
    }
    let mut panels = vec![energy];
    let mut notes = Vec::new();
    let drift = drift(all);
    if drift.is_empty() {
        notes.push("Without energy at the start there is no relative drift.".to_owned());
    } else {
        let y = Axis::new(
            "relative drift of the total energy",
            Unit::None,
            Scale::Linear,
        );
        let mut panel = Panel::new("", time(), y.from_zero());
        panel.height = Height::Ratio(0.7);
        panel.push(drawn(2, drift, "drift of the total energy"));
        panels.push(panel);
    }
    Chart {
        title: "energy of the bodies over time (G = 1, total mass 1)".into(),
        series: Series::all(energies.iter().map(|e| e.0), Sign::Line),
        panels,
        notes,
        least_width: 360.0,
        ..Chart::default()
    }
}

/// A line, or a dot where there is one point alone.
fn drawn(series: usize, points: Vec<(f64, f64)>, tip: &str) -> Layer {
    match points[..] {
        [(x, y)] => {
            let mark = Mark {
                x,
                y,
                tip: tip.to_owned(),
                ..Mark::default()
            };
            Layer::points(series, vec![mark], 7.0)
        }
        _ => Layer::line(series, points, tip),
    }
}

/// The page of a simulation.
pub fn drawing(all: &[Energies], bodies: usize) -> Drawing {
    Drawing {
        title: "Gravity between bodies".into(),
        subtitle: format!(
            "{bodies} bodies of equal masses, {} steps",
            all.len().max(1) - 1
        ),
        answer: Answer::new(
            answer(all),
            "The drift holds the errors of the steps and of the forces together; it says nothing of single orbits.",
            "A run with half of `--dt`: leapfrog steps then drift a quarter as much, until the forces' error is what is left.",
        ),
        headline: vec![Fact::new("steps", (all.len().max(1) - 1).to_string())],
        charts: vec![(chart(all), "")],
        footer: "Leapfrog steps; forces and potentials by the fast multipole method.",
        ..Drawing::default()
    }
}

/// How well the energy was kept.
fn answer(all: &[Energies]) -> String {
    let steps = match all.len().saturating_sub(1) {
        0 => return "No step was made.".into(),
        1 => "1 step".to_owned(),
        n => format!("{n} steps"),
    };
    let largest = drift(all).iter().map(|p| p.1.abs()).reduce(f64::max);
    match largest {
        None => "Without energy at the start there is no relative drift.".into(),
        Some(0.0) => format!("The total energy did not drift over {steps}."),
        Some(d) => format!(
            "The total energy drifted by at most {} of its first value over {steps}.",
            figures(d)
        ),
    }
}

fn figures(drift: f64) -> String {
    format!("{drift:.2e}").replace("e-", "e−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energies_fill_the_width_and_texts_are_clear() {
        let at = |i: u32, kinetic: f64, potential: f64| Energies {
            t: 1e-3 * f64::from(i),
            kinetic,
            potential,
        };
        let many: Vec<Energies> = (0..=100)
            .map(|i| at(i, 0.05 + 1e-8 * f64::from(i), -0.3))
            .collect();
        let c = chart(&many);
        assert_eq!(c.panels.len(), 2);
        let wide = |p: &Panel| {
            p.x.range
                .is_some_and(|(a, b)| a == 0.0 && (0.1..0.105).contains(&b))
        };
        assert!(c.panels.iter().all(wide));
        // One state, none, a lone body at rest, and what is not finite.
        let hostile = [
            vec![at(0, 0.1, -0.3)],
            vec![],
            vec![at(0, 0.0, 0.0), at(1, 0.0, 0.0)],
            vec![at(0, f64::NAN, -0.3), at(1, 0.1, f64::INFINITY)],
            vec![at(0, 1e300, -1e-300), at(1, 1e-300, -1e300)],
        ];
        for all in [vec![many], hostile.to_vec()].concat() {
            for width in [300.0, 400.0, 900.0, 1200.0] {
                assert_eq!(chart(&all).faults(width), Vec::<String>::new());
            }
        }
        assert_eq!(chart(&hostile[2]).panels.len(), 1);
    }
}
