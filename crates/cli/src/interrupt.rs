//! Ctrl-C, TERM and HUP; what was measured until then is kept.

pub use greenup_app::interrupt::{install, requested};
