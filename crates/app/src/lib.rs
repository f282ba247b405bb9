//! What every binary shares.
//!
//! | module | what it holds |
//! |---|---|
//! | [`interrupt`] | Ctrl-C, TERM and HUP: asked once, ended after two seconds |
//! | [`machine`] | machines by name or file |
//! | [`memory`] | whether what is asked for fits into memory |
//! | [`output`] | where an output goes: a file, or standard output |
//! | [`process`] | processes that are started: each in a group, killed whole |
//! | [`capture`] | what they print, read without waiting for ever |
//! | [`stdout`] | data on standard output, which is never lost in silence |
//! | [`threads`] | how many threads a command may start |

pub mod capture;
pub mod interrupt;
pub mod machine;
pub mod memory;
pub mod output;
pub mod process;
pub mod stdout;
pub mod threads;
