//! Unstructured grids for ParaView (`.vtu`): what VTK calls XML of version 1.0, its arrays binary (base64, little
//! endian), whole numbers as Int64 and others as Float64.

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use std::io::{self, Write};

/// VTK's numbers of cell types.
pub mod cell {
    /// Point.
    pub const VERTEX: u8 = 1;
    /// Lagrange curve of any order.
    pub const LAGRANGE_CURVE: u8 = 68;
    /// Lagrange triangle of any order.
    pub const LAGRANGE_TRIANGLE: u8 = 69;
    /// Lagrange quadrilateral of any order.
    pub const LAGRANGE_QUADRILATERAL: u8 = 70;
    /// Lagrange tetrahedron of any order.
    pub const LAGRANGE_TETRAHEDRON: u8 = 71;
    /// Lagrange hexahedron of any order.
    pub const LAGRANGE_HEXAHEDRON: u8 = 72;
}

/// A field on points or cells.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Name in ParaView.
    pub name: String,
    /// Numbers of each point or cell: 1 of a scalar, 3 of a vector.
    pub components: usize,
    /// Values, component by component of each point or cell.
    pub values: Vec<f64>,
}

impl Field {
    /// One value for each point or cell.
    pub fn scalar(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            components: 1,
            values,
        }
    }

    /// Three components for each point or cell.
    pub fn vector(name: impl Into<String>, values: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            components: 3,
            values,
        }
    }
}

/// A grid with its fields. Cells have points of their own: the first cell the first `nodes` points, and so on.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// x, y, z of each point.
    pub points: Vec<f64>,
    /// Type of all cells, of [`cell`].
    pub cell_type: u8,
    /// Points of each cell.
    pub nodes: usize,
    /// Fields with values at the points.
    pub point_fields: Vec<Field>,
    /// Fields with values at the cells.
    pub cell_fields: Vec<Field>,
}

impl Grid {
    /// Writes the file.
    ///
    /// # Errors
    /// The writer fails, or the numbers of points, cells and values do not go together.
    pub fn write(&self, w: &mut impl Write) -> io::Result<()> {
        let (points, cells) = self.counts()?;
        let of = |all: &[Field]| -> Vec<(String, usize)> {
            all.iter().map(|f| (f.name.clone(), f.components)).collect()
        };
        let head = Head {
            points,
            cells,
            cell_type: self.cell_type,
            nodes: self.nodes,
            point_fields: of(&self.point_fields),
            cell_fields: of(&self.cell_fields),
        };
        head.write(w, |array, to| {
            numbers(
                to,
                match array {
                    Values::Points => &self.points,
                    Values::PointField(i) => &self.point_fields[i].values,
                    Values::CellField(i) => &self.cell_fields[i].values,
                },
            )
        })
    }

    /// Points and cells.
    fn counts(&self) -> io::Result<(usize, usize)> {
        let points = self.points.len() / 3;
        let cells = points / self.nodes.max(1);
        let fits = |all: &[Field], n: usize| all.iter().all(|f| f.values.len() == n * f.components);
        let ok = self.points.len().is_multiple_of(3)
            && cells * self.nodes == points
            && fits(&self.point_fields, points)
            && fits(&self.cell_fields, cells);
        if ok {
            return Ok((points, cells));
        }
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "points, cells and fields of different numbers",
        ))
    }
}

/// A grid whose values are written piece by piece.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Number of points.
    pub points: usize,
    /// Number of cells.
    pub cells: usize,
    /// Type of all cells, of [`cell`].
    pub cell_type: u8,
    /// Points of each cell.
    pub nodes: usize,
    /// Names and numbers of components of the fields at points.
    pub point_fields: Vec<(String, usize)>,
    /// Those of the fields at cells.
    pub cell_fields: Vec<(String, usize)>,
}

/// An array of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// x, y, z of each point.
    Points,
    /// A field at the points, by its index.
    PointField(usize),
    /// A field at the cells, by its index.
    CellField(usize),
}

/// Writes values of an array.
///
/// # Errors
/// The writer fails.
pub fn numbers(to: &mut dyn Write, x: &[f64]) -> io::Result<()> {
    x.iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))
}

