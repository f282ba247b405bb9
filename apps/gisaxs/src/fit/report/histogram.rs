//! How the residuals are distributed, next to the normal distribution of residuals that are noise.

use super::Report;
use super::maps::END;
use crate::fit::Noise;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit, What,
};

/// Largest deviation that has a bar, σ.
const WIDEST: f64 = 5.0;
/// Counts below which residuals of pure noise are not normal.
const FEW: f64 = 5.0;
/// Shares of the normal distribution within one σ and beyond [`END`].
const NORMAL: (f64, f64) = (0.682_69, 0.002_70);

/// Width of the bars for so many residuals, σ.
fn width(count: usize) -> f64 {
    match count {
        1000.. => 0.25,
        100.. => 0.5,
        _ => 1.0,
    }
}

/// Numbers of residuals in bins of a width from −[`WIDEST`] on.
fn counts(residuals: &[f64], width: f64) -> Vec<usize> {
    let mut out = vec![0; (2.0 * WIDEST / width).round() as usize];
    for r in residuals {
        let bin = ((r + WIDEST) / width).floor();
        if bin >= 0.0
            && let Some(n) = out.get_mut(bin as usize)
        {
            *n += 1;
        }
    }
    out
}

/// What the histogram says in words.
fn words(residuals: &[f64]) -> String {
    let share = |within: &dyn Fn(f64) -> bool| {
        let n = residuals.iter().filter(|r| within(**r)).count();
        100.0 * n as f64 / residuals.len().max(1) as f64
    };
    let unseen = residuals.iter().filter(|r| r.abs() > WIDEST).count();
    let mut text = format!(
        "{:.0} % are within ±1 σ (noise: {:.0} %), {:.1} % beyond ±{END} σ (noise: {:.1} %).",
        share(&|r| r.abs() <= 1.0),
        100.0 * NORMAL.0,
        share(&|r| r.abs() > END),
        100.0 * NORMAL.1,
    );
    if unseen > 0 {
        text.push_str(&format!(" {unseen} lie beyond ±{WIDEST} σ, without a bar."));
    }
    text
}

impl Report<'_> {
    fn residuals(&self) -> Vec<f64> {
        let all = self.deviations.iter().copied();
        all.filter(|r| r.is_finite()).collect()
    }

    /// What the histogram says.
    pub(super) fn distribution(&self) -> String {
        let mut text = words(&self.residuals());
        let used = self.data.iter().filter(|d| d.is_finite());
        let few = used.clone().filter(|d| **d < FEW).count() as f64 / used.count().max(1) as f64;
        if self.target.noise == Noise::Poisson && few > 0.1 {
            text.push_str(&format!(
                " {:.0} % of the data are below {FEW} counts, whose residuals are not normal.",
                100.0 * few
            ));
        }
        text
    }

    /// The map of an image's residuals beside their histogram; of a cut the histogram alone.
    pub(super) fn residuals_chart(&self) -> Chart {
        let all = self.residuals();
        let width = width(all.len());
        let mut panel = Panel::new(
            "Distribution of the residuals",
            Axis::new("(data − model)/σ", Unit::None, Scale::Linear).over(-WIDEST, WIDEST),
            Axis::new("data", Unit::None, Scale::Linear).from_zero(),
        );
        panel.height = Height::Ratio(0.55);
        let steps: Vec<(f64, f64)> = (counts(&all, width).into_iter().enumerate())
            .flat_map(|(k, n)| {
                let from = k as f64 * width - WIDEST;
                [(from, n as f64), (from + width, n as f64)]
            })
            .collect();
        let points = steps.iter().map(|(x, n)| (*x, 0.0, *n)).collect();
        panel.push(Layer::of(1, What::Band { points }));
        panel.push(Layer::dashed(1, steps, 1.4, "", "residuals"));
        let scale = all.len() as f64 * width / std::f64::consts::TAU.sqrt();
        let normal = (-100..=100)
            .map(|k| WIDEST * f64::from(k) / 100.0)
            .map(|r| (r, scale * (-0.5 * r * r).exp()))
            .collect();
        panel.push(Layer::line(2, normal, "normal distribution"));
        Chart {
            title: "Residuals".into(),
            // That of the map has no name.
            series: vec![
                Series::default(),
                Series::new("residuals", Ink::Series(0), Sign::Area),
                Series::new("N(0, 1): noise alone", Ink::Series(1), Sign::Line),
            ],
            panels: self.residual().into_iter().chain([panel]).collect(),
            least_width: 400.0,
            ..Chart::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_residual_is_in_its_bin() {
        let all = [-5.0, -4.6, -0.1, 0.0, 0.2, 4.99, 5.0, -5.1, 40.0];
        assert_eq!(counts(&all, 1.0), [2, 0, 0, 0, 1, 2, 0, 0, 0, 1]);
        assert_eq!(counts(&all, 0.25).len(), 40);
        let text = words(&all);
        assert!(
            text.starts_with("33 % are within") && text.contains("2 lie beyond"),
            "{text}"
        );
        assert!(words(&[]).starts_with("0 % are"));
    }
}
