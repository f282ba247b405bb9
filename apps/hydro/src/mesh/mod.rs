//! Meshes: zones with their corners, materials and boundary attributes; curved zones have more nodes.

pub(crate) mod boxes;
mod check;
mod gmsh;
mod mfem;
mod refine;
mod tokens;
mod zones;

use crate::HydroError;
use crate::fem::element::Shape;
use std::path::Path;

pub use boxes::NAMES;
pub use zones::{Bounds, Curved, FREE, Face, INNER, Mesh, PISTON, Place, face};

/// What a mesh is made of before it is refined.
pub(crate) enum Source {
    /// Coordinates of the faces of a box along each direction.
    Box(Vec<Vec<f64>>),
    /// Any other mesh.
    Mesh(Mesh),
}

impl Mesh {
    /// Opens a built-in mesh, or a file of MFEM (`.mesh`) or Gmsh (`.msh`), and refines it uniformly `refine` times.
    ///
    /// # Errors
    /// No mesh has this name, or the file cannot be read or is invalid; the message names the line.
    pub fn open(name: &str, refine: usize) -> Result<Self, HydroError> {
        Self::open_if(name, refine, &mut |_, _| Ok(()))
    }

    /// As [`Mesh::open`], but calls `fits` with the shape and the final number of zones before it refines the mesh.
    ///
    /// # Errors
    /// As [`Mesh::open`], or the error of `fits`.
    pub fn open_if(
        name: &str,
        refine: usize,
        fits: &mut dyn FnMut(Shape, f64) -> Result<(), HydroError>,
    ) -> Result<Self, HydroError> {
        Ok(match Self::source(name, refine, fits)? {
            Source::Box(faces) => boxes::between(&boxes::refined(faces, refine)),
            Source::Mesh(mesh) => (0..refine).fold(mesh, |mesh, _| mesh.refined()),
        })
    }

    /// What [`Mesh::open_if`] refines.
    pub(crate) fn source(
        name: &str,
        refine: usize,
        fits: &mut dyn FnMut(Shape, f64) -> Result<(), HydroError>,
    ) -> Result<Source, HydroError> {
        let finer = |shape: Shape| 2_f64.powi((refine * shape.dim()) as i32);
        if let Some(faces) = boxes::faces(name) {
            let shape = boxes::shape(faces.len());
            let zones: f64 = faces.iter().map(|f| (f.len() - 1) as f64).product();
            fits(shape, zones * finer(shape))?;
            return Ok(Source::Box(faces));
        }
        let path = Path::new(name);
        let ending = path.extension().and_then(|e| e.to_str());
        let mesh = match ending {
            _ if name == boxes::TRIANGLES => boxes::triangles(),
            Some("mesh" | "msh") => {
                let bytes = greenup_files::read_bytes(path, greenup_files::read::TEXT_LIMIT)?;
                // Names of groups may have any encoding; they have no effect.
                Self::parse(name, &String::from_utf8_lossy(&bytes))?
            }
            _ if path.is_file() => {
                return Err(HydroError::Mesh(format!(
                    "{name}: only meshes of MFEM, *.mesh, and of Gmsh, *.msh, are read. Fix: convert it, e.g. by `gmsh {name} -save -format msh41 -o mesh.msh`"
                )));
            }
            _ => {
                return Err(HydroError::Mesh(format!(
                    "there is no mesh `{name}`: there are {}, and files *.mesh of MFEM and *.msh of Gmsh",
                    NAMES.join(", ")
                )));
            }
        };
        fits(mesh.shape, mesh.zones() as f64 * finer(mesh.shape))?;
        Ok(Source::Mesh(mesh))
    }

    /// Parses the text of a mesh file in MFEM's or Gmsh's format, which its first word tells; `name` appears in messages.
    ///
    /// # Errors
    /// The text is invalid; the message names the line.
    pub fn parse(name: &str, text: &str) -> Result<Self, HydroError> {
        let text = text.trim_start_matches('\u{feff}');
        let wrong = |what: &str| Err(HydroError::Mesh(format!("{name}: {what}")));
        let begins = |words: &[&str]| words.iter().any(|w| text.trim_start().starts_with(w));
        let mut mesh = if begins(&["# vtk", "<VTKFile", "<?xml"]) {
            return wrong(
                "this is a file of VTK, not a mesh of MFEM or Gmsh. Fix: convert it by Gmsh, `-save -format msh41`",
            );
        } else if begins(&["MeshVersionFormatted"]) {
            return wrong(
                "this is a mesh of Medit (INRIA), not of MFEM. Fix: save it by Gmsh as *.msh, `-save -format msh41`",
            );
        } else if begins(&["$"]) || name.ends_with(".msh") && !begins(&["MFEM"]) {
            gmsh::read(name, text)?
        } else {
            mfem::read(name, text)?
        };
        mesh.check()
            .and_then(|()| mesh.turn())
            .map_err(|e| HydroError::Mesh(format!("{name}: {e}")))?;
        mesh.turn_triangles();
        Ok(mesh)
    }

    /// A box of zones whose faces lie at these coordinates along each direction.
    pub fn of_box(faces: &[Vec<f64>]) -> Self {
        boxes::between(faces)
    }
}

#[cfg(test)]
mod tests;
