//! Meshes from files.

use super::Mesh;
use crate::GisaxsError;
use std::io::{BufReader, Cursor};
use std::path::Path;

/// Triangles at most.
const MOST: usize = 10_000_000;

/// Reads OBJ or STL by the file's ending, and welds its corners.
///
/// # Errors
/// It cannot be read, or is no mesh of triangles.
pub fn read(path: &Path) -> Result<Mesh, GisaxsError> {
    let fail = |message: String| GisaxsError::File {
        path: path.display().to_string(),
        message,
    };
    let bytes = std::fs::read(path).map_err(|e| fail(format!("cannot be read: {e}")))?;
    let ending = path
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let mesh = match ending.as_str() {
        "obj" => obj(&bytes),
        "stl" => stl(&bytes),
        _ => Err("its ending is not obj or stl".into()),
    }
    .map_err(fail)?;
    if mesh.triangles.len() > MOST {
        return Err(fail(format!(
            "has {} triangles, more than {MOST}",
            mesh.triangles.len()
        )));
    }
    Ok(mesh.welded())
}

fn obj(bytes: &[u8]) -> Result<Mesh, String> {
    let options = tobj::LoadOptions {
        triangulate: true,
        single_index: false,
        ..tobj::LoadOptions::default()
    };
    // Materials say nothing of the shape.
    let none = |_: &Path| Ok((Vec::new(), Default::default()));
    let (models, _) = tobj::load_obj_buf(&mut BufReader::new(Cursor::new(bytes)), &options, none)
        .map_err(|e| format!("is no OBJ: {e}"))?;
    let mut mesh = Mesh::default();
    for m in models {
        let first = mesh.vertices.len();
        let (corners, rest) = m.mesh.positions.as_chunks::<3>();
        if !rest.is_empty() {
            return Err("has a corner without three coordinates".into());
        }
        mesh.vertices
            .extend(corners.iter().map(|v| v.map(f64::from)));
        let (faces, _) = m.mesh.indices.as_chunks::<3>();
        mesh.triangles
            .extend(faces.iter().map(|t| t.map(|i| first + i as usize)));
    }
    Ok(mesh)
}

fn stl(bytes: &[u8]) -> Result<Mesh, String> {
    let read = stl_io::read_stl(&mut Cursor::new(bytes)).map_err(|e| format!("is no STL: {e}"))?;
    Ok(Mesh {
        vertices: read
            .vertices
            .iter()
            .map(|v| [f64::from(v[0]), f64::from(v[1]), f64::from(v[2])])
            .collect(),
        triangles: read.faces.iter().map(|f| f.vertices).collect(),
    })
}
