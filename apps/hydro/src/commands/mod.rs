//! Subcommands of `hydro`.

mod animation;
pub mod checks;
mod figures;
mod history;
pub mod list;
pub mod mark;
pub mod mesh;
pub mod page;
pub mod ranks;
pub mod restart;
pub mod run;
pub mod saving;
pub mod settings;
mod snapshots;
pub mod study;
mod termination;
mod tuned;
pub mod watch;
