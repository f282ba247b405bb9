//! Tables: what a column is called, says and holds is described once; pages, terminals, CSV and Markdown are written from it.

mod cell;
mod columns;
mod lines;
mod written;

pub use cell::Cell;
pub use columns::Columns;

use serde::Serialize;

/// A column's title with an explanation.
#[derive(Clone, Debug, Serialize)]
pub struct Header {
    /// Title of the column.
    pub name: String,
    /// Explanation shown on hovering; may be empty.
    pub about: String,
    /// What happens to the column where lines are too short.
    #[serde(skip)]
    pub rank: Rank,
}

/// What a column is worth where a table is wider than the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Left out after all others.
    Kept,
    /// Left out after the details, the last column first.
    #[default]
    Normal,
    /// Left out first.
    Detail,
    /// A value of a config: all of them stand as `name=value` on a line below their row.
    Config,
}

/// A table with sortable columns: made by [`Columns::table`].
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// Caption.
    pub caption: String,
    /// Column titles.
    pub header: Vec<Header>,
    /// Rows; as many cells in each as columns.
    pub rows: Vec<Vec<Cell>>,
}
