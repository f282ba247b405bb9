//! Line-outs: the fields along straight lines through the mesh, with the exact solution if one is known.

use super::exact::exact;
use super::fields::{Field, Sample, Sampler};
use super::locate::locate;
use super::picture::view::{coordinate, number};
use crate::HydroError;
use crate::engine::State;
use crate::hydro::Hydro;
use crate::mesh::Bounds;
use crate::output::solution::{Exact, beside};
use greenup_report::chart::axis::short;
use greenup_report::chart::{Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit};
use greenup_report::table::Columns;
use greenup_setting::setting;
use rayon::prelude::*;
use std::fmt;
use std::str::FromStr;

/// Points of a line.
const POINTS: usize = 500;
const AXES: [&str; 3] = ["x", "y", "z"];

/// A line: coordinates that are fixed, and those that go from a value to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Start.
    pub from: [f64; 3],
    /// End.
    pub to: [f64; 3],
    text: String,
}

impl FromStr for Line {
    type Err = HydroError;

    fn from_str(text: &str) -> Result<Self, HydroError> {
        let (mut from, mut to) = ([0.0; 3], [0.0; 3]);
        let mut seen = [false; 3];
        for part in text.split(',') {
            let (axis, value) = coordinate(part)?;
            if std::mem::replace(&mut seen[axis], true) {
                return Err(HydroError::Setting(format!(
                    "`{text}` names {} twice",
                    AXES[axis]
                )));
            }
            let (a, b) = value.split_once(':').unwrap_or((value, value));
            (from[axis], to[axis]) = (number(a)?, number(b)?);
        }
        if from == to {
            return Err(HydroError::Setting(format!(
                "`{text}` is a point: give one coordinate as FROM:TO, e.g. x=0:1,y=0.5"
            )));
        }
        Ok(Self {
            from,
            to,
            text: text.to_owned(),
        })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Line {
    /// Along x through the whole mesh, with the other coordinates in its middle.
    pub fn through(mesh: &Bounds) -> Self {
        let (mut from, mut to) = ([0.0; 3], [0.0; 3]);
        for c in 0..mesh.dim {
            let (lo, hi) = mesh.range(c);
            (from[c], to[c]) = if c == 0 {
                (lo, hi)
            } else {
                (0.5 * (lo + hi), 0.5 * (lo + hi))
            };
        }
        let rest = (1..mesh.dim).map(|c| format!(",{}={}", AXES[c], short(from[c])));
        let text = format!("x={}:{}", short(from[0]), short(to[0]));
        Self {
            from,
            to,
            text: rest.fold(text, |a, b| a + b.as_str()),
        }
    }

    /// Checks that a line meets the box around a mesh.
    ///
    /// # Errors
    /// It does not, or it has a coordinate that the mesh has not.
    pub fn check(&self, mesh: &Bounds) -> Result<(), HydroError> {
        for (c, axis) in AXES.iter().enumerate().skip(mesh.dim) {
            if self.from[c] != 0.0 || self.to[c] != 0.0 {
                return Err(HydroError::Output(format!(
                    "{}: the mesh has {} dimension{}, without {}",
                    setting("line").to(self),
                    mesh.dim,
                    if mesh.dim == 1 { "" } else { "s" },
                    axis
                )));
            }
        }
        let extents: Vec<(f64, f64)> = (0..mesh.dim).map(|c| mesh.range(c)).collect();
        let met = (0..POINTS).any(|i| {
            let x = self.at(share(i));
            (x.iter().zip(&extents)).all(|(x, (lo, hi))| (lo..=hi).contains(&x))
        });
        if met {
            return Ok(());
        }
        let all: Vec<String> = (extents.iter().zip(AXES))
            .map(|((lo, hi), name)| format!("{name} from {lo} to {hi}"))
            .collect();
        Err(HydroError::Output(format!(
            "{} does not meet the mesh: {}",
            setting("line").to(self),
            all.join(", ")
        )))
    }

    fn at(&self, s: f64) -> [f64; 3] {
        std::array::from_fn(|c| self.from[c] + s * (self.to[c] - self.from[c]))
    }

    fn length(&self) -> f64 {
        (0..3)
            .map(|c| (self.to[c] - self.from[c]).powi(2))
            .sum::<f64>()
            .sqrt()
    }

    /// The axis along which it goes alone.
    fn along(&self) -> Option<usize> {
        let mut changing = (0..3).filter(|c| self.from[*c] != self.to[*c]);
        changing.next().filter(|_| changing.next().is_none())
    }
}

fn share(i: usize) -> f64 {
    i as f64 / (POINTS - 1) as f64
}

/// The fields along lines.
pub struct LineOut {
    t: f64,
    dim: usize,
    lines: Vec<Sampled>,
}

/// The exact solution along a line.
struct ExactLine {
    /// At the points of the line.
    points: Vec<Exact>,
    /// Over the share of its length, with both sides of jumps.
    curve: Vec<(f64, Exact)>,
    unbounded: Option<Field>,
}

struct Sampled {
    line: Line,
    /// (share of the length, fields); none outside of the mesh.
    points: Vec<(f64, Option<Sample>)>,
    exact: Option<ExactLine>,
}

/// Samples a state at time `t` along lines; `e0` is the energy of the Sedov problem.
pub fn line_out(h: &Hydro, s: &State, lines: &[Line], t: f64, e0: f64) -> LineOut {
    let solution = exact(h, t, e0);
    let sampled = lines
        .iter()
        .map(|line| {
            let positions: Vec<[f64; 3]> = (0..POINTS).map(|i| line.at(share(i))).collect();
            let points = locate(h, s, &positions)
                .into_par_iter()
                .enumerate()
                .map(|(i, found)| {
                    let sample = found.and_then(|(z, at)| Sampler::new(h, &[at]).zone(s, z).pop());
                    (share(i), sample)
                })
                .collect();
            let exact = solution.as_ref().map(|e| ExactLine {
                points: positions.iter().map(|x| e.at(x)).collect(),
                curve: e.line(&line.from, &line.to),
                unbounded: e.unbounded,
            });
            Sampled {
                line: line.clone(),
                points,
                exact,
            }
        })
        .collect();
    LineOut {
        t,
        dim: h.space.dim,
        lines: sampled,
    }
}

impl LineOut {
    /// The points inside of the mesh as CSV, with a header line. Lines are numbered from 1.
    pub fn csv(&self) -> String {
        // Number of the line, distance, coordinates, fields and exact fields of a point.
        type Row<'a> = (usize, f64, [f64; 3], &'a Sample, Option<&'a Exact>);
        let rows = self.lines.iter().enumerate().flat_map(|(n, l)| {
            let points = l.points.iter().enumerate();
            points.filter_map(move |(i, (share, p))| -> Option<Row> {
                let exact = l.exact.as_ref().map(|e| &e.points[i]);
                let distance = share * l.line.length();
                Some((n + 1, distance, l.line.at(*share), p.as_ref()?, exact))
            })
        });
        let axes = || AXES[..self.dim].iter().enumerate();
        let known = self.lines.iter().any(|l| l.exact.is_some());
        Columns::<Row>::new()
            .count("line", "", |r| r.0 as u64)
            .exact("distance", |r| r.1)
            .and_each(axes(), |all, (a, x)| all.exact(*x, move |r| r.2[a]))
            .exact("density", |r| r.3.density)
            .exact("pressure", |r| r.3.pressure)
            .and_each(axes(), |all, (a, x)| {
                all.exact(format!("velocity_{x}"), move |r| r.3.v[a])
            })
            .exact("speed", |r| r.3.of(Field::Speed, 0))
            .exact("energy", |r| r.3.energy)
            .and_if(known, |all| {
                all.exact("exact_density", |r| r.4.map(|e| e.density))
                    .exact("exact_pressure", |r| r.4.map(|e| e.pressure))
                    .exact("exact_speed", |r| r.4.map(|e| e.speed))
                    .exact("exact_energy", |r| r.4.map(|e| e.energy))
            })
            .csv(rows)
    }

    /// Density, pressure, speed and energy along the lines.
    pub fn chart(&self) -> Chart {
        let first = self.lines.first().and_then(|l| l.line.along());
        let common = first.filter(|c| self.lines.iter().all(|l| l.line.along() == Some(*c)));
        let title = common.map_or("distance along the line", |c| AXES[c]);
        let x = |l: &Line, s: f64| match common {
            Some(c) => l.at(s)[c],
            None => s * l.length(),
        };
        let one = self.lines.len() == 1;
        let known = self.lines.iter().any(|l| l.exact.is_some());
        let mut series = Vec::new();
        for (k, l) in self.lines.iter().enumerate() {
            let named = |word: &str| match (one, known) {
                (true, _) => word.to_owned(),
                (_, true) => format!("{}, {word}", l.line),
                _ => l.line.to_string(),
            };
            // The exact solution has the colour of its line, or its own beside one line alone.
            let exact = Ink::Series(if one { 1 } else { k });
            series.push(Series::new(named("computed"), Ink::Series(k), Sign::Line));
            series.push(Series::new(named("exact"), exact, Sign::Dashed));
        }
        let fields = [Field::Density, Field::Pressure, Field::Speed, Field::Energy];
        let panels = fields
            .into_iter()
            .map(|field| {
                let axis = Axis::new(field.name(), Unit::None, Scale::Linear);
                let mut panel = Panel::new("", Axis::new(title, Unit::None, Scale::Linear), axis);
                panel.height = Height::Ratio(0.6);
                let mut most = 0.0_f64;
                for (k, l) in self.lines.iter().enumerate() {
                    let computed: Vec<(f64, f64)> = (l.points.iter())
                        .map(|(s, p)| {
                            let v = p.as_ref().map_or(f64::NAN, |p| p.of(field, 0));
                            (x(&l.line, *s), v)
                        })
                        .collect();
                    let finite = computed.iter().map(|c| c.1).filter(|v| v.is_finite());
                    most = finite.fold(most, |a, v| a.max(v.abs()));
                    panel.push(Layer::line(2 * k, computed, ""));
                }
                for (k, l) in self.lines.iter().enumerate() {
                    let Some(exact) = &l.exact else { continue };
                    let limit = if exact.unbounded == Some(field) {
                        most
                    } else {
                        f64::INFINITY
                    };
                    let points = (exact.curve.iter())
                        .filter_map(|(s, e)| Some((x(&l.line, *s), beside(e.of(field)?, limit))))
                        .collect();
                    panel.push(Layer::dashed(2 * k + 1, points, 1.6, "5 3", ""));
                }
                panel
            })
            .collect();
        let empty = (self.lines.iter()).all(|l| l.points.iter().all(|p| p.1.is_none()));
        let of = if one {
            format!(" along {}", self.lines[0].line)
        } else {
            String::new()
        };
        Chart {
            title: format!("fields{of} at t = {}", short(self.t)),
            series,
            panels,
            notes: (empty.then(|| "No point of the lines lies in the mesh.".to_owned()))
                .into_iter()
                .collect(),
            ..Chart::default()
        }
    }
}
