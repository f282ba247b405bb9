//! What a picture shows: field, colours, mesh lines, planes.

use crate::HydroError;
use crate::hydro::Hydro;
use crate::mesh::Bounds;
use crate::output::fields::Field;
use crate::problem::Standard;
use clap::ValueEnum;
use greenup_setting::setting;
use greenup_space::expr::Expression;
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

/// Zones by the position of their centre: an expression of x, y, z and r, their distance from the origin.
#[derive(Clone, Debug)]
pub struct Region(Box<Expression>);

impl FromStr for Region {
    type Err = HydroError;

    fn from_str(text: &str) -> Result<Self, HydroError> {
        Expression::parse(text, &["x", "y", "z", "r"])
            .map(|e| Self(Box::new(e)))
            .map_err(|e| HydroError::Setting(format!("`{text}`: {e}")))
    }
}

impl Region {
    /// Whether a position is in it.
    pub fn holds(&self, x: [f64; 3]) -> bool {
        let r = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let value = self.0.eval_f64(&[x[0], x[1], x[2], r]);
        value.is_ok_and(|v| v != 0.0 && !v.is_nan())
    }
}

/// The outer faces of a mesh in space as one picture.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Whether the mesh is mirrored at the planes x = 0, y = 0 and z = 0, without the eighth before the viewer.
    pub mirror: bool,
    /// The zones that are drawn; all without.
    pub only: Option<Region>,
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
    /// The outer faces alone, of a mesh in space.
    pub surface: Option<Surface>,
    /// Energy of the Sedov problem, for its exact solution.
    pub e0: f64,
}

/// Checks that a picture of a mesh with these bounds can be drawn.
///
/// # Errors
/// There are slices of a mesh in fewer than three dimensions, or beside it.
pub fn drawable(
    mesh: &Bounds,
    slices: &[Slice],
    surface: Option<&Surface>,
) -> Result<(), HydroError> {
    if let Some(s) = surface {
        if mesh.dim < 3 {
            return Err(HydroError::Output(format!(
                "{}: a surface needs three dimensions, and this mesh has {}; {} alone draws it",
                setting("surface"),
                mesh.dim,
                setting("png")
            )));
        }
        if s.mirror && mesh.low.iter().any(|x| x.abs() > 1e-9) {
            return Err(HydroError::Output(format!(
                "{}: the mesh must begin at x = 0, y = 0 and z = 0, where it is mirrored",
                setting("mirror")
            )));
        }
    }
    let Some(first) = slices.first() else {
        return Ok(());
    };
    let name = |s: &Slice| setting("slice").to(format_args!("{}={}", super::AXES[s.axis], s.at));
    if mesh.dim < 3 {
        return Err(HydroError::Output(format!(
            "{}: planes need three dimensions, and this mesh has {}; {} and {} show the fields along a line",
            name(first),
            mesh.dim,
            setting("line"),
            setting("line_out").to("FILE.csv")
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
        assert!(drawable(&mesh, &["z=1".parse().unwrap()], None).is_ok());
        let e = drawable(&mesh, &["z=1.5".parse().unwrap()], None).unwrap_err();
        assert!(e.to_string().contains("from 0 to 1"), "{e}");
        let flat = Mesh::open("square01_quad", 0).unwrap().bounds();
        let e = drawable(&flat, &["x=0.5".parse().unwrap()], None).unwrap_err();
        assert!(e.to_string().contains("three dimensions"), "{e}");
        assert!(drawable(&flat, &[], None).is_ok());
    }

    #[test]
    fn surfaces_need_a_mesh_in_space_and_mirrors_its_corner_at_the_origin() {
        let mirrored = Surface {
            mirror: true,
            only: Some("r < 0.5 and z > 0.1".parse().unwrap()),
        };
        let only = mirrored.only.as_ref().unwrap();
        assert!(only.holds([0.1, 0.1, 0.2]) && !only.holds([0.4, 0.4, 0.2]));
        assert!(!only.holds([0.1, 0.1, 0.05]));
        assert!("r <".parse::<Region>().is_err() && "q > 1".parse::<Region>().is_err());
        let bounds = |name: &str| Mesh::open(name, 0).unwrap().bounds();
        assert!(drawable(&bounds("cube01_hex"), &[], Some(&mirrored)).is_ok());
        let e = drawable(&bounds("square01_quad"), &[], Some(&mirrored)).unwrap_err();
        assert!(e.to_string().contains("three dimensions"), "{e}");
        let mut moved = bounds("cube01_hex");
        moved.low[2] = -1.0;
        let e = drawable(&moved, &[], Some(&mirrored)).unwrap_err();
        assert!(e.to_string().contains("--mirror"), "{e}");
    }
}
