//! Roofline, arch line and power line of machines with measured dots on each.

use super::{machine_of, read};
use crate::{PaperError, Records};
use greenup_model::Op;
use greenup_report::chart::Chart;
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::Line;
use greenup_study::pages::comparison;
use serde::Deserialize;

/// A machine with its name in the figure and, where there are any, its microbenchmarks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// The machine: shipped, a file of the repository, `N*` of one, or `NAME@W` under a bound of its power.
    pub machine: String,
    /// Its name in the figure.
    pub name: String,
    /// Its microbenchmarks, as `greenup calibrate` writes them.
    pub record: Option<String>,
}

/// The figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// Title.
    pub title: String,
    /// Machines.
    pub machines: Vec<Drawn>,
    /// The flop class.
    pub flop: Op,
    /// From and to, flop/B.
    pub intensity: (f64, f64),
}

impl Lines {
    /// The chart.
    ///
    /// # Errors
    /// A machine or a record is missing, or lacks a time.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let (mut lines, mut points) = (Vec::new(), Vec::new());
        for (k, d) in self.machines.iter().enumerate() {
            let m = machine_of(records, &d.machine)?;
            lines.push(Line {
                name: d.name.clone(),
                // Roofs of the caches are another figure.
                levels: Vec::new(),
                ..Line::of(&m, self.flop)?
            });
            if let Some(record) = &d.record {
                let of = comparison::points(&read(records, record)?, self.flop);
                points.extend(of.into_iter().map(|mut p| {
                    p.line = k;
                    p.calibration = true;
                    p
                }));
            }
        }
        Ok(RooflineFigure {
            title: format!("{} ({})", self.title, self.flop),
            lines,
            points,
            intensity: self.intensity,
            label_points: false,
        }
        .chart())
    }
}
