//! Tables as lines of a terminal, as wide as it is.

use super::cell::Value;
use super::{Cell, Rank, Table};
use crate::text::{middle, wrapped};
use unicode_width::UnicodeWidthStr;

/// Wider names are cut in their middle, and wider configs stand below their row, where lines are too short.
const WIDEST: usize = 28;
/// Wider texts are no names.
const SENTENCE: usize = 44;
/// Before the lines below a row.
const INDENT: usize = 4;

impl Table {
    /// Lines with columns as wide as their widest cell and a blank on both sides; the first is aligned left, the others right. A
    /// cell with several lines makes several.
    ///
    /// In a table wider than `width`, texts and configs stand below their row, names are cut in their middle, and columns are left
    /// out by their rank; a last line says so.
    pub fn lines(&self, width: Option<usize>) -> Vec<String> {
        let all: Vec<usize> = (0..self.header.len()).collect();
        let Some(most) = width else {
            return self.drawn(&all, |_| Vec::new());
        };
        if self.width(&all) <= most {
            return self.drawn(&all, |_| Vec::new());
        }
        let mut narrow = self.clone();
        let (mut columns, mut texts, mut config) = (Vec::new(), Vec::new(), Vec::new());
        for c in all {
            match self.header[c].rank {
                Rank::Config => config.push(c),
                _ if c > 0 && self.is_text(c) => texts.push(c),
                _ => columns.push(c),
            }
        }
        let mut shortened = false;
        for row in &mut narrow.rows {
            for c in &columns {
                let cell = &mut row[*c];
                if is_words(cell) && !cell.text.contains('\n') {
                    let text = middle(&cell.text, WIDEST);
                    shortened |= text != cell.text;
                    cell.text = text;
                }
            }
        }
        let mut lost = Vec::new();
        while narrow.width(&columns) > most {
            // Of those of the highest rank, the last one.
            let Some(k) = (1..columns.len()).max_by_key(|k| self.header[columns[*k]].rank) else {
                break;
            };
            lost.push(columns.remove(k));
        }
        let below = |row: usize| {
            let cells = &self.rows[row];
            let mut out = Vec::new();
            for (name, text) in (texts.iter())
                .filter(|c| !cells[**c].is_missing() && !cells[**c].text.is_empty())
                .map(|c| (self.header[*c].name.as_str(), cells[*c].text.clone()))
                .chain(self.config(cells, &config))
            {
                let head = match name {
                    "" => String::new(),
                    name => format!("{name}: "),
                };
                let text = format!("{}{head}{text}", " ".repeat(INDENT));
                out.extend(text.lines().flat_map(|l| wrapped(l, most)));
            }
            out
        };
        let mut out = narrow.drawn(&columns, below);
        lost.sort_unstable();
        out.extend(self.remark(&lost, shortened, most));
        out
    }

    /// The values of a config in a line, if the table has any.
    fn config<'a>(&self, cells: &[Cell], columns: &[usize]) -> Option<(&'a str, String)> {
        let known = columns.iter().filter(|c| !cells[**c].is_missing());
        let pairs = known.map(|c| (&self.header[*c].name, &cells[*c].text));
        Some(("config", crate::text::named(pairs))).filter(|(_, text)| !text.is_empty())
    }

    /// What a narrow table does not show, and where it is.
    fn remark(&self, lost: &[usize], shortened: bool, width: usize) -> Vec<String> {
        let names = lost.iter().map(|c| self.header[*c].name.as_str());
        let names: Vec<&str> = names.filter(|n| !n.is_empty()).collect();
        let said = match (lost.len(), shortened) {
            (0, false) => return Vec::new(),
            (0, true) => "names cut at “…”".to_owned(),
            (1, _) => format!("1 column left out ({})", names.join(", ")),
            (n, _) => format!("{n} columns left out ({})", names.join(", ")),
        };
        let text = format!("  {said}; --json has all, and a pipe or a file if COLUMNS is not set");
        wrapped(&text, width)
    }

    /// Whether a column has sentences, lists or configs rather than names and numbers.
    fn is_text(&self, column: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|r| r.get(column));
        cells.any(|c| {
            let most = if c.text.contains('=') {
                WIDEST
            } else {
                SENTENCE
            };
            is_words(c) && c.text.contains(' ') && c.text.width() > most
        })
    }

    fn column_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|r| r.get(column));
        let lines = cells.flat_map(|c| c.text.lines()).map(str::width);
        lines.fold(self.header[column].name.width(), usize::max)
    }

    /// Width of the longest line, which may end with the last cell.
    fn width(&self, columns: &[usize]) -> usize {
        let each = columns.iter().map(|c| self.column_width(*c) + 2);
        each.sum::<usize>().saturating_sub(1)
    }

    /// Some columns, and after each row the lines that `below` gives for it.
    fn drawn(&self, columns: &[usize], below: impl Fn(usize) -> Vec<String>) -> Vec<String> {
        let widths: Vec<usize> = columns.iter().map(|c| self.column_width(*c)).collect();
        let line = |cells: &dyn Fn(usize) -> String| {
            let mut text = String::new();
            for (k, (column, width)) in columns.iter().zip(&widths).enumerate() {
                let cell = cells(*column);
                let blank = " ".repeat(width.saturating_sub(cell.width()));
                text += &match k {
                    0 => format!(" {cell}{blank} "),
                    _ => format!(" {blank}{cell} "),
                };
            }
            text.trim_end().to_owned()
        };
        let mut out = vec![line(&|c| self.header[c].name.clone())];
        for (n, row) in self.rows.iter().enumerate() {
            let text = |c: usize| row.get(c).map_or("", |c| c.text.as_str());
            let height = columns.iter().map(|c| text(*c).lines().count()).max();
            for k in 0..height.unwrap_or(1).max(1) {
                out.push(line(&|c| text(c).lines().nth(k).unwrap_or("").to_owned()));
            }
            out.extend(below(n));
        }
        out
    }
}

