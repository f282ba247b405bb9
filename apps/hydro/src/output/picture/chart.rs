//! Scenes as charts, with one range of colours and axes for all scenes of an animation.

use super::raster::{Levels, Raster};
use super::{Edge, Scene, Shown, View};
use crate::output::fields::Field;
use greenup_report::chart::axis::short;
use greenup_report::chart::{
    Axis, Chart, ColourBar, Height, Ink, Layer, Panel, Picture, Scale, Series, Sign, Style, Tag,
    Unit, What,
};

/// Decades that logarithmic colours span at most, unless a range is set.
const DECADES: i32 = 8;
/// Width of the edges of zones, pixels.
const EDGE: f64 = 0.7;
/// Fields that vary less, relative to their values, are constant.
const ROUNDING: f64 = 1e-9;

/// Greatest height of a picture over the width of its panel: a square one fills the width beside its labels.
pub(super) const TALLEST: f64 = 0.88;

/// What scenes have in common.
#[derive(Clone, Debug)]
pub struct Common {
    levels: Levels,
    /// The value of a constant field.
    constant: Option<f64>,
    /// Numbers of materials that are drawn.
    materials: Vec<f64>,
    /// Whether any scene has an exact solution: then all have its legend.
    exact: bool,
    /// Range of both axes of each panel.
    axes: Vec<((f64, f64), (f64, f64))>,
    /// The plane that is drawn for a plane which looks like it; only of planes that nobody asked for.
    like: Vec<Option<usize>>,
    notes: Vec<String>,
}

fn values<'a>(scene: &'a Scene) -> Box<dyn Iterator<Item = f64> + 'a> {
    Box::new(
        scene
            .panels
            .iter()
            .flat_map(|p| -> Box<dyn Iterator<Item = f64>> {
                match p {
                    Shown::Line { computed, .. } => {
                        Box::new(computed.iter().filter(|c| !c.0.is_nan()).map(|c| c.1))
                    }
                    Shown::Plane { raster, .. } | Shown::Surface { raster, .. } => {
                        Box::new(raster.values())
                    }
                }
            }),
    )
}

fn wider(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0.min(b.0), a.1.max(b.1))
}

const NOTHING: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

impl Common {
    /// Of all scenes of a figure or an animation.
    pub fn of(view: &View, scenes: &[Scene]) -> Self {
        let mut notes = Vec::new();
        let lines = scenes.iter().any(Scene::is_line);
        let all = || scenes.iter().flat_map(values);
        let range = |least: f64| {
            all()
                .filter(|v| v.is_finite() && *v > least)
                .fold(NOTHING, |r, v| wider(r, (v, v)))
        };
        let (mut lo, mut hi) = range(f64::NEG_INFINITY);
        let spread = hi - lo;
        let constant = (view.range.is_none() && spread <= ROUNDING * lo.abs().max(hi.abs()))
            .then_some(0.5 * (lo + hi));
        let mut log = view.log;
        let mut none_positive = false;
        if log && view.range.is_none() {
            (lo, hi) = range(0.0);
            let least = hi * 10_f64.powi(-DECADES);
            if lo > hi {
                log = false;
                none_positive = true;
                (lo, hi) = range(f64::NEG_INFINITY);
            } else if lo < least {
                lo = least;
            } else if lo == hi {
                lo = 0.1 * hi;
            }
        }
        let mut levels = Levels { lo, hi, log };
        if let Some((lo, hi)) = view.range {
            levels = Levels { lo, hi, log };
        } else if lo > hi {
            (levels.lo, levels.hi, levels.log) = (0.0, 1.0, false);
        } else if let Some(v) = constant {
            let around = v.abs().max(1.0);
            (levels.lo, levels.hi, levels.log) = (v - around, v + around, false);
        }
        let no_logarithm = |v: f64| levels.log && v <= 0.0;
        let is_outside = |v: f64| v.is_finite() && (v < levels.lo || v > levels.hi);
        if lines {
            if none_positive {
                notes.push("No value is positive: the axis is linear.".into());
            } else if all().any(no_logarithm) {
                notes.push("Gaps: values at or below 0, which have no logarithm.".into());
            }
        } else {
            if none_positive {
                notes.push("No value is positive: the colours are linear.".into());
            }
            if all().any(|v| is_outside(v) && !no_logarithm(v)) {
                notes.push("Values outside of the colour bar have the colours of its ends.".into());
            }
            if all().any(no_logarithm) {
                notes.push("Red: values at or below 0, which have no logarithm.".into());
            }
            if all().any(|v| !v.is_finite()) {
                notes.push("Grey: the field has no finite value.".into());
            }
        }
        let mut materials: Vec<f64> = Vec::new();
        if view.field == Field::Material {
            for v in all() {
                if !materials.contains(&v) {
                    materials.push(v);
                }
            }
            materials.sort_by(f64::total_cmp);
        }
        let differ = |a: f64, b: f64| match view.field {
            // Each has its own colour.
            Field::Material => a != b,
            _ => levels.differ(a, b),
        };
        let panels = scenes.first().map_or(0, |s| s.panels.len());
        let axes = (0..panels)
            .map(|k| {
                scenes.iter().filter_map(|s| s.panels.get(k)).fold(
                    (NOTHING, NOTHING),
                    |(x, y), p| {
                        let own = p.axes(levels.log);
                        (wider(x, own.0), wider(y, own.1))
                    },
                )
            })
            .collect();
        Self {
            levels,
            constant,
            materials,
            exact: scenes
                .iter()
                .flat_map(|s| &s.panels)
                .any(|p| matches!(p, Shown::Line { exact, .. } if !exact.is_empty())),
            axes,
            like: match view.slices.is_empty() {
                true => likeness(scenes, panels, differ),
                false => vec![None; panels],
            },
            notes,
        }
    }
}

