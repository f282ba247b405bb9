//! Charts of the model that papers draw: many machines in small panels, throttling, trade-offs, balances.

use greenup_model::cap::Regime;
use greenup_model::tradeoff::{Case, Tradeoff};
use greenup_model::{EnergyRoofline, Machine, MachineError, Op};
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Tag, Unit, What,
};
use greenup_report::si::{si, three};
use serde::Deserialize;

/// What the panels of machines show over intensity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Power over π₀ + Δπ.
    Power,
    /// Flop/s over that of the whole cap.
    Performance,
    /// Flop/J over that of the whole cap.
    Efficiency,
}

/// Points of a line, evenly spaced by ratio.
const SAMPLES: usize = 160;

fn intensities((lo, hi): (f64, f64)) -> impl Iterator<Item = f64> {
    (0..=SAMPLES).map(move |k| lo * (hi / lo).powf(k as f64 / SAMPLES as f64))
}

fn intensity() -> Axis {
    Axis::new("intensity", Unit::plain("flop/B"), Scale::Log2)
}

/// One panel a machine with its usable power divided by each of `ks`; with one `k` the line is coloured by what binds.
///
/// # Errors
/// A machine lacks a cost.
pub fn capped(
    title: &str,
    machines: &[Machine],
    flop: Op,
    ks: &[f64],
    quantity: Quantity,
    range: (f64, f64),
) -> Result<Chart, MachineError> {
    let regimes = ["memory", "power cap", "compute"];
    let mut panels = Vec::new();
    for m in machines {
        let whole = m.roofline(flop, Op::Dram)?;
        let label = match quantity {
            Quantity::Power => "of π₀ + Δπ",
            Quantity::Performance => "performance, of the whole cap",
            Quantity::Efficiency => "efficiency, of the whole cap",
        };
        // What one line shows is in the upper part.
        let from = if ks.len() == 1 { 0.5 } else { 0.0 };
        let y = Axis::new(label, Unit::None, Scale::Linear).over(from, 1.1);
        let title = format!("{}: {}", m.name, si(whole.best_flop_per_joule(), "flop/J"));
        let mut panel = Panel::new(&title, intensity(), y);
        panel.height = Height::Ratio(0.7);
        for (s, k) in ks.iter().enumerate() {
            let r = EnergyRoofline {
                dpi: whole.dpi.map(|d| d / k),
                ..whole
            };
            let value = |i: f64| match quantity {
                Quantity::Power => r.power(i) / whole.max_power(),
                Quantity::Performance => whole.time_per_flop(i) / r.time_per_flop(i),
                Quantity::Efficiency => whole.energy_per_flop(i) / r.energy_per_flop(i),
            };
            if ks.len() > 1 {
                let line = intensities(range).map(|i| (i, value(i))).collect();
                panel.push(Layer::line(s, line, format!("{}: Δπ/{k}", m.name)));
                continue;
            }
            for (s, regime) in [Regime::Memory, Regime::Cap, Regime::Compute]
                .iter()
                .enumerate()
            {
                let line = intensities(range)
                    .map(|i| match r.regime(i) == *regime {
                        true => (i, value(i)),
                        false => (f64::NAN, f64::NAN),
                    })
                    .collect();
                panel.push(Layer::line(s, line, format!("{}: {}", m.name, regimes[s])));
            }
        }
        panels.push(panel);
    }
    let series = match ks.len() {
        1 => (regimes.iter().enumerate())
            .map(|(k, n)| Series::new(*n, Ink::Series(k), Sign::Line))
            .collect(),
        _ => (ks.iter().enumerate())
            .map(|(s, k)| Series::new(format!("Δπ/{k}"), Ink::Series(s), Sign::Line))
            .collect(),
    };
    Ok(Chart {
        title: title.to_owned(),
        series,
        panels,
        least_width: 250.0,
        ..Chart::default()
    })
}

