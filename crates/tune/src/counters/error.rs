//! Errors of the profiler.

use std::path::PathBuf;

/// A profiler that cannot count.
#[derive(Debug, thiserror::Error)]
pub enum ProfilerError {
    /// It cannot be started. Holds the system's message.
    #[error("`ncu` of NVIDIA's Nsight Compute: {0}")]
    Start(String),
    /// The profiled program fails.
    #[error("{command}: {message}")]
    Program {
        /// The program and its arguments.
        command: String,
        /// The last line of its standard error.
        message: String,
    },
    /// The profiled worker fails. Holds its message.
    #[error("{0}")]
    Worker(String),
    /// The profiler's log cannot be read.
    #[error("{}: {cause}", path.display())]
    Read {
        /// The log.
        path: PathBuf,
        /// The system's message.
        cause: std::io::Error,
    },
    /// The profiler reports an error, such as missing permissions. Holds its message.
    #[error("{0}")]
    Refused(String),
    /// Its table is not valid CSV.
    #[error("its table cannot be read: {0}")]
    Table(#[from] csv::Error),
    /// A row ends before its last field.
    #[error(
        "line {line}: the row has {fields} fields, not the header's {header}, or its last one is cut off: the file is not complete"
    )]
    Cut {
        /// Its line, from 1.
        line: u64,
        /// Fields of the row.
        fields: usize,
        /// Fields of the header.
        header: usize,
    },
    /// Numbers of two languages.
    #[error("lines {} and {}: `{}` and `{}` have different decimal separators", lines[0], lines[1], texts[0], texts[1])]
    TwoLanguages {
        /// Where they are, from 1.
        lines: [u64; 2],
        /// The numbers.
        texts: [String; 2],
    },
    /// No kernel was launched. Holds the last line of the log.
    #[error("no kernel was profiled: {0}")]
    NoKernel(String),
}
