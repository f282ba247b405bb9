//! Work for communication (thesis, section 3.5): speedup and greenup as points with the bounds of each case, and the regions of
//! f and m that save time, energy, both or neither.

use crate::PaperError;
use crate::records::machine;
use greenup_model::tradeoff::{Case, Gain, Tradeoff};
use greenup_model::{EnergyRoofline, Machine, Op};
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::si::three;
use serde::Deserialize;

/// A figure of trade-offs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The machine.
    pub machine: String,
    /// The flop class.
    pub flop: Op,
    /// Intensities over the time balance of regions of f and m, one panel each; points of all cases without any.
    #[serde(default)]
    pub regions: Vec<f64>,
}

impl Bounds {
    /// The chart.
    ///
    /// # Errors
    /// The machine is missing or lacks a cost.
    pub fn chart(&self) -> Result<Chart, PaperError> {
        let m = machine(&self.machine)?;
        if self.regions.is_empty() {
            points(&m, self.flop)
        } else {
            regions(&m, self.flop, &self.regions)
        }
    }
}

const CASES: [(Case, &str); 3] = [
    (Case::Memory, "both memory bound"),
    (Case::Crossing, "memory bound before, compute bound after"),
    (Case::Compute, "both compute bound"),
];

/// Values of f and of m of the points.
const STEPS: [f64; 6] = [1.25, 1.5, 2.0, 3.0, 4.0, 8.0];

/// A trade-off that was computed.
pub struct Computed {
    /// Position of its case.
    pub case: usize,
    /// What it gains.
    pub gain: Gain,
    /// I, f and m.
    pub at: (f64, f64, f64),
}

/// Trade-offs for intensities from a quarter of the time balance to the energy balance, without constant power as in the
/// section.
pub fn computed(r: &EnergyRoofline) -> Vec<Computed> {
    let (lo, hi) = (r.time_balance() / 4.0, r.energy_balance());
    let mut all = Vec::new();
    for i in (0..=8).map(|k| lo * (hi / lo).powf(f64::from(k) / 8.0)) {
        for (f, m) in (STEPS.iter()).flat_map(|f| STEPS.iter().map(move |m| (*f, *m))) {
            let gain = r.tradeoff(Tradeoff {
                intensity: i,
                extra_work: f,
                less_traffic: m,
            });
            let case = CASES.iter().position(|(c, _)| *c == gain.case);
            all.push(Computed {
                case: case.unwrap_or(0),
                gain,
                at: (i, f, m),
            });
        }
    }
    all
}

/// Least and largest of some values.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(lo, hi), v| {
        (f64::min(lo, v), f64::max(hi, v))
    })
}

/// A panel a case: its points, and lines at the least lower and the largest upper bound of speedup and greenup over all its
/// points. The speedup has bounds by its case: m, (1/f) Bτ/I and 1/f.
///
/// # Errors
/// The machine lacks a cost.
pub fn points(m: &Machine, flop: Op) -> Result<Chart, PaperError> {
    let r = EnergyRoofline {
        pi0: 0.0,
        dpi: None,
        ..m.roofline(flop, Op::Dram)?
    };
    let all = computed(&r);
    let (x, y) = (
        range(all.iter().map(|c| c.gain.speedup)),
        range(all.iter().flat_map(|c| {
            let (lo, hi) = c.gain.greenup_bounds;
            [lo, hi, c.gain.greenup]
        })),
    );
    let panels = CASES.iter().enumerate().map(|(k, (_, name))| {
        let own = || all.iter().filter(move |c| c.case == k);
        let mut panel = Panel::new(
            name,
            Axis::new("speedup ΔT", Unit::None, Scale::Log2).over(x.0 / 1.1, x.1 * 1.1),
            Axis::new("greenup ΔE", Unit::None, Scale::Log2).over(y.0 / 1.1, y.1 * 1.1),
        );
        panel.height = Height::Ratio(1.0);
        let rule = |x, y, dash| What::Rule { x, y, dash };
        panel.push(Layer::of(k, rule(Some(1.0), None, "")).inked(Ink::Quiet));
        panel.push(Layer::of(k, rule(None, Some(1.0), "")).inked(Ink::Quiet));
        let bounds = (
            range(own().map(|c| c.gain.speedup)),
            range(own().flat_map(|c| [c.gain.greenup_bounds.0, c.gain.greenup_bounds.1])),
        );
        for v in [bounds.0.0, bounds.0.1] {
            panel.push(Layer::of(3, rule(Some(v), None, "5 3")));
        }
        for v in [bounds.1.0, bounds.1.1] {
            panel.push(Layer::of(3, rule(None, Some(v), "5 3")));
        }
        let marks = own().map(|c| {
            let (i, f, m) = c.at;
            Mark {
                x: c.gain.speedup,
                y: c.gain.greenup,
                interval: None,
                tip: format!("intensity {}, f = {f}, m = {m}", three(i)),
            }
        });
        panel.push(Layer::points(k, marks.collect(), 5.0));
        panel
    });
    Ok(Chart {
        title: format!("Work for communication on {}", m.title),
        panels: panels.collect(),
        series: (CASES.iter().enumerate())
            .map(|(k, (_, n))| Series::new(*n, Ink::Series(k), Sign::Dot))
            .chain([Series::new(
                "least and largest bounds",
                Ink::Text,
                Sign::Dashed,
            )])
            .collect(),
        least_width: 280.0,
        ..Chart::default()
    })
}

