//! What every binary shares.
//!
//! | module | what it holds |
//! |---|---|
//! | [`interrupt`] | Ctrl-C, TERM and HUP: asked once, ended after two seconds |
//! | [`machine`] | machines by name or file |
//! | [`output`] | where an output goes: a file, or standard output |
//! | [`stdout`] | data on standard output, which is never lost in silence |

pub mod interrupt;
pub mod machine;
pub mod output;
pub mod stdout;
