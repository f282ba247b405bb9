//! The best so far of a search: over the number of trials, and over time.

use crate::chart::axis::si::prefix_of;
use crate::chart::{Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit};

/// Trials drawn of a long search, beside those that were the best when they were measured.
const DOTS: usize = 500;

/// A measured trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its number, from 1; failed trials are counted.
    pub number: usize,
    /// Time since the search began, s; `None` where it was not recorded.
    pub clock_s: Option<f64>,
    /// What is minimised.
    pub value: f64,
    /// Shown on hovering.
    pub tip: String,
}

/// A quantity that is minimised, over the trials of a search.
#[derive(Clone, Debug)]
pub struct Course {
    /// Quantity.
    pub label: String,
    /// Its unit.
    pub unit: String,
    /// Trials in order.
    pub trials: Vec<Trial>,
}

impl Course {
    /// Indices of the trials that were the best when they were measured.
    pub fn improvements(&self) -> Vec<usize> {
        let mut best = f64::INFINITY;
        (self.trials.iter().enumerate())
            .filter(|(_, t)| {
                let better = t.value < best;
                best = best.min(t.value);
                better
            })
            .map(|(i, _)| i)
            .collect()
    }

    /// Trials shown as dots: an even sample of a long search.
    fn sampled(&self) -> Vec<&Trial> {
        let step = self.trials.len().div_ceil(DOTS).max(1);
        self.trials.iter().step_by(step).collect()
    }
}

/// Two panels a quantity: over trials and, where times were recorded, over time. `tip_names` are the names of the
/// values of tips that are lists.
pub fn best_so_far(title: &str, courses: &[Course], tip_names: Vec<String>) -> Chart {
    let mut panels = Vec::new();
    for course in courses {
        let number = |t: &Trial| t.number as f64;
        let axis = Axis::new("trials", Unit::None, Scale::Linear).from_zero();
        panels.push(panel(course, axis, &number));
        let timed = |t: &Trial| t.clock_s.is_some_and(f64::is_finite);
        let Some(last) = (course.trials.iter().rev().find(|t| timed(t))).and_then(|t| t.clock_s)
        else {
            continue;
        };
        let (unit, seconds) = clock(last);
        let axis = Axis::new("time of the search", Unit::plain(unit), Scale::Linear).from_zero();
        let at = |t: &Trial| t.clock_s.map_or(f64::NAN, |s| s / seconds);
        panels.push(panel(course, axis, &at));
    }
    let most = courses.iter().map(|c| c.trials.len()).max().unwrap_or(0);
    let mut notes = Vec::new();
    if most > DOTS {
        let step = most.div_ceil(DOTS);
        notes.push(format!(
            "Pale: one trial in {step}; the line is that of all."
        ));
    }
    Chart {
        title: title.to_owned(),
        series: vec![
            Series::new("trial", Ink::Series(0), Sign::Dot),
            Series::new("best so far", Ink::Series(1), Sign::Line),
        ],
        panels,
        notes,
        tip_names,
        least_width: 400.0,
        ..Chart::default()
    }
}

/// The unit in which a duration is read best, and its seconds.
fn clock(seconds: f64) -> (&'static str, f64) {
    match seconds {
        s if s < 300.0 => ("s", 1.0),
        s if s < 3.0 * 3600.0 => ("min", 60.0),
        _ => ("h", 3600.0),
    }
}

fn panel(course: &Course, x: Axis, at: &dyn Fn(&Trial) -> f64) -> Panel {
    // One prefix for all ticks.
    let least = (course.trials.iter().map(|t| t.value))
        .filter(|v| *v > 0.0)
        .fold(f64::INFINITY, f64::min);
    let (factor, prefix) = prefix_of(if least.is_finite() { least } else { 1.0 });
    let unit = Unit::plain(&format!("{prefix}{}", course.unit));
    let y = Axis::new(&course.label, unit, Scale::Log);
    let mut panel = Panel::new("", x, y);
    panel.height = Height::Ratio(0.55);
    let mark = |t: &Trial| Mark {
        x: at(t),
        y: t.value / factor,
        interval: None,
        tip: t.tip.clone(),
    };
    let dots: Vec<Mark> = course.sampled().into_iter().map(mark).collect();
    panel.push(Layer::points(0, dots, 3.5));
    let best = course.improvements();
    // Level until the next better trial.
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for &i in &best {
        let t = &course.trials[i];
        if let Some(&(_, before)) = steps.last() {
            steps.push((at(t), before));
        }
        steps.push((at(t), t.value / factor));
    }
    if let (Some(&(_, value)), Some(last)) = (steps.last(), course.trials.last()) {
        steps.push((at(last), value));
    }
    panel.push(Layer::line(1, steps, ""));
    let marks = best.iter().map(|&i| mark(&course.trials[i])).collect();
    panel.push(Layer::points(1, marks, 6.5));
    panel
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::What;

    fn trial(number: usize, value: f64) -> Trial {
        Trial {
            number,
            clock_s: Some(100.0 * number as f64),
            value,
            tip: String::new(),
        }
    }

    #[test]
    fn the_line_goes_down_in_steps_to_the_last_trial() {
        let course = Course {
            label: "time".into(),
            unit: "s".into(),
            trials: [4.0, 5.0, 2.0, 2.0]
                .iter()
                .enumerate()
                .map(|(i, v)| trial(i + 1, *v))
                .collect(),
        };
        assert_eq!(course.improvements(), [0, 2]);
        let chart = best_so_far("t", &[course], vec![]);
        assert_eq!(chart.panels.len(), 2);
        let line = |k: usize| match &chart.panels[k].layers[1].what {
            What::Line { points, .. } => points.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(line(0), [(1.0, 4.0), (3.0, 4.0), (3.0, 2.0), (4.0, 2.0)]);
        // In minutes.
        assert_eq!(line(1)[3], (400.0 / 60.0, 2.0));
    }

    #[test]
    fn long_searches_are_sampled_and_say_so() {
        let course = |n: usize| Course {
            label: "time".into(),
            unit: "s".into(),
            trials: (1..=n).map(|i| trial(i, 1.0 + 1.0 / i as f64)).collect(),
        };
        assert_eq!(course(20_000).sampled().len(), DOTS);
        assert!(best_so_far("t", &[course(501)], vec![]).notes[0].contains("one trial in 2"));
        assert!(best_so_far("t", &[course(500)], vec![]).notes.is_empty());
    }
}
