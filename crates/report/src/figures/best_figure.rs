//! The best so far of a search, over its trials.

use crate::chart::shapes::Shape;
use crate::chart::{Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit, What};
use crate::si::factor;

/// Trials drawn of a long search, beside those that were the best when they were measured.
const DOTS: usize = 500;
/// Largest value in the figure, over the best.
const MOST: f64 = 2.0;
/// Signs at the upper edge at most, for what is above it.
const SIGNS: usize = 48;

/// A measured trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its number, from 1; failed trials are counted.
    pub number: usize,
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

    /// Smallest value of all, and the range of the axis: up to twice the smallest.
    fn range(&self) -> Option<(f64, f64, f64)> {
        let values = || self.trials.iter().map(|t| t.value).filter(|v| *v > 0.0);
        let best = values().fold(f64::INFINITY, f64::min);
        let worst = values().filter(|v| v.is_finite()).fold(0.0, f64::max);
        let top = (1.02 * worst).clamp(1.05 * best, MOST * best);
        best.is_finite()
            .then_some((best, best - 0.06 * (top - best), top))
    }

    /// A sign at the upper edge for the trials above it, one for many that are near each other; and their number.
    fn above(&self, (best, lo, top): (f64, f64, f64)) -> (Vec<Shape>, usize) {
        let last = self.trials.last().map_or(1, |t| t.number);
        let each = last.div_ceil(SIGNS).max(1);
        let mut bins = vec![(0, 0.0_f64); last / each + 1];
        for t in self.trials.iter().filter(|t| t.value > top) {
            let (n, most) = &mut bins[t.number / each];
            *n += 1;
            *most = most.max(t.value);
        }
        let size = top - lo;
        let half = 0.35 * last as f64 / SIGNS as f64;
        let signs = (bins.iter().enumerate()).filter(|(_, b)| b.0 > 0);
        let signs = signs.map(|(k, (n, most))| {
            // The middle of its trials.
            let x = (k * each) as f64 + 0.5 * (each as f64 - 1.0);
            let (foot, tip) = (top - 0.035 * size, top - 0.005 * size);
            let mut sign = Shape::new(vec![(x - half, foot), (x + half, foot), (x, tip)])
                .filled(Ink::Series(0), 0.8);
            let trials = if *n == 1 { "trial" } else { "trials" };
            sign.tip = format!(
                "{n} {trials} above, the slowest {} of the best",
                factor(most / best)
            );
            sign
        });
        (signs.collect(), bins.iter().map(|b| b.0).sum())
    }
}

/// Trials and the best so far; `tip_names` are the names of the values of tips that are lists.
pub fn best_so_far(title: &str, course: &Course, tip_names: Vec<String>) -> Chart {
    let mut notes = Vec::new();
    let range = course.range();
    let mut y = Axis::new(&course.label, Unit::si(&course.unit), Scale::Linear);
    let top = range.map_or(f64::INFINITY, |(.., top)| top);
    if let Some((_, lo, top)) = range {
        y = y.over(lo, top);
    }
    let x = Axis::new("trials", Unit::None, Scale::Linear).from_zero();
    let mut panel = Panel::new("", x, y);
    panel.height = Height::Ratio(0.32);
    let mark = |t: &Trial| Mark {
        x: t.number as f64,
        y: t.value,
        interval: None,
        tip: t.tip.clone(),
    };
    // An even sample of a long search.
    let step = course.trials.len().div_ceil(DOTS).max(1);
    let sampled = course.trials.iter().step_by(step);
    let dots = sampled.filter(|t| t.value <= top).map(mark).collect();
    panel.push(Layer::points(0, dots, 3.5));
    if let Some(range) = range {
        let (signs, n) = course.above(range);
        if n > 0 {
            panel.push(Layer::of(0, What::Shapes(signs)));
            notes.push(format!(
                "Signs at the upper edge: {n} of {} trials, above twice the best.",
                course.trials.len()
            ));
        }
    }
    if step > 1 {
        notes.push(format!(
            "Pale: one trial in {step}; the line is that of all."
        ));
    }
    let best = course.improvements();
    // Level until the next better trial.
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for &i in &best {
        let t = &course.trials[i];
        if let Some(&(_, before)) = steps.last() {
            steps.push((t.number as f64, before));
        }
        steps.push((t.number as f64, t.value));
    }
    if let (Some(&(_, value)), Some(last)) = (steps.last(), course.trials.last()) {
        steps.push((last.number as f64, value));
    }
    panel.push(Layer::line(1, steps, ""));
    let better = best.iter().map(|&i| &course.trials[i]);
    let marks = better.filter(|t| t.value <= top).map(mark).collect();
    panel.push(Layer::points(1, marks, 6.5));
    Chart {
        title: title.to_owned(),
        series: vec![
            Series::new("trial", Ink::Series(0), Sign::Dot),
            Series::new("best so far", Ink::Series(1), Sign::Line),
        ],
        panels: vec![panel],
        notes,
        tip_names,
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(values: &[f64]) -> Course {
        let trial = |(i, v): (usize, &f64)| Trial {
            number: i + 1,
            value: *v,
            tip: String::new(),
        };
        Course {
            label: "time".into(),
            unit: "s".into(),
            trials: values.iter().enumerate().map(trial).collect(),
        }
    }

    #[test]
    fn the_line_goes_down_in_steps_to_the_last_trial() {
        let course = course(&[4.0, 5.0, 2.0, 2.0]);
        assert_eq!(course.improvements(), [0, 2]);
        let chart = best_so_far("t", &course, vec![]);
        let layers = &chart.panels[0].layers;
        let line = layers.iter().find_map(|l| match &l.what {
            What::Line { points, .. } => Some(points.clone()),
            _ => None,
        });
        assert_eq!(
            line.unwrap(),
            [(1.0, 4.0), (3.0, 4.0), (3.0, 2.0), (4.0, 2.0)]
        );
    }

    #[test]
    fn outliers_are_signs_at_the_edge_and_counted() {
        let mut values = vec![1.0; 300];
        values[7] = 1e12;
        values[80] = 3.0;
        let course = course(&values);
        let (best, lo, top) = course.range().unwrap();
        assert_eq!((best, top), (1.0, 2.0));
        let (signs, n) = course.above((best, lo, top));
        assert_eq!((signs.len(), n), (2, 2));
        let chart = best_so_far("t", &course, vec![]);
        assert!(
            chart.notes[0].contains("2 of 300 trials, above twice"),
            "{:?}",
            chart.notes
        );
        assert_eq!(chart.panels[0].y.range, Some((lo, top)));
    }

    #[test]
    fn long_searches_are_sampled_and_say_so() {
        let chart = best_so_far("t", &course(&vec![1.0; 501]), vec![]);
        assert!(chart.notes[0].contains("one trial in 2"));
        assert!(
            best_so_far("t", &course(&[1.0; 500]), vec![])
                .notes
                .is_empty()
        );
    }
}
