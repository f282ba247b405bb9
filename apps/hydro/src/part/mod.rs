//! A problem cut into parts, one for each rank: zones are dealt out, nodes on the cuts belong to several parts, and what their
//! zones contribute is exchanged.
//!
//! | module | contents |
//! |---|---|
//! | [`partition`] | which rank has which zone: recursive bisection, or METIS |
//! | [`mesh`] | the zones of a rank and those that touch them, without the mesh of the whole |
//! | [`setup`] | the problem of a part, and facts of the whole that ranks find together |
//! | [`local`] | zones and nodes of a part with numbers of their own |
//! | [`numbering`] | numbers in the whole, and fields of the whole that pass by the first rank |
//! | [`halo`] | nodes shared with other ranks, and the exchange of their contributions |
//! | [`ranked`] | an engine whose parts are advanced by ranks |

mod boxes;
pub mod halo;
pub mod local;
pub mod mesh;
#[cfg(feature = "metis")]
mod metis;
pub mod numbering;
pub mod partition;
pub mod ranked;
pub mod setup;

pub use halo::{Halo, Lists};
pub use mesh::PartMesh;
pub use numbering::Whole;
pub use partition::Partition;
pub use ranked::Ranked;
pub use setup::Part;
