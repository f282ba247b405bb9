//! Headers of point files: which column is which.

/// Names of charges, by kind: for each value of a source its names, the first of which is for messages.
const CHARGES: [&[&[&str]]; 3] = [
    &[&["charge", "q", "mass", "m"]],
    &[&["charge_re", "q_re", "re"], &["charge_im", "q_im", "im"]],
    &[
        &["force_x", "fx", "f_x"],
        &["force_y", "fy", "f_y"],
        &["force_z", "fz", "f_z"],
    ],
];
const COORDINATES: [&str; 3] = ["x", "y", "z"];

/// Columns of a file.
#[derive(Debug)]
pub(super) struct Header {
    /// Of x, y, z and the charges: the column.
    order: Vec<usize>,
    columns: usize,
}

/// What a column holds.
enum Name {
    Coordinate(usize),
    /// Kind of charge, and which of its values.
    Charge(usize, usize),
    /// Begins with `_`, as in records of `greenup fit`: for people.
    Note,
}

fn parse(name: &str) -> Option<Name> {
    let name = name.trim_matches(['"', '\'']).trim().to_lowercase();
    if name.starts_with('_') {
        return Some(Name::Note);
    }
    if let Some(a) = COORDINATES.iter().position(|c| *c == name) {
        return Some(Name::Coordinate(a));
    }
    CHARGES.iter().enumerate().find_map(|(kind, values)| {
        let at = values.iter().position(|v| v.contains(&name.as_str()))?;
        Some(Name::Charge(kind, at))
    })
}

impl Header {
    /// The columns of these names.
    ///
    /// # Errors
    /// A name is unknown, missing or there twice.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut coordinates = [None; 3];
        let mut charges: Option<(usize, [Option<usize>; 3])> = None;
        let mut columns = 0;
        for (i, name) in names.into_iter().enumerate() {
            columns = i + 1;
            let place = match parse(name) {
                None if name.is_empty() => return Err(format!("column {columns} has no name")),
                None => {
                    return Err(format!(
                        "unknown column `{name}`; known are x, y, z, charge (or charge_re, charge_im; force_x, force_y, force_z), and names \
                         that begin with `_`, which are not used; columns are separated by commas, semicolons, tabs or blanks"
                    ));
                }
                Some(Name::Note) => continue,
                Some(Name::Coordinate(a)) => &mut coordinates[a],
                Some(Name::Charge(kind, at)) => {
                    let (first, places) = charges.get_or_insert((kind, [None; 3]));
                    if *first != kind {
                        return Err(format!("charges of different kinds: `{name}`"));
                    }
                    &mut places[at]
                }
            };
            if place.replace(i).is_some() {
                return Err(format!("two columns are called {name}, or mean the same"));
            }
        }
        let missing = |name: &str| {
            format!(
                "the column {name} is missing: points have three coordinates, charges all their values"
            )
        };
        let mut order = Vec::new();
        for (place, name) in coordinates.iter().zip(COORDINATES) {
            order.push(place.ok_or_else(|| missing(name))?);
        }
        if let Some((kind, places)) = charges {
            for (place, names) in places.iter().zip(CHARGES[kind]) {
                order.push(place.ok_or_else(|| missing(names[0]))?);
            }
        }
        Ok(Self { order, columns })
    }

    /// Columns of the file.
    pub fn len(&self) -> usize {
        self.columns
    }

    /// Columns of x, y, z and the charges.
    pub fn order(&self) -> impl Iterator<Item = usize> + '_ {
        self.order.iter().copied()
    }

    /// Whether a column is not used.
    pub fn ignores(&self, column: usize) -> bool {
        !self.order.contains(&column)
    }
}

/// The delimiter of a first row, which may be a header, and the next, which tells how numbers are separated. Tabs are
/// blanks unless each row has the same cells between single tabs: cells of other columns may hold words then.
fn delimiter(first: &str, next: &str) -> u8 {
    let [semicolon, comma, tab] =
        [b';', b',', b'\t'].map(|d| next.contains(char::from(d)).then_some(d));
    let by_tabs = || {
        let cells = |row: &str| row.split('\t').filter(|c| !c.trim().is_empty()).count();
        let is_one = |cell: &str| {
            let mut words = cell.split_whitespace();
            let first = words.next().is_some_and(|w| w.parse::<f64>().is_ok());
            !(first && words.any(|w| w.parse::<f64>().is_ok()))
        };
        let whole = |row: &&str| row.split('\t').all(|c| !c.trim().is_empty() && is_one(c));
        cells(first) == cells(next) && [first, next].iter().all(whole) || has_gap(first, next)
    };
    match (semicolon, tab, comma) {
        (Some(d), ..) => d,
        (None, Some(d), _) if by_tabs() => d,
        (None, _, Some(d)) => d,
        _ if next.contains([' ', '\t']) => b' ',
        // A single column, which is refused by its number.
        _ => b',',
    }
}

/// Whether two rows without blanks have three values and an empty cell at the same place between single tabs: a value is missing
/// there. With more values several tabs part columns, as they may.
fn has_gap(first: &str, next: &str) -> bool {
    let empty = |row: &str| -> Vec<bool> {
        let row = row.trim_matches('\t');
        row.split('\t').map(str::is_empty).collect()
    };
    let gaps = empty(first);
    let uneven = gaps.contains(&true) && gaps.windows(2).any(|w| w == [false, false]);
    let three = gaps.iter().filter(|is_empty| !**is_empty).count() == 3;
    uneven && three && gaps == empty(next) && ![first, next].iter().any(|row| row.contains(' '))
}

/// The delimiter of the first lines of a file, a blank for any number of them, and the header in a comment above the first row, as
/// NumPy's `savetxt` writes it: a comment of known names alone. One that names x, y and z and something unknown is an error.
pub(super) fn start(text: &str) -> (u8, Option<Result<Header, String>>) {
    let is_row = |l: &&str| !l.trim().is_empty() && !l.trim_start().starts_with('#');
    let mut rows = text.lines().filter(is_row);
    let row = rows.next().unwrap_or_default();
    let delimiter = delimiter(row, rows.next().unwrap_or(row));
    // A first row without numbers is the header: comments above it say other things.
    let words = || row.split([';', '\t', ',', ' ']).filter(|w| !w.is_empty());
    if words().all(|w| w.parse::<f64>().is_err()) {
        return (delimiter, None);
    }
    let comments = text
        .lines()
        .enumerate()
        .take_while(|(_, l)| !is_row(l))
        .filter(|(_, l)| !l.trim().is_empty())
        .map(|(i, l)| (i + 1, l.trim().trim_start_matches('#')));
    let mut header = None;
    for (line, comment) in comments {
        let separator = [char::from(delimiter), ',', ';', '\t']
            .into_iter()
            .find(|d| *d != ' ' && comment.contains(*d));
        let names: Vec<&str> = match separator {
            Some(d) => comment.split(d).map(str::trim).collect(),
            None => comment.split_whitespace().collect(),
        };
        let known = |n: &&str| parse(n).is_some();
        let named = |axis: &str| names.iter().any(|n| n.eq_ignore_ascii_case(axis));
        if (names.len() > 1 && names.iter().all(known)) || COORDINATES.iter().all(|a| named(a)) {
            header = Some(Header::of(names).map_err(|e| {
                format!("line {line}: a comment that names x, y and z is the header, but {e}. Fix: name all columns in it, or remove it")
            }));
        }
    }
    (delimiter, header)
}
