//! What a picture shows: field, colours, mesh lines, planes.

use crate::HydroError;
use crate::hydro::Hydro;
use crate::mesh::Bounds;
use crate::output::fields::Field;
use crate::problem::Standard;
use clap::ValueEnum;
use std::str::FromStr;

/// Whether the edges of zones are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MeshLines {
    /// Always
    On,
    /// Never
    Off,
    /// If zones are wide enough
    #[default]
    Auto,
}

/// A plane normal to an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// 0 for x, 1 for y, 2 for z.
    pub axis: usize,
    /// Its coordinate.
    pub at: f64,
}

/// A coordinate and its value: `x=0.5`.
///
/// # Errors
/// Another text.
pub fn coordinate(text: &str) -> Result<(usize, &str), HydroError> {
    let (name, value) = text.split_once('=').unwrap_or(("", ""));
    super::AXES
        .iter()
        .position(|a| *a == name.trim())
        .map(|axis| (axis, value.trim()))
        .ok_or_else(|| HydroError::Setting(format!("`{text}`: use x=NUMBER, y=NUMBER or z=NUMBER")))
}

/// A finite number.
///
/// # Errors
/// Another text.
pub fn number(text: &str) -> Result<f64, HydroError> {
    let parsed = text.trim().parse().ok().filter(|v: &f64| v.is_finite());
    parsed.ok_or_else(|| HydroError::Setting(format!("`{text}` is not a number")))
}

impl FromStr for Slice {
    type Err = HydroError;

    fn from_str(text: &str) -> Result<Self, HydroError> {
        let (axis, value) = coordinate(text)?;
        Ok(Self {
            axis,
            at: number(value)?,
        })
    }
}

/// What a picture shows.
#[derive(Clone, Debug)]
pub struct View {
    /// Field.
    pub field: Field,
    /// Whether colours are logarithmic.
    pub log: bool,
    /// Values of the first and the last colour; those of the field without.
    pub range: Option<(f64, f64)>,
    /// Whether the edges of zones are drawn.
    pub mesh_lines: MeshLines,
    /// Planes through a mesh in space; three and the outer faces without any.
    pub slices: Vec<Slice>,
    /// Energy of the Sedov problem, for its exact solution.
    pub e0: f64,
}

/// Checks that a picture of a mesh with these bounds can be drawn.
///
/// # Errors
/// There are slices of a mesh in fewer than three dimensions, or beside it.
pub fn drawable(mesh: &Bounds, slices: &[Slice]) -> Result<(), HydroError> {
    let Some(first) = slices.first() else {
        return Ok(());
    };
    let name = |s: &Slice| format!("--slice {}={}", super::AXES[s.axis], s.at);
    if mesh.dim < 3 {
        return Err(HydroError::Output(format!(
            "{}: planes need three dimensions, and this mesh has {}; --line and --line-out FILE.csv show the fields along a line",
            name(first),
            mesh.dim
        )));
    }
    for s in slices {
        let (lo, hi) = mesh.range(s.axis);
        if !(lo..=hi).contains(&s.at) {
            return Err(HydroError::Output(format!(
                "{}: the mesh reaches from {lo} to {hi} there",
                name(s)
            )));
        }
    }
    Ok(())
}

/// Planes through the origin for problems around it, else through the centre.
pub(super) fn default_slices(h: &Hydro, b: &[(f64, f64)]) -> Vec<Slice> {
    let around =
        h.problem.point_energy(1.0).is_some() || h.problem.standard() == Some(Standard::Noh);
    let inside = b.iter().all(|(lo, hi)| (*lo..=*hi).contains(&0.0));
    (0..3)
        .map(|axis| Slice {
            axis,
            at: if around && inside {
                0.0
            } else {
                0.5 * (b[axis].0 + b[axis].1)
            },
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;

    #[test]
    fn slices_are_read() {
        let s: Slice = "y = -0.5".parse().unwrap();
        assert_eq!((s.axis, s.at), (1, -0.5));
        for bad in ["", "x", "w=1", "x=", "x=nan", "x=1:2", "=1"] {
            assert!(bad.parse::<Slice>().is_err(), "{bad}");
        }
        let mesh = Mesh::open("cube01_hex", 0).unwrap().bounds();
        assert!(drawable(&mesh, &["z=1".parse().unwrap()]).is_ok());
        let e = drawable(&mesh, &["z=1.5".parse().unwrap()]).unwrap_err();
        assert!(e.to_string().contains("from 0 to 1"), "{e}");
        let flat = Mesh::open("square01_quad", 0).unwrap().bounds();
        let e = drawable(&flat, &["x=0.5".parse().unwrap()]).unwrap_err();
        assert!(e.to_string().contains("three dimensions"), "{e}");
        assert!(drawable(&flat, &[]).is_ok());
    }
}
