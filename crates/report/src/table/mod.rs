//! Tables: what a column is called, says and holds is described once; pages, terminals, CSV and Markdown are written from it.

mod cell;
mod columns;
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
