//! Flop per watt over generations: double-precision peak over design power, from data sheets.

use crate::PaperError;
use crate::records::{Records, broken, machine};
use greenup_model::Op;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Tag, Unit,
};
use greenup_report::si::si;
use serde::Deserialize;

/// What the page adds to the figure.
pub(super) const CAPTION: &str = "Peak of the vector units in double precision over design power, both from data sheets (each row with its source). Peaks of CPUs are at the base clock, an upper bound with wide vectors. Measured: the most that a calibrated machine reaches at high intensity; multiply–adds alone draw less than the design power, so it may lie above.";

/// The figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processors {
    /// A TOML file of processors.
    record: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    processor: Vec<Processor>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Gpu,
    Cpu,
}

/// A row of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Processor {
    name: String,
    kind: Kind,
    year: f64,
    /// Peak, flop/s, if the data sheet states it.
    flops: Option<f64>,
    cores: Option<f64>,
    clock_hz: Option<f64>,
    flops_per_cycle: Option<f64>,
    tdp_w: f64,
    /// A machine of the repository whose efficiency was measured.
    machine: Option<String>,
    source: String,
}

impl Processor {
    /// Peak in double precision, flop/s.
    fn peak(&self) -> Option<f64> {
        self.flops
            .or_else(|| Some(self.cores? * self.clock_hz? * self.flops_per_cycle?))
            .filter(|p| p.is_finite() && *p > 0.0)
    }
}

fn read(records: &Records, record: &str) -> Result<Vec<Processor>, PaperError> {
    let path = records.path(record)?;
    let file: File = toml::from_str(&records.text(record)?).map_err(|e| broken(&path, e))?;
    for p in &file.processor {
        if p.peak().is_none() || p.tdp_w.is_nan() || p.tdp_w <= 0.0 || p.source.is_empty() {
            return Err(broken(
                &path,
                format!("{}: no peak, power or source", p.name),
            ));
        }
    }
    Ok(file.processor)
}

impl Processors {
    pub(super) fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let mut all = read(records, &self.record)?;
        all.sort_by(|a, b| a.year.total_cmp(&b.year));
        let year = |y: f64| format!("{y:.0}");
        let mut panel = Panel::new(
            "",
            Axis::new("year", Unit::None, Scale::Linear),
            Axis::new("peak over design power", Unit::si("flop/s/W"), Scale::Log),
        );
        panel.height = Height::Ratio(0.6);
        let mut point = |series: usize, p: &Processor, value: f64, what: &str, size: f64| {
            let tip = format!(
                "{} ({}), {what}: {} — {}",
                p.name,
                year(p.year),
                si(value, "flop/J"),
                p.source
            );
            let mark = Mark {
                x: p.year,
                y: value,
                interval: None,
                tip,
            };
            panel.push(Layer::points(series, vec![mark], size));
        };
        let mut lines: [Vec<(f64, f64)>; 2] = Default::default();
        for p in &all {
            let value = p.peak().unwrap_or(f64::NAN) / p.tdp_w;
            let series = usize::from(p.kind == Kind::Cpu);
            point(series, p, value, "data sheet", 9.0);
            // Of several CPUs of a year the best one.
            let line = &mut lines[series];
            match line.last_mut() {
                Some(last) if last.0 == p.year => last.1 = last.1.max(value),
                _ => line.push((p.year, value)),
            }
            if let Some(name) = &p.machine {
                let best = machine(name)?.roofline(Op::F64, Op::Dram)?;
                point(2, p, best.best_flop_per_joule(), "measured", 9.0);
            }
        }
        for p in &all {
            panel.tags.push(Tag {
                text: p.name.clone(),
                at: vec![(p.year, p.peak().unwrap_or(f64::NAN) / p.tdp_w)],
                ink: Ink::Text,
                bold: false,
            });
        }
        for (series, line) in lines.into_iter().enumerate() {
            panel.push(Layer::dashed(series, line, 1.2, "4 3", ""));
        }
        Ok(Chart {
            title: "Double-precision flop per joule over generations".into(),
            series: vec![
                Series::new("GPUs (NVIDIA)", Ink::Series(0), Sign::Dot),
                Series::new("CPUs (Intel, AMD)", Ink::Series(1), Sign::Dot),
                Series::new("measured here", Ink::Series(2), Sign::Dot),
            ],
            panels: vec![panel],
            ..Chart::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_has_a_peak_a_power_and_a_source() {
        let records = Records::new(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let all = read(&records, "papers/data/processors.toml").unwrap();
        let find = |name: &str| all.iter().find(|p| p.name == name).unwrap();
        let ratio = |name: &str| find(name).peak().unwrap() / find(name).tdp_w;
        assert!((ratio("Xeon E5-2670") - 166.4e9 / 115.0).abs() < 1.0);
        assert!((ratio("Tesla K20") - 5.2e9).abs() < 1e6);
        // What the paper's figure shows: GPUs are ahead of CPUs of their time.
        assert!(ratio("Tesla K20") > 3.0 * ratio("Xeon E5-2670"));
        let figure = Processors {
            record: "papers/data/processors.toml".into(),
        };
        let chart = figure.chart(&records).unwrap();
        assert_eq!(chart.panels[0].tags.len(), all.len());
    }
}
