//! Why MPI cannot be used.

use std::path::PathBuf;

/// MPI cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RanksError {
    /// No library was found.
    #[error(
        "a launcher started this process as one of several, but no MPI library was found ({}). Fix: install the library of the launcher (Open MPI or MPICH), or name it in {VARIABLE}",
        reasons.join("; ")
    )]
    NotFound {
        /// What was tried, and why it failed.
        reasons: Vec<String>,
    },
    /// A library lacks a function.
    #[error("{} is no complete MPI: {cause}", library.display())]
    Incomplete {
        /// The library.
        library: PathBuf,
        /// What is missing.
        cause: String,
    },
    /// MPI does not start.
    #[error("MPI ({}) does not start: error {code} of MPI_Init_thread", library.display())]
    Init {
        /// The library.
        library: PathBuf,
        /// MPI's error code.
        code: i32,
    },
    /// The launcher and the library do not belong together.
    #[error(
        "the launcher started {launched} processes, but {} sees {seen}: they do not belong together. Fix: use the launcher of that library, or name another library in {VARIABLE}",
        library.display()
    )]
    Foreign {
        /// The library.
        library: PathBuf,
        /// Number of processes by the launcher.
        launched: usize,
        /// Number of processes by MPI.
        seen: usize,
    },
    /// The library is not the one that the program uses.
    #[error(
        "{} is \"{found}\", but this program uses \"{expected}\". Fix: name the library of the program in {VARIABLE}",
        library.display()
    )]
    Other {
        /// The library.
        library: PathBuf,
        /// Its name and version.
        found: String,
        /// Name and version of the program's.
        expected: String,
    },
}

/// Variable with the path of another library.
pub const VARIABLE: &str = "GREENUP_MPI";
