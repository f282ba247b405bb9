//! Records of microbenchmarks or other measurements, as CSV.
//!
//! Columns: any operation names (counts of one run), `time_s`, and optionally `energy_j`,
//! `benchmark`, `setting`, `occupancy` (share of the device used, default 1), and any column
//! whose name starts with `_`, which is kept out of the fit. An empty count is 0.

use greenup_files::{FileError, Journal};
use greenup_model::{Op, Work};
use greenup_report::table::Columns;
use std::collections::BTreeMap;
use std::path::Path;

/// One measured run.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Name of the microbenchmark.
    pub benchmark: String,
    /// Setting of the run, such as clocks or threads; cross-validation leaves out one setting at a time.
    pub setting: String,
    /// Operations by class.
    pub work: Work,
    /// Time, s.
    pub time_s: f64,
    /// Energy, J, if it was measured.
    pub energy_j: Option<f64>,
    /// Below 1 the run left part of the device idle: its time says nothing of τ.
    pub occupancy: f64,
    /// Columns starting with `_`, for people.
    pub notes: Vec<(String, String)>,
}

impl Record {
    /// Whether it was measured on the data that most are; benchmarks on other data, which cost other
    /// energies, name them behind a comma.
    pub fn on_plain_data(&self) -> bool {
        !self.benchmark.contains(',')
    }

    /// A number among the notes.
    pub fn note(&self, name: &str) -> Option<f64> {
        self.notes
            .iter()
            .find(|(n, _)| n == name)
            .and_then(|(_, v)| v.parse().ok())
    }
}

/// A file that holds no usable records.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be read.
    #[error("{0}")]
    File(#[from] FileError),
    /// A line that is not CSV.
    #[error("{file}, line {line}: {cause}")]
    BadLine {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// What is wrong there.
        cause: String,
    },
    /// A cell with an invalid value.
    #[error("{file}, line {line}, column {column} ({name}): {cause}")]
    BadCell {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Column, from 1.
        column: usize,
        /// Name of the column.
        name: String,
        /// What is wrong there.
        cause: String,
    },
}

enum Column {
    Benchmark,
    Setting,
    Time,
    Energy,
    Occupancy,
    Count(Op),
    Note,
}

impl Column {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "benchmark" => Column::Benchmark,
            "setting" => Column::Setting,
            "time_s" => Column::Time,
            "energy_j" => Column::Energy,
            "occupancy" => Column::Occupancy,
            _ if name.starts_with('_') => Column::Note,
            _ => Column::Count(name.parse().ok()?),
        })
    }
}

/// Reads records from a file.
///
/// # Errors
/// The file cannot be read, or as [`parse`].
pub fn read(path: &Path) -> Result<Vec<Record>, RecordError> {
    let file = path.display().to_string();
    parse(&file, &greenup_files::read_text(path)?)
}

