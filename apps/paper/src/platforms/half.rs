//! Hockney's f½ (slides 2 and 3): performance over the flops of a memory operation, with and without overlap of the two.

use super::{machine_of, read};
use crate::{PaperError, Records};
use greenup_model::Op;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit,
};
use greenup_report::si::{si, three};
use greenup_study::pages::comparison;
use serde::Deserialize;

/// A machine of the figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HalfOf {
    /// The machine.
    pub machine: String,
    /// Its name in the figure.
    pub name: String,
    /// Its microbenchmarks, for dots.
    pub record: Option<String>,
}

/// The figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Half {
    /// Machines, one panel each.
    pub machines: Vec<HalfOf>,
    /// The flop class.
    pub flop: Op,
    /// From and to, flop/B.
    pub intensity: (f64, f64),
}

/// Performance over its asymptote at f flops a byte, of a machine of time balance `b`: overlapped, and one after the other.
fn speed(b: f64, f: f64) -> (f64, f64) {
    (f64::min(1.0, f / b), 1.0 / (1.0 + b / f))
}

impl Half {
    /// The chart.
    ///
    /// # Errors
    /// A machine or a record is missing, or lacks a time.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let (lo, hi) = self.intensity;
        let mut panels = Vec::new();
        for of in &self.machines {
            let m = machine_of(records, &of.machine)?;
            let (flop, mem) = (m.time_of(self.flop)?, m.time_of(Op::Dram)?);
            let b = mem / flop;
            let at = |k: usize| lo * (hi / lo).powf(k as f64 / 160.0);
            let line = |g: &dyn Fn(f64) -> f64| (0..=160).map(|k| (at(k), g(at(k)))).collect();
            let mut panel = Panel::new(
                &format!("{}: r∞ = {}", of.name, si(1.0 / flop, "flop/s")),
                Axis::new("flops a byte", Unit::plain("flop/B"), Scale::Log2).over(lo, hi),
                Axis::new("performance over r∞", Unit::None, Scale::Linear).over(0.0, 1.1),
            );
            panel.height = Height::Ratio(0.75);
            panel.push(Layer::line(0, line(&|f| speed(b, f).0), "overlapped"));
            panel.push(Layer::line(
                1,
                line(&|f| speed(b, f).1),
                "one after the other",
            ));
            let half = |x: f64, what: &str| Mark {
                x,
                y: 0.5,
                interval: None,
                tip: format!("f½ {what}: {} flop/B", three(x)),
            };
            panel.push(Layer::points(0, vec![half(0.5 * b, "overlapped")], 9.0));
            panel.push(Layer::points(1, vec![half(b, "one after the other")], 9.0));
            if let Some(record) = &of.record {
                let dots = comparison::points(&read(records, record)?, self.flop);
                let marks = (dots.iter())
                    .filter(|p| (lo..=hi).contains(&p.intensity))
                    .map(|p| Mark {
                        x: p.intensity,
                        y: p.flops_per_s.value * flop,
                        interval: None,
                        tip: p.name.clone(),
                    });
                panel.push(Layer::points(2, marks.collect(), 6.0));
            }
            panels.push(panel);
        }
        Ok(Chart {
            title: "Hockney's f½: the flops of a byte at which half of r∞ is reached".into(),
            series: vec![
                Series::new("overlapped, f½ = Bτ/2", Ink::Series(0), Sign::Line),
                Series::new("one after the other, f½ = Bτ", Ink::Series(1), Sign::Line),
                Series::new("measured", Ink::Text, Sign::Dot),
            ],
            panels,
            least_width: 330.0,
            ..Chart::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::speed;

    /// Eq 16b of Hockney and Curington: overlap halves f½.
    #[test]
    fn half_of_the_asymptote_is_at_f_half() {
        for b in [0.3, 3.6, 16.0] {
            assert_eq!(speed(b, 0.5 * b).0, 0.5);
            assert_eq!(speed(b, b).1, 0.5);
            assert!(speed(b, 1e9).1 > 0.999 && speed(b, 2.0 * b).0 == 1.0);
        }
    }
}
