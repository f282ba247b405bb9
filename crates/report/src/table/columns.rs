//! Columns: a name, what it says, and what a row gives.

use super::{Cell, Header, Rank, Table};
use std::borrow::Borrow;

/// The columns of a table whose rows are made of `R`.
///
/// ```
/// use greenup_report::table::Columns;
/// struct Kernel { name: String, time_s: f64, energy_j: Option<f64> }
/// let rows = [Kernel { name: "triad".into(), time_s: 1.5e-3, energy_j: None }];
/// let table = Columns::<Kernel>::new()
///     .text("kernel", "", |k| k.name.clone())
///     .si("time", "median", "s", |k| k.time_s)
///     .si("energy", "", "J", |k| k.energy_j)
///     .table("Kernels", &rows);
/// assert_eq!(table.lines(None), [" kernel     time  energy", " triad   1.50 ms       –"]);
/// ```
pub struct Columns<'a, R> {
    pub(super) all: Vec<Column<'a, R>>,
}

pub(super) struct Column<'a, R> {
    pub(super) header: Header,
    pub(super) get: Box<dyn Fn(&R) -> Cell + 'a>,
    /// What files call it, if not by its title.
    pub(super) file: Option<String>,
    pub(super) in_files: bool,
    /// Whether tables have it.
    shown: bool,
    /// Whether the column is left out where no row has a value.
    where_known: bool,
}

impl<R> Default for Columns<'_, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a, R> Columns<'a, R> {
    /// No column.
    pub fn new() -> Self {
        Self { all: Vec::new() }
    }

    /// A column of cells.
    pub fn cell(
        mut self,
        name: impl Into<String>,
        about: impl Into<String>,
        get: impl Fn(&R) -> Cell + 'a,
    ) -> Self {
        self.all.push(Column {
            header: Header {
                name: name.into(),
                about: about.into(),
                rank: Rank::Normal,
            },
            get: Box::new(get),
            file: None,
            in_files: true,
            shown: true,
            where_known: false,
        });
        self
    }

    /// A column of text.
    pub fn text(
        self,
        name: impl Into<String>,
        about: impl Into<String>,
        get: impl Fn(&R) -> String + 'a,
    ) -> Self {
        self.cell(name, about, move |r| Cell::text(get(r)))
    }

    /// A column of text over several lines, shown in full.
    pub fn wrapped(
        self,
        name: impl Into<String>,
        about: impl Into<String>,
        get: impl Fn(&R) -> String + 'a,
    ) -> Self {
        self.cell(name, about, move |r| Cell::wrapped(get(r)))
    }

    /// A column of numbers, shown as `show` says.
    pub fn shown<V: Into<Option<f64>>>(
        self,
        name: impl Into<String>,
        about: impl Into<String>,
        show: impl Fn(f64) -> String + 'a,
        get: impl Fn(&R) -> V + 'a,
    ) -> Self {
        self.cell(name, about, move |r| Cell::shown(get(r), &show))
    }

    /// A column of numbers with SI prefixes and a unit.
    pub fn si<V: Into<Option<f64>>>(
        self,
        name: impl Into<String>,
        about: impl Into<String>,
        unit: &'a str,
        get: impl Fn(&R) -> V + 'a,
    ) -> Self {
        self.cell(name, about, move |r| Cell::si(get(r), unit))
    }

    /// A column of shares as percentages.
    pub fn percent<V: Into<Option<f64>>>(
        self,
        name: impl Into<String>,
        about: impl Into<String>,
        get: impl Fn(&R) -> V + 'a,
    ) -> Self {
        self.cell(name, about, move |r| Cell::percent(get(r)))
    }

    /// A column of numbers with three significant digits.
    pub fn three<V: Into<Option<f64>>>(
        self,
        name: impl Into<String>,
        about: impl Into<String>,
        get: impl Fn(&R) -> V + 'a,
    ) -> Self {
        self.cell(name, about, move |r| Cell::three(get(r)))
    }

    /// A column of intervals: both ends with SI prefixes and a unit.
    pub fn range<V: Into<Option<(f64, f64)>>>(
        self,
        name: impl Into<String>,
        about: impl Into<String>,
        unit: &'a str,
        get: impl Fn(&R) -> V + 'a,
    ) -> Self {
        self.cell(name, about, move |r| Cell::range(get(r).into(), unit))
    }

    /// A column of numbers with all their digits, only in files: `1.5e-3`.
    pub fn exact<V: Into<Option<f64>>>(
        self,
        name: impl Into<String>,
        get: impl Fn(&R) -> V + 'a,
    ) -> Self {
        self.cell(name, "", move |r| Cell::exact(get(r)))
            .only_in_files()
    }

    /// A column of whole numbers.
    pub fn count(
        self,
        name: impl Into<String>,
        about: impl Into<String>,
        get: impl Fn(&R) -> u64 + 'a,
    ) -> Self {
        self.cell(name, about, move |r| Cell::count(get(r)))
    }

    /// The columns that `add` appends, if `wanted`.
    pub fn and_if(self, wanted: bool, add: impl FnOnce(Self) -> Self) -> Self {
        if wanted { add(self) } else { self }
    }

    /// The columns that `add` appends for each of `all`.
    pub fn and_each<T>(
        self,
        all: impl IntoIterator<Item = T>,
        add: impl Fn(Self, T) -> Self,
    ) -> Self {
        all.into_iter().fold(self, add)
    }

    /// The last column, left out of tables in which no row has its value.
    pub fn where_known(self) -> Self {
        self.last(|c| c.where_known = true)
    }

    /// The last column, which files call `name` and write with all digits: `1.5e-3`.
    pub fn file(self, name: impl Into<String>) -> Self {
        self.last(|c| c.file = Some(name.into()))
    }

    /// The last column, left out of tables.
    pub fn only_in_files(self) -> Self {
        self.last(|c| c.shown = false)
    }

    /// The last column, left out of files: they hold what it is made of.
    pub fn not_in_files(self) -> Self {
        self.last(|c| c.in_files = false)
    }

    /// The last column, left out first where lines are too short.
    pub fn detail(self) -> Self {
        self.last(|c| c.header.rank = Rank::Detail)
    }

    /// The last column, left out after all others where lines are too short.
    pub fn kept(self) -> Self {
        self.last(|c| c.header.rank = Rank::Kept)
    }

    /// The last column is a parameter: with all such ones it makes a config below its row where lines are too short.
    pub fn of_config(self) -> Self {
        self.last(|c| c.header.rank = Rank::Config)
    }

    fn last(mut self, change: impl FnOnce(&mut Column<'a, R>)) -> Self {
        if let Some(last) = self.all.last_mut() {
            change(last);
        }
        self
    }

    /// The table of some rows.
    pub fn table(
        &self,
        caption: impl Into<String>,
        rows: impl IntoIterator<Item = impl Borrow<R>>,
    ) -> Table {
        let rows: Vec<_> = rows.into_iter().collect();
        let mut table = Table {
            caption: caption.into(),
            header: Vec::new(),
            rows: vec![Vec::new(); rows.len()],
        };
        for c in self.all.iter().filter(|c| c.shown) {
            let cells: Vec<Cell> = rows.iter().map(|r| (c.get)(r.borrow())).collect();
            if c.where_known && cells.iter().all(Cell::is_missing) {
                continue;
            }
            table.header.push(c.header.clone());
            for (row, cell) in table.rows.iter_mut().zip(cells) {
                row.push(cell);
            }
        }
        table
    }
}
