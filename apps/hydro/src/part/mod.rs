//! A problem cut into parts, one for each rank: zones are dealt out, nodes on the cuts belong to several parts, and what their
//! zones contribute is exchanged.
//!
//! | module | contents |
//! |---|---|
//! | [`partition`] | which rank has which zone: recursive bisection |
//! | [`local`] | the problem of a part |
//! | [`halo`] | nodes shared with other ranks, and the exchange of their contributions |
//! | [`ranked`] | an engine whose parts are advanced by ranks |

pub mod halo;
pub mod local;
pub mod partition;
pub mod ranked;

pub use halo::{Halo, Lists};
pub use partition::Partition;
pub use ranked::Ranked;
