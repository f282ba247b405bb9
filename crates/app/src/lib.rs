//! The shared layer of all commands: `greenup`, `gisaxs`, `hydro` and `fmm`.
//!
//! | module | contents |
//! |---|---|
//! | [`command`] | the frame of a `main`: interrupts, arguments, exit code |
//! | [`command::common`] | `--version`, `-v`, `-q`, `completions` and `man`, which every program has |
//! | [`mod@command::version`] | version, commit, target and features of this program |
//! | [`args`] | flags that mean the same everywhere: `--device`, `--threads`, `--machine`, `--sensor` |
//! | [`error`] | errors of commands: message, suggestion, exit code |
//! | [`mod@print`] | results on standard output, messages on standard error |
//! | [`stdout`] | standard output whose failures are not lost |
//! | [`output`] | files that a command writes, checked before any work |
//! | [`pool`] | pools of threads |
//! | [`progress`] | progress bars |
//! | [`provenance`] | where, when and by which program results were made |
//! | [`machine`] | machines by name or file |
//! | [`ranks`] | the processes of a run: who prints, what all must agree on, how an error of one ends all |
//! | [`sensors`] | the energy sensor of a measurement |
//! | [`load`] | a load that makes sensors move |
//! | [`folders`] | folders for the user's data and caches |
//! | [`wisdom`] | tuned configs of this user: the flags and the file |
#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod args;
pub mod command;
pub mod error;
pub mod folders;
pub mod load;
pub mod machine;
pub mod output;
pub mod pool;
pub mod print;
pub mod progress;
pub mod provenance;
pub mod ranks;
pub mod sensors;
pub mod stdout;
pub mod wisdom;

pub use command::version::{self, version};
pub use error::{AppError, Result};
pub use greenup_process::{interrupt, memory, threads};
