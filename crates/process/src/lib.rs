//! This process and those that it starts.
//!
//! | module | contents |
//! |---|---|
//! | [`interrupt`] | Ctrl-C, TERM and HUP: the command is asked to stop, and ended after two seconds |
//! | [`group`] | child processes: each leads a process group, which is killed as a whole |
//! | [`family`] | processes by their parents and groups |
//! | [`capture`] | output of child processes, read without waiting forever |
//! | [`collect`] | the same in the loop that waits for the end of one |
//! | [`descriptor`] | descriptors of a library in a program that may close them |
//! | [`memory`] | available memory, checked before large allocations |
//! | [`threads`] | number of threads that a command may start |
//! | [`watch`] | memory of a child process, and how long it waited for a core |
#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod capture;
pub mod collect;
pub mod descriptor;
pub mod family;
pub mod group;
pub mod interrupt;
pub mod memory;
mod request;
pub mod threads;
pub mod watch;

pub use group::{Group, OnInterrupt, Waited};