/// Of each panel the earlier one, itself drawn, that it looks like in all scenes.
fn likeness(
    scenes: &[Scene],
    panels: usize,
    differ: impl Fn(f64, f64) -> bool,
) -> Vec<Option<usize>> {
    let alike = |j: usize, k: usize| {
        (scenes.iter()).all(|s| match (s.panels.get(j), s.panels.get(k)) {
            (Some(Shown::Plane { raster: a, .. }), Some(Shown::Plane { raster: b, .. })) => {
                a.alike(b, &differ)
            }
            _ => false,
        })
    };
    let mut like: Vec<Option<usize>> = Vec::new();
    for k in 0..panels {
        like.push((0..k).find(|&j| like[j].is_none() && alike(j, k)));
    }
    like
}

impl Shown {
    /// Ranges of both axes, over `log` values those that have a logarithm.
    fn axes(&self, log: bool) -> ((f64, f64), (f64, f64)) {
        match self {
            Self::Line { computed, exact } => computed
                .iter()
                .chain(exact)
                .filter(|p| p.0.is_finite())
                .fold((NOTHING, NOTHING), |(x, y), p| {
                    let y = if p.1.is_finite() && (!log || p.1 > 0.0) {
                        wider(y, (p.1, p.1))
                    } else {
                        y
                    };
                    (wider(x, (p.0, p.0)), y)
                }),
            Self::Plane { raster, .. } => (raster.x, raster.y),
            // With room for the names of the edges.
            Self::Surface { raster, .. } => {
                let size = (raster.x.1 - raster.x.0).max(raster.y.1 - raster.y.0);
                let wide = |r: (f64, f64), pad: f64| (r.0 - pad * size, r.1 + pad * size);
                (wide(raster.x, 0.22), wide(raster.y, 0.06))
            }
        }
    }
}

fn linear(title: &str) -> Axis {
    Axis::new(title, Unit::None, Scale::Linear)
}

/// A colour of a style as numbers.
fn rgb(ink: Ink, style: Style) -> [u8; 3] {
    let css = ink.css(style);
    let part = |i: usize| {
        css.get(i..i + 2)
            .and_then(|s| u8::from_str_radix(s, 16).ok())
            .unwrap_or(128)
    };
    [part(1), part(3), part(5)]
}

impl Scene {
    /// Whether it is a field over x.
    fn is_line(&self) -> bool {
        matches!(self.panels[..], [Shown::Line { .. }])
    }

