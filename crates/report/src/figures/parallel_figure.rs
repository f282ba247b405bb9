//! Configs as lines through the values of their parameters, coloured by how good they are.
//!
//! One row a parameter, its values from left to right: names of any length have room at the left.

use crate::chart::axis::si::factor;
use crate::chart::{Axis, Chart, Height, Ink, Layer, Node, Panel, Scale, Series, Sign, Unit, What};
use std::collections::BTreeSet;

/// Classes by rank: the share of all configs that is at least as good, colour, width of the lines.
const CLASSES: [(f64, Ink, f64); 3] = [
    (0.01, Ink::Series(1), 1.6),
    (0.10, Ink::Series(0), 1.1),
    (1.00, Ink::Quiet, 0.5),
];
/// Configs drawn of the worst class, evenly by rank.
const OTHERS: usize = 400;
/// Configs drawn of each other class: the best.
const GOOD: usize = 300;

/// A parameter: name and values in order.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name of the parameter.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
}

/// Configs by their values.
#[derive(Clone, Debug, Default)]
pub struct Parallel {
    /// Title.
    pub title: String,
    /// The parameters, the first on top.
    pub parameters: Vec<Parameter>,
    /// For each config what is minimised, and the index of its value of each parameter.
    pub configs: Vec<(f64, Vec<usize>)>,
}

/// What is drawn of a class.
struct Class {
    name: String,
    /// Numbers of configs, the worst first.
    drawn: Vec<usize>,
    all: usize,
}

impl Parallel {
    /// Configs from best to worst, those without a value left out.
    fn ranked(&self) -> Vec<usize> {
        let known = |i: &usize| {
            let (value, at) = &self.configs[*i];
            value.is_finite() && at.len() == self.parameters.len()
        };
        let mut order: Vec<usize> = (0..self.configs.len()).filter(known).collect();
        order.sort_by(|a, b| self.configs[*a].0.total_cmp(&self.configs[*b].0));
        order
    }

    fn classes(&self, order: &[usize]) -> Vec<Class> {
        let best = order.first().map_or(1.0, |i| self.configs[*i].0);
        let mut from = 0;
        let mut out = Vec::new();
        for (k, (share, ..)) in CLASSES.iter().enumerate() {
            let to = ((share * order.len() as f64).ceil() as usize).clamp(from, order.len());
            let members = &order[from..to];
            let percent = 100.0 * share;
            let reach = members.last().map_or(1.0, |i| self.configs[*i].0 / best);
            let last = k + 1 == CLASSES.len();
            let drawn = if last {
                let step = members.len().div_ceil(OTHERS).max(1);
                members.iter().step_by(step).rev().copied().collect()
            } else {
                members.iter().take(GOOD).rev().copied().collect()
            };
            out.push(Class {
                name: if last {
                    format!("others: up to {}", factor(reach))
                } else {
                    format!("best {percent} %: up to {} of the best", factor(reach))
                },
                drawn,
                all: members.len(),
            });
            from = to;
        }
        out
    }

    /// The figure.
    pub fn chart(&self) -> Chart {
        let order = self.ranked();
        let classes = self.classes(&order);
        let rows = self.parameters.len();
        // The first parameter on top.
        let row = |p: usize| (rows - 1 - p) as f64;
        let across = |p: usize, v: usize| {
            let n = self.parameters[p].values.len();
            match n {
                0 | 1 => 0.5,
                _ => v as f64 / (n - 1) as f64,
            }
        };
        let names = self.parameters.iter().rev().map(|p| p.name.clone());
        let mut panel = Panel::new(
            "",
            Axis::new("", Unit::None, Scale::Names(Vec::new())).over(-0.06, 1.06),
            Axis::new("", Unit::None, Scale::Names(names.collect())),
        );
        panel.height = Height::Rows(44.0);
        panel.grid = false;
        for p in 0..rows {
            let (x, y) = (None, Some(row(p)));
            panel.push(Layer::of(9, What::Rule { x, y, dash: "" }).inked(Ink::Grid));
        }
        let pieces = |configs: &[usize]| -> Vec<(f64, f64)> {
            // A piece that several configs share is drawn once.
            let mut seen = BTreeSet::new();
            let mut points = Vec::new();
            for &i in configs {
                let at = &self.configs[i].1;
                for p in 1..rows {
                    if seen.insert((p, at[p - 1], at[p])) {
                        points.push((across(p - 1, at[p - 1]), row(p - 1)));
                        points.push((across(p, at[p]), row(p)));
                        points.push((f64::NAN, f64::NAN));
                    }
                }
            }
            points
        };
        for (k, class) in classes.iter().enumerate().rev() {
            let width = CLASSES[k].2;
            panel.push(Layer::dashed(k, pieces(&class.drawn), width, "", ""));
        }
        let first = order.first().map(|i| &self.configs[*i].1);
        if let Some(best) = order.first() {
            let line = Layer::dashed(CLASSES.len(), pieces(&[*best]), 3.0, "", "");
            panel.push(line);
        }
        for p in 0..rows {
            let mut nodes: Vec<Node> = (0..self.parameters[p].values.len())
                .map(|v| Node {
                    x: across(p, v),
                    y: row(p),
                    text: self.parameters[p].values[v].clone(),
                    filled: first.is_some_and(|f| f[p] == v),
                    tip: self.about(&order, p, v),
                })
                .collect();
            // The best config's value first, then both ends.
            let last = nodes.len().saturating_sub(1);
            let mut at = 0..;
            nodes.sort_by_cached_key(|n| {
                let i = at.next().unwrap_or(0);
                (!n.filled, i != 0 && i != last, i)
            });
            panel.push(Layer::of(9, What::Nodes { nodes }).inked(Ink::Text));
        }
        let mut series: Vec<Series> = (classes.iter().zip(CLASSES))
            .map(|(c, (_, ink, _))| Series::new(&c.name, ink, Sign::Line))
            .collect();
        series.push(Series::new("the best", Ink::Text, Sign::Line));
        if rows < 2 || order.is_empty() {
            panel.layers.clear();
        }
        Chart {
            title: self.title.clone(),
            series,
            panels: vec![panel],
            notes: note(&classes).into_iter().collect(),
            ..Chart::default()
        }
    }

