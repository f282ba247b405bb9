//! What every binary shares.
//!
//! | module | what it holds |
//! |---|---|
//! | [`interrupt`] | Ctrl-C, TERM and HUP: asked once, ended after two seconds |
//! | [`process`] | processes that are started: each in a group, killed whole |
//! | [`capture`] | what they print, read without waiting for ever |
//! | [`stdout`] | data on standard output, which is never lost in silence |

pub mod capture;
pub mod interrupt;
pub mod process;
pub mod stdout;
