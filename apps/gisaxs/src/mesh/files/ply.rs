//! Meshes from PLY files, text or binary.

use super::polygon;
use super::words::{checked, text};
use crate::GisaxsError;
use crate::mesh::Mesh;

/// Type of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberType {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl NumberType {
    fn of(name: &str) -> Result<Self, GisaxsError> {
        Ok(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return Err(format!("\"{name}\" is not a type of PLY").into()),
        })
    }
}

/// A property of an element: a number, or a list of them after its length.
struct Property {
    name: String,
    length: Option<NumberType>,
    kind: NumberType,
}

struct Element {
    name: String,
    count: usize,
    properties: Vec<Property>,
}

/// How the numbers are written.
#[derive(Clone, Copy)]
enum Format {
    Ascii,
    Little,
    Big,
}

/// Reads a PLY file: the elements `vertex` and `face`; polygons are divided into triangles.
///
/// # Errors
/// The header, a vertex or a face is not valid, or the file does not end behind the last element.
pub(super) fn ply(bytes: &[u8]) -> Result<Mesh, GisaxsError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut source = Source {
        rest: bytes,
        format: Format::Ascii,
    };
    let elements = source.header()?;
    let mut mesh = Mesh::default();
    let mut faces: Vec<Vec<i64>> = Vec::new();
    for e in &elements {
        // Each has a byte at least, so no count takes memory that the file does not have.
        let words = match source.format {
            Format::Ascii => e.properties.len().saturating_mul(2),
            _ => e.properties.len(),
        };
        if e.count.saturating_mul(words) > source.rest.len() + 1 {
            return Err(format!("ends before its {} elements `{}`", e.count, e.name).into());
        }
        for n in 0..e.count {
            source
                .element(e, &mut mesh, &mut faces)
                .map_err(|m| GisaxsError::from(format!("{} {}: {m}", e.name, n + 1)))?;
        }
    }
    if !source.rest.iter().all(u8::is_ascii_whitespace) {
        return Err(format!("{} bytes follow the last element", source.rest.len()).into());
    }
    let vertices = mesh.vertices.len();
    for (n, face) in faces.into_iter().enumerate() {
        let corner = |i: &i64| usize::try_from(*i).ok().filter(|i| *i < vertices);
        let mut corners = face.iter().map(corner).collect::<Option<Vec<usize>>>();
        if let Some(c) = &mut corners {
            c.dedup();
            if c.len() > 1 && c.first() == c.last() {
                c.pop();
            }
        }
        let corners = corners
            .filter(|c| c.len() >= 3)
            .ok_or_else(|| format!("face {} names no three vertices", n + 1))?;
        mesh.triangles
            .extend(polygon::triangles(&corners, |i| mesh.vertices[i]));
    }
    Ok(mesh)
}

struct Source<'a> {
    rest: &'a [u8],
    format: Format,
}

