//! U, V, W and X lists of a box: squares of a plane through an octree.

use super::diagram::{Diagram, diagram};
use crate::chart::canvas::Anchor;
use crate::chart::shapes::{Label, Shape};
use crate::chart::{Chart, Ink};
use serde::{Deserialize, Serialize};

/// A square of the plane, in half widths of the root from −1 to 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Square {
    /// Center along x and y.
    pub center: (f64, f64),
    /// Half of its width.
    pub half_width: f64,
    /// `B` for the box itself, the list that it belongs to, or nothing.
    pub list: String,
    /// Whether it has no children.
    pub leaf: bool,
}

/// Names of the lists and what each is for.
const LISTS: [(&str, &str); 4] = [
    ("U", "U: adjacent leaves, P2P"),
    ("V", "V: far, same size, M2L"),
    ("W", "W: far, smaller, M2P"),
    ("X", "X: far, larger, P2L"),
];

/// Letters are for squares of at least this share of the width.
const LETTER: f64 = 0.024;

impl Square {
    fn corners(&self) -> ((f64, f64), (f64, f64)) {
        let ((x, y), h) = (self.center, self.half_width);
        ((x - h, y - h), (x + h, y + h))
    }
}

/// The figure, around all squares in a list.
pub fn lists(title: &str, squares: &[Square]) -> Chart {
    let listed = || squares.iter().filter(|s| !s.list.is_empty());
    let far = |of: &dyn Fn(&Square) -> f64| listed().map(of).fold(f64::NEG_INFINITY, f64::max);
    let (right, top) = (
        far(&|s| s.center.0 + s.half_width),
        far(&|s| s.center.1 + s.half_width),
    );
    let (left, bottom) = (
        -far(&|s| s.half_width - s.center.0),
        -far(&|s| s.half_width - s.center.1),
    );
    let half = 0.6 * (right - left).max(top - bottom);
    let middle = (0.5 * (left + right), 0.5 * (bottom + top));
    // Squares that are seen as a whole, and parts of those that are not.
    let clip = |s: &Square| {
        let (a, b) = s.corners();
        let x = |v: f64| v.clamp(middle.0 - half, middle.0 + half);
        let y = |v: f64| v.clamp(middle.1 - half, middle.1 + half);
        let cut = ((x(a.0), y(a.1)), (x(b.0), y(b.1)));
        (cut.0.0 < cut.1.0 && cut.0.1 < cut.1.1).then_some(cut)
    };
    let rect = |s: &Square| clip(s).map(|(a, b)| Shape::rect(a, b));
    let ink = |list: &str| {
        let k = LISTS.iter().position(|l| l.0 == list);
        k.map_or(Ink::Text, Ink::Series)
    };
    let mut by_size: Vec<&Square> = listed().collect();
    by_size.sort_by(|a, b| b.half_width.total_cmp(&a.half_width));
    let mut shapes: Vec<Shape> = (by_size.iter())
        .filter_map(|s| {
            let opacity = if s.list == "B" { 0.2 } else { 0.45 };
            Some(rect(s)?.filled(ink(&s.list), opacity))
        })
        .collect();
    let leaves = squares.iter().filter(|s| s.leaf);
    shapes.extend(leaves.filter_map(|s| Some(rect(s)?.edged(Ink::Quiet, 0.7))));
    shapes.extend((by_size.iter()).filter_map(|s| Some(rect(s)?.edged(Ink::Text, 1.4))));
    let mut labels: Vec<Label> = (by_size.iter())
        .filter(|s| s.half_width > LETTER * half)
        .map(|s| Label::new(s.center, s.list.clone()).bold())
        .collect();
    // The legend, on the right.
    for (k, (_, name)) in LISTS.iter().enumerate() {
        let (x, y) = (
            middle.0 + 1.08 * half,
            middle.1 + half * (0.85 - 0.16 * k as f64),
        );
        let swatch = Shape::rect((x, y - 0.05 * half), (x + 0.1 * half, y + 0.05 * half));
        shapes.push(swatch.filled(Ink::Series(k), 0.45).edged(Ink::Text, 1.0));
        let at = (x + 0.15 * half, y);
        labels.push(Label::new(at, *name).anchored(Anchor::Start));
    }
    let drawing = Diagram {
        x: (middle.0 - half, middle.0 + 2.3 * half),
        y: (middle.1 - half, middle.1 + half),
        shapes,
        labels,
        ..Diagram::default()
    };
    diagram(title, Vec::new(), vec![drawing])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Style, assert_clear};

    #[test]
    fn boxes_in_lists_are_filled_and_named() {
        let square = |x: f64, y: f64, half_width: f64, list: &str| Square {
            center: (x, y),
            half_width,
            list: list.into(),
            leaf: true,
        };
        let squares = [
            square(0.0, 0.0, 0.25, "B"),
            square(0.5, 0.0, 0.25, "U"),
            square(1.0, 0.0, 0.25, "V"),
            square(0.0, 0.625, 0.125, "W"),
            square(-1.0, 0.0, 0.5, "X"),
            square(0.5, 0.5, 0.25, ""),
            // Out of sight, and in part.
            square(8.0, 8.0, 0.5, ""),
            square(-1.5, 1.5, 1.0, ""),
        ];
        let chart = lists("lists", &squares);
        for width in [420.0, 800.0] {
            assert_clear(&chart, width);
        }
        let svg = chart.svg(Style::Light, 600.0);
        for letter in ["B", "U", "V", "W", "X"] {
            assert!(svg.contains(&format!(">{letter}<")), "{letter}");
        }
        assert_eq!(svg.matches("fill-opacity=\"0.45\"").count(), 8);
        assert!(!svg.contains("NaN"));
    }
}
