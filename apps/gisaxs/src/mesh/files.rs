//! Meshes from OBJ, STL and PLY files.

use super::Mesh;
use crate::GisaxsError;
use greenup_process::memory;
use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{DefaultElement, Property};
use std::io::{BufReader, Cursor};
use std::path::Path;

/// Maximum number of triangles.
pub(super) const MAX: usize = 10_000_000;

/// Reads an OBJ, STL or PLY file, by its extension, and merges vertices at the same position.
///
/// # Errors
/// The file cannot be read, is not a mesh of triangles, or is too large.
pub fn read(path: &Path) -> Result<Mesh, GisaxsError> {
    let fail = |e: GisaxsError| GisaxsError::File {
        path: path.display().to_string(),
        message: e.to_string(),
    };
    let bytes = greenup_files::read_bytes(path, limit())?;
    let ending = path
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    let mesh = match ending.as_str() {
        "obj" => obj(&bytes),
        "stl" => stl(&bytes),
        "ply" => ply(&bytes),
        _ => Err("its ending is not obj, stl or ply".into()),
    }
    .map_err(fail)?;
    if mesh.triangles.len() > MAX {
        return Err(fail(
            format!("has {} triangles, more than {MAX}", mesh.triangles.len()).into(),
        ));
    }
    Ok(mesh.welded())
}

/// Largest file, bytes: ten million triangles as text are below 3 GiB; reading takes three times that memory.
fn limit() -> u64 {
    memory::available().map_or(3 << 30, |m| (m / 4).clamp(64 << 20, 3 << 30))
}

/// Largest coordinate: the square of a larger one overflows in single precision.
const FARTHEST: f64 = 1e18;

/// The coordinate, if it is in range.
fn checked(x: f64) -> Result<f64, crate::GisaxsError> {
    if x.abs() <= FARTHEST {
        Ok(x)
    } else {
        Err(format!("the coordinate {x:e} is not between -{FARTHEST:e} and {FARTHEST:e}").into())
    }
}

/// Checks the coordinates on the lines of vertices of an OBJ file.
fn check_lines(text: &str) -> Result<(), crate::GisaxsError> {
    for (n, line) in text.lines().enumerate() {
        let mut words = line.split_ascii_whitespace();
        if words.next() == Some("v") {
            for word in words.take(3) {
                let wrong = |m: GisaxsError| GisaxsError::from(format!("line {}: {m}", n + 1));
                let x = word
                    .parse()
                    .map_err(|_| wrong(format!("\"{word}\" is not a number").into()))?;
                checked(x).map_err(wrong)?;
            }
        }
    }
    Ok(())
}

