//! Meshes from OBJ files.

use super::polygon;
use super::words::{at_line, coordinate, lines, text};
use crate::GisaxsError;
use crate::mesh::Mesh;

/// Statements that say nothing of the surface: names, groups, materials, textures, normals, points, lines, display.
const IGNORED: [&str; 27] = [
    "vt",
    "vn",
    "vp",
    "p",
    "l",
    "g",
    "o",
    "s",
    "mg",
    "usemtl",
    "mtllib",
    "usemap",
    "maplib",
    "lod",
    "bevel",
    "c_interp",
    "d_interp",
    "shadow_obj",
    "trace_obj",
    "newmtl",
    "map_kd",
    "illum",
    "kd",
    "ka",
    "ks",
    "ns",
    "d",
];

/// Statements of curves and surfaces that are not flat.
const CURVED: [&str; 17] = [
    "cstype", "deg", "bmat", "step", "curv", "curv2", "surf", "parm", "trim", "hole", "scrv", "sp",
    "end", "con", "ctech", "stech", "bsp",
];

/// Reads an OBJ file: vertices and faces, of which polygons are divided into triangles.
///
/// # Errors
/// A line is not valid.
pub(super) fn obj(bytes: &[u8]) -> Result<Mesh, GisaxsError> {
    let text = text(bytes)?;
    let mut mesh = Mesh::default();
    let mut faces: Vec<(usize, Vec<Corner>)> = Vec::new();
    let mut continued: Option<(usize, String)> = None;
    for (n, line) in lines(&text) {
        // A comment ends with its line, whatever it ends with.
        let line = line.split('#').next().unwrap_or_default();
        // A backslash at the end of a line joins the next to it.
        let (first, whole) = match continued.take() {
            Some((first, before)) => (first, before + line),
            None if line.contains('\\') => (n, line.to_owned()),
            None => {
                statement(line, &mut mesh, &mut faces, n).map_err(|e| at_line(n, e))?;
                continue;
            }
        };
        match whole.trim_end().strip_suffix('\\') {
            Some(part) => continued = Some((first, format!("{part} "))),
            None => {
                statement(&whole, &mut mesh, &mut faces, first).map_err(|e| at_line(first, e))?
            }
        }
    }
    if let Some((first, whole)) = continued {
        statement(&whole, &mut mesh, &mut faces, first).map_err(|e| at_line(first, e))?;
    }
    let vertices = mesh.vertices.len();
    for (n, face) in faces {
        let mut corners = face
            .iter()
            .map(|c| c.index(vertices))
            .collect::<Result<Vec<usize>, GisaxsError>>()
            .map_err(|e| at_line(n, e))?;
        corners.dedup();
        if corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        if corners.len() < 3 {
            return Err(at_line(n, "a face needs three corners at least"));
        }
        mesh.triangles
            .extend(polygon::triangles(&corners, |i| mesh.vertices[i]));
    }
    Ok(mesh)
}

/// A corner of a face: a number from 1, or one backward from the vertices before the face.
struct Corner {
    number: i64,
    before: usize,
}

impl Corner {
    fn index(&self, vertices: usize) -> Result<usize, GisaxsError> {
        let index = match self.number {
            n @ 1.. => usize::try_from(n - 1).ok(),
            0 => None,
            n => usize::try_from(n.unsigned_abs())
                .ok()
                .and_then(|back| self.before.checked_sub(back)),
        };
        index.filter(|i| *i < vertices).ok_or_else(|| {
            format!(
                "there is no vertex {}; the file has {vertices}",
                self.number
            )
            .into()
        })
    }
}

