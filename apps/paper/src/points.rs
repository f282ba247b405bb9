//! Numbers that a paper prints, as hollow marks in our figures.

use crate::PaperError;
use crate::data::{Item, Quoted};
use crate::position::Position;
use greenup_report::chart::{Chart, Ink, Layer, Mark, Series, Sign, What};

/// The number as a mark; `None` without exactly one coordinate.
fn mark(place: &Position, of: &Quoted) -> Option<Mark> {
    let value = of.value * place.times + place.plus;
    let (x, y) = match (place.x, place.y) {
        (Some(x), None) => (x, value),
        (None, Some(y)) => (value, y),
        _ => return None,
    };
    let tip = format!(
        "the paper, {}: {}: {} {}",
        of.at, of.name, of.value, of.unit
    );
    Some(Mark {
        x,
        y,
        interval: None,
        tip: tip.trim_end().to_owned(),
    })
}

/// Name of a figure's file, from 0, without its ending.
pub fn name(item: &Item, figure: usize) -> String {
    match figure {
        0 => item.id.clone(),
        k => format!("{}-{}", item.id, k + 1),
    }
}

/// Adds the paper's numbers that stand in this figure of the item, from 0.
///
/// # Errors
/// A number has no position: there is no such panel, or not one coordinate is given.
pub fn add(chart: &mut Chart, item: &Item, figure: usize) -> Result<(), PaperError> {
    let places = (item.quoted.iter())
        .filter_map(|q| Some((q, q.shown.as_ref()?)))
        .filter(|(_, p)| p.figure == figure + 1);
    let series = chart.series.len();
    for (q, place) in places {
        let panel = place.panel.checked_sub(1);
        let found = panel
            .and_then(|k| chart.panels.get_mut(k))
            .zip(mark(place, q));
        let Some((panel, mark)) = found else {
            return Err(PaperError::NoPosition {
                item: item.id.clone(),
                number: q.name.clone(),
            });
        };
        panel.push(Layer {
            series,
            ink: None,
            what: What::Points {
                points: vec![mark],
                size: 13.0,
                hollow: true,
            },
        });
    }
    if (chart.panels.iter()).any(|p| p.layers.iter().any(|l| l.series == series)) {
        let paper = Series::new("printed in the paper", Ink::Series(3), Sign::Ring);
        chart.series.push(paper);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Records;
    use greenup_report::chart::{Axis, Scale};

    #[test]
    fn numbers_of_the_paper_stand_within_the_axes() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let records = Records::new(root);
        let mut all = 0;
        for paper in crate::list().unwrap() {
            for item in &paper.items {
                let wanted = item.quoted.iter().filter(|q| q.shown.is_some()).count();
                let mut marks = 0;
                for (k, draw) in item.draw.iter().enumerate() {
                    if wanted == 0 {
                        break;
                    }
                    let mut chart = draw.chart(&records).unwrap();
                    let old = chart.series.len();
                    add(&mut chart, item, k).unwrap();
                    for panel in &chart.panels {
                        let ours = panel.layers.iter().filter(|l| l.series == old);
                        for layer in ours {
                            let What::Points { points, hollow, .. } = &layer.what else {
                                panic!("{}: no mark", item.id);
                            };
                            let m = &points[0];
                            let within = |at: f64, axis: &Axis| match (&axis.scale, axis.range) {
                                (Scale::Names(names), _) => {
                                    (-0.5..names.len() as f64 - 0.5).contains(&at)
                                }
                                (_, Some((lo, hi))) => (lo..=hi).contains(&at),
                                _ => at > 0.0,
                            };
                            let inside = within(m.x, &panel.x) && within(m.y, &panel.y);
                            assert!(*hollow && inside, "{} {}: {m:?}", paper.name, item.id);
                            marks += 1;
                        }
                    }
                }
                assert_eq!(marks, wanted, "{} {}", paper.name, item.id);
                all += marks;
            }
        }
        assert!(all > 25, "{all}");
    }

    #[test]
    fn a_number_without_a_position_is_refused() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let records = Records::new(root);
        let mut paper = crate::find("slides").unwrap();
        let mut items = paper.items.iter_mut();
        let item = items.find(|i| i.id == "slide-5-to-16").unwrap();
        let chart = item.draw[0].chart(&records).unwrap();
        let right = item.quoted[0].shown.clone().unwrap();
        let mut refused = |wrong: Position| {
            item.quoted[0].shown = Some(wrong);
            add(&mut chart.clone(), item, 0).map_err(|e| e.to_string())
        };
        assert_eq!(refused(right.clone()), Ok(()));
        for wrong in [
            Position {
                panel: 9,
                ..right.clone()
            },
            Position {
                panel: 0,
                ..right.clone()
            },
            Position {
                x: Some(1.0),
                ..right.clone()
            },
            Position {
                y: None,
                ..right.clone()
            },
        ] {
            let e = refused(wrong).unwrap_err();
            assert!(
                e.contains("balance in time") && e.contains("no position"),
                "{e}"
            );
        }
    }
}
