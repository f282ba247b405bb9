//! Plane meshes: zones coloured by group, with their nodes.

use crate::chart::shapes::Shape;
use crate::chart::{Chart, Ink, Layer, Series, Sign, What};
use crate::diagram::{Diagram, diagram};
use serde::{Deserialize, Serialize};

/// A closed line through these positions, or dots at them.
pub type Places = Vec<(f64, f64)>;

/// Meshes side by side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshFigure {
    /// Title.
    pub title: String,
    /// Names of the groups of zones and nodes: the colours.
    pub groups: Vec<String>,
    /// Whether groups are of nodes alone: then the legend has dots.
    #[serde(default)]
    pub of_nodes: bool,
    /// The meshes.
    pub panels: Vec<MeshPanel>,
}

/// A mesh.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshPanel {
    /// Title.
    pub title: String,
    /// Its zones.
    pub zones: Vec<MeshZone>,
    /// Its nodes by group.
    #[serde(default)]
    pub nodes: Vec<MeshNodes>,
}

/// A zone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshZone {
    /// Its boundary.
    pub outline: Places,
    /// Its group; a zone without one is an outline.
    pub group: Option<usize>,
}

/// Nodes of a group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeshNodes {
    /// The group.
    pub group: usize,
    /// Diameter, pixels.
    pub size: f64,
    /// Positions.
    pub at: Places,
}

/// Space around a mesh, of its longer side.
const AROUND: f64 = 0.03;

impl MeshFigure {
    /// Number of zones and of nodes of all meshes.
    pub fn counts(&self) -> (usize, usize) {
        let zones = self.panels.iter().map(|p| p.zones.len()).sum();
        let nodes = self.panels.iter().flat_map(|p| &p.nodes);
        (zones, nodes.map(|n| n.at.len()).sum())
    }

    /// The chart.
    pub fn chart(&self) -> Chart {
        let sign = if self.of_nodes { Sign::Dot } else { Sign::Area };
        let series = (self.groups.iter().enumerate())
            .map(|(k, name)| Series::new(name, Ink::Series(k), sign))
            .collect();
        let mut chart = diagram(
            &self.title,
            series,
            self.panels.iter().map(MeshPanel::diagram).collect(),
        );
        for (panel, mesh) in chart.panels.iter_mut().zip(&self.panels) {
            // Below the dots; a layer a group, for the legend.
            for k in (0..self.groups.len()).rev() {
                let own = mesh.zones.iter().filter(|z| z.group == Some(k));
                let shapes = own.map(|z| {
                    Shape::new(z.outline.clone())
                        .filled(Ink::Series(k), 0.35)
                        .edged(Ink::Text, 0.9)
                });
                let layer = Layer::of(k, What::Shapes(shapes.collect()));
                panel.layers.insert(1, layer);
            }
        }
        chart.least_width = 240.0;
        chart
    }
}

impl MeshPanel {
    fn range(&self, of: fn(&(f64, f64)) -> f64) -> (f64, f64) {
        let places = (self.zones.iter().flat_map(|z| &z.outline))
            .chain(self.nodes.iter().flat_map(|n| &n.at));
        let (lo, hi) = places
            .map(of)
            .filter(|v| v.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
                (a.min(v), b.max(v))
            });
        if lo < hi { (lo, hi) } else { (0.0, 1.0) }
    }

    fn diagram(&self) -> Diagram {
        let (x, y) = (self.range(|p| p.0), self.range(|p| p.1));
        let pad = AROUND * (x.1 - x.0).max(y.1 - y.0);
        let empty = self.zones.iter().filter(|z| z.group.is_none());
        Diagram {
            title: self.title.clone(),
            x: (x.0 - pad, x.1 + pad),
            y: (y.0 - pad, y.1 + pad),
            shapes: empty
                .map(|z| Shape::new(z.outline.clone()).edged(Ink::Quiet, 0.9))
                .collect(),
            dots: (self.nodes.iter())
                .map(|n| (n.group, n.at.clone(), n.size))
                .collect(),
            ..Diagram::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Style, assert_clear};

    #[test]
    fn zones_and_nodes_are_drawn_with_a_legend() {
        let square = |x: f64| vec![(x, 0.0), (x + 1.0, 0.0), (x + 1.0, 1.0), (x, 1.0)];
        let zone = |x: f64, group| MeshZone {
            outline: square(x),
            group,
        };
        let figure = MeshFigure {
            title: "two zones".into(),
            groups: vec!["rank 0".into(), "rank 1".into()],
            of_nodes: false,
            panels: vec![MeshPanel {
                title: "a mesh".into(),
                zones: vec![zone(0.0, Some(0)), zone(1.0, Some(1)), zone(2.0, None)],
                nodes: vec![MeshNodes {
                    group: 1,
                    size: 5.0,
                    at: vec![(1.0, 0.0), (1.0, 1.0)],
                }],
            }],
        };
        assert_eq!(figure.counts(), (3, 2));
        let chart = figure.chart();
        for width in [300.0, 900.0] {
            assert_clear(&chart, width);
        }
        let svg = chart.svg(Style::Light, 600.0);
        assert_eq!(svg.matches("fill-opacity=\"0.35\"").count(), 2);
        assert!(svg.contains("rank 1") && !svg.contains("NaN"));
        let text = serde_json::to_string(&figure).unwrap();
        assert_eq!(serde_json::from_str::<MeshFigure>(&text).unwrap(), figure);
        assert!(
            !MeshFigure::default()
                .chart()
                .svg(Style::Light, 300.0)
                .contains("NaN")
        );
    }
}
