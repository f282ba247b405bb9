//! The tables of the paper (I to III) on this machine: time, rates and joules of each way to the form factor,
//! predicted beside measured.
//!
//! | module | what it holds |
//! |---|---|
//! | [`work`] | operations of each way |
//! | [`row`] | one line of the tables: what was computed, measured, predicted |

mod row;
mod work;

pub use row::{Case, On, Row, run};
pub use work::{paper_flops, work};
