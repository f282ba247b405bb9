//! Files for ParaView: zones as Lagrange cells of the kinematic order.

use super::fields::sample;
use crate::HydroError;
use crate::engine::State;
use crate::fem::element::Shape;
use crate::hydro::Hydro;
use greenup_files::FileError;
use greenup_report::vtu::{Field, Grid, cell, parallel};
use std::fmt::Write as _;
use std::path::Path;

/// Integer coordinates (0 to k) of the nodes of a cell, in the order of VTU versions below 2.1.
fn nodes(shape: Shape, k: usize) -> Vec<[usize; 3]> {
    let inner = 1..k;
    let mut out: Vec<[usize; 3]> = Vec::new();
    match shape {
        Shape::Segment => {
            out.extend([[0, 0, 0], [k, 0, 0]]);
            out.extend(inner.map(|i| [i, 0, 0]));
        }
        Shape::Quad => {
            out.extend([[0, 0, 0], [k, 0, 0], [k, k, 0], [0, k, 0]]);
            out.extend(inner.clone().map(|i| [i, 0, 0]));
            out.extend(inner.clone().map(|j| [k, j, 0]));
            out.extend(inner.clone().map(|i| [i, k, 0]));
            out.extend(inner.clone().map(|j| [0, j, 0]));
            out.extend(
                inner
                    .clone()
                    .flat_map(|j| inner.clone().map(move |i| [i, j, 0])),
            );
        }
        Shape::Hex => {
            for z in [0, k] {
                out.extend([[0, 0, z], [k, 0, z], [k, k, z], [0, k, z]]);
            }
            for z in [0, k] {
                out.extend(inner.clone().map(|i| [i, 0, z]));
                out.extend(inner.clone().map(|j| [k, j, z]));
                out.extend(inner.clone().map(|i| [i, k, z]));
                out.extend(inner.clone().map(|j| [0, j, z]));
            }
            for (x, y) in [(0, 0), (k, 0), (0, k), (k, k)] {
                out.extend(inner.clone().map(|z| [x, y, z]));
            }
            let face = |f: &dyn Fn(usize, usize) -> [usize; 3]| -> Vec<[usize; 3]> {
                inner
                    .clone()
                    .flat_map(|b| inner.clone().map(move |a| (a, b)))
                    .map(|(a, b)| f(a, b))
                    .collect()
            };
            for x in [0, k] {
                out.extend(face(&|a, b| [x, a, b]));
            }
            for y in [0, k] {
                out.extend(face(&|a, b| [a, y, b]));
            }
            for z in [0, k] {
                out.extend(face(&|a, b| [a, b, z]));
            }
            for z in inner.clone() {
                out.extend(face(&|a, b| [a, b, z]));
            }
        }
        // Of simplices corners and middles of edges.
        Shape::Triangle => {
            out.extend([[0, 0, 0], [k, 0, 0], [0, k, 0]]);
            if k == 2 {
                out.extend([[1, 0, 0], [1, 1, 0], [0, 1, 0]]);
            }
        }
        Shape::Tet => {
            out.extend([[0, 0, 0], [k, 0, 0], [0, k, 0], [0, 0, k]]);
            if k == 2 {
                out.extend([
                    [1, 0, 0],
                    [1, 1, 0],
                    [0, 1, 0],
                    [0, 0, 1],
                    [1, 0, 1],
                    [0, 1, 1],
                ]);
            }
        }
    }
    out
}

/// The fields of a state; cells have the kinematic order, simplices at most order 2.
fn grid(h: &Hydro, s: &State) -> Grid {
    let e = &h.space.element;
    let (shape, dim) = (e.shape, h.space.dim);
    let k = if shape.tensor() {
        e.order
    } else {
        e.order.min(2)
    };
    let positions: Vec<Vec<f64>> = nodes(shape, k)
        .iter()
        .map(|n| n[..dim].iter().map(|i| *i as f64 / k as f64).collect())
        .collect();
    let all = sample(h, s, &positions);
    let flat = || all.iter().flatten();
    let material = h.material.iter().map(|m| f64::from(*m)).collect();
    Grid {
        points: flat().flat_map(|p| p.x).collect(),
        cell_type: match shape {
            Shape::Segment => cell::LAGRANGE_CURVE,
            Shape::Quad => cell::LAGRANGE_QUADRILATERAL,
            Shape::Hex => cell::LAGRANGE_HEXAHEDRON,
            Shape::Triangle => cell::LAGRANGE_TRIANGLE,
            Shape::Tet => cell::LAGRANGE_TETRAHEDRON,
        },
        nodes: positions.len(),
        point_fields: vec![
            Field::scalar("density", flat().map(|p| p.density).collect()),
            Field::scalar("pressure", flat().map(|p| p.pressure).collect()),
            Field::scalar("energy", flat().map(|p| p.energy).collect()),
            Field::vector("velocity", flat().flat_map(|p| p.v).collect()),
        ],
        cell_fields: vec![Field::scalar("material", material)],
    }
}

