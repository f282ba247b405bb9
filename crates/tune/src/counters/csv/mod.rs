//! The tables that `ncu --csv` prints: the page `raw` with a row for each launch, and the page `details` with one for each
//! metric; in base units or others, and in the language of the user.

mod derived;
mod number;
#[cfg(test)]
mod tests;
mod unit;

pub use derived::DURATION;

use super::ProfilerError;
use csv::StringRecord;
use derived::{complete, metric};
use number::{Decimal, evidence, evidence_of_count, number};

/// A launch in the profiler's table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Launch {
    /// Name of the kernel, without its parameters.
    pub kernel: String,
    /// Blocks of the grid, where the table has them.
    pub grid: Option<[i32; 3]>,
    /// Threads of a block.
    pub block: Option<[i32; 3]>,
    /// The process.
    pub process: String,
    /// The GPU: its number, or its name.
    pub device: String,
    /// The GPU's name, where it was asked for.
    pub gpu: Option<String>,
    /// By the profiler's names, in base units: bytes, ns and counts.
    pub values: Vec<(String, f64)>,
}

/// All launches of a text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// In the order of the text.
    pub launches: Vec<Launch>,
    /// What was passed over.
    pub notes: Vec<String>,
}

/// A value as it stands.
struct Field {
    launch: usize,
    line: u64,
    metric: String,
    /// Absent where the table has no units.
    unit: Option<String>,
    text: String,
}

/// A launch's identity: its number, process and host.
type Id = [String; 3];

/// Name of the GPU among the metrics.
const GPU_NAME: &str = "device__attribute_display_name";

/// The delimiter of a table's header, if the line is one.
fn header(line: &str) -> Option<u8> {
    let line = line.trim_start_matches('\u{feff}').trim_start();
    let rest = line.strip_prefix("\"ID\"").or(line.strip_prefix("ID"))?;
    rest.bytes().next().filter(|b| b",;\t".contains(b))
}

/// Whether a text holds such a table.
pub fn is_table(text: &str) -> bool {
    text.lines()
        .any(|l| header(l).is_some_and(|_| l.contains("Kernel Name")))
}

/// Reads the launches of a text. What a program or the profiler printed before, between and after the rows is passed over.
///
/// # Errors
/// There is no launch, a row is cut off, or a number can be read in two ways; with the line.
pub fn parse(text: &str) -> Result<Table, ProfilerError> {
    let mut lines = text.split_inclusive('\n');
    let (mut start, mut before, mut delimiter) = (0, 0, None);
    for line in &mut lines {
        delimiter = header(line);
        if delimiter.is_some() {
            break;
        }
        start += line.len();
        before += 1;
    }
    let Some(delimiter) = delimiter else {
        let last = text.lines().last().unwrap_or("it printed nothing");
        return Err(ProfilerError::NoKernel(last.to_owned()));
    };
    let table = text[start..].trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .from_reader(table.as_bytes());
    let mut rows = Rows::default();
    for record in reader.records() {
        let record = record?;
        let position = record.position();
        let line = before + position.map_or(0, csv::Position::line);
        let written = position
            .and_then(|p| table.get(p.byte() as usize..))
            .unwrap_or_default();
        rows.push(&record, line, written)?;
    }
    rows.table()
}

/// Rows as they come.
#[derive(Default)]
struct Rows {
    header: StringRecord,
    units: Option<StringRecord>,
    launches: Vec<(Id, Launch)>,
    /// The first launch of this table.
    first: usize,
    fields: Vec<Field>,
    others: usize,
    without_units: bool,
}

