//! Diagrams: shapes, arrows, dots and labels without axes, in units of their own.

use crate::chart::shapes::{Arrow, Label, Shape};
use crate::chart::{Axis, Chart, Height, Layer, Mark, Panel, Scale, Series, Unit, What};

/// Positions in units of the diagram.
pub type Places = Vec<(f64, f64)>;

/// One drawing of a diagram. Shapes are drawn first, then lines, arrows, dots and labels.
#[derive(Clone, Debug, Default)]
pub struct Diagram {
    /// Title; none without.
    pub title: String,
    /// From and to along x; y points up. Both have the same scale.
    pub x: (f64, f64),
    /// From and to along y.
    pub y: (f64, f64),
    /// Areas and outlines, the lowest first.
    pub shapes: Vec<Shape>,
    /// Lines: series of the chart, and points.
    pub lines: Vec<(usize, Places)>,
    /// Arrows.
    pub arrows: Vec<Arrow>,
    /// Dots: series of the chart, positions, diameter in pixels.
    pub dots: Vec<(usize, Places, f64)>,
    /// Texts.
    pub labels: Vec<Label>,
}

/// Drawings side by side. The series name the colours of lines and dots; two or more of them with names are in the legend.
pub fn diagram(title: &str, series: Vec<Series>, drawings: Vec<Diagram>) -> Chart {
    let panels = drawings
        .into_iter()
        .map(|d| {
            let axis = |(lo, hi): (f64, f64)| Axis::new("", Unit::None, Scale::Linear).over(lo, hi);
            let mut panel = Panel::new(&d.title, axis(d.x), axis(d.y));
            panel.height = Height::Equal;
            panel.axes = false;
            panel.push(Layer::of(0, What::Shapes(d.shapes)));
            for (k, points) in d.lines {
                panel.push(Layer::line(k, points, ""));
            }
            panel.push(Layer::of(0, What::Arrows(d.arrows)));
            for (k, points, size) in d.dots {
                let mark = |(x, y)| Mark {
                    x,
                    y,
                    ..Mark::default()
                };
                panel.push(Layer::points(
                    k,
                    points.into_iter().map(mark).collect(),
                    size,
                ));
            }
            panel.push(Layer::of(0, What::Labels(d.labels)));
            panel
        })
        .collect();
    Chart {
        title: title.to_owned(),
        series,
        panels,
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Ink, Sign, Style, assert_clear};

    fn two_boxes(text: &str) -> Chart {
        let box_at = |x: f64| Shape::rect((x, 0.0), (x + 3.0, 2.0)).edged(Ink::Text, 1.5);
        diagram(
            "Two boxes",
            vec![
                Series::new("way", Ink::Series(0), Sign::Line),
                Series::new("places", Ink::Series(1), Sign::Dot),
            ],
            vec![Diagram {
                title: "boxes".into(),
                x: (-1.0, 9.0),
                y: (-1.0, 3.0),
                shapes: vec![
                    box_at(0.0).filled(Ink::Series(0), 0.2).says(text),
                    box_at(5.0).dashed("4 3").says("build"),
                ],
                lines: vec![(0, vec![(0.0, -0.5), (8.0, -0.5)])],
                arrows: vec![Arrow::new((3.0, 1.0), (5.0, 1.0))],
                dots: vec![(1, vec![(4.0, 2.5)], 8.0)],
                labels: vec![Label::new((4.0, 1.5), "then").bold()],
            }],
        )
    }

    #[test]
    fn shapes_arrows_and_labels_are_drawn_without_axes() {
        let chart = two_boxes("count and prune");
        for width in [400.0, 840.0] {
            assert_clear(&chart, width);
        }
        let svg = chart.svg(Style::Light, 840.0);
        assert!(svg.contains(">count and prune<") && svg.contains(">then<"));
        // Two shapes, of which one is filled; a line, an arrow with its head.
        assert_eq!(svg.matches("fill-opacity=\"0.2\"").count(), 1);
        assert_eq!(svg.matches("stroke-dasharray=\"4 3\"").count(), 1);
        assert!(!svg.contains("class=\"grid\"") && !svg.contains(">0<"));
        assert!(!svg.contains("no data"));
    }

    #[test]
    fn text_of_a_box_is_wrapped_to_its_width_and_height() {
        let chart = two_boxes(&"many words ".repeat(60));
        assert_clear(&chart, 580.0);
        let svg = chart.svg(Style::Light, 580.0);
        let lines = svg.matches("many words").count();
        assert!((2..60).contains(&lines), "{lines}");
    }
}