/// Speedup and greenup of doing f times the flops on 1/m of the bytes, for intensities from a quarter of the time balance to
/// the energy balance (thesis, fig. 8).
///
/// # Errors
/// The machine lacks a cost.
pub fn tradeoffs(m: &Machine, flop: Op) -> Result<Chart, MachineError> {
    let r = m.roofline(flop, Op::Dram)?;
    let (lo, hi) = (r.time_balance() / 4.0, r.energy_balance());
    let steps = [1.25, 1.5, 2.0, 3.0, 4.0, 8.0];
    let cases = [Case::Memory, Case::Crossing, Case::Compute];
    let mut marks: [Vec<Mark>; 3] = Default::default();
    for i in (0..=8).map(|k| lo * (hi / lo).powf(f64::from(k) / 8.0)) {
        for (f, m) in steps
            .iter()
            .flat_map(|f| steps.iter().map(move |m| (*f, *m)))
        {
            let g = r.tradeoff(Tradeoff {
                intensity: i,
                extra_work: f,
                less_traffic: m,
            });
            let k = cases.iter().position(|c| *c == g.case).unwrap_or(0);
            marks[k].push(Mark {
                x: g.speedup,
                y: g.greenup,
                interval: None,
                tip: format!("intensity {}, f = {f}, m = {m}", three(i)),
            });
        }
    }
    let mut panel = Panel::new(
        "",
        Axis::new("speedup ΔT", Unit::None, Scale::Log2),
        Axis::new("greenup ΔE", Unit::None, Scale::Log2),
    );
    panel.height = Height::Ratio(0.6);
    for rule in [(Some(1.0), None), (None, Some(1.0))] {
        let (x, y) = rule;
        panel.push(Layer::of(0, What::Rule { x, y, dash: "" }).inked(Ink::Quiet));
    }
    for (k, points) in marks.into_iter().enumerate() {
        panel.push(Layer::points(k, points, 6.0));
    }
    let names = [
        "both memory bound",
        "memory bound before, compute bound after",
        "both compute bound",
    ];
    Ok(Chart {
        title: format!("Work for communication on {}", m.title),
        series: (names.iter().enumerate())
            .map(|(k, n)| Series::new(*n, Ink::Series(k), Sign::Dot))
            .collect(),
        panels: vec![panel],
        ..Chart::default()
    })
}

/// Time balance against energy balance of machines (slide 54); the line is where both are the same.
///
/// # Errors
/// A machine lacks a cost.
pub fn balances(machines: &[Machine], flop: Op) -> Result<Chart, MachineError> {
    let mut panel = Panel::new(
        "",
        Axis::new("time balance Bτ", Unit::plain("flop/B"), Scale::Log2),
        Axis::new("energy balance Bε", Unit::plain("flop/B"), Scale::Log2),
    );
    panel.height = Height::Ratio(0.62);
    let mut at: Vec<(f64, f64)> = Vec::new();
    for m in machines {
        let r = m.roofline(flop, Op::Dram)?;
        let (x, y) = (r.time_balance(), r.energy_balance());
        if !(x > 0.0 && y > 0.0) {
            continue;
        }
        at.push((x, y));
        let tip = format!("{}: Bτ {}, Bε {}", m.name, three(x), three(y));
        let mark = Mark {
            x,
            y,
            interval: None,
            tip,
        };
        panel.push(Layer::points(usize::from(y > x), vec![mark], 9.0));
        panel.tags.push(Tag {
            text: m.name.clone(),
            at: vec![(x, y)],
            ink: Ink::Text,
            bold: false,
        });
    }
    // The part of the line that both axes have.
    let least = |of: fn(&(f64, f64)) -> f64| at.iter().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&(f64, f64)) -> f64| at.iter().map(of).fold(0.0, f64::max);
    let (lo, hi) = (
        least(|p| p.0).max(least(|p| p.1)),
        most(|p| p.0).min(most(|p| p.1)),
    );
    panel.push(Layer::dashed(
        2,
        vec![(lo, lo), (hi, hi)],
        1.3,
        "4 3",
        "Bε = Bτ",
    ));
    Ok(Chart {
        title: "Balances in time and in energy".into(),
        series: vec![
            Series::new("Bε ≤ Bτ", Ink::Series(0), Sign::Dot),
            Series::new("Bε > Bτ: a balance gap", Ink::Series(1), Sign::Dot),
            Series::new("Bε = Bτ", Ink::Quiet, Sign::Dashed),
        ],
        panels: vec![panel],
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::records::machine;

    #[test]
    fn machines_are_throttled_below_their_whole_cap() {
        let all = [machine("gtx-titan").unwrap(), machine("xeon-phi").unwrap()];
        for q in [Quantity::Power, Quantity::Performance, Quantity::Efficiency] {
            let c = capped("t", &all, Op::F32, &[1.0, 8.0], q, (0.25, 128.0)).unwrap();
            assert_eq!((c.panels.len(), c.series.len()), (2, 2));
            for panel in &c.panels {
                let line = |k: usize| match &panel.layers[k].what {
                    What::Line { points, .. } => points.clone(),
                    _ => panic!(),
                };
                assert!(line(0).iter().zip(line(1)).all(|(a, b)| b.1 <= a.1 + 1e-12));
                assert!(line(1).iter().any(|p| p.1 < 0.9));
            }
        }
        let one = capped("t", &all, Op::F32, &[1.0], Quantity::Power, (0.25, 128.0)).unwrap();
        assert_eq!(one.series.len(), 3);
    }

    #[test]
    fn trade_offs_have_all_three_cases_and_balances_both_sides() {
        let fermi = machine("fermi-2010").unwrap();
        let c = tradeoffs(&fermi, Op::F64).unwrap();
        for layer in &c.panels[0].layers[2..] {
            let What::Points { points, .. } = &layer.what else {
                panic!()
            };
            assert!(!points.is_empty());
            assert!(points.iter().all(|p| p.x > 0.0 && p.y > 0.0));
        }
        let c = balances(&[fermi, machine("i7-950").unwrap()], Op::F64).unwrap();
        assert_eq!(c.panels[0].tags.len(), 2);
    }
}