/// Whether a cell is no number; numbers of names sort them.
fn is_words(cell: &Cell) -> bool {
    matches!(cell.value, Value::Text(_)) || cell.mark == Some("wrap")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Columns;

    type Row = (&'static str, Option<f64>, &'static str);
    const ROWS: [Row; 2] = [("triad", Some(1.52), "λ"), ("a|語", None, "12\n±3")];
    const CONFIG: &str = "block_size_x=128 tile=4 vector=2 unroll=8 stages=3 swizzle=1";

    fn columns() -> Columns<'static, Row> {
        Columns::<Row>::new()
            .text("kernel", "", |r| r.0.into())
            .cell("time", "", |r| Cell::shown(r.1, |t| format!("{t:.1}")))
            .text("of", "", |r| r.2.into())
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let want = [
            " kernel  time  of",
            " triad    1.5   λ",
            " a|語       –  12",
            "               ±3",
        ];
        let table = columns().table("", ROWS);
        assert_eq!(table.lines(None), want);
        assert_eq!(table.lines(Some(17)), want);
        let empty = Columns::<Cell>::new().cell("one", "", Cell::clone);
        assert_eq!(empty.table("", [] as [Cell; 0]).lines(Some(80)), [" one"]);
    }

    #[test]
    fn details_go_first_and_then_the_last_columns() {
        let columns = columns()
            .si("power", "", "W", |_| 120.0)
            .detail()
            .si("energy", "", "J", |_| 3.0)
            .si("rate", "", "flop/s", |_| 2e12)
            .kept();
        let lines = columns.table("", &ROWS[..1]).lines(Some(36));
        assert_eq!(lines[0], " kernel  time  of          rate");
        assert_eq!(lines[2], "  2 columns left out (power,");
        assert_eq!(lines[4], "    pipe or a file if COLUMNS is not");
        assert!(columns.table("", ROWS).lines(None)[0].contains("power"));
    }

    #[test]
    fn texts_and_configs_stand_below_their_row() {
        let table = columns()
            .text("config", "", |_| CONFIG.into())
            .table("", &ROWS[..1]);
        let want = [
            " kernel  time  of",
            " triad    1.5   λ",
            "    config: block_size_x=128 tile=4",
            "      vector=2 unroll=8 stages=3",
            "      swizzle=1",
        ];
        assert_eq!(table.lines(Some(36)), want);
        let parameters = columns().and_each(["tile", "vector", "stages"], |c, n| {
            c.text(n, "", |_| "8".into()).of_config()
        });
        let table = parameters.table("", &ROWS[..1]);
        assert!(table.lines(Some(80))[0].ends_with("tile  vector  stages"));
        assert_eq!(
            table.lines(Some(36))[2],
            "    config: tile=8 vector=8 stages=8"
        );
    }

    #[test]
    fn names_are_cut_in_their_middle_and_numbers_never() {
        let long = "void at::native::vectorized_elementwise_kernel<4, float>";
        let columns = Columns::<f64>::new()
            .text("kernel", "", |_| long.into())
            .shown("time", "", |x| format!("{x:.30}"), |x| *x);
        let lines = columns.table("", [0.1]).lines(Some(80));
        assert!(
            lines[1].starts_with(" void at::nativ…nel<4, float>  0."),
            "{lines:?}"
        );
        assert!(lines[1].contains(&format!("{:.30}", 0.1)), "{lines:?}");
        assert!(lines[2].contains("“…”"));
    }
}