/// Reads records from CSV text; `file` is the name used in errors.
///
/// # Errors
/// The first invalid line or cell.
pub fn parse(file: &str, text: &str) -> Result<Vec<Record>, RecordError> {
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .comment(Some(b'#'))
        .from_reader(text.as_bytes());
    let csv_error = |e: &csv::Error| RecordError::BadLine {
        file: file.to_owned(),
        line: e.position().map_or(1, csv::Position::line),
        cause: e.to_string(),
    };
    let names: Vec<String> = reader
        .headers()
        .map_err(|e| csv_error(&e))?
        .iter()
        .map(str::to_owned)
        .collect();
    let mut columns = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) || name.is_empty() {
            return Err(RecordError::BadCell {
                file: file.to_owned(),
                line: 1,
                column: i + 1,
                name: name.clone(),
                cause: if name.is_empty() {
                    "a column without a name".into()
                } else {
                    "two columns of this name; keep one".into()
                },
            });
        }
        columns.push(Column::parse(name).ok_or_else(|| RecordError::BadCell {
            file: file.to_owned(),
            line: 1,
            column: i + 1,
            name: name.clone(),
            cause: format!(
                "unknown column; known are benchmark, setting, occupancy, time_s, energy_j, {}, \
                 and names that start with `_`",
                Op::ALL.map(Op::name).join(", ")
            ),
        })?);
    }
    if !columns.iter().any(|c| matches!(c, Column::Time)) {
        return Err(RecordError::BadLine {
            file: file.to_owned(),
            line: 1,
            cause: "the column `time_s` is missing".into(),
        });
    }
    let named = columns.iter().any(|c| matches!(c, Column::Benchmark));
    // Which counts each benchmark leaves out at a setting.
    let mut left_out: BTreeMap<(String, String), Vec<bool>> = BTreeMap::new();
    let mut records = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|e| csv_error(&e))?;
        let line = row.position().map_or(0, csv::Position::line);
        let mut record = Record {
            benchmark: "all".into(),
            setting: "all".into(),
            work: Work::new(),
            time_s: f64::NAN,
            energy_j: None,
            occupancy: 1.0,
            notes: Vec::new(),
        };
        for (i, (column, cell)) in columns.iter().zip(&row).enumerate() {
            let bad = |cause: String| RecordError::BadCell {
                file: file.to_owned(),
                line,
                column: i + 1,
                name: names[i].clone(),
                cause,
            };
            let number = |least: f64| -> Result<f64, RecordError> {
                let x: f64 = cell
                    .parse()
                    .map_err(|_| bad(format!("`{cell}` is not a number")))?;
                if !x.is_finite() || x < least {
                    return Err(bad(format!("{cell} must be finite and not negative")));
                }
                Ok(x)
            };
            let positive = || match number(0.0)? {
                0.0 => Err(bad("must be above 0".into())),
                x => Ok(x),
            };
            match column {
                Column::Benchmark => record.benchmark = cell.to_owned(),
                Column::Setting => record.setting = cell.to_owned(),
                Column::Time => record.time_s = positive()?,
                Column::Energy if cell.is_empty() => {}
                Column::Energy => record.energy_j = Some(positive()?),
                Column::Occupancy => {
                    record.occupancy = positive()?;
                    if record.occupancy > 1.0 {
                        return Err(bad(format!(
                            "{cell} must be a share of the device, at most 1"
                        )));
                    }
                }
                Column::Count(_) if cell.is_empty() => {}
                Column::Count(op) => {
                    record
                        .work
                        .add(*op, number(0.0)?)
                        .map_err(|e| bad(e.to_string()))?;
                }
                Column::Note => record.notes.push((names[i].clone(), cell.to_owned())),
            }
        }
        // An empty count is none; where other rows of the benchmark have one, it is missing.
        let empty = |(c, cell): (&Column, &str)| matches!(c, Column::Count(_)) && cell.is_empty();
        let own: Vec<bool> = columns.iter().zip(&row).map(empty).collect();
        let first = left_out
            .entry((record.benchmark.clone(), record.setting.clone()))
            .or_insert_with(|| own.clone());
        let differs = (0..own.len()).find(|&i| named && own[i] != first[i]);
        if let Some(i) = differs {
            return Err(RecordError::BadCell {
                file: file.to_owned(),
                line,
                column: i + 1,
                name: names[i].clone(),
                cause: format!(
                    "some rows of the benchmark `{}` have this count and some have none; write 0 for none",
                    record.benchmark
                ),
            });
        }
        records.push(record);
    }
    if records.is_empty() {
        return Err(RecordError::BadLine {
            file: file.to_owned(),
            line: 2,
            cause: "there are no records below the header".into(),
        });
    }
    Ok(records)
}

/// Writes records as CSV, only with the columns that some record fills.
pub fn to_csv(records: &[Record]) -> String {
    let ops: Vec<Op> = Op::ALL
        .into_iter()
        .filter(|&op| records.iter().any(|r| r.work.count(op) > 0.0))
        .collect();
    table(records, &ops)
}

/// Adds a record to a journal that [`read`] can read: below a header with every operation, as others may follow.
///
/// # Errors
/// The disk is full or gone.
pub fn keep(journal: &mut Journal, record: &Record) -> Result<(), FileError> {
    let text = table(std::slice::from_ref(record), &Op::ALL);
    let text = text.trim_end();
    match text.split_once('\n') {
        Some((_, row)) if journal.lines() > 0 => journal.line(row),
        _ => journal.line(text),
    }
}

