//! Sources and a config to a shared library.

use crate::problem::{Build, Data, Language, Problem};
use greenup_app::process::{Group, OnInterrupt};
use greenup_space::Value;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Seconds after which a compiler counts as hanging.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A library that could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError(pub String);

/// What to compile: one config of the kernel, or the reference.
pub struct Unit<'a> {
    pub sources: Vec<PathBuf>,
    pub entry: &'a str,
    pub build: &'a Build,
    pub defines: Vec<String>,
    pub data: &'a [Data],
    /// Whether the function takes a stream behind its arguments.
    stream: bool,
}

impl<'a> Unit<'a> {
    /// The kernel with a config.
    ///
    /// # Errors
    /// A derived value does not exist for the config.
    pub fn of_config(p: &'a Problem, config: &[Value]) -> Result<Self, CompileError> {
        Ok(Self {
            sources: p.build.sources.iter().map(|s| p.dir.join(s)).collect(),
            entry: &p.build.entry,
            build: &p.build,
            defines: p.defines(config).map_err(|e| CompileError(e.message))?,
            data: &p.data,
            stream: false,
        })
    }

    /// The sources alone, without a config: what makes a sweep's kernels what they are.
    pub fn of_sources(p: &'a Problem) -> Self {
        Self {
            sources: p.build.sources.iter().map(|s| p.dir.join(s)).collect(),
            entry: &p.build.entry,
            build: &p.build,
            defines: Vec::new(),
            data: &p.data,
            stream: false,
        }
    }

    /// The kernel that all are measured beside, with the constants alone.
    pub fn of_rival(p: &'a Problem) -> Option<Self> {
        let r = p.rival.as_ref()?;
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
            defines: p
                .space
                .constants()
                .iter()
                .map(|(n, v)| format!("-D{n}={v}"))
                .collect(),
            data: &p.data,
            stream: false,
        }
    }

    /// A name that changes with anything that changes the library.
    pub fn key(&self) -> String {
        let mut h = DefaultHasher::new();
        for s in &self.sources {
            std::fs::read(s).unwrap_or_default().hash(&mut h);
        }
        (self.entry, &self.defines, self.flags(), self.compiler()).hash(&mut h);
        self.wrapper().hash(&mut h);
        format!("{:016x}", h.finish())
    }

    /// Flags of the host's compiler; those of a CUDA problem are for its kernels.
    fn flags(&self) -> Vec<String> {
        match self.build.language {
            Language::Cuda => ["-O3", "-march=native", "-fopenmp"].map(Into::into).into(),
            _ => self.build.flags(),
        }
    }

    fn compiler(&self) -> &str {
        compiler(self.build)
    }

    /// The function that calls the kernel with an array of pointers, `n` times.
    fn wrapper(&self) -> String {
        let mut out = String::from("#include <stdint.h>\n");
        let mut types: Vec<String> = self
            .data
            .iter()
            .map(|d| match d.len {
                Some(_) => format!("{} *", d.kind.c_name()),
                None => d.kind.c_name().to_owned(),
            })
            .collect();
        if self.stream {
            types.push("void *".to_owned());
        }
        let list = if types.is_empty() {
            "void".to_owned()
        } else {
            types.join(", ")
        };
        let external = if self.build.language == Language::Cpp {
            "extern \"C\""
        } else {
            "extern"
        };
        let _ = writeln!(out, "{external} void {}({list});", self.entry);
        let mut args: Vec<String> = self
            .data
            .iter()
            .enumerate()
            .map(|(i, d)| match d.len {
                Some(_) => format!("({} *)greenup_a[{i}]", d.kind.c_name()),
                None => format!("*({} *)greenup_a[{i}]", d.kind.c_name()),
            })
            .collect();
        if self.stream {
            args.push(format!("greenup_a[{}]", self.data.len()));
        }
        let head = if self.build.language == Language::Cpp {
            "extern \"C\" "
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "{head}void greenup_run(void **greenup_a, int64_t greenup_n) {{\n    for (; greenup_n > 0; greenup_n--) {}({});\n}}",
            self.entry,
            args.join(", ")
        );
        out
    }

    /// Compiles into `dir`; a library that is there already is taken.
    ///
    /// # Errors
    /// The compiler's own words.
    pub fn compile(&self, dir: &Path) -> Result<PathBuf, CompileError> {
        let fail = |m: String| CompileError(m);
        let key = self.key();
        let library = dir.join(format!("{key}.so"));
        if library.is_file() {
            return Ok(library);
        }
        let extension = match self.build.language {
            Language::C | Language::Cuda => "c",
            Language::Cpp => "cpp",
        };
        let wrapper = dir.join(format!("{key}.{extension}"));
        std::fs::write(&wrapper, self.wrapper())
            .map_err(|e| fail(format!("{} cannot be written: {e}", wrapper.display())))?;
        let compiler = self.compiler();
        let temporary = dir.join(format!("{key}.{}.tmp", std::process::id()));
        let log = dir.join(format!("{key}.log"));
        let out = std::fs::File::create(&log).map_err(|e| fail(e.to_string()))?;
        let mut command = Command::new(compiler);
        command
            .args(self.flags())
            .args(["-fPIC", "-shared"])
            .args(&self.defines)
            .args(&self.sources)
            .arg(&wrapper)
            .arg("-o")
            .arg(&temporary)
            .args(["-lm", "-ldl"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(out);
        // The compiler's own processes end with it.
        let mut group = Group::spawn(&mut command, OnInterrupt::Kill)
            .map_err(|e| fail(format!("the compiler `{compiler}` cannot be started: {e}")))?;
        let ended = group.exits_within(TIMEOUT);
        let status = group.kill().filter(|_| ended);
        let message = std::fs::read_to_string(&log).unwrap_or_default();
        let _ = std::fs::remove_file(&log);
        let _ = std::fs::remove_file(&wrapper);
        match status {
            Some(s) if s.success() => {
                std::fs::rename(&temporary, &library).map_err(|e| fail(e.to_string()))?;
                Ok(library)
            }
            Some(_) => {
                let _ = std::fs::remove_file(&temporary);
                let lines: Vec<&str> = message
                    .lines()
                    .filter(|l| l.contains("error"))
                    .take(3)
                    .collect();
                Err(fail(if lines.is_empty() {
                    message.lines().take(5).collect::<Vec<_>>().join("\n")
                } else {
                    lines.join("\n")
                }))
            }
            None => {
                let _ = std::fs::remove_file(&temporary);
                Err(fail(format!(
                    "the compiler did not end within {} s",
                    TIMEOUT.as_secs()
                )))
            }
        }
    }
}

/// The host's compiler.
fn compiler(build: &Build) -> &str {
    build.compiler.as_deref().unwrap_or(match build.language {
        Language::C | Language::Cuda => "cc",
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
