//! Figures and tables of the fast multipole method (thesis, chapter 6).
//!
//! | module | what |
//! |---|---|
//! | `cases` | inputs of a study with their energies |
//! | `counts` | instructions and data by kind, from counters |
//! | `counters` | the table of counters |
//! | `energies` | energies predicted and measured, with their spread |
//! | `tree_lists` | lists of a box |

mod cases;
mod counters;
mod counts;
mod energies;
mod tree_lists;

pub use cases::Cases;
pub use counters::CounterTable;
pub use counts::Counts;
pub use energies::Energies;
pub use tree_lists::TreeLists;
