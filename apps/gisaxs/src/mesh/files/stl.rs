//! Meshes from STL files, binary or text.

use super::words::{at_line, checked, coordinate, lines, text};
use crate::GisaxsError;
use crate::mesh::Mesh;

/// Bytes before the triangles of a binary file, their number included, and of each triangle.
const HEAD: usize = 84;
const RECORD: usize = 50;

/// Reads an STL file. It is binary if its length is that of the number of triangles in it; else it is text, in double
/// precision, of any number of solids.
///
/// # Errors
/// It is neither, or a line or a number is not valid.
pub(super) fn stl(bytes: &[u8]) -> Result<Mesh, GisaxsError> {
    let count = bytes
        .get(HEAD - 4..HEAD)
        .and_then(|b| b.try_into().ok())
        .map(|b| u32::from_le_bytes(b) as usize);
    let length = |n: usize| n.checked_mul(RECORD).and_then(|n| n.checked_add(HEAD));
    if let Some(n) = count
        && length(n) == Some(bytes.len())
    {
        return binary(&bytes[HEAD..]);
    }
    let text = text(bytes)?;
    let start = text.trim_start().get(..5).unwrap_or_default();
    let begins = start.eq_ignore_ascii_case("solid");
    if begins && !bytes.contains(&0) {
        return ascii(&text);
    }
    let why = if begins {
        "it begins with `solid`, but has zero bytes, so it is no text"
    } else {
        "it does not begin with `solid`"
    };
    Err(match count {
        Some(n) => format!(
            "is not a valid STL file: {why}, and as a binary file of {n} triangles it would have {} bytes, not {}",
            length(n).unwrap_or(usize::MAX),
            bytes.len()
        )
        .into(),
        None => format!("is not a valid STL file: {why}, and is too short for a binary file").into(),
    })
}

fn binary(records: &[u8]) -> Result<Mesh, GisaxsError> {
    let mut mesh = Mesh::default();
    let (records, _) = records.as_chunks::<RECORD>();
    for (n, record) in records.iter().enumerate() {
        // After the normal.
        let (numbers, _) = record[12..48].as_chunks::<4>();
        for corner in numbers.as_chunks::<3>().0 {
            let mut v = [0.0; 3];
            for (to, from) in v.iter_mut().zip(corner) {
                *to = checked(f32::from_le_bytes(*from).into())
                    .map_err(|e| format!("triangle {}: {e}", n + 1))?;
            }
            mesh.vertices.push(v);
        }
        mesh.triangles.push([3 * n, 3 * n + 1, 3 * n + 2]);
    }
    Ok(mesh)
}

/// The words of a text, which must come in a certain order; lines mean nothing but for names.
struct Words<'a, I: Iterator<Item = (usize, &'a str)>> {
    lines: I,
    /// Line of the last word.
    line: usize,
    /// The line to be read, and what of it is left.
    at: usize,
    rest: &'a str,
}

/// The first word of a text, and what is behind it.
fn first(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The text from its first facet on; `None` if there is none.
fn from_facet(mut text: &str) -> Option<&str> {
    loop {
        let (word, rest) = first(text)?;
        if word.eq_ignore_ascii_case("facet") && is_facet(rest) {
            return Some(text);
        }
        text = rest;
    }
}

/// Whether a facet goes on here, and not a name with that word.
fn is_facet(rest: &str) -> bool {
    let mut words = rest.split_whitespace();
    let is = |word: Option<&str>, name: &str| word.is_some_and(|w| w.eq_ignore_ascii_case(name));
    if !is(words.next(), "normal") {
        return false;
    }
    let normal: Vec<&str> = words.by_ref().take(3).collect();
    let numbers = normal.len() == 3 && normal.iter().all(|w| w.parse::<f64>().is_ok());
    numbers || is(words.next(), "outer")
}

impl<'a, I: Iterator<Item = (usize, &'a str)>> Words<'a, I> {
    fn next(&mut self) -> Option<&'a str> {
        loop {
            if let Some((word, rest)) = first(self.rest) {
                (self.line, self.rest) = (self.at, rest);
                return Some(word);
            }
            (self.at, self.rest) = self.lines.next()?;
        }
    }

    /// Skips a name, which ends with its line, or before the first facet behind it.
    fn name(&mut self) {
        self.rest = from_facet(self.rest).unwrap_or_default();
    }

    /// Skips the name of a solid that ends: the next solid may begin behind it.
    fn last_name(&mut self) {
        let mut text = self.rest;
        while let Some((word, rest)) = first(text) {
            if word.eq_ignore_ascii_case("solid") && from_facet(rest).is_some() {
                break;
            }
            text = rest;
        }
        self.rest = text;
    }

    fn some(&mut self, what: &str) -> Result<&'a str, GisaxsError> {
        self.next()
            .ok_or_else(|| at_line(self.line, format!("the file ends where {what} is expected")))
    }

    fn wrong(&self, word: &str, what: &str) -> GisaxsError {
        at_line(
            self.line,
            format!("\"{word}\" stands where {what} is expected"),
        )
    }

    fn keyword(&mut self, name: &str) -> Result<(), GisaxsError> {
        let word = self.some(name)?;
        if word.eq_ignore_ascii_case(name) {
            Ok(())
        } else {
            Err(self.wrong(word, name))
        }
    }

    /// The three corners of a facet, after its first word.
    fn facet(&mut self) -> Result<[[f64; 3]; 3], GisaxsError> {
        self.keyword("normal")?;
        for _ in 0..3 {
            // Not used, and no number in the files of some programs.
            self.some("a component of the normal")?;
        }
        self.keyword("outer")?;
        self.keyword("loop")?;
        let mut corners = [[0.0; 3]; 3];
        for corner in &mut corners {
            self.keyword("vertex")?;
            for x in corner {
                let word = self.some("a coordinate")?;
                *x = coordinate(word).map_err(|e| at_line(self.line, e))?;
            }
        }
        self.keyword("endloop")?;
        self.keyword("endfacet")?;
        Ok(corners)
    }
}

