//! Models learnt from trials: from the coordinates of a point to the logarithm of its cost.

mod boosted;
mod features;
mod forest;
mod process;

pub use boosted::Boosted;
pub use features::Features;
pub use forest::{Forest, ForestPlan};
pub use process::Process;