/// Largest f and m of a region plot.
const MOST: f64 = 16.0;

/// Bounds of f at one m: below the first energy is saved (eq 17), below the second time is.
fn limits(r: &EnergyRoofline, intensity: f64, m: f64) -> (f64, f64) {
    let energy = 1.0 + (m - 1.0) / m * r.energy_balance() / intensity;
    // A memory-bound baseline has time to spare up to the balance; a compute-bound one has none.
    (energy, f64::max(1.0, r.time_balance() / intensity))
}

/// A panel an intensity: which f and m save time, energy, both or neither. The border of the regions that save energy is the
/// bound f = 1 + ((m − 1)/m) Bε/I of eq 17.
///
/// # Errors
/// The machine lacks a cost.
pub fn regions(m: &Machine, flop: Op, over_balance: &[f64]) -> Result<Chart, PaperError> {
    let r = EnergyRoofline {
        pi0: 0.0,
        dpi: None,
        ..m.roofline(flop, Op::Dram)?
    };
    let panels = over_balance.iter().map(|share| {
        let i = share * r.time_balance();
        let axis = |name| Axis::new(name, Unit::None, Scale::Log2).over(1.0, MOST);
        let mut panel = Panel::new(
            &format!("I = {} Bτ = {} flop/B", three(*share), three(i)),
            axis("m: bytes over those of the new algorithm"),
            axis("f: flops of the new algorithm over those before"),
        );
        panel.height = Height::Ratio(1.0);
        let band = |of: &dyn Fn(f64, f64) -> (f64, f64)| What::Band {
            points: (0..=200)
                .map(|k| {
                    let m = MOST.powf(f64::from(k) / 200.0);
                    let (energy, time) = limits(&r, i, m);
                    let (lo, hi) = of(energy.min(MOST), time.min(MOST));
                    (m, lo, hi.max(lo))
                })
                .collect(),
        };
        panel.push(Layer::of(0, band(&|e, t| (1.0, e.min(t)))));
        panel.push(Layer::of(1, band(&|e, t| (t.min(e), e))));
        panel.push(Layer::of(2, band(&|e, t| (e.min(t), t))));
        let bound = (0..=200)
            .map(|k| MOST.powf(f64::from(k) / 200.0))
            .map(|m| (m, limits(&r, i, m).0))
            .map(|p| if p.1 <= MOST { p } else { (p.0, f64::NAN) });
        panel.push(Layer::line(3, bound.collect(), "eq 17"));
        panel
    });
    Ok(Chart {
        title: format!("What more flops for fewer bytes save on {}", m.title),
        series: vec![
            Series::new("time and energy", Ink::Series(2), Sign::Area),
            Series::new("energy alone", Ink::Series(0), Sign::Area),
            Series::new("time alone", Ink::Series(1), Sign::Area),
            Series::new("bound of eq. 17", Ink::Text, Sign::Line),
        ],
        panels: panels.collect(),
        least_width: 280.0,
        ..Chart::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fermi() -> EnergyRoofline {
        let r = machine("fermi-2010").unwrap();
        EnergyRoofline {
            pi0: 0.0,
            dpi: None,
            ..r.roofline(Op::F64, Op::Dram).unwrap()
        }
    }

    #[test]
    fn every_point_is_within_the_bounds_of_its_case() {
        let all = computed(&fermi());
        for k in 0..3 {
            assert!(all.iter().any(|c| c.case == k), "case {k}");
        }
        for c in &all {
            let (lo, hi) = c.gain.greenup_bounds;
            let g = c.gain.greenup;
            assert!(
                lo <= g * (1.0 + 1e-9) && g <= hi * (1.0 + 1e-9),
                "{:?}",
                c.gain
            );
        }
        // Few trades gain time and lose energy, and little: the figure's statement.
        let faster = all.iter().filter(|c| c.gain.speedup > 1.0);
        assert!(faster.clone().all(|c| c.gain.greenup > 0.95));
        let converse = (all.iter()).filter(|c| c.gain.speedup < 1.0 && c.gain.greenup > 1.0);
        assert!(converse.count() > faster.filter(|c| c.gain.greenup < 1.0).count());
    }

    #[test]
    fn the_borders_of_the_regions_are_those_of_the_model() {
        let r = fermi();
        for share in [0.25, 1.0, 4.0] {
            let i = share * r.time_balance();
            for (f, m) in [(1.5, 2.0), (3.0, 1.2), (8.0, 16.0), (1.1, 1.05), (3.9, 9.0)] {
                let g = r.tradeoff(Tradeoff {
                    intensity: i,
                    extra_work: f,
                    less_traffic: m,
                });
                let (energy, time) = limits(&r, i, m);
                assert_eq!(g.greenup > 1.0, f < energy, "{share} {f} {m}");
                assert_eq!(g.speedup > 1.0, f < time, "{share} {f} {m}");
            }
        }
        let c = regions(&machine("fermi-2010").unwrap(), Op::F64, &[0.25, 1.0]).unwrap();
        assert_eq!(c.panels.len(), 2);
    }
}