impl Head {
    /// Writes the file. `values` is called once for each array, in the order of the file, and writes all its values by
    /// [`numbers`].
    ///
    /// # Errors
    /// The writer or `values` fails.
    pub fn write(
        &self,
        w: &mut impl Write,
        mut values: impl FnMut(Values, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let (points, cells) = (self.points, self.cells);
        writeln!(w, "<?xml version=\"1.0\"?>")?;
        writeln!(
            w,
            "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">"
        )?;
        writeln!(w, "<UnstructuredGrid>")?;
        writeln!(
            w,
            "<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">"
        )?;
        let mut floats = |w: &mut _, what, (name, components): (&str, usize), count: usize| {
            let head = ("Float64", name, components);
            array(w, head, 8 * count * components, |to| values(what, to))
        };
        writeln!(w, "<PointData>")?;
        for (i, (name, components)) in self.point_fields.iter().enumerate() {
            floats(w, Values::PointField(i), (name, *components), points)?;
        }
        writeln!(w, "</PointData>\n<CellData>")?;
        for (i, (name, components)) in self.cell_fields.iter().enumerate() {
            floats(w, Values::CellField(i), (name, *components), cells)?;
        }
        writeln!(w, "</CellData>\n<Points>")?;
        floats(w, Values::Points, ("Points", 3), points)?;
        writeln!(w, "</Points>\n<Cells>")?;
        let whole = |to: &mut dyn Write, n: usize| to.write_all(&(n as i64).to_le_bytes());
        array(w, ("Int64", "connectivity", 1), 8 * points, |to| {
            (0..points).try_for_each(|n| whole(to, n))
        })?;
        array(w, ("Int64", "offsets", 1), 8 * cells, |to| {
            (1..=cells).try_for_each(|c| whole(to, c * self.nodes))
        })?;
        array(w, ("UInt8", "types", 1), cells, |to| {
            (0..cells).try_for_each(|_| to.write_all(&[self.cell_type]))
        })?;
        writeln!(w, "</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>")
    }
}

/// Writes a file (`.pvtu`) that joins the grids of several others. `point_fields` and `cell_fields` are names and numbers of
/// components of the fields that all have.
///
/// # Errors
/// The writer fails.
pub fn parallel(
    w: &mut impl Write,
    point_fields: &[(&str, usize)],
    cell_fields: &[(&str, usize)],
    pieces: &[String],
) -> io::Result<()> {
    use crate::chart::canvas::escape;
    writeln!(w, "<?xml version=\"1.0\"?>")?;
    writeln!(
        w,
        "<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">"
    )?;
    writeln!(w, "<PUnstructuredGrid GhostLevel=\"0\">")?;
    for (of, fields) in [
        ("PPointData", point_fields),
        ("PCellData", cell_fields),
        ("PPoints", &[("Points", 3)]),
    ] {
        writeln!(w, "<{of}>")?;
        for (name, components) in fields {
            writeln!(
                w,
                "<PDataArray type=\"Float64\" Name=\"{}\" NumberOfComponents=\"{components}\"/>",
                escape(name)
            )?;
        }
        writeln!(w, "</{of}>")?;
    }
    for piece in pieces {
        writeln!(w, "<Piece Source=\"{}\"/>", escape(piece))?;
    }
    writeln!(w, "</PUnstructuredGrid>\n</VTKFile>")
}

/// An array of a kind, with a name and components: the number of its bytes, then these, as base64.
fn array(
    w: &mut impl Write,
    (kind, name, components): (&str, &str, usize),
    bytes: usize,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let name = crate::chart::canvas::escape(name);
    write!(
        w,
        "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"binary\">"
    )?;
    let mut to = EncoderWriter::new(&mut *w, &STANDARD);
    to.write_all(&(bytes as u64).to_le_bytes())?;
    fill(&mut to)?;
    to.finish()?;
    drop(to);
    writeln!(w, "</DataArray>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    #[test]
    fn pieces_are_joined_by_a_file() {
        let mut out = Vec::new();
        let pieces = ["a_0.vtu".to_owned(), "a<1>.vtu".to_owned()];
        parallel(&mut out, &[("v", 3)], &[("m", 1)], &pieces).unwrap();
        let text = String::from_utf8(out).unwrap();
        for line in [
            "<PDataArray type=\"Float64\" Name=\"v\" NumberOfComponents=\"3\"/>",
            "<PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>",
            "<Piece Source=\"a_0.vtu\"/>",
            "<Piece Source=\"a&lt;1&gt;.vtu\"/>",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }

    fn array_of<'a>(text: &'a str, name: &str) -> (&'a str, Vec<u8>) {
        let at = text.find(&format!("Name=\"{name}\"")).unwrap();
        let head = &text[text[..at].rfind('<').unwrap()..at];
        let data = text[at..]
            .split_once('>')
            .unwrap()
            .1
            .split_once('<')
            .unwrap()
            .0;
        let bytes = STANDARD.decode(data).unwrap();
        let (count, rest) = bytes.split_first_chunk::<8>().unwrap();
        assert_eq!(u64::from_le_bytes(*count), rest.len() as u64);
        (head, rest.to_vec())
    }

    #[test]
    fn what_is_written_can_be_read() {
        let grid = Grid {
            points: (0..12).map(f64::from).collect(),
            cell_type: cell::LAGRANGE_CURVE,
            nodes: 2,
            point_fields: vec![Field::scalar(
                "p < \"q\"",
                vec![1.0, 2.0, 0.1, f64::MIN_POSITIVE],
            )],
            cell_fields: vec![Field::vector("v", vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])],
        };
        let mut out = Vec::new();
        grid.write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains("NumberOfPoints=\"4\" NumberOfCells=\"2\""),
            "{text}"
        );
        let whole = |name: &str| -> Vec<i64> {
            let (head, bytes) = array_of(&text, name);
            // Other readers refuse UInt64.
            assert!(head.contains("Int64") && !head.contains("UInt64"), "{head}");
            let (all, _) = bytes.as_chunks::<8>();
            all.iter().map(|b| i64::from_le_bytes(*b)).collect()
        };
        assert_eq!(whole("connectivity"), [0, 1, 2, 3]);
        assert_eq!(whole("offsets"), [2, 4]);
        assert_eq!(array_of(&text, "types").1, [68, 68]);
        let (_, bytes) = array_of(&text, "p &lt; &quot;q&quot;");
        assert_eq!(bytes[24..], f64::MIN_POSITIVE.to_le_bytes());
    }

    #[test]
    fn numbers_that_do_not_go_together_are_refused() {
        let mut grid = Grid {
            points: vec![0.0; 9],
            cell_type: cell::VERTEX,
            nodes: 1,
            point_fields: vec![Field::scalar("p", vec![0.0; 2])],
            cell_fields: Vec::new(),
        };
        assert!(grid.write(&mut Vec::new()).is_err());
        grid.point_fields.clear();
        grid.write(&mut Vec::new()).unwrap();
        grid.nodes = 2;
        assert!(grid.write(&mut Vec::new()).is_err());
        grid.nodes = 0;
        assert!(grid.write(&mut Vec::new()).is_err());
    }
}