/// Writes the fields of a state as a VTU file.
///
/// # Errors
/// The file cannot be written.
pub fn vtu(path: &Path, h: &Hydro, s: &State) -> Result<(), HydroError> {
    let grid = grid(h, s);
    Ok(greenup_files::write_by(path, |file| grid.write(file))?)
}

/// Writes the PVTU file of pieces that [`vtu`] wrote into the same folder.
///
/// # Errors
/// The file cannot be written.
pub fn pvtu(path: &Path, pieces: &[String]) -> Result<(), HydroError> {
    let point = [
        ("density", 1),
        ("pressure", 1),
        ("energy", 1),
        ("velocity", 3),
    ];
    Ok(greenup_files::write_by(path, |file| {
        parallel(file, &point, &[("material", 1)], pieces)
    })?)
}

const BEFORE: &str = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n<Collection>\n";
const AFTER: &str = "</Collection>\n</VTKFile>\n";

/// Begins the line with the mark of a run.
const MARK: &str = "<!-- greenup-hydro run ";

/// Writes a PVD file: a list of (time, file name), with the mark of its run.
///
/// # Errors
/// The file cannot be written.
pub fn pvd(path: &Path, mark: &str, files: &[(f64, String)]) -> Result<(), HydroError> {
    let mut text = format!("{BEFORE}{MARK}{mark} -->\n");
    for (t, file) in files {
        let _ = writeln!(
            text,
            "<DataSet timestep=\"{t}\" group=\"\" part=\"0\" file=\"{file}\"/>"
        );
    }
    text.push_str(AFTER);
    Ok(greenup_files::write(path, text)?)
}

/// The mark of a run and its list of (time, file name).
pub type Listed = (String, Vec<(f64, String)>);

/// Reads the list that [`pvd`] wrote; `None` if there is no file.
///
/// # Errors
/// The file cannot be read, or is not one that [`pvd`] wrote.
pub fn read_pvd(path: &Path) -> Result<Option<Listed>, HydroError> {
    if !path.exists() {
        return Ok(None);
    }
    let text = greenup_files::read_text(path)?;
    let entries = text
        .strip_prefix(BEFORE)
        .and_then(|t| t.strip_suffix(AFTER));
    let listed = |entries: &str| {
        let (mark, entries) = entries.strip_prefix(MARK)?.split_once(" -->\n")?;
        let all: Option<Vec<_>> = entries.lines().map(entry).collect();
        Some((mark.to_owned(), all?))
    };
    match entries.and_then(listed) {
        Some(all) => Ok(Some(all)),
        None => Err(FileError::NotOurs {
            path: path.to_owned(),
        }
        .into()),
    }
}

fn entry(line: &str) -> Option<(f64, String)> {
    let rest = line.strip_prefix("<DataSet timestep=\"")?;
    let (t, rest) = rest.split_once("\" group=\"\" part=\"0\" file=\"")?;
    let file = rest.strip_suffix("\"/>")?;
    let t: f64 = t.parse().ok().filter(|t: &f64| t.is_finite())?;
    (!file.contains(['"', '<', '&'])).then(|| (t, file.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_comes_once() {
        for (shape, k) in [
            (Shape::Segment, 4),
            (Shape::Quad, 3),
            (Shape::Hex, 3),
            (Shape::Hex, 1),
            (Shape::Triangle, 2),
            (Shape::Tet, 2),
        ] {
            let mut all = nodes(shape, k);
            assert_eq!(all.len(), shape.nodes(k), "{shape:?} {k}");
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), shape.nodes(k), "{shape:?} {k}");
        }
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.pvd");
        assert!(read_pvd(&path).unwrap().is_none());
        let all = vec![
            (0.0, "fields_0000.vtu".to_owned()),
            (0.1 + 0.2, "fields_0001.vtu".to_owned()),
        ];
        pvd(&path, "0a", &all).unwrap();
        assert_eq!(read_pvd(&path).unwrap(), Some(("0a".into(), all)));
        let unmarked = format!("{BEFORE}{AFTER}");
        let unknown = format!("{BEFORE}{MARK}0a -->\n<x/>\n{AFTER}");
        for other in ["", "<VTKFile/>", &unmarked, &unknown] {
            std::fs::write(&path, other).unwrap();
            let e = read_pvd(&path).unwrap_err();
            assert!(e.to_string().contains("not made by this program"), "{e}");
        }
    }
}