impl Source<'_> {
    /// The next line of the header; it ends with LF, CR LF or CR.
    fn line(&mut self) -> Result<String, GisaxsError> {
        let end = self.rest.iter().position(|b| matches!(b, b'\n' | b'\r'));
        let end = end.ok_or("has no `end_header`")?;
        let line = text(&self.rest[..end])?.trim().to_owned();
        let after = &self.rest[end..];
        self.rest = after.strip_prefix(b"\r\n").unwrap_or(&after[1..]);
        Ok(line)
    }

    fn header(&mut self) -> Result<Vec<Element>, GisaxsError> {
        if self.line()? != "ply" {
            return Err("does not begin with `ply`".into());
        }
        let mut elements: Vec<Element> = Vec::new();
        let mut format = None;
        loop {
            let line = self.line()?;
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                [] | ["comment" | "obj_info", ..] => {}
                ["end_header"] => break,
                ["format", name, "1.0"] => {
                    format = Some(match name {
                        "ascii" => Format::Ascii,
                        "binary_little_endian" => Format::Little,
                        "binary_big_endian" => Format::Big,
                        _ => return Err(format!("\"{name}\" is not a format of PLY").into()),
                    });
                }
                ["element", name, count] => elements.push(Element {
                    name: name.to_owned(),
                    count: count
                        .parse()
                        .map_err(|_| format!("\"{count}\" is not a number of elements"))?,
                    properties: Vec::new(),
                }),
                ["property", ref rest @ ..] => {
                    let (length, kind, name) = match *rest {
                        ["list", length, kind, name] => (Some(NumberType::of(length)?), kind, name),
                        [kind, name] => (None, kind, name),
                        _ => return Err(format!("\"{line}\" is not a line of its header").into()),
                    };
                    let to = elements
                        .last_mut()
                        .ok_or("has a property before the first element")?;
                    to.properties.push(Property {
                        name: name.to_owned(),
                        length,
                        kind: NumberType::of(kind)?,
                    });
                }
                _ => return Err(format!("\"{line}\" is not a line of its header").into()),
            }
        }
        self.format = format.ok_or("has no line `format`")?;
        for (name, fix) in [
            ("tristrips", "strips of triangles are not read"),
            ("multi_patch", "patches are not read"),
        ] {
            if elements.iter().any(|e| e.name == name && e.count > 0) {
                return Err(format!("`{name}`: {fix}; export it with faces").into());
            }
        }
        for (element, names) in [
            ("vertex", &[&["x"][..], &["y"], &["z"]][..]),
            ("face", &[&["vertex_indices", "vertex_index"]]),
        ] {
            let mut of: Vec<&Element> = elements.iter().filter(|e| e.name == element).collect();
            let (Some(e), true) = (of.pop(), of.is_empty()) else {
                return Err(format!("must have the element `{element}` once").into());
            };
            for either in names {
                let count = (e.properties.iter())
                    .filter(|p| either.contains(&p.name.as_str()))
                    .filter(|p| p.length.is_some() == (element == "face"))
                    .count();
                if count != 1 && e.count > 0 {
                    let name = either[0];
                    return Err(format!("`{element}` must have the property `{name}` once").into());
                }
            }
        }
        Ok(elements)
    }

    fn element(
        &mut self,
        e: &Element,
        mesh: &mut Mesh,
        faces: &mut Vec<Vec<i64>>,
    ) -> Result<(), GisaxsError> {
        let (is_vertex, is_face) = (e.name == "vertex", e.name == "face");
        let mut position = [0.0; 3];
        for p in &e.properties {
            let Some(length) = p.length else {
                let value = self.number(p.kind)?;
                let axis = ["x", "y", "z"].iter().position(|k| *k == p.name);
                if let (true, Some(k)) = (is_vertex, axis) {
                    position[k] = checked(value)?;
                }
                continue;
            };
            let n = self.number(length)?;
            if !(0.0..=self.rest.len() as f64).contains(&n) || n.fract() != 0.0 {
                return Err(format!("a list of {n} values does not fit the file").into());
            }
            let corners = is_face && ["vertex_indices", "vertex_index"].contains(&p.name.as_str());
            let mut list = Vec::new();
            for _ in 0..n as usize {
                let value = self.number(p.kind)?;
                if corners {
                    if value.fract() != 0.0 {
                        return Err(format!("{value} is not the number of a vertex").into());
                    }
                    list.push(value as i64);
                }
            }
            if corners {
                faces.push(list);
            }
        }
        if is_vertex {
            mesh.vertices.push(position);
        }
        Ok(())
    }

    fn number(&mut self, kind: NumberType) -> Result<f64, GisaxsError> {
        match self.format {
            Format::Ascii => self.word(kind),
            format => self.binary(kind, matches!(format, Format::Big)),
        }
    }

    fn word(&mut self, kind: NumberType) -> Result<f64, GisaxsError> {
        let start = self.rest.trim_ascii_start();
        let end = start
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(start.len());
        let (word, rest) = start.split_at(end);
        if word.is_empty() {
            return Err("the file ends too early".into());
        }
        self.rest = rest;
        let word = String::from_utf8_lossy(word);
        let wrong = || format!("\"{word}\" is not a number");
        let value: f64 = word.parse().map_err(|_| wrong())?;
        let (lo, hi) = match kind {
            NumberType::F32 | NumberType::F64 => return Ok(value),
            NumberType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
            NumberType::U8 => (0.0, f64::from(u8::MAX)),
            NumberType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
            NumberType::U16 => (0.0, f64::from(u16::MAX)),
            NumberType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
            NumberType::U32 => (0.0, f64::from(u32::MAX)),
        };
        if (lo..=hi).contains(&value) && value.fract() == 0.0 {
            Ok(value)
        } else {
            Err(format!("{word} is not a number of type {kind:?}")
                .to_lowercase()
                .into())
        }
    }

    fn binary(&mut self, kind: NumberType, big: bool) -> Result<f64, GisaxsError> {
        let mut take = |bytes: &mut [u8]| -> Result<(), GisaxsError> {
            let (own, rest) = self
                .rest
                .split_at_checked(bytes.len())
                .ok_or("the file ends too early")?;
            bytes.copy_from_slice(own);
            if big {
                bytes.reverse();
            }
            self.rest = rest;
            Ok(())
        };
        macro_rules! read {
            ($t:ty) => {{
                let mut bytes = [0; size_of::<$t>()];
                take(&mut bytes)?;
                f64::from(<$t>::from_le_bytes(bytes))
            }};
        }
        Ok(match kind {
            NumberType::I8 => read!(i8),
            NumberType::U8 => read!(u8),
            NumberType::I16 => read!(i16),
            NumberType::U16 => read!(u16),
            NumberType::I32 => read!(i32),
            NumberType::U32 => read!(u32),
            NumberType::F32 => read!(f32),
            NumberType::F64 => read!(f64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 8\nproperty double x\n\
                        property double y\nproperty double z\nelement face 6\n\
                        property list uchar int vertex_indices\nend_header\n";
    const BODY: &str = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n4 0 3 2 1\n4 4 5 6 7\n4 0 1 5 4\n\
                        4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n";

    fn volume(bytes: &[u8]) -> f64 {
        let mesh = ply(bytes).unwrap().welded();
        mesh.check().unwrap();
        mesh.volume()
    }

    /// The cube in binary, with one-byte coordinates and a list that is not used before that of the corners.
    fn binary(big: bool) -> Vec<u8> {
        let order = if big { "big" } else { "little" };
        let mut out = format!(
            "ply\r\nformat binary_{order}_endian 1.0\r\nelement vertex 8\r\nproperty uint8 x\r\nproperty int16 y\r\n\
             property float32 z\r\nproperty uchar red\r\nelement face 6\r\nproperty list uchar float texcoord\r\n\
             property list ushort uint vertex_index\r\nend_header\r\n"
        )
        .into_bytes();
        let mut put = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            if big {
                bytes.reverse();
            }
            out.extend(bytes);
        };
        for line in BODY.lines() {
            let n: Vec<u8> = line.split(' ').map(|w| w.parse().unwrap()).collect();
            match n[..] {
                [x, y, z] => {
                    put(&[x]);
                    put(&i16::from(y).to_le_bytes());
                    put(&f32::from(z).to_le_bytes());
                    put(&[255]);
                }
                _ => {
                    put(&[2]);
                    put(&0.5_f32.to_le_bytes());
                    put(&0.5_f32.to_le_bytes());
                    put(&4_u16.to_le_bytes());
                    for i in &n[1..] {
                        put(&u32::from(*i).to_le_bytes());
                    }
                }
            }
        }
        out
    }

    #[test]
    fn all_ways_to_write_a_cube_have_its_volume() {
        let cube = format!("{HEAD}{BODY}");
        for text in [
            cube.clone(),
            cube.replace('\n', "\r\n"),
            cube.replace('\n', "\r"),
            format!("\u{feff}{cube}\n\n"),
            cube.replace(
                "property double z\n",
                "property double z\nproperty float quality\n",
            )
            .replace("1 1 1\n", "1 1 1 7\n")
            .replace("0 0 0\n", "0 0 0 0.5\n")
            .replace("1 0 0\n", "1 0 0 1\n")
            .replace("1 1 0\n", "1 1 0 1\n")
            .replace("\n0 1 0\n", "\n0 1 0 1\n")
            .replace("\n0 0 1\n", "\n0 0 1 1\n")
            .replace("\n1 0 1\n", "\n1 0 1 1\n")
            .replace("\n0 1 1\n", "\n0 1 1 1\n"),
        ] {
            assert!((volume(text.as_bytes()) - 1.0).abs() < 1e-14, "{text}");
        }
        assert!((volume(&binary(false)) - 1.0).abs() < 1e-14);
        assert!((volume(&binary(true)) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn what_is_broken_is_named() {
        let cube = format!("{HEAD}{BODY}");
        for (from, to, message) in [
            (
                "4 3 0 4 7\n",
                "4 3 0 4 8\n",
                "face 6 names no three vertices",
            ),
            (
                "4 3 0 4 7\n",
                "4 3 0 4 -1\n",
                "face 6 names no three vertices",
            ),
            ("4 3 0 4 7\n", "2 3 0\n", "face 6 names no three vertices"),
            (
                "4 3 0 4 7\n",
                "4 3 0 4\n",
                "face 6: the file ends too early",
            ),
            (
                "4 3 0 4 7\n",
                "4 3 0 4 7 1\n",
                "3 bytes follow the last element",
            ),
            (
                "4 3 0 4 7\n",
                "4 3 0 4 1.5\n",
                "face 6: 1.5 is not a number of type i32",
            ),
            ("1 1 1\n", "1 1 x\n", "vertex 7: \"x\" is not a number"),
            (
                "1 1 1\n",
                "1 1 nan\n",
                "vertex 7: the coordinate NaN is not between",
            ),
            (
                "vertex_indices",
                "indices",
                "`face` must have the property `vertex_indices` once",
            ),
            (
                "double z",
                "double t",
                "`vertex` must have the property `z` once",
            ),
            ("double z", "real z", "\"real\" is not a type"),
            (
                "face 6",
                "face 600000000",
                "ends before its 600000000 elements `face`",
            ),
            ("element face", "element tristrips", "`tristrips`: strips"),
            ("format ascii", "format text", "\"text\" is not a format"),
            ("comment", "remark", "\"remark made by hand\" is not a line"),
        ] {
            let e = ply(cube.replace(from, to).as_bytes())
                .unwrap_err()
                .to_string();
            assert!(e.starts_with(message), "{to}: {e}");
        }
        let cut = binary(false);
        let e = ply(&cut[..cut.len() - 1]).unwrap_err().to_string();
        assert!(e.contains("face 6: the file ends too early"), "{e}");
    }
}