    /// A value's configs in a sentence.
    fn about(&self, order: &[usize], p: usize, v: usize) -> String {
        let its: Vec<usize> = (order.iter().copied())
            .filter(|i| self.configs[*i].1[p] == v)
            .collect();
        let (Some(first), Some(best)) = (its.first(), order.first()) else {
            return String::new();
        };
        let ratio = |i: usize| self.configs[i].0 / self.configs[*best].0;
        format!(
            "{} = {}: {} configs, the best {}, median {} of the best of all",
            self.parameters[p].name,
            self.parameters[p].values[v],
            its.len(),
            factor(ratio(*first)),
            factor(ratio(its[its.len() / 2]))
        )
    }
}

/// What is drawn, where not all is.
fn note(classes: &[Class]) -> Option<String> {
    let all: usize = classes.iter().map(|c| c.all).sum();
    let drawn: usize = classes.iter().map(|c| c.drawn.len()).sum();
    let others = classes.last()?;
    (drawn < all).then(|| {
        format!(
            "{drawn} of {all} configs are drawn: the best {}, and of the others {}, evenly by rank.",
            drawn - others.drawn.len(),
            others.drawn.len()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;

    fn parallel(n: usize) -> Parallel {
        Parallel {
            title: "t".into(),
            parameters: ["tile", "unroll"]
                .map(|name| Parameter {
                    name: name.into(),
                    values: (0..4).map(|v| format!("{}", 1 << v)).collect(),
                })
                .to_vec(),
            configs: (0..n)
                .map(|i| (1.0 + i as f64, vec![i % 4, i / 4 % 4]))
                .collect(),
        }
    }

    #[test]
    fn all_of_few_configs_and_a_sample_of_many() {
        let few = parallel(16).chart();
        assert!(few.notes.is_empty());
        let many = parallel(20_000);
        let classes = many.classes(&many.ranked());
        assert_eq!(classes.iter().map(|c| c.all).sum::<usize>(), 20_000);
        assert!(classes.iter().all(|c| c.drawn.len() <= OTHERS));
        // The best is among the drawn, and drawn last.
        assert_eq!(classes[0].drawn.last(), Some(&0));
        let chart = many.chart();
        assert!(
            chart.notes[0].contains("of 20000 configs"),
            "{:?}",
            chart.notes
        );
        assert!(chart.svg(Style::Light, 600.0).len() < 20_000);
    }

    #[test]
    fn a_piece_is_drawn_once() {
        let mut p = parallel(2);
        p.configs = vec![(1.0, vec![0, 0]), (2.0, vec![0, 0]), (f64::NAN, vec![1, 1])];
        let chart = p.chart();
        let lines: usize = (chart.panels[0].layers.iter())
            .filter_map(|l| match &l.what {
                What::Line { points, .. } => Some(points.len() / 3),
                _ => None,
            })
            .sum();
        // One a class with a config, and the best.
        assert_eq!(lines, 3);
        assert!(Parallel::default().chart().panels[0].layers.is_empty());
    }
}
