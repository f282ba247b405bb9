//! Subcommands of `hydro`.

pub mod list;
pub mod mesh;
pub mod restart;
pub mod run;
pub mod study;
