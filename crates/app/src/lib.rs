//! What every binary shares.
//!
//! | module | what it holds |
//! |---|---|
//! | [`interrupt`] | Ctrl-C, TERM and HUP: asked once, ended after two seconds |
//! | [`stdout`] | data on standard output, which is never lost in silence |

pub mod interrupt;
pub mod stdout;