impl Rows {
    fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|h| h == name)
    }

    fn push(&mut self, row: &StringRecord, line: u64, written: &str) -> Result<(), ProfilerError> {
        let first = row.get(0).unwrap_or_default().trim();
        if first.trim_start_matches('\u{feff}') == "ID" {
            self.header = row
                .iter()
                .map(|f| f.trim().trim_start_matches('\u{feff}'))
                .collect();
            (self.units, self.first) = (None, self.launches.len());
            return Ok(());
        }
        if first.is_empty() {
            // The line below the header of the page `raw` holds units; it has no ID.
            if row.len() > 1 && self.units.is_none() && row.iter().any(|u| !u.trim().is_empty()) {
                self.units = Some(row.clone());
            }
            return Ok(());
        }
        if first.parse::<u64>().is_err() || row.len() < 3 {
            self.others += usize::from(!first.starts_with("=="));
            return Ok(());
        }
        let quoted = written.starts_with('"');
        let value = self.column("Metric Value");
        let complete = match value {
            // Columns of rules are left out where there is none.
            Some(at) => row.len() > at,
            None => row.len() >= self.header.len(),
        };
        let ends = !quoted
            || written.contains('\n')
            || written.trim_end().ends_with(['"', ',', ';', '\t']);
        if !complete || !ends {
            return Err(ProfilerError::Cut {
                line,
                fields: row.len(),
                header: self.header.len(),
            });
        }
        let launch = self.launch(row, first, value.is_some());
        match value {
            Some(at) => self.detail(row, line, launch, at),
            None => self.raw(row, line, launch),
        }
        Ok(())
    }

    /// The launch of a row: in `details` several rows have the same.
    fn launch(&mut self, row: &StringRecord, id: &str, details: bool) -> usize {
        let text = |name: &str| {
            let field = self.column(name).and_then(|i| row.get(i));
            field.unwrap_or_default().trim().to_owned()
        };
        let key = [id.to_owned(), text("Process ID"), text("Host Name")];
        let same = self.launches[self.first..]
            .iter()
            .rposition(|(k, _)| *k == key);
        if let Some(at) = same.filter(|_| details) {
            return self.first + at;
        }
        let process = text("Process Name");
        let launch = Launch {
            kernel: without_parameters(&text("Kernel Name")).to_owned(),
            grid: three(&text("Grid Size")),
            block: three(&text("Block Size")),
            process: process
                .rsplit(['/', '\\'])
                .next()
                .unwrap_or(&process)
                .to_owned(),
            device: text("Device"),
            ..Launch::default()
        };
        self.launches.push((key, launch));
        self.launches.len() - 1
    }

    fn raw(&mut self, row: &StringRecord, line: u64, launch: usize) {
        self.without_units |= self.units.is_none();
        for (i, (name, text)) in self.header.iter().zip(row).enumerate() {
            let unit =
                (self.units.as_ref()).map(|u| u.get(i).unwrap_or_default().trim().to_owned());
            match name.ends_with(GPU_NAME) {
                true => self.launches[launch].1.gpu = Some(text.to_owned()),
                false if name.contains("__") => self.fields.push(Field {
                    launch,
                    line,
                    metric: name.to_owned(),
                    unit,
                    text: text.to_owned(),
                }),
                false => {}
            }
        }
    }

    fn detail(&mut self, row: &StringRecord, line: u64, launch: usize, value: usize) {
        let text = |name: &str| {
            self.column(name)
                .and_then(|i| row.get(i))
                .unwrap_or_default()
                .trim()
        };
        let (name, unit) = (text("Metric Name"), text("Metric Unit"));
        let field = row.get(value).unwrap_or_default();
        if name.ends_with(GPU_NAME) {
            self.launches[launch].1.gpu = Some(field.to_owned());
        } else if let Some(metric) = metric(name, unit) {
            self.fields.push(Field {
                launch,
                line,
                metric: metric.to_owned(),
                unit: Some(unit.to_owned()),
                text: field.to_owned(),
            });
        }
    }

    /// The language of all numbers.
    fn decimal(&self) -> Result<Decimal, ProfilerError> {
        let mut found: Option<(Decimal, &Field)> = None;
        for f in &self.fields {
            match (evidence(&f.text), found) {
                (Some(own), None) => found = Some((own, f)),
                (Some(own), Some((before, first))) if own != before => {
                    return Err(ProfilerError::TwoLanguages {
                        lines: [first.line, f.line],
                        texts: [first.text.clone(), f.text.clone()],
                    });
                }
                _ => {}
            }
        }
        // Sums in base units are counts.
        let is_count = |f: &&Field| {
            let unit = [
                "byte", "inst", "sector", "cycle", "request", "nsecond", "ns",
            ];
            f.metric.ends_with(".sum") && unit.contains(&f.unit.as_deref().unwrap_or_default())
        };
        let counts = || self.fields.iter().filter(is_count);
        let of_counts = || counts().find_map(|f| evidence_of_count(&f.text));
        Ok((found.map(|(d, _)| d))
            .or_else(of_counts)
            .unwrap_or_default())
    }

    fn table(mut self) -> Result<Table, ProfilerError> {
        if self.launches.is_empty() {
            return Err(ProfilerError::NoKernel(
                "its table has no row of a kernel".to_owned(),
            ));
        }
        let decimal = self.decimal()?;
        let mut notes = Vec::new();
        let mut unknown: Option<&Field> = None;
        for f in &self.fields {
            let Some(x) = number(&f.text, decimal) else {
                continue;
            };
            let factor = match &f.unit {
                Some(unit) => unit::factor_of(&f.metric, unit),
                None => Some(1.0),
            };
            let Some(factor) = factor else {
                unknown.get_or_insert(f);
                continue;
            };
            let values = &mut self.launches[f.launch].1.values;
            // A page may show a metric in several sections.
            if !values.iter().any(|(n, _)| *n == f.metric) {
                values.push((f.metric.clone(), x * factor));
            }
        }
        if let Some(f) = unknown {
            let why = match f.unit.as_deref() {
                None | Some("") => format!("{} has no unit", f.metric),
                Some(unit) => format!(
                    "the unit `{unit}` of {} is not known, or one of another quantity",
                    f.metric
                ),
            };
            notes.push(format!("line {}: {why}: such values are left out", f.line));
        }
        if self.others > 0 {
            notes.push(format!(
                "{} lines between the rows are not of the table: passed over",
                self.others
            ));
        }
        if self.without_units {
            notes.push(
                "the table has no line of units: its values are read as base units".to_owned(),
            );
        }
        let mut launches: Vec<Launch> = self.launches.into_iter().map(|(_, l)| l).collect();
        launches.iter_mut().for_each(|l| complete(&mut l.values));
        Ok(Table { launches, notes })
    }
}

/// Three numbers as the profiler writes them: `(4, 2, 1)`; or one alone.
fn three(text: &str) -> Option<[i32; 3]> {
    let text = text.trim();
    let inner = text
        .strip_prefix('(')
        .map_or(Some(text), |t| t.strip_suffix(')'))?;
    let all: Vec<i32> = (inner.split([',', 'x']))
        .map(|n| n.trim().parse().ok())
        .collect::<Option<_>>()?;
    match all[..] {
        [x] => Some([x, 1, 1]),
        [x, y, z] => Some([x, y, z]),
        _ => None,
    }
}

/// The name of a kernel without the list of its parameters, which ends it. Brackets also stand within names.
fn without_parameters(name: &str) -> &str {
    let name = name.trim();
    let Some(end) = name.strip_suffix(')') else {
        return name;
    };
    let mut open = 1_usize;
    for (i, c) in end.char_indices().rev() {
        match c {
            ')' => open += 1,
            '(' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return name[..i].trim_end();
        }
    }
    name
}