fn obj(bytes: &[u8]) -> Result<Mesh, crate::GisaxsError> {
    // Comments and names are in any encoding; numbers are not.
    let text = String::from_utf8_lossy(bytes);
    check_lines(&text)?;
    let options = tobj::LoadOptions {
        triangulate: true,
        single_index: false,
        ..tobj::LoadOptions::default()
    };
    // Materials say nothing of the shape.
    let none = |_: &Path| Ok((Vec::new(), Default::default()));
    let (models, _) = tobj::load_obj_buf(
        &mut BufReader::new(Cursor::new(text.as_bytes())),
        &options,
        none,
    )
    .map_err(|e| format!("is not a valid OBJ file: {e}"))?;
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

fn stl(bytes: &[u8]) -> Result<Mesh, crate::GisaxsError> {
    let read = stl_io::read_stl(&mut Cursor::new(bytes))
        .map_err(|e| format!("is not a valid STL file: {e}"))?;
    for (n, face) in read.faces.iter().enumerate() {
        for v in face.vertices.map(|i| read.vertices[i]) {
            for k in 0..3 {
                checked(v[k].into()).map_err(|m| format!("triangle {}: {m}", n + 1))?;
            }
        }
    }
    Ok(Mesh {
        vertices: read
            .vertices
            .iter()
            .map(|v| [f64::from(v[0]), f64::from(v[1]), f64::from(v[2])])
            .collect(),
        triangles: read.faces.iter().map(|f| f.vertices).collect(),
    })
}

fn ply(bytes: &[u8]) -> Result<Mesh, crate::GisaxsError> {
    let read = Parser::<DefaultElement>::new()
        .read_ply(&mut Cursor::new(bytes))
        .map_err(|e| format!("is not a valid PLY file: {e}"))?;
    let elements = |name: &str| read.payload.get(name).map_or(&[][..], Vec::as_slice);
    let mut mesh = Mesh::default();
    for (n, v) in elements("vertex").iter().enumerate() {
        let position = ["x", "y", "z"].map(|k| v.get(k).and_then(number));
        let [Some(x), Some(y), Some(z)] = position else {
            return Err(format!("vertex {} has no x, y and z", n + 1).into());
        };
        for x in [x, y, z] {
            checked(x).map_err(|m| format!("vertex {}: {m}", n + 1))?;
        }
        mesh.vertices.push([x, y, z]);
    }
    for (n, f) in elements("face").iter().enumerate() {
        let corners = f
            .get("vertex_indices")
            .or(f.get("vertex_index"))
            .and_then(indices)
            .filter(|c| c.len() >= 3 && c.iter().all(|i| *i < mesh.vertices.len()))
            .ok_or_else(|| format!("face {} names no three vertices", n + 1))?;
        // Polygons as fans.
        let fan = corners.windows(2).skip(1);
        mesh.triangles.extend(fan.map(|w| [corners[0], w[0], w[1]]));
    }
    Ok(mesh)
}

fn number(p: &Property) -> Option<f64> {
    match *p {
        Property::Float(v) => Some(f64::from(v)),
        Property::Double(v) => Some(v),
        Property::Int(v) => Some(f64::from(v)),
        Property::Short(v) => Some(f64::from(v)),
        _ => None,
    }
}

fn indices(p: &Property) -> Option<Vec<usize>> {
    fn all<T: Copy + TryInto<usize>>(v: &[T]) -> Option<Vec<usize>> {
        v.iter().map(|&i| i.try_into().ok()).collect()
    }
    match p {
        Property::ListInt(v) => all(v),
        Property::ListUInt(v) => all(v),
        Property::ListShort(v) => all(v),
        Property::ListUShort(v) => all(v),
        Property::ListChar(v) => all(v),
        Property::ListUChar(v) => all(v),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron in every format.
    const OBJ: &str = "v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
    const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty double x\nproperty double y\nproperty double z\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n2 0 0\n0 2 0\n0 0 3\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n";

    fn stl_text() -> String {
        let v = [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 3]];
        let mut out = String::from("solid t\n");
        for t in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
            out.push_str("facet normal 0 0 0\nouter loop\n");
            for i in t {
                let [x, y, z] = v[i as usize];
                out.push_str(&format!("vertex {x} {y} {z}\n"));
            }
            out.push_str("endloop\nendfacet\n");
        }
        out + "endsolid t\n"
    }

    #[test]
    fn every_format_gives_the_same_solid() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("t.obj", OBJ.to_owned()),
            ("t.ply", PLY.to_owned()),
            ("t.stl", stl_text()),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            let mesh = read(&path).unwrap();
            mesh.check().unwrap();
            assert_eq!(
                (mesh.vertices.len(), mesh.triangles.len()),
                (4, 4),
                "{name}"
            );
            assert!((mesh.volume() - 2.0).abs() < 1e-6, "{name}");
        }
        for (name, text) in [
            ("a.obj", "f 1 2 3"),
            ("a.ply", "ply\nformat ascii 1.0\nelement vertex 1"),
            ("a.stl", "solid"),
            ("a.txt", ""),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            let bad = read(&path).and_then(|m| m.check());
            assert!(bad.is_err(), "{name}");
        }
    }

    #[test]
    fn far_coordinates_are_named_and_comments_may_hold_any_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("t.obj");
        let mut bytes = b"# caf\xe9 \xff\n".to_vec();
        bytes.extend(OBJ.bytes());
        std::fs::write(&at, &bytes).unwrap();
        assert_eq!(read(&at).unwrap().triangles.len(), 4);
        for far in ["1e308", "inf", "nan", "-3e25"] {
            std::fs::write(&at, OBJ.replace("v 0 2 0", &format!("v 0 {far} 0"))).unwrap();
            let said = read(&at).unwrap_err().to_string();
            assert!(said.contains("line 3: the coordinate"), "{said}");
        }
        std::fs::write(&at, OBJ.replace("v 0 2 0", "v 0 two 0")).unwrap();
        let said = read(&at).unwrap_err().to_string();
        assert!(said.contains("line 3: \"two\" is not a number"), "{said}");
        let ply = dir.path().join("t.ply");
        std::fs::write(&ply, PLY.replace("0 0 3\n3 0", "0 0 1e308\n3 0")).unwrap();
        let said = read(&ply).unwrap_err().to_string();
        assert!(said.contains("vertex 4: the coordinate 1e308"), "{said}");
        let stl = dir.path().join("t.stl");
        std::fs::write(
            &stl,
            stl_text().replacen("vertex 0 2 0", "vertex 0 2e30 0", 1),
        )
        .unwrap();
        let said = read(&stl).unwrap_err().to_string();
        assert!(said.contains("triangle 1: the coordinate"), "{said}");
    }

    #[cfg(unix)]
    #[test]
    fn files_without_end_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("zero.obj");
        std::os::unix::fs::symlink("/dev/zero", &at).unwrap();
        let said = read(&at).unwrap_err().to_string();
        assert!(said.contains("zero.obj"), "{said}");
    }
}
