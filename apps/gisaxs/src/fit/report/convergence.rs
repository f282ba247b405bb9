//! χ² over the models computed.

use super::{BEST, Report, chi2};
use crate::fit::{Evaluation, Stage};
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit,
};

/// Name and colour of each part of the search.
const STAGES: [(Stage, &str); 3] = [
    (Stage::Swarm, "swarm, best of a step"),
    (Stage::Robust, "Levenberg–Marquardt, robust residuals"),
    (Stage::Final, "Levenberg–Marquardt"),
];

/// The least χ² so far over the number of models.
fn best_so_far(all: &[Evaluation]) -> Vec<(f64, f64)> {
    let mut out: Vec<(f64, f64)> = Vec::new();
    let mut least = f64::INFINITY;
    for e in all {
        if let Some(last) = out.last() {
            out.push((e.models as f64, last.1));
        }
        least = least.min(e.chi2);
        out.push((e.models as f64, least));
    }
    out
}

impl Report<'_> {
    fn panel_of(&self, first: usize, best: usize, quiet: bool) -> Panel {
        let all = &self.found.convergence;
        let mut panel = Panel::new(
            if quiet { "Convergence" } else { "" },
            Axis::new("models computed", Unit::None, Scale::Linear).from_zero(),
            Axis::new("χ² per degree of freedom", Unit::None, Scale::Log).at_decades(),
        );
        panel.height = Height::Ratio(if quiet { 0.55 } else { 0.34 });
        for (k, (stage, name)) in STAGES.into_iter().enumerate() {
            let marks: Vec<Mark> = (all.iter().filter(|e| e.stage == stage))
                .map(|e| Mark {
                    x: e.models as f64,
                    y: e.chi2,
                    interval: None,
                    tip: format!("{name}: χ² {} after {} models", chi2(e.chi2), e.models),
                })
                .collect();
            let series = if quiet { 0 } else { first + k };
            let layer = Layer::points(series, marks, 5.0);
            panel.push(if quiet {
                layer.inked(Ink::Quiet)
            } else {
                layer
            });
        }
        panel.push(Layer::line(best, best_so_far(all), "best so far"));
        panel
    }

    /// The panel for the figure of the whole fit.
    pub(super) fn convergence_panel(&self) -> Panel {
        self.panel_of(0, BEST, true)
    }

    /// Convergence of the best start, and what each start reached where there are more.
    pub(super) fn convergence(&self) -> Chart {
        let mut series = vec![Series::new("best so far", Ink::Series(2), Sign::Line)];
        series.extend(
            STAGES
                .into_iter()
                .enumerate()
                .map(|(k, (_, name))| Series::new(name, Ink::Series(3 + k), Sign::Dot)),
        );
        let mut panels = vec![self.panel_of(1, 0, false)];
        let starts = &self.found.starts;
        if starts.len() > 1 {
            let mut panel = Panel::new(
                "What each start reached",
                Axis::new("start", Unit::None, Scale::Linear).over(0.5, starts.len() as f64 + 0.5),
                Axis::new("χ² per degree of freedom", Unit::None, Scale::Log).at_decades(),
            );
            panel.height = Height::Ratio(0.55);
            let marks = starts
                .iter()
                .enumerate()
                .map(|(k, reached)| Mark {
                    x: k as f64 + 1.0,
                    y: *reached,
                    interval: None,
                    tip: format!("start {}: χ² {}", k + 1, chi2(*reached)),
                })
                .collect();
            panel.push(Layer::points(3, marks, 7.0));
            panels.push(panel);
        }
        Chart {
            title: "Convergence of the best start".into(),
            series,
            panels,
            least_width: 420.0,
            ..Chart::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_never_rises() {
        let e = |models, chi2| Evaluation {
            models,
            stage: Stage::Swarm,
            chi2,
        };
        let found = best_so_far(&[e(1, 5.0), e(2, 7.0), e(4, 2.0)]);
        assert_eq!(
            found,
            [(1.0, 5.0), (2.0, 5.0), (2.0, 5.0), (4.0, 5.0), (4.0, 2.0)]
        );
        assert!(best_so_far(&[]).is_empty());
    }
}
