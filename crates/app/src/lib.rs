//! The shared layer of all programs.
//!
//! | module | contents |
//! |---|---|
//! | [`command`] | the frame of a `main`: interrupts, arguments, exit code |
//! | [`command::common`] | `--version`, `-v`, `-q`, `completions` and `man`, which every program has |
//! | [`args`] | flags that mean the same everywhere: `--device`, `--threads`, `--machine`, `--sensor` |
//! | [`error`] | errors of commands: message, suggestion, exit code |
//! | [`present`] | the devices of this host that the user asked for |
//! | [`programs`] | programs beside this one |
//! | [`mod@print`] | results on standard output, messages on standard error |
//! | [`stdout`] | standard output whose failures are not lost |
//! | [`output`] | files that a command writes, checked before any work |
//! | [`pool`] | pools of threads |
//! | [`progress`] | progress bars |
//! | [`machine`] | machines by name or file |
//! | [`ranks`] | the processes of a run: who prints, what all must agree on, how an error of one ends all |
//! | [`sensors`] | the energy sensor of a measurement |
//! | [`study`] | the cases of a study, measured and recorded as a sweep |
//! | [`load`] | a load that makes sensors move |
//! | [`folders`] | folders for the user's data and caches |
//! | [`wisdom`] | tuned configs of this user: the flags and the file |
#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod args;
pub mod command;
pub mod error;
pub mod folders;
mod lines;
pub mod load;
mod lookup_error;
pub mod machine;
pub mod output;
pub mod pool;
pub mod present;
pub mod print;
mod printable;
pub mod programs;
pub mod progress;
pub mod ranks;
pub mod sensors;
pub mod stdout;
pub mod study;
pub mod wisdom;

pub use error::{AppError, Result};
pub use greenup_process::{interrupt, memory, threads};
