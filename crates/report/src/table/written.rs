//! Tables as text: CSV and Markdown.

use super::cell::Value;
use super::{Cell, Columns, Table};
use std::borrow::Borrow;
use std::io::Write;

impl Table {
    /// A table of GitHub's Markdown, as shown.
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let cells: Vec<String> = cells.map(escaped).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut out = line(&mut self.header.iter().map(|h| h.name.as_str()));
        out += &format!(
            "|:--{}|\n",
            "|--:".repeat(self.header.len().saturating_sub(1))
        );
        for row in &self.rows {
            out += &line(&mut row.iter().map(|c| c.text.as_str()));
        }
        out
    }
}

impl<R> Columns<'_, R> {
    /// Writes the columns as CSV, row by row: values as they are, without unit or prefix; nothing where one is missing.
    ///
    /// # Errors
    /// The writer's.
    pub fn write_csv(
        &self,
        rows: impl IntoIterator<Item = impl Borrow<R>>,
        to: impl Write,
    ) -> csv::Result<()> {
        let mut to = csv::Writer::from_writer(to);
        let all = || self.all.iter().filter(|c| c.in_files);
        to.write_record(all().map(|c| c.file.as_ref().unwrap_or(&c.header.name)))?;
        for row in rows {
            to.write_record(all().map(|c| {
                let cell = (c.get)(row.borrow());
                match cell.value {
                    Value::Number(x) if c.file.is_some() => format!("{x:e}"),
                    _ => cell.written(),
                }
            }))?;
        }
        Ok(to.flush()?)
    }

    /// The same as text.
    pub fn csv(&self, rows: impl IntoIterator<Item = impl Borrow<R>>) -> String {
        let mut out = Vec::new();
        // Writing to memory cannot fail.
        let _ = self.write_csv(rows, &mut out);
        String::from_utf8_lossy(&out).into_owned()
    }
}

/// Text for a cell of a Markdown table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

impl Cell {
    /// Whether the cell has no value.
    pub fn is_missing(&self) -> bool {
        self.value == Value::Missing
    }

    /// The value as files hold it.
    fn written(&self) -> String {
        match &self.value {
            Value::Missing => String::new(),
            Value::Number(x) if x.fract() == 0.0 && x.abs() < 1e15 => x.to_string(),
            Value::Number(x) => format!("{x:e}"),
            Value::Text(text) => text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::table::{Cell, Columns, Table};

    type Row = (&'static str, Option<f64>, &'static str);
    const ROWS: [Row; 2] = [("triad", Some(1.52), "λ"), ("a|語", None, "12\n±3")];

    fn columns() -> Columns<'static, Row> {
        Columns::<Row>::new()
            .text("kernel", "", |r| r.0.into())
            .cell("time", "", |r| Cell::shown(r.1, |t| format!("{t:.1}")))
            .si("power", "", "W", |_| None)
            .where_known()
            .text("of", "", |r| r.2.into())
    }

    fn table() -> Table {
        columns().table("", ROWS)
    }

    #[test]
    fn files_hold_values_and_columns_of_their_own() {
        let columns = columns()
            .exact("time_s", |r| r.1.map(|t| 10.0 * t))
            .si("twice", "", "s", |_| 2.0)
            .file("twice_s")
            .text("sum", "", |_| "λ".into())
            .not_in_files();
        let want = "kernel,time,power,of,time_s,twice_s\ntriad,1.52e0,,λ,1.52e1,2e0\na|語,,,\"12\n±3\",,2e0\n";
        assert_eq!(columns.csv(ROWS), want);
        let names = |table: Table| table.header.into_iter().map(|h| h.name).collect::<Vec<_>>();
        let all = names(columns.table("", ROWS));
        assert_eq!(all, ["kernel", "time", "of", "twice", "sum"]);
    }

    #[test]
    fn markdown_has_no_bars_of_its_own() {
        let want =
            "| kernel | time | of |\n|:--|--:|--:|\n| triad | 1.5 | λ |\n| a\\|語 | – | 12 ±3 |\n";
        assert_eq!(table().markdown(), want);
    }
}
