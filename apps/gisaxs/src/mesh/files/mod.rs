//! Meshes from and to OBJ, STL and PLY files.

mod obj;
mod ply;
mod polygon;
mod stl;
mod words;
mod write;

pub use write::ENDINGS;

use super::Mesh;
use crate::GisaxsError;
use greenup_process::memory;
use std::path::Path;

/// Maximum number of triangles.
pub const MAX: usize = 10_000_000;

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
        "obj" => obj::obj(&bytes),
        "stl" => stl::stl(&bytes),
        "ply" => ply::ply(&bytes),
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
        assert!(said.contains("line 5: the coordinate"), "{said}");
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
