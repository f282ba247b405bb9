//! Figures and tables of the fast multipole method (thesis, chapter 6).
//!
//! | module | what |
//! |---|---|
//! | `counts` | instructions and data by kind, from counters |
//! | `counters` | the table of counters |
//! | `energies` | energies predicted and measured, with their spread |
//! | `tree_lists` | lists of a box |

mod counters;
mod counts;
mod energies;
mod tree_lists;

pub use counters::CounterTable;
pub use counts::Counts;
pub use energies::Energies;
pub use tree_lists::TreeLists;
