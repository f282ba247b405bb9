//! Predicted against measured values of the configs of a sweep.

use greenup_report::chart::{
    Axis, Chart, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What,
};
use greenup_report::si::percent;
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Learnt, Prediction, predictions};

/// Times of all configs, predicted from a share of them; `None` with too few trials.
pub fn times(
    a: &Analysis,
    sweep: &Sweep,
    share: f64,
    seed: u64,
) -> Option<(Learnt, Vec<Prediction>)> {
    predictions(sweep, &a.rows, &|r| Some(r.time_s), share, seed)
}

/// A panel for each sweep: a dot a config that the model has not seen.
pub fn chart(all: &[(String, Learnt, Vec<Prediction>)]) -> Chart {
    let panels = all.iter().map(|(name, learnt, each)| {
        let title = format!(
            "{name}: median error {}, best of {} predicted {}",
            percent(learnt.median_error),
            learnt.tried,
            percent(learnt.best_fraction)
        );
        let seconds = || Unit::si("s");
        let mut panel = Panel::new(
            &title,
            Axis::new("measured time", seconds(), Scale::Log),
            Axis::new("predicted time", seconds(), Scale::Log),
        );
        let points = (each.iter().filter(|p| !p.in_sample))
            .map(|p| Mark {
                x: p.measured,
                y: p.predicted,
                interval: None,
                tip: String::new(),
            })
            .collect();
        panel.push(Layer::of(
            0,
            What::Points {
                points,
                size: 3.0,
                hollow: false,
            },
        ));
        let measured = || each.iter().map(|p| p.measured);
        let lo = measured().fold(f64::INFINITY, f64::min);
        let hi = measured().fold(0.0, f64::max);
        let line = vec![(lo, lo), (hi, hi)];
        panel.push(Layer::dashed(1, line, 1.3, "4 3", "predicted = measured"));
        panel
    });
    Chart {
        title: "Time of each config, predicted from a sample".into(),
        series: vec![
            Series::new(
                "config that the model has not seen",
                Ink::Series(0),
                Sign::Dot,
            ),
            Series::new("predicted = measured", Ink::Quiet, Sign::Dashed),
        ],
        panels: panels.collect(),
        ..Chart::default()
    }
}
