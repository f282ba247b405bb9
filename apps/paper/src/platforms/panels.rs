//! One panel a machine over intensity: what limits it, less usable power, and measured dots where there are records.

use super::{Measured, machine_of};
use crate::{PaperError, Records};
use greenup_model::cap::Regime;
use greenup_model::{EnergyRoofline, Machine, Op};
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit,
};
use greenup_report::roofline_parts::{Line, Point};
use greenup_report::si::{si, three};
use serde::Deserialize;

/// What the panels show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Power over π₀ + Δπ.
    Power,
    /// Flop/s over the peak; with several caps over that of the whole cap.
    Performance,
    /// Flop/J over the best; with several caps over that of the whole cap.
    Efficiency,
}

/// Points of a line, evenly spaced by ratio.
const SAMPLES: usize = 160;

const REGIMES: [(Regime, &str); 3] = [
    (Regime::Memory, "memory"),
    (Regime::Cap, "power cap"),
    (Regime::Compute, "compute"),
];

fn intensities((lo, hi): (f64, f64)) -> impl Iterator<Item = f64> {
    (0..=SAMPLES).map(move |k| lo * (hi / lo).powf(k as f64 / SAMPLES as f64))
}

/// The panels of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panels {
    /// Machines of the paper, one panel each.
    pub machines: Vec<String>,
    /// Their flop class.
    pub flop: Op,
    /// Divisors of the usable power. With one, the line is coloured by what binds.
    pub k: Vec<f64>,
    /// What is shown.
    pub quantity: Quantity,
    /// From and to, flop/B.
    pub intensity: (f64, f64),
    /// Devices with records, one panel each after the machines.
    #[serde(default)]
    pub measured: Vec<Measured>,
}

/// One panel's contents.
struct Shown {
    name: String,
    roofline: EnergyRoofline,
    has_energy: bool,
    dots: Vec<Point>,
}

impl Shown {
    fn new(name: &str, m: &Machine, flop: Op, dots: Vec<Point>) -> Result<Self, PaperError> {
        let line = Line::of(m, flop)?;
        Ok(Self {
            name: name.to_owned(),
            roofline: line.roofline,
            has_energy: line.has_energy,
            dots,
        })
    }
}

