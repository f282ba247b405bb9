//! Sources and a config to a shared library.

use super::included::{included, words};
use super::shadowed::shadowed;
use crate::error::{BuildError, CompileError, EnvironmentFault, TuneError, brief, of_environment};
use crate::problem::{Build, ConfigError, Data, Language, Problem, Returns};
use greenup_process::capture::{Capture, LOST};
use greenup_process::group::{Group, OnInterrupt};
use greenup_space::Value;
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Seconds after which a compiler counts as hanging.
const TIMEOUT: Duration = Duration::from_secs(120);

/// What to compile: one config of the kernel, or the reference.
pub struct Unit<'a> {
    /// Source files.
    pub sources: Vec<PathBuf>,
    /// Name of the function to call.
    pub entry: &'a str,
    /// Language, compiler and flags.
    pub build: &'a Build,
    /// Macros, as `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Arguments of the function.
    pub data: &'a [Data],
    /// Whether the function takes a stream behind its arguments.
    pub(super) stream: bool,
    /// The time that the function returns.
    pub(super) returns: Option<Returns>,
}

impl<'a> Unit<'a> {
    /// The kernel with a config.
    ///
    /// # Errors
    /// A derived value does not exist for the config.
    pub fn of_config(p: &'a Problem, config: &[Value]) -> Result<Self, CompileError> {
        Ok(Self {
            defines: p.defines(config).map_err(ConfigError::from)?,
            ..Self::of_sources(p)
        })
    }

    /// The sources alone, without a config: what makes a sweep's kernels what they are.
    pub fn of_sources(p: &'a Problem) -> Self {
        Self {
            defines: Vec::new(),
            returns: p.build.returns,
            ..Self::of_constants(p, &p.build.sources, &p.build.entry)
        }
    }

    /// The baseline, compiled with the constants only; `None` without a `[baseline]`.
    pub fn of_baseline(p: &'a Problem) -> Option<Self> {
        let r = p.baseline.as_ref()?;
        Some(Self {
            stream: p.on_gpu(),
            ..Self::of_constants(p, &r.sources, &r.entry)
        })
    }

    /// The reference, with the constants alone.
    pub fn of_reference(p: &'a Problem) -> Option<Self> {
        let r = p.reference.as_ref()?;
        Some(Self::of_constants(p, &r.sources, &r.entry))
    }

    /// What makes the data, with the constants alone.
    pub fn of_setup(p: &'a Problem) -> Option<Self> {
        let s = p.setup.as_ref()?;
        Some(Self::of_constants(p, &s.sources, &s.entry))
    }

    fn of_constants(p: &'a Problem, sources: &[PathBuf], entry: &'a str) -> Self {
        Self {
            sources: sources.iter().map(|s| p.dir.join(s)).collect(),
            entry,
            build: &p.build,
            defines: (p.space.constants().iter())
                .map(|(n, v)| format!("-D{n}={v}"))
                .collect(),
            data: &p.data,
            stream: false,
            returns: None,
        }
    }

    /// A name that changes with anything that changes the library.
    ///
    /// # Errors
    /// A source cannot be read: a library of other contents could have the same name.
    pub fn key(&self) -> Result<String, EnvironmentFault> {
        let mut h = DefaultHasher::new();
        for s in &self.sources {
            let contents = std::fs::read(s).map_err(|e| {
                EnvironmentFault(format!("the source {} cannot be read: {e}", s.display()))
            })?;
            contents.hash(&mut h);
        }
        (
            self.entry,
            &self.defines,
            self.flags(),
            compiler(self.build),
        )
            .hash(&mut h);
        self.wrapper().hash(&mut h);
        Ok(format!("{:016x}", h.finish()))
    }

    /// Flags of the host's compiler; those of a CUDA or OpenCL problem are for its kernels.
    pub(super) fn flags(&self) -> Vec<String> {
        match self.build.language {
            Language::Cuda | Language::OpenCl => {
                ["-O3", "-march=native", "-fopenmp"].map(Into::into).into()
            }
            _ => self.build.flags(),
        }
    }

    /// Extension of a source in its language.
    pub(super) fn extension(&self) -> &str {
        match self.build.language {
            Language::C | Language::Cuda | Language::OpenCl | Language::Command => "c",
            Language::Cpp => "cpp",
        }
    }

    /// Compiles `what` of a problem, without which there is no sweep.
    ///
    /// # Errors
    /// As [`Unit::compile`].
    pub(crate) fn compile_for(&self, what: &str, dir: &Path) -> Result<PathBuf, TuneError> {
        let failed = |m| TuneError::Reference(format!("the {what} does not compile:\n{m}"));
        self.compile(dir).map_err(|e| e.into_tune(failed))
    }

    /// Compiles into `dir`; a library that is there already is taken.
    ///
    /// # Errors
    /// The compiler's own words, or a fault of the environment.
    pub fn compile(&self, dir: &Path) -> Result<PathBuf, BuildError> {
        let key = self.key()?;
        let library = dir.join(format!("{key}.so"));
        if library.is_file() {
            return Ok(library);
        }
        let wrapper = dir.join(format!("{key}.{}", self.extension()));
        let temporary = dir.join(format!("{key}.{}.tmp", std::process::id()));
        let done = self.compile_with(&wrapper, &temporary);
        let _ = std::fs::remove_file(&wrapper);
        if done.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        done?;
        std::fs::rename(&temporary, &library).map_err(|e| environment(&library, &e))?;
        Ok(library)
    }