fn ascii(text: &str) -> Result<Mesh, GisaxsError> {
    let mut mesh = Mesh::default();
    let mut all = Words {
        lines: lines(text),
        line: 1,
        at: 1,
        rest: "",
    };
    while let Some(word) = all.next() {
        if !word.eq_ignore_ascii_case("solid") {
            return Err(all.wrong(word, "solid or the end of the file"));
        }
        all.name();
        loop {
            match all.some("endsolid")? {
                w if w.eq_ignore_ascii_case("endsolid") => {
                    all.last_name();
                    break;
                }
                w if w.eq_ignore_ascii_case("facet") => {
                    let first = mesh.vertices.len();
                    mesh.vertices.extend(all.facet()?);
                    mesh.triangles.push([first, first + 1, first + 2]);
                }
                w => return Err(all.wrong(w, "facet or endsolid")),
            }
        }
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron of volume 1/6, shifted along x.
    fn solid(name: &str, shift: f64) -> String {
        let v = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0],
        ];
        let mut out = format!("solid{name}\n");
        for t in [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]] {
            out.push_str("facet normal 0 0 0\nouter loop\n");
            for i in t {
                let [x, y, z]: [f64; 3] = v[i];
                out.push_str(&format!("vertex {} {y} {z}\n", x + shift));
            }
            out.push_str("endloop\nendfacet\n");
        }
        out + "endsolid\n"
    }

    fn volume(bytes: &[u8]) -> f64 {
        let mesh = stl(bytes).unwrap().welded();
        mesh.check().unwrap();
        6.0 * mesh.volume()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-14, "{a} {b}");
    }

    #[test]
    fn texts_are_read_whole_and_in_double_precision() {
        let one = solid(" a", 0.0);
        for text in [
            one.clone(),
            one.to_uppercase(),
            solid("", 0.0),
            solid(" facet normal of a solid", 0.0),
            format!("\n \t\n{one}\n\n"),
            format!("\u{feff}{one}"),
            one.replace('\n', "\r"),
            one.replace('\n', "\r\n"),
            one.replace("normal 0 0 0", "normal nan -nan(ind) 1"),
            one.replace('\n', " "),
            one.replace("\nfacet", " facet").replace('\n', "\t"),
            one.replace("endfacet\nendsolid", "endfacet endsolid a"),
            one.replace("endfacet\n", "endfacet "),
            solid(" facet normal of a solid", 0.0).replace('\n', " "),
            // Not binary, though long enough.
            solid(&format!(" {}", "x".repeat(200)), 0.0),
        ] {
            near(volume(text.as_bytes()), 1.0);
        }
        let two = format!("{one}{}", solid(" b", 5.0));
        near(volume(two.as_bytes()), 2.0);
        near(
            volume(
                two.replace("endsolid", "endsolid a")
                    .replace('\n', " ")
                    .as_bytes(),
            ),
            2.0,
        );
        let third = solid("", 1.0 / 3.0);
        let mesh = stl(third.as_bytes()).unwrap();
        assert!(mesh.vertices.iter().any(|v| v[0] == 1.0 / 3.0));
    }

    #[test]
    fn binary_files_are_known_by_their_length() {
        let mut bytes = Vec::new();
        let ball = Mesh::ball(1.0, 8, 9);
        ball.write("stl", &mut bytes).unwrap();
        bytes[..6].copy_from_slice(b"solid ");
        let read = stl(&bytes).unwrap().welded();
        assert!((read.volume() / ball.volume() - 1.0).abs() < 1e-6);
        for wrong in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat()] {
            let e = stl(wrong).unwrap_err().to_string();
            assert!(e.contains("as a binary file of 126 triangles"), "{e}");
            assert!(
                e.contains("it begins with `solid`, but has zero bytes"),
                "{e}"
            );
        }
        assert!(stl(b"solid").unwrap_err().to_string().contains("endsolid"));
        assert!(stl(b"x").unwrap_err().to_string().contains("too short"));
    }

    #[test]
    fn what_is_broken_is_named_also_in_a_later_solid() {
        let two = [solid(" a", 0.0), solid(" b", 5.0)].concat();
        let lines: Vec<&str> = two.lines().collect();
        for (n, with, message) in [
            (40, "vertex 0 0", "line 42: \"vertex\" is not a number"),
            (40, "vertex 0 0 x", "line 41: \"x\" is not a number"),
            (
                40,
                "vertex 0 0 1e30",
                "line 41: the coordinate 1e30 is not between",
            ),
            (
                43,
                "",
                "line 45: \"endfacet\" stands where endloop is expected",
            ),
            (
                30,
                "",
                "line 32: \"facet\" stands where solid or the end of the file is expected",
            ),
            (59, "", "line 59: the file ends where endsolid is expected"),
        ] {
            let mut lines = lines.clone();
            lines[n] = with;
            let e = stl(lines.join("\n").as_bytes()).unwrap_err().to_string();
            assert!(e.starts_with(message), "{n}: {e}");
        }
        let e = stl((two + "junk").as_bytes()).unwrap_err().to_string();
        assert!(e.contains("\"junk\" stands where solid"), "{e}");
    }
}
