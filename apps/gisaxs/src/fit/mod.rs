//! Fits numbers of a sample's page to a measured image or cut.
//!
//! | module | what it holds |
//! |---|---|
//! | [`page`] | the page that says what is fitted to what |
//! | [`target`] | residuals of a model |
//! | [`search`] | a swarm over the bounds, then Levenberg and Marquardt; uncertainties |

mod page;
mod search;
mod target;

pub use page::{FitPage, Free, Noise};
pub use search::{Fitted, Progress, fit};
pub use target::Target;
