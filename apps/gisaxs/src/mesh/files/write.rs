//! Meshes as OBJ, STL and PLY files.

use crate::mesh::Mesh;
use std::io::{self, Write};

/// Formats of mesh files, by their extensions.
pub const ENDINGS: [&str; 3] = ["stl", "obj", "ply"];

impl Mesh {
    /// Writes the mesh as `stl` or `ply` (binary, single precision, little-endian), or as `obj` (text).
    ///
    /// # Errors
    /// The output fails, or the format is unknown.
    pub fn write(&self, format: &str, to: &mut impl Write) -> io::Result<()> {
        match format {
            "stl" => self.stl(to),
            "obj" => self.obj(to),
            "ply" => self.ply(to),
            other => Err(io::Error::other(format!("\"{other}\" is no mesh format"))),
        }
    }

    fn stl(&self, to: &mut impl Write) -> io::Result<()> {
        let mut head = [b' '; 80];
        head[..7].copy_from_slice(b"greenup");
        to.write_all(&head)?;
        to.write_all(&(self.triangles.len() as u32).to_le_bytes())?;
        for t in &self.triangles {
            let mut record = [0; 50];
            let corners = t.map(|i| self.vertices[i]);
            let vectors = std::iter::once(self.face(*t).1).chain(corners);
            let numbers = vectors.flatten().map(|x| (x as f32).to_le_bytes());
            for (to, bytes) in record.as_chunks_mut::<4>().0.iter_mut().zip(numbers) {
                *to = bytes;
            }
            to.write_all(&record)?;
        }
        Ok(())
    }

    fn obj(&self, to: &mut impl Write) -> io::Result<()> {
        for [x, y, z] in &self.vertices {
            writeln!(to, "v {x:.9} {y:.9} {z:.9}")?;
        }
        for t in &self.triangles {
            let [a, b, c] = t.map(|i| i + 1);
            writeln!(to, "f {a} {b} {c}")?;
        }
        Ok(())
    }

    fn ply(&self, to: &mut impl Write) -> io::Result<()> {
        let (vertices, faces) = (self.vertices.len(), self.triangles.len());
        write!(
            to,
            "ply\nformat binary_little_endian 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\n\
             property float z\nelement face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
        )?;
        for x in self.vertices.iter().flatten() {
            to.write_all(&(*x as f32).to_le_bytes())?;
        }
        for t in &self.triangles {
            to.write_all(&[3])?;
            for i in t {
                to.write_all(&(*i as i32).to_le_bytes())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let ball = Mesh::ball(10.0, 6, 8);
        for ending in ENDINGS {
            let path = dir.path().join(format!("ball.{ending}"));
            let mut bytes = Vec::new();
            ball.write(ending, &mut bytes).unwrap();
            std::fs::write(&path, bytes).unwrap();
            let read = crate::mesh::read(&path).unwrap();
            read.check().unwrap();
            let counts = |m: &Mesh| (m.vertices.len(), m.triangles.len());
            assert_eq!(counts(&read), counts(&ball), "{ending}");
            assert!(
                (read.volume() / ball.volume() - 1.0).abs() < 1e-6,
                "{ending}"
            );
        }
        assert!(ball.write("xyz", &mut Vec::new()).is_err());
    }
}