    fn compile_with(&self, wrapper: &Path, out: &Path) -> Result<(), BuildError> {
        let object = match self.same_for_all() {
            true => self.object(out.parent().unwrap_or(Path::new("."))),
            false => None,
        };
        let mut command = Command::new(compiler(self.build));
        command.args(self.flags()).args(["-fPIC", "-shared"]);
        command.args(&self.defines).args(&self.sources);
        match object {
            Some(object) => command.arg(object),
            None => {
                std::fs::write(wrapper, self.wrapper()).map_err(|e| environment(wrapper, &e))?;
                command.arg(wrapper)
            }
        };
        command.arg("-o").arg(out).args(["-lm", "-ldl"]);
        self.runs(&mut command)
    }

    /// Runs the compiler.
    pub(super) fn runs(&self, command: &mut Command) -> Result<(), BuildError> {
        let compiler = compiler(self.build);
        let fault = |m: String| BuildError::Environment(EnvironmentFault(m));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            // A pipe, as a full disk would take the words of a file.
            .stderr(Stdio::piped());
        // The compiler's own processes end with it.
        let mut group = Group::spawn(command, OnInterrupt::Kill)
            .map_err(|e| fault(format!("the compiler `{compiler}` cannot be started: {e}")))?;
        let words = group.take_stderr().map(|p| Capture::of(p, MOST_WORDS));
        let ended = group.exits_within(TIMEOUT);
        let status = match (group.kill(), ended) {
            (Some(status), true) => status,
            (None, true) => return Err(fault(format!("the compiler `{compiler}`: {LOST}"))),
            (_, false) => return Err(CompileError::Timeout(TIMEOUT.as_secs()).into()),
        };
        if status.success() {
            return Ok(());
        }
        let message = words.map(|w| w.text()).unwrap_or_default();
        let brief = brief(&message);
        if of_environment(&message) {
            return Err(fault(format!("the compiler `{compiler}` failed: {brief}")));
        }
        if brief.is_empty() {
            return Err(fault(format!(
                "the compiler `{compiler}` ended with {status} and no message"
            )));
        }
        Err(CompileError::Rejected(self.explained(brief)).into())
    }

    /// The compiler's words, with the cause that it does not name.
    pub(super) fn explained(&self, words: String) -> String {
        let named = self
            .defines
            .iter()
            .filter_map(|d| d.strip_prefix("-D")?.split('=').next());
        match shadowed(&self.sources, named) {
            Some(cause) => format!("{words}\n{cause}"),
            None => words,
        }
    }

    /// The files that the sources include, the sources too, by the compiler's own list where it makes one.
    pub fn files(&self) -> BTreeSet<PathBuf> {
        let mut out = included(&self.sources);
        let of_host = !matches!(self.build.language, Language::Cuda | Language::OpenCl);
        if of_host || self.stream {
            out.extend(self.listed());
        }
        out
    }

    /// What `-MM` lists; nothing where the sources need a config to be read.
    fn listed(&self) -> Vec<PathBuf> {
        let Ok(listed) = Command::new(compiler(self.build))
            .args(self.flags())
            .args(&self.defines)
            .args(["-MM", "-MG"])
            .args(&self.sources)
            .stdin(Stdio::null())
            .output()
        else {
            return Vec::new();
        };
        let text = String::from_utf8_lossy(&listed.stdout).replace("\\\n", " ");
        let rules = text.lines().filter_map(|l| l.split_once(": "));
        rules
            .flat_map(|(_, files)| words(files))
            .map(PathBuf::from)
            .collect()
    }
}

/// Bytes of a compiler's message that are read.
const MOST_WORDS: usize = 1 << 20;

fn environment(path: &Path, e: &std::io::Error) -> BuildError {
    EnvironmentFault(format!("{} cannot be written: {e}", path.display())).into()
}

/// The host's compiler.
pub(super) fn compiler(build: &Build) -> &str {
    build.compiler.as_deref().unwrap_or(match build.language {
        Language::C | Language::Cuda | Language::OpenCl | Language::Command => "cc",
        Language::Cpp => "c++",
    })
}

/// First line of `compiler --version`.
pub fn compiler_version(build: &Build) -> String {
    Command::new(compiler(build))
        .arg("--version")
        .output()
        .ok()
        .and_then(|o| {
            String::from_utf8_lossy(&o.stdout)
                .lines()
                .next()
                .map(str::to_owned)
        })
        .unwrap_or_else(|| "unknown".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_cannot_be_read_has_no_library() {
        let dir = tempfile::tempdir().unwrap();
        let build = Build {
            language: Language::C,
            ..Build::default()
        };
        let unit = Unit {
            sources: vec![dir.path().join("k.c")],
            entry: "f",
            build: &build,
            defines: Vec::new(),
            data: &[],
            stream: false,
            returns: None,
        };
        std::fs::write(&unit.sources[0], "void f(void) {}\n").unwrap();
        let built = unit.compile(dir.path()).unwrap();
        assert_eq!(unit.compile(dir.path()).unwrap(), built);
        std::fs::write(&unit.sources[0], "void f(void) { }\n").unwrap();
        assert_ne!(unit.compile(dir.path()).unwrap(), built);
        // Not another library for it, nor one that an empty source made.
        std::fs::remove_file(&unit.sources[0]).unwrap();
        let e = unit.compile(dir.path()).unwrap_err();
        assert!(matches!(e, BuildError::Environment(_)), "{e}");
        assert!(e.to_string().contains("k.c cannot be read"), "{e}");
    }
}
