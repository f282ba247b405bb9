//! Tuning inside a run, load balance, and the cost model of its parts.
//!
//! | module | contents |
//! |---|---|
//! | [`balance`] | load balance between two devices |
//! | [`cost_model`] | operations and bytes of the parts of a step |
//! | [`tuner`] | online tuning of kernel parameters |
//! | [`wisdom`] | its winners, kept for later runs |

pub mod balance;
pub mod cost_model;
pub mod tuner;
pub mod wisdom;