    /// The chart in a style.
    pub fn chart(&self, common: &Common, style: Style) -> Chart {
        let name = self.field.name();
        let mut title = format!("{name} at t = {}, step {}", short(self.t), self.step);
        let lines = self.is_line();
        if let Some(v) = common.constant.filter(|_| !lines) {
            title = format!("{title}: {} everywhere", short(v));
        }
        let material = self.field == Field::Material && !lines;
        let series = if lines {
            vec![
                Series::new("computed", Ink::Series(0), Sign::Line),
                Series::new("exact", Ink::Series(1), Sign::Dashed),
            ]
        } else if material {
            (common.materials.iter().enumerate())
                .map(|(k, m)| Series::new(format!("material {m}"), Ink::Series(k), Sign::Area))
                .collect()
        } else {
            vec![Series::default()]
        };
        let named = |k: usize| match &self.panels[k] {
            Shown::Plane { title, .. } => title.clone(),
            _ => String::new(),
        };
        let panels = (self.panels.iter().zip(&common.axes).enumerate())
            .filter(|(k, _)| common.like[*k].is_none())
            .map(|(k, (p, axes))| match p {
                Shown::Line { computed, exact } => over_x(name, (computed, exact), common, *axes),
                Shown::Plane {
                    title,
                    axes: (u, v),
                    raster,
                } => {
                    let (x, y) = *axes;
                    let others = (0..common.like.len()).filter(|o| common.like[*o] == Some(k));
                    let others: Vec<String> = others.map(named).collect();
                    let title = match others.len() {
                        0 => title.clone(),
                        _ => format!("{title}, like {}", others.join(" and ")),
                    };
                    let mut panel =
                        Panel::new(&title, linear(u).over(x.0, x.1), linear(v).over(y.0, y.1));
                    self.paint(&mut panel, raster, common, style);
                    panel
                }
                Shown::Surface { raster, edges } => {
                    let bare = |r: (f64, f64)| {
                        Axis::new("", Unit::None, Scale::Names(Vec::new())).over(r.0, r.1)
                    };
                    let mut panel = Panel::new("outer faces", bare(axes.0), bare(axes.1));
                    self.paint(&mut panel, raster, common, style);
                    frame(&mut panel, edges);
                    panel
                }
            })
            .collect();
        Chart {
            title,
            series,
            panels,
            notes: common.notes.clone(),
            tallest: TALLEST,
            ..Chart::default()
        }
    }

    /// Adds the picture and its colour bar.
    fn paint(&self, panel: &mut Panel, raster: &Raster, common: &Common, style: Style) {
        panel.height = Height::Equal;
        panel.grid = false;
        let mut add = |series: usize, pixels: Vec<Option<[u8; 3]>>| {
            panel.push(Layer::of(
                series,
                What::Picture(Picture {
                    columns: raster.columns,
                    pixels,
                    x: raster.x,
                    y: raster.y,
                }),
            ));
        };
        if self.field == Field::Material {
            for (k, m) in common.materials.iter().enumerate() {
                let colour = rgb(Ink::Series(k), style);
                add(k, raster.colours(|v| v == *m, |_| colour));
            }
        } else {
            add(0, raster.shades(&common.levels));
        }
        // Of no series: the legend does not hide it.
        let edges = Layer::dashed(
            common.materials.len().max(1),
            raster.edges.lines(),
            EDGE,
            "",
            "",
        );
        panel.push(edges.inked(Ink::Middle));
        if self.field == Field::Material {
            return;
        }
        if common.constant.is_none() {
            let Levels { lo, hi, log } = common.levels;
            let scale = if log { Scale::Log } else { Scale::Linear };
            panel.bar = Some(ColourBar {
                axis: Axis::new(self.field.name(), Unit::None, scale),
                lo,
                hi,
            });
        }
    }
}

/// A point of a curve.
type Point = (f64, f64);

/// The panel of a field over x.
fn over_x(
    name: &str,
    (computed, exact): (&[Point], &[Point]),
    common: &Common,
    (x, y): ((f64, f64), (f64, f64)),
) -> Panel {
    let scale = if common.levels.log {
        Scale::Log
    } else {
        Scale::Linear
    };
    // As the axis pads its own data, also those of other scenes.
    let least = if common.levels.log {
        y.0.max(y.1 * 10_f64.powi(-DECADES))
    } else {
        y.0
    };
    let ends = if least <= y.1 {
        (least, y.1)
    } else {
        (0.0, 1.0)
    };
    let axis = Axis::new(name, Unit::None, scale);
    let span = axis.resolve([ends.0, ends.1].into_iter());
    let mut panel = Panel::new("", linear("x").over(x.0, x.1), axis.over(span.lo, span.hi));
    panel.height = Height::Ratio(0.55);
    panel.push(Layer::line(0, computed.to_vec(), ""));
    if common.exact {
        let none = [(f64::NAN, f64::NAN); 2];
        let exact = if exact.is_empty() { &none } else { exact };
        panel.push(Layer::dashed(1, exact.to_vec(), 1.6, "5 3", ""));
    }
    panel
}

/// Draws edges of the bounding box with their marks and names.
fn frame(panel: &mut Panel, edges: &[Edge]) {
    let mut draw = |ends: [(f64, f64); 2], text: &str, at: (f64, f64), bold: bool| {
        panel.push(Layer::dashed(0, ends.to_vec(), 1.2, "", "").inked(Ink::Text));
        panel.tags.push(Tag {
            text: text.to_owned(),
            at: vec![at],
            ink: Ink::Text,
            bold,
        });
    };
    for e in edges {
        draw(e.ends, &e.name, e.at, true);
        for t in &e.ticks {
            draw(t.ends, &t.label, t.at, false);
        }
    }
}