/// Records as CSV with columns for these operations.
fn table(records: &[Record], ops: &[Op]) -> String {
    let notes: Vec<&String> = records
        .first()
        .map(|r| r.notes.iter().map(|(name, _)| name).collect())
        .unwrap_or_default();
    let note = |r: &Record, name: &str| {
        let note = r.notes.iter().find(|(n, _)| n == name);
        note.map_or_else(String::new, |(_, v)| v.clone())
    };
    Columns::<Record>::new()
        .text("benchmark", "", |r| r.benchmark.clone())
        .text("setting", "", |r| r.setting.clone())
        .text("occupancy", "", |r| r.occupancy.to_string())
        .exact("time_s", |r| r.time_s)
        .exact("energy_j", |r| r.energy_j)
        .and_each(ops, |all, op| {
            all.exact(op.name(), |r| Some(r.work.count(*op)).filter(|n| *n != 0.0))
        })
        .and_each(notes, |all, name| all.text(name, "", |r| note(r, name)))
        .csv(records)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_a_row_lacks_is_named() {
        let text = "benchmark,time_s,f64,dram\na,1,1,2\nb,1,1,\na,1,1,\n";
        let e = parse("x.csv", text).unwrap_err().to_string();
        assert!(
            e.contains("line 4") && e.contains("dram") && e.contains("`a`"),
            "{e}"
        );
        assert_eq!(
            parse("x.csv", &text.replace("a,1,1,\n", "a,1,1,0\n"))
                .unwrap()
                .len(),
            3
        );
        let settings = "benchmark,setting,time_s,l2,dram\na,1,1,1,\na,2,1,,2\n";
        assert_eq!(parse("x.csv", settings).unwrap().len(), 2);
        // Without names of benchmarks each row is its own.
        assert_eq!(
            parse("x.csv", "time_s,f64,dram\n1,1,2\n1,1,\n")
                .unwrap()
                .len(),
            2
        );
    }

    #[test]
    fn csv_round_trips() {
        let text = "benchmark,setting,occupancy,time_s,energy_j,f64,dram,_clock\n\
                    a,1,1,1e-3,2.5e-1,1e9,8e9,3.1\nb,2,0.5,2e-3,,2e9,,3.0\n";
        let records = parse("x.csv", text).unwrap();
        assert_eq!(records.len(), 2);
        assert_eq!(records[1].energy_j, None);
        assert_eq!(records[1].occupancy, 0.5);
        assert_eq!(parse("y.csv", &to_csv(&records)).unwrap(), records);
    }

    #[test]
    fn a_journal_is_read_as_records() {
        let text = "benchmark,setting,occupancy,time_s,energy_j,f64,dram,_clock\n\
                    a,1,1,1e-3,2.5e-1,1e9,8e9,3.1\n\"b, ones\",2,0.5,2e-3,,2e9,,3.0\n";
        let records = parse("x.csv", text).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(dir.path(), "r", "csv").unwrap();
        for r in &records {
            keep(&mut journal, r).unwrap();
        }
        assert_eq!(read(journal.path()).unwrap(), records);
    }

    #[test]
    fn errors_name_line_and_column() {
        for (text, want) in [
            (
                "time_s,f64\n1,2\nx,2\n",
                "line 3, column 1 (time_s): `x` is not a number",
            ),
            (
                "time_s,f64\n1,-2\n",
                "line 2, column 2 (f64): -2 must be finite and not negative",
            ),
            ("time_s,f64\n1,NaN\n", "line 2, column 2"),
            ("time_s,f64\n0,1\n", "above 0"),
            (
                "time_s,flops\n1,2\n",
                "line 1, column 2 (flops): unknown column",
            ),
            ("f64\n2\n", "the column `time_s` is missing"),
            ("time_s,f64\n1,2,3\n", "line 2"),
            ("time_s,f64\n", "no records"),
            ("time_s,f64,f64\n1,2,3\n", "column 3 (f64): two columns"),
            (
                "time_s,f64,time_s\n1,2,3\n",
                "column 3 (time_s): two columns",
            ),
            (
                "time_s,f64,\n1,2,3\n",
                "column 3 (): a column without a name",
            ),
            ("time_s [ms],f64\n1,2\n", "unknown column"),
            ("time_s,f64,occupancy\n1,2,50\n", "at most 1"),
        ] {
            let e = parse("f.csv", text).unwrap_err().to_string();
            assert!(e.contains(want) && e.starts_with("f.csv"), "{e}");
        }
    }
}
