//! Matrix products: F on tensor grids and on detector rows that share factors.
//!
//! | module | contents |
//! |---|---|
//! | `tensor_grid` | products of exponentials along each axis |
//! | `symmetric_qy` | real arithmetic for symmetric pairs of q_y |
//! | `shared_factors` | rows of a detector with common factors |
//! | `multiply` | real matrix products |
//! | `number` | numbers of either precision |

mod multiply;
mod number;
mod shared_factors;
mod symmetric_qy;
mod tensor_grid;

pub(super) use multiply::{Right, Scratch, multiply};
pub(super) use shared_factors::families;
pub(crate) use symmetric_qy::about_center;
pub(super) use symmetric_qy::serves;
pub(super) use tensor_grid::{least, products};