fn statement(
    line: &str,
    mesh: &mut Mesh,
    faces: &mut Vec<(usize, Vec<Corner>)>,
    n: usize,
) -> Result<(), GisaxsError> {
    let mut words = line.split_whitespace();
    match words.next() {
        None => {}
        Some("v") => {
            let mut next = || match words.next() {
                Some(word) => coordinate(word),
                None => Err("a vertex needs three coordinates".into()),
            };
            mesh.vertices.push([next()?, next()?, next()?]);
            // A weight or a colour.
            for word in words {
                coordinate(word)?;
            }
        }
        Some("f" | "fo") => {
            let before = mesh.vertices.len();
            let corner = |word: &str| -> Result<Corner, GisaxsError> {
                let mut numbers = word.split('/');
                let number = numbers.next().unwrap_or_default();
                let number = number.parse().ok();
                let rest = numbers.all(|t| t.is_empty() || t.parse::<i64>().is_ok());
                match number.filter(|_| rest) {
                    Some(number) => Ok(Corner { number, before }),
                    None => Err(format!("\"{word}\" is not a corner of a face").into()),
                }
            };
            faces.push((n, words.map(corner).collect::<Result<_, _>>()?));
        }
        Some(word) if CURVED.contains(&word) => {
            return Err(format!(
                "`{word}` describes a curved surface: export the mesh as triangles"
            )
            .into());
        }
        Some(word) if IGNORED.contains(&word.to_ascii_lowercase().as_str()) => {}
        Some(word) => {
            return Err(format!("`{word}` is not a statement of an OBJ file").into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n";

    fn volume(text: &str) -> f64 {
        let mesh = obj(text.as_bytes()).unwrap().welded();
        mesh.check().unwrap();
        mesh.volume()
    }

    #[test]
    fn all_ways_to_write_a_cube_have_its_volume() {
        let faces = "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\n";
        let cube = |last: &str| format!("{CUBE}{faces}{last}");
        for text in [
            cube("f 4 1 5 8"),
            cube("f 4 1 \\\n 5 8\n"),
            format!("# C:\\models\\\n{}", cube("f 4 1 5 8 # \\\n")),
            cube("# C:\\models\\\nf 4 1 5 8\n"),
            cube("f 4 1 \\ # two lines\n 5 8\n"),
            cube("f 4 \\\r\n 1 \\  \r\n 5 8"),
            cube("usemtl\nusemtl \ng\no\ns off\nf 4 1 5 8 # f 1 2 3\n"),
            cube("f 4/1/1 1//2 5/3 8/4/\n"),
            cube("f -5 -8 -4 -1\n"),
            cube("f 4 4 1 5 8 4\n"),
            format!("\u{feff}{}", cube("f 4 1 5 8\n")),
            cube("f 4 1 5 8\n").replace('\n', "\r"),
            cube("\tf\t4 1 5 8\n").replace("v 0 0 0", " v 0 0 0 1.0"),
            // A corner in the middle of an edge, in both faces at the edge.
            format!(
                "{CUBE}v 0.5 0 0\nf 1 4 3 2 9\nf 5 6 7 8\nf 1 9 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"
            ),
        ] {
            assert!((volume(&text) - 1.0).abs() < 1e-14, "{text}");
        }
        // A prism over an L, whose bases are reflex.
        let l = "v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\n\
                 v 0 0 1\nv 2 0 1\nv 2 1 1\nv 1 1 1\nv 1 2 1\nv 0 2 1\nf 2 1 6 5 4 3\nf 8 9 10 11 12 7\n\
                 f 1 2 8 7\nf 2 3 9 8\nf 3 4 10 9\nf 4 5 11 10\nf 5 6 12 11\nf 6 1 7 12\n";
        assert!((volume(l) - 3.0).abs() < 1e-14);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, message) in [
            ("v 0 0\n", "line 1: a vertex needs three coordinates"),
            (
                "v 0 0 0\nf 1 2\n",
                "line 2: there is no vertex 2; the file has 1",
            ),
            ("v 0 0 0\nf 0 1 1\n", "line 2: there is no vertex 0"),
            ("v 0 0 0\nf -2 1 1\n", "line 2: there is no vertex -2"),
            ("v 0 0 0\nf 1 1 1\n", "line 2: a face needs three corners"),
            ("f 1 x 3\n", "line 1: \"x\" is not a corner"),
            ("f 1/a 2 3\n", "line 1: \"1/a\" is not a corner"),
            ("ff 1 2 3\n", "line 1: `ff` is not a statement"),
            (
                "v 0 0 0\ncstype bezier\n",
                "line 2: `cstype` describes a curved",
            ),
        ] {
            let e = obj(text.as_bytes()).unwrap_err().to_string();
            assert!(e.starts_with(message), "{text}: {e}");
        }
        let e = obj(b"\xff\xfev\0").unwrap_err().to_string();
        assert!(e.contains("UTF-16"), "{e}");
    }
}
