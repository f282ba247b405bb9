//! Data with error bars and the model as a line, along cuts; their deviations below.

use super::{DATA, MODEL, Report};
use crate::GisaxsError;
use crate::image::{Cut, curves};
use greenup_report::chart::{Axis, Chart, Height, Layer, Mark, Panel, Scale, Unit, What};
use greenup_report::si::three;
use greenup_report::table::{Columns, Table};

/// Height of the deviations, pixels.
const STRIP: f64 = 90.0;

/// Values at the points along a cut.
struct Along {
    x: Vec<f64>,
    data: Vec<f64>,
    sigma: Vec<f64>,
    model: Vec<f64>,
    deviation: Vec<f64>,
}

impl Report<'_> {
    fn along(&self, cut: &Cut) -> Result<Along, GisaxsError> {
        let x = curves::along(&self.view(), cut);
        if self.target.cut.is_some() {
            return Ok(Along {
                x,
                data: self.data.clone(),
                sigma: self.sigmas.clone(),
                model: self.model.clone(),
                deviation: self.deviations.clone(),
            });
        }
        let detector = &self.scene.detector;
        let means = |values: &[f64]| cut.means(values, detector);
        let used: Vec<f64> = (self.model.iter().zip(&self.data))
            .map(|(m, d)| if d.is_nan() { f64::NAN } else { *m })
            .collect();
        // Between data the model goes on.
        let model = (means(&used)?.into_iter().zip(means(&self.model)?))
            .map(|(m, all)| if m.is_nan() { all } else { m })
            .collect::<Vec<_>>();
        let data = means(&self.data)?;
        let lines = cut.inside(detector)?.len() as f64;
        let squares: Vec<f64> = self.sigmas.iter().map(|s| s * s).collect();
        let sigma: Vec<f64> = (means(&squares)?.into_iter())
            .map(|s| (s / lines).sqrt())
            .collect();
        let deviation = if lines > 1.0 {
            (0..data.len())
                .map(|k| (data[k] - model[k]) / sigma[k])
                .collect()
        } else {
            means(&self.deviations)?
        };
        Ok(Along {
            x,
            data,
            sigma,
            model,
            deviation,
        })
    }

    /// Two panels a cut: data and model, and the deviations.
    pub(super) fn cut_panels(&self) -> Result<Vec<[Panel; 2]>, GisaxsError> {
        self.cuts.iter().map(|cut| self.cut_panel(cut)).collect()
    }

    fn cut_panel(&self, cut: &Cut) -> Result<[Panel; 2], GisaxsError> {
        let view = self.view();
        let a = self.along(cut)?;
        let all = a.data.iter().chain(&a.model).copied();
        let axis = curves::intensity_axis(self.quantity(), all);
        let floor = axis.range.map_or(f64::MIN_POSITIVE, |r| r.0);
        let title = format!("Cut at {}", view.label(cut));
        let mut upper = curves::panel(&view, cut, &title, axis);
        upper.height = Height::Ratio(0.42);
        upper.shares_x = true;
        let mark = |k: usize, y: f64, interval: Option<(f64, f64)>| Mark {
            x: a.x[k],
            y,
            interval,
            tip: [a.x[k], a.data[k], a.sigma[k], a.model[k], a.deviation[k]]
                .map(three)
                .join("\t"),
        };
        let shown = || (0..a.x.len()).filter(|k| a.data[*k].is_finite());
        let marks = shown()
            .map(|k| {
                let (d, s) = (a.data[k], a.sigma[k]);
                // The logarithm ends at the edge of the panel.
                mark(k, d, Some(((d - s).max(floor), d + s)))
            })
            .collect();
        upper.push(Layer::points(DATA, marks, 4.5));
        let line = a.x.iter().copied().zip(a.model.iter().copied()).collect();
        upper.push(Layer::line(MODEL, line, "model"));
        let axis = Axis::new("(data − model)/σ", Unit::None, Scale::Linear).from_zero();
        let mut lower = curves::panel(&view, cut, "", axis);
        lower.height = Height::Rows(STRIP);
        lower.push(Layer::of(
            MODEL,
            What::Rule {
                x: None,
                y: Some(0.0),
                dash: "",
            },
        ));
        let marks = shown().map(|k| mark(k, a.deviation[k], None)).collect();
        lower.push(Layer::points(DATA, marks, 4.5));
        Ok([upper, lower])
    }

    /// Each cut: data and model above, deviations below.
    pub(super) fn cut_charts(&self) -> Result<Vec<Chart>, GisaxsError> {
        self.cuts.iter().map(|cut| self.cut_chart(cut)).collect()
    }

    fn cut_chart(&self, cut: &Cut) -> Result<Chart, GisaxsError> {
        let [mut upper, lower] = self.cut_panel(cut)?;
        let title = std::mem::take(&mut upper.title);
        let mut chart = self.charted(&title, vec![upper, lower]);
        // Below each other at any width.
        chart.least_width = f64::INFINITY;
        chart.tip_names = ["at", "data", "σ", "model", "residual"]
            .map(String::from)
            .to_vec();
        let zeros = (self.along(cut)?.data.iter())
            .filter(|d| **d == 0.0)
            .count();
        if zeros > 0 {
            let note = format!("{zeros} data of zero have no place on a logarithmic axis.");
            chart.notes.push(note);
        }
        Ok(chart)
    }

    /// The data along a cut as a table.
    pub(super) fn table(&self) -> Result<Table, GisaxsError> {
        let [cut] = self.cuts.as_slice() else {
            return Ok(Table::default());
        };
        let a = self.along(cut)?;
        let axis = curves::panel(&self.view(), cut, "", Axis::default()).x;
        let (_, title) = axis.titled(&axis.resolve(std::iter::empty()));
        Ok(Columns::<usize>::new()
            .three(title, "position", |k| a.x[*k])
            .three("data", "photons per pixel", |k| a.data[*k])
            .three("σ", "standard deviation of the data", |k| a.sigma[*k])
            .three("model", "photons per pixel", |k| a.model[*k])
            .three("residual, σ", "(data − model)/σ", |k| a.deviation[*k])
            .table("", 0..a.x.len()))
    }
}
