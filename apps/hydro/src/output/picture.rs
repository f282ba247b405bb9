//! A field on the moved mesh, in two dimensions or on the walls z = 0 of three.

use super::fields::{Field, Sample, sample};
use crate::HydroError;
use crate::engine::State;
use crate::hydro::Hydro;
use crate::mesh::Mesh;
use greenup_report::axis::{Area, Linear, frame};
use greenup_report::heat_figure::shade;
use greenup_report::png::{Raster, png_with};
use greenup_report::si::three;
use greenup_report::svg::{Anchor, QUIET, Svg};

/// Parts that a zone's side is cut into.
const PARTS: usize = 8;
/// Pixels of the longer side.
const SIZE: f64 = 640.0;

type Pixels<'a> = (&'a mut [f64], usize, usize);

/// Fills a triangle of (x, y, value) in pixels.
fn fill((pixels, columns, rows): &mut Pixels, t: [(f64, f64, f64); 3]) {
    let [a, b, c] = t;
    let area = (b.0 - a.0) * (c.1 - a.1) - (c.0 - a.0) * (b.1 - a.1);
    if area == 0.0 || !area.is_finite() {
        return;
    }
    let range = |x: [f64; 3], most: usize| {
        let low = x
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min)
            .floor()
            .max(0.0);
        let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max).ceil();
        low as usize..(high.max(0.0) as usize + 1).min(most)
    };
    for row in range([a.1, b.1, c.1], *rows) {
        for column in range([a.0, b.0, c.0], *columns) {
            let (x, y) = (column as f64 + 0.5, row as f64 + 0.5);
            let u = ((x - a.0) * (c.1 - a.1) - (c.0 - a.0) * (y - a.1)) / area;
            let v = ((b.0 - a.0) * (y - a.1) - (x - a.0) * (b.1 - a.1)) / area;
            if u >= -1e-9 && v >= -1e-9 && u + v <= 1.0 + 1e-9 {
                pixels[row * *columns + column] = a.2 + u * (b.2 - a.2) + v * (c.2 - a.2);
            }
        }
    }
}

/// Marks the pixels of a line.
fn draw(edges: &mut [bool], columns: usize, rows: usize, a: (f64, f64), b: (f64, f64)) {
    let steps = (a.0 - b.0).abs().max((a.1 - b.1).abs()).ceil().max(1.0) as usize;
    for i in 0..=steps {
        let s = i as f64 / steps as f64;
        let (x, y) = (a.0 + (b.0 - a.0) * s, a.1 + (b.1 - a.1) * s);
        if x >= 0.0 && y >= 0.0 && (x as usize) < columns && (y as usize) < rows {
            edges[y as usize * columns + x as usize] = true;
        }
    }
}

/// How far from z = 0 a wall's points may be.
const FLAT: f64 = 1e-9;

/// Whether a picture can be drawn on a mesh.
///
/// # Errors
/// One dimension, or three without zones at z = 0.
pub fn drawable(mesh: &Mesh) -> Result<(), HydroError> {
    // The face of a zone that is drawn is the one between its first corners.
    let first = if mesh.shape.tensor() { 4 } else { 3 };
    match mesh.dim() {
        1 => Err(HydroError(
            "--png needs two or three dimensions: take --radial FILE.csv".into(),
        )),
        3 if !(0..mesh.zones()).any(|z| {
            mesh.zone(z)[..first]
                .iter()
                .all(|v| mesh.vertices[*v as usize][2].abs() < FLAT)
        }) =>
        {
            Err(HydroError(
                "--png draws zones at z = 0, and this mesh has none there: take --vtu FOLDER"
                    .into(),
            ))
        }
        _ => Ok(()),
    }
}

