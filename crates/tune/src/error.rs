//! Errors of builds and runs. Faults of the environment say nothing about a config: they end the run and are not recorded.

use crate::counters::ProfilerError;
use crate::objective::Unmet;
use crate::problem::ConfigError;
use crate::sweep::FolderError;
use crate::worker::inputs::memory::OutOfMemory;
use greenup_setting::setting;
use std::path::{Path, PathBuf};

/// The environment failed: no memory, processes, descriptors or disk space. Holds the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EnvironmentFault(pub String);

/// A kernel that cannot be compiled: the source or the config is at fault.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The compiler's error lines.
    #[error("{0}")]
    Rejected(String),
    /// The compiler hangs.
    #[error("the compiler did not end within {0} s")]
    Timeout(u64),
    /// The observer cancelled.
    #[error("stopped")]
    Interrupted,
    /// A value of the problem does not exist for the config.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A launch names a kernel that the source does not define.
    #[error("there is no kernel `{kernel}`; {} compiled: {}; CUDA kernels must be extern \"C\"", compiled.len(), compiled.join(", "))]
    MissingKernel {
        /// The kernel that is launched.
        kernel: String,
        /// The kernels that were compiled.
        compiled: Vec<String>,
    },
    /// A file of the build cannot be written or read, or the compiler cannot be started.
    #[error("{what}: {source}")]
    Io {
        /// The file or program.
        what: String,
        /// The system's error.
        source: std::io::Error,
    },
}

/// A kernel that could not be built: its own fault, or the environment's.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The source or config is at fault.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The environment is at fault.
    #[error(transparent)]
    Environment(#[from] EnvironmentFault),
}

impl BuildError {
    /// The error of a run that ends here: `of_source` makes it from a compiler's message.
    pub fn into_tune(self, of_source: impl FnOnce(String) -> TuneError) -> TuneError {
        match self {
            Self::Compile(e) => of_source(e.to_string()),
            Self::Environment(e) => e.into(),
        }
    }
}

/// Messages of compilers and linkers when the machine, not the source, is at fault; first those of a full disk.
const WORDS: [&str; 9] = [
    "No space left on device",
    "Disk quota exceeded",
    "Cannot allocate memory",
    "out of memory",
    "virtual memory exhausted",
    "Too many open files",
    "Resource temporarily unavailable",
    "Input/output error",
    "Killed signal terminated program",
];

/// Whether a compiler's message is of the environment.
pub(crate) fn of_environment(message: &str) -> bool {
    WORDS.iter().any(|w| message.contains(w))
}

/// Refuses a folder whose whole name is not UTF-8.
///
/// # Errors
/// It is not.
pub(crate) fn named_in_text(folder: &Path) -> Result<(), TuneError> {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    match whole.to_str() {
        Some(_) => Ok(()),
        None => Err(TuneError::NotText(whole)),
    }
}

/// Lines of a failed build that are shown.
const SHOWN: usize = 3;

/// The first lines of a compiler's message that name errors.
pub(crate) fn errors_in(message: &str) -> String {
    let errors = message.lines().filter(|l| l.contains("error"));
    errors.take(SHOWN).collect::<Vec<_>>().join("\n")
}

/// The lines of a compiler's or linker's message that tell what is wrong: those that name errors, without the last word of a
/// linker's caller where there are others; else the last lines.
pub(crate) fn brief(message: &str) -> String {
    let last_word = |l: &str| {
        l.contains("ld returned") || l.contains("linker command failed") || l.contains("make: ***")
    };
    let tells = |l: &&str| {
        let small = l.to_lowercase();
        let of_linker = [
            "undefined reference",
            "undefined symbol",
            "multiple definition",
        ];
        !last_word(l)
            && (small.contains("error")
                || of_environment(l)
                || of_linker.iter().any(|w| small.contains(w))
                || l.contains("ld: ")
                    && !small.contains("in function")
                    && !small.contains("warning"))
    };
    let mut shown: Vec<&str> = message.lines().filter(tells).take(SHOWN).collect();
    if shown.is_empty() {
        let all: Vec<&str> = message.lines().filter(|l| !l.trim().is_empty()).collect();
        shown = all[all.len().saturating_sub(SHOWN)..].to_vec();
    }
    shown.join("\n")
}

/// Whether a program says that it cannot write, as its disk is full.
pub(crate) fn disk_is_full(message: &str) -> bool {
    WORDS[..2].iter().any(|w| message.contains(w))
}

/// A sweep that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The sweep folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] greenup_files::FileError),
    /// The setup, the reference or the baseline does not compile or fails.
    #[error("{0}")]
    Reference(String),
    /// The profiler fails.
    #[error("the profiler: {0}")]
    Profiler(#[from] ProfilerError),
    /// The environment fails, which is no fault of a config.
    #[error("{0}: an error of the environment, not of a config; the trial is not recorded")]
    Environment(#[from] EnvironmentFault),
    /// Every worker was lost. Holds the last one's fault.
    #[error("no worker is left; the last one: {0}")]
    NoWorker(EnvironmentFault),
    /// A folder whose name is no text: commands and messages to workers could not name it.
    #[error("{}: the name of this folder is not UTF-8; use another one", .0.display())]
    NotText(PathBuf),
    /// The kernels are in OpenCL and no device was chosen.
    #[error("the kernels are in OpenCL, and no device was chosen for them: use {}", setting("device").to("opencl:0.0"))]
    NoDevice,
    /// The arguments do not fit into memory.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// No trial succeeded. Holds the first failure.
    #[error("no trial succeeded: {0}")]
    Nothing(String),
    /// Another program requests what cannot be measured.
    #[error("{0}")]
    Request(String),
    /// No trial keeps the bound of the objective.
    #[error("{0}")]
    Bound(#[from] Unmet),
    /// The finalists cannot be built or measured again, or none keeps a bound.
    #[error("the final rounds have no result: {0}")]
    Finalists(String),
    /// The space of a size cannot be enumerated.
    #[error("{over} = {size}: {cause}")]
    Size {
        /// Name of the constant.
        over: String,
        /// Its value.
        size: String,
        /// Why the search space has no index.
        cause: greenup_space::Stop,
    },
    /// A result cannot be written as JSON.
    #[error("cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

#[cfg(test)]
mod tests {
    use super::brief;

    #[test]
    fn what_is_wrong_is_shown_not_that_something_is() {
        let linker = "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x9): undefined reference to `foo'\ncollect2: error: ld returned 1 exit status\n";
        assert_eq!(
            brief(linker),
            "a.c:(.text+0x9): undefined reference to `foo'"
        );
        let missing = "/usr/bin/ld: cannot find : No such file or directory\ncollect2: error: ld returned 1 exit status";
        assert_eq!(
            brief(missing),
            "/usr/bin/ld: cannot find : No such file or directory"
        );
        let only = "collect2: error: ld returned 1 exit status";
        assert_eq!(brief(only), only);
        let many: String = (0..9)
            .map(|i| format!("k.c:{i}: error: e{i}\nnote\n"))
            .collect();
        assert_eq!(
            brief(&many),
            "k.c:0: error: e0\nk.c:1: error: e1\nk.c:2: error: e2"
        );
        assert_eq!(brief("a\nb\n\nc\nd\n"), "b\nc\nd");
        assert_eq!(brief(""), "");
    }
}
