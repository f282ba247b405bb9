//! Figures and tables of the hydrodynamics paper, from records of `hydro` and from data sheets.
//!
//! | module | contents |
//! |---|---|
//! | [`processors`] | double-precision peak over design power by year |
//! | [`bars`] | a number of the rows of JSON records, stacked or beside each other |
//! | [`power`] | power of a GPU over time in scenarios |
//! | [`picture`] | a recorded picture |
//! | [`rows`] | the rows of JSON records as a table |
//! | [`steps`] | shares of a time step by part |

pub mod bars;
pub mod picture;
pub mod power;
pub mod processors;
pub mod rows;
pub mod steps;

use crate::{PaperError, Records};
use greenup_report::chart::Chart;
use greenup_report::mesh_figure::MeshFigure;
use serde::Deserialize;

/// A figure of `hydro`.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "figure", rename_all = "kebab-case", deny_unknown_fields)]
pub enum HydroFigure {
    /// Double-precision peak over design power by year.
    Processors(processors::Processors),
    /// A number of rows of JSON records as bars.
    Bars(bars::Bars),
    /// Power over time in scenarios.
    Power(power::Power),
    /// A recorded PNG file.
    Picture(picture::Picture),
    /// Shares of a time step by part.
    Steps(steps::Steps),
    /// A mesh, as `hydro mesh -o FILE.json` wrote it.
    Mesh(Mesh),
}

/// A mesh.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// The record.
    record: String,
}

impl HydroFigure {
    /// The chart.
    ///
    /// # Errors
    /// A record is missing or lacks what the figure needs.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        match self {
            Self::Processors(p) => p.chart(records),
            Self::Bars(b) => b.chart(records),
            Self::Power(p) => p.chart(records),
            Self::Picture(p) => p.chart(records),
            Self::Steps(s) => s.chart(records),
            Self::Mesh(m) => {
                let all = records.json(&m.record)?;
                let broken = |e: String| crate::records::broken(m.record.as_ref(), e);
                let figure = all
                    .get("figure")
                    .ok_or_else(|| broken("no `figure`".into()))?;
                let figure: MeshFigure =
                    serde_json::from_value(figure.clone()).map_err(|e| broken(e.to_string()))?;
                Ok(figure.chart())
            }
        }
    }

    /// What it shows beyond its axes.
    pub fn caption(&self) -> String {
        match self {
            Self::Processors(_) => processors::CAPTION.into(),
            Self::Power(_) => power::CAPTION.into(),
            Self::Bars(b) => b.caption.clone(),
            Self::Picture(p) => p.caption.clone(),
            Self::Steps(_) => steps::CAPTION.into(),
            Self::Mesh(_) => String::new(),
        }
    }
}