impl Panels {
    /// The chart.
    ///
    /// # Errors
    /// A machine or a record is missing, or lacks a cost.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let title = match (self.quantity, self.k.len()) {
            (Quantity::Power, 1) => "Power over intensity",
            (Quantity::Performance, 1) => "Performance over intensity",
            (Quantity::Efficiency, 1) => "Efficiency over intensity",
            (Quantity::Power, _) => "Power with less usable power",
            (Quantity::Performance, _) => "Performance with less usable power",
            (Quantity::Efficiency, _) => "Efficiency with less usable power",
        };
        let mut shown = Vec::new();
        for name in &self.machines {
            let m = machine_of(records, name)?;
            let short = m.title.split(" (").next().unwrap_or(&m.title);
            shown.push(Shown::new(short, &m, self.flop, Vec::new())?);
        }
        for d in &self.measured {
            let m = machine_of(records, &d.machine)?;
            shown.push(Shown::new(&d.name, &m, d.flop, d.points(records)?)?);
        }
        let energy = self.quantity != Quantity::Performance;
        shown.retain(|s| s.has_energy || !energy);
        let mut series: Vec<Series> = match self.k.len() {
            1 => Series::all(REGIMES.map(|r| r.1), Sign::Line),
            _ => (self.k.iter().enumerate())
                .map(|(s, k)| Series::new(format!("Δπ/{k}"), Ink::Series(s), Sign::Line))
                .collect(),
        };
        let dots = series.len();
        series.push(Series::new("measured", Ink::Text, Sign::Dot));
        let what = match (self.quantity, self.k.len()) {
            (Quantity::Power, _) => "power over π₀ + Δπ",
            (Quantity::Performance, 1) => "flop/s over the peak",
            (Quantity::Efficiency, 1) => "flop/J over the best",
            (Quantity::Performance, _) => "flop/s over that of the whole Δπ",
            (Quantity::Efficiency, _) => "flop/J over that of the whole Δπ",
        };
        Ok(Chart {
            title: title.to_owned(),
            series,
            panels: shown.iter().map(|s| self.panel(s, dots)).collect(),
            notes: vec![format!(
                "Vertical: {what}. Below the names: rates of flops and memory, constant + usable power."
            )],
            least_width: 250.0,
            ..Chart::default()
        })
    }

    fn panel(&self, s: &Shown, dots: usize) -> Panel {
        let whole = s.roofline;
        let (one, name) = (self.k.len() == 1, &s.name);
        let rates = format!(
            "{}, {}",
            si(1.0 / whole.tau_flop, "flop/s"),
            si(1.0 / whole.tau_mem, "B/s")
        );
        let power = match whole.dpi {
            Some(dpi) => format!("; {} + {}", si(whole.pi0, "W"), si(dpi, "W")),
            None => String::new(),
        };
        let title = if s.has_energy {
            format!("{name}: {}", si(whole.best_flop_per_joule(), "flop/J"))
        } else {
            name.clone()
        };
        let label = format!("{rates}{power}");
        let y = match (self.quantity, one) {
            // What one line shows is in the upper part.
            (Quantity::Power, true) => Axis::new(&label, Unit::None, Scale::Linear).over(0.5, 1.15),
            (_, true) => Axis::new(&label, Unit::None, Scale::Log2),
            _ => Axis::new(&label, Unit::None, Scale::Linear).over(0.0, 1.1),
        };
        let (lo, hi) = self.intensity;
        let x = Axis::new("intensity", Unit::plain("flop/B"), Scale::Log2).over(lo, hi);
        let mut panel = Panel::new(&title, x, y);
        panel.height = Height::Ratio(0.7);
        for (k, divisor) in self.k.iter().enumerate() {
            let r = EnergyRoofline {
                dpi: whole.dpi.map(|d| d / divisor),
                ..whole
            };
            let value = |i: f64| match (self.quantity, one) {
                (Quantity::Power, _) => r.power(i) / whole.max_power(),
                (Quantity::Performance, true) => r.speed(i),
                (Quantity::Efficiency, true) => r.efficiency(i),
                (Quantity::Performance, _) => whole.time_per_flop(i) / r.time_per_flop(i),
                (Quantity::Efficiency, _) => whole.energy_per_flop(i) / r.energy_per_flop(i),
            };
            if !one {
                let line = intensities(self.intensity).map(|i| (i, value(i))).collect();
                panel.push(Layer::line(k, line, format!("{name}: Δπ/{divisor}")));
                continue;
            }
            for (k, (regime, what)) in REGIMES.iter().enumerate() {
                let line = intensities(self.intensity)
                    .map(|i| {
                        if r.regime(i) == *regime {
                            (i, value(i))
                        } else {
                            (f64::NAN, f64::NAN)
                        }
                    })
                    .collect();
                panel.push(Layer::line(k, line, format!("{name}: {what}")));
            }
        }
        let marks = s.dots.iter().filter_map(|p| {
            let y = match self.quantity {
                Quantity::Power => p.power_w?.value / whole.max_power(),
                Quantity::Performance => p.flops_per_s.value * whole.tau_flop,
                Quantity::Efficiency => p.flops_per_j?.value / whole.best_flop_per_joule(),
            };
            (lo..=hi).contains(&p.intensity).then(|| Mark {
                x: p.intensity,
                y,
                interval: None,
                tip: format!("{name}, {}: {}", p.name, three(y)),
            })
        });
        let marks: Vec<Mark> = marks.collect();
        if one && !marks.is_empty() {
            panel.push(Layer::points(dots, marks, 6.0));
        }
        panel
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_report::chart::What;

    fn records() -> Records {
        Records::new(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
    }

    #[test]
    fn machines_are_throttled_below_their_whole_cap() {
        let machines = ["gtx-titan".to_owned(), "xeon-phi".to_owned()];
        let of = |quantity, k: &[f64]| {
            let panels = Panels {
                machines: machines.to_vec(),
                flop: Op::F32,
                k: k.to_vec(),
                quantity,
                intensity: (0.25, 128.0),
                measured: vec![],
            };
            panels.chart(&records()).unwrap()
        };
        for q in [Quantity::Power, Quantity::Performance, Quantity::Efficiency] {
            let c = of(q, &[1.0, 8.0]);
            assert_eq!(c.panels.len(), 2);
            for panel in &c.panels {
                let line = |k: usize| match &panel.layers[k].what {
                    What::Line { points, .. } => points.clone(),
                    _ => panic!(),
                };
                assert!(line(0).iter().zip(line(1)).all(|(a, b)| b.1 <= a.1 + 1e-12));
                assert!(line(1).iter().any(|p| p.1 < 0.9));
            }
            assert_eq!(of(q, &[1.0]).panels[0].layers.len(), 3);
        }
    }

    #[test]
    fn measured_devices_have_dots_near_their_line() {
        let measured = [Measured {
            machine: "docs/results/data/h200/board_2.toml".into(),
            name: "board 2".into(),
            flop: Op::F32,
            record: "docs/results/data/h200/microbenchmarks_board_2.csv".into(),
        }];
        let panels = Panels {
            machines: vec![],
            flop: Op::F32,
            k: vec![1.0],
            quantity: Quantity::Performance,
            intensity: (0.125, 256.0),
            measured: measured.to_vec(),
        };
        let c = panels.chart(&records()).unwrap();
        let Some(What::Points { points, .. }) = c.panels[0].layers.last().map(|l| &l.what) else {
            panic!()
        };
        assert!(points.len() >= 7 && points.iter().all(|p| p.y > 0.0 && p.y < 1.001));
    }
}