/// The picture as PNG.
///
/// # Errors
/// It cannot be drawn; see [`drawable`].
pub fn picture(h: &Hydro, s: &State, field: Field, t: f64) -> Result<Vec<u8>, HydroError> {
    let d = h.space.dim;
    if d == 1 {
        return Err(HydroError("a picture needs two dimensions".into()));
    }
    let tensor = h.space.element.shape.tensor();
    let places: Vec<Vec<f64>> = (0..=PARTS)
        .flat_map(|j| (0..=PARTS).map(move |i| (i, j)))
        .map(|(i, j)| {
            // Of triangles what is beyond lies on their long side.
            let i = if tensor { i } else { i.min(PARTS - j) };
            let mut at = vec![i as f64 / PARTS as f64, j as f64 / PARTS as f64];
            at.resize(d, 0.0);
            at
        })
        .collect();
    let all: Vec<(usize, Vec<Sample>)> = sample(h, s, &places)
        .into_iter()
        .enumerate()
        .filter(|(_, p)| d == 2 || p.iter().all(|p| p.x[2].abs() < FLAT))
        .collect();
    let flat = || all.iter().flat_map(|(_, p)| p);
    let bounds = |c: usize| {
        flat().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), p| {
            (a.min(p.x[c]), b.max(p.x[c]))
        })
    };
    let ((left, right), (bottom, top)) = (bounds(0), bounds(1));
    let scale = SIZE / (right - left).max(top - bottom);
    if all.is_empty() || !scale.is_finite() {
        return Err(HydroError("there is nothing to draw at z = 0".into()));
    }
    let columns = ((right - left) * scale).ceil().max(1.0) as usize;
    let rows = ((top - bottom) * scale).ceil().max(1.0) as usize;
    let value = |z: usize, p: &Sample| p.of(field, h.material[z]);
    let (low, high) = all
        .iter()
        .flat_map(|(z, p)| p.iter().map(|p| value(*z, p)))
        .filter(|v| v.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| {
            (a.min(v), b.max(v))
        });
    let mut pixels = vec![f64::NAN; columns * rows];
    let mut edges = vec![false; columns * rows];
    let at = |p: &Sample| ((p.x[0] - left) * scale, (top - p.x[1]) * scale);
    let width = PARTS + 1;
    for (z, p) in &all {
        let corner = |i: usize, j: usize| {
            let s = &p[j * width + i];
            (at(s).0, at(s).1, value(*z, s))
        };
        for j in 0..PARTS {
            for i in 0..PARTS {
                let [a, b, c, e] =
                    [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(u, v)| corner(i + u, j + v));
                let mut to: Pixels = (&mut pixels, columns, rows);
                fill(&mut to, [a, b, c]);
                fill(&mut to, [b, e, c]);
            }
        }
        for i in 0..PARTS {
            let sides = [
                [(i, 0), (i + 1, 0)],
                [(0, i), (0, i + 1)],
                [(i, PARTS), (i + 1, PARTS)],
                [(PARTS, i), (PARTS, i + 1)],
            ];
            for side in sides {
                let [a, b] = side.map(|(i, j)| at(&p[j * width + i]));
                draw(&mut edges, columns, rows, a, b);
            }
        }
    }
    // Meshes finer than the picture would blacken it.
    let lines = (all.len() as f64).sqrt() * 8.0 < SIZE;
    let span = if high > low { high - low } else { 1.0 };
    let rgb: Vec<[u8; 3]> = pixels
        .iter()
        .zip(&edges)
        .map(|(v, edge)| {
            if v.is_nan() {
                return [255; 3];
            }
            let c = shade((v - low) / span);
            if *edge && lines {
                c.map(|c| (f64::from(c) * 0.55) as u8)
            } else {
                c
            }
        })
        .collect();
    let area = Area {
        left: 70.0,
        top: 40.0,
        width: columns as f64,
        height: rows as f64,
    };
    let words = format!("{} at t = {}", field.name(), three(t));
    let svg = around(&words, area, ((left, right), (bottom, top)), (low, high));
    png_with(
        &svg,
        &Raster {
            left: area.left as usize,
            top: area.top as usize,
            zoom: 1,
            columns,
            rgb: &rgb,
        },
    )
    .map_err(|e| HydroError(e.to_string()))
}

/// Axes and a bar of colours around the picture.
fn around(
    title: &str,
    area: Area,
    (x, y): ((f64, f64), (f64, f64)),
    (low, high): (f64, f64),
) -> String {
    let mut svg = Svg::new();
    frame(&mut svg, area, ("x", "y"));
    svg.text(
        (area.left, 24.0),
        Anchor::Start,
        "font-size=\"14\" font-weight=\"bold\"",
        title,
    );
    let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
    let inside = |(a, b): (f64, f64)| {
        Linear::around([a, b].into_iter())
            .ticks()
            .filter(|v| *v >= a - 1e-9 && *v <= b + 1e-9)
            .collect::<Vec<_>>()
    };
    let label = |v: f64| {
        if v.abs() < 1e-12 {
            "0".to_owned()
        } else {
            three(v)
        }
    };
    for v in inside(x) {
        let at = area.left + area.width * (v - x.0) / (x.1 - x.0);
        svg.text(
            (at, area.bottom() + 15.0),
            Anchor::Middle,
            &small,
            &label(v),
        );
    }
    for v in inside(y) {
        let at = area.bottom() - area.height * (v - y.0) / (y.1 - y.0);
        svg.text((area.left - 6.0, at + 4.0), Anchor::End, &small, &label(v));
    }
    let bar = area.right() + 18.0;
    let steps = 128;
    for i in 0..steps {
        let [r, g, b] = shade((f64::from(i) + 0.5) / f64::from(steps));
        let height = area.height / f64::from(steps);
        svg.rect(
            bar,
            area.bottom() - height * f64::from(i + 1),
            14.0,
            height + 0.5,
            &format!("fill=\"rgb({r},{g},{b})\""),
        );
    }
    for i in 0..=4 {
        let share = f64::from(i) / 4.0;
        let y = area.bottom() - area.height * share;
        let value = low + (high - low) * share;
        svg.text((bar + 20.0, y + 4.0), Anchor::Start, &small, &label(value));
    }
    svg.document(area.right() + 96.0, area.bottom() + 48.0, title)
}
