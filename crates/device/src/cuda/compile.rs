//! Sources to cubins with NVRTC. A cubin is kept on the disk under a name that changes with the
//! source, the options, the architecture and the compiler.

use super::resources::{Resources, parse};
use super::{CudaError, libraries};
use cudarc::nvrtc::{result, sys};
use serde::Serialize;
use std::collections::hash_map::DefaultHasher;
use std::ffi::{CStr, CString};
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// What to compile.
#[derive(Clone, Debug, Hash)]
pub struct Source<'a> {
    /// As messages shall call it.
    pub name: &'a str,
    pub text: &'a str,
    /// `sm_90` and the like.
    pub arch: &'a str,
    /// More options. Macros, `-DNAME=value`, are defined behind the compiler's own headers, which
    /// they would change otherwise.
    pub options: &'a [String],
}

/// A compiled source.
#[derive(Clone, Debug, Serialize)]
pub struct Compiled {
    #[serde(skip)]
    pub cubin: Vec<u8>,
    /// Of every kernel in it.
    pub kernels: Vec<Resources>,
    /// Warnings, empty when there are none.
    pub warnings: String,
    /// Whether it was on the disk.
    pub cached: bool,
    /// Where it is kept.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// NVRTC with its cache.
pub struct Compiler {
    /// Major and minor version.
    pub version: (i32, i32),
    cache: Option<PathBuf>,
}

impl Compiler {
    /// Finds NVRTC; cubins are kept in `cache`.
    ///
    /// # Errors
    /// NVRTC is missing.
    pub fn new(cache: Option<&Path>) -> Result<Self, CudaError> {
        libraries::nvrtc()?;
        let mut version = (0, 0);
        // SAFETY: the library is present; both pointers are valid.
        unsafe { sys::nvrtcVersion(&mut version.0, &mut version.1) }
            .result()
            .map_err(|e| CudaError::Compile(e.to_string()))?;
        Ok(Self {
            version,
            cache: cache.map(Path::to_owned),
        })
    }

    /// Compiles to a cubin for the architecture.
    ///
    /// # Errors
    /// The compiler's own words, with file and line, or the cache cannot be written.
    pub fn compile(&self, source: &Source) -> Result<Compiled, CudaError> {
        let mut h = DefaultHasher::new();
        (source, self.version).hash(&mut h);
        let kept = self
            .cache
            .as_ref()
            .map(|dir| dir.join(format!("{:016x}", h.finish())));
        if let Some(base) = &kept
            && let (Ok(cubin), Ok(log)) = (
                std::fs::read(base.with_extension("cubin")),
                std::fs::read_to_string(base.with_extension("log")),
            )
        {
            return Ok(finished(cubin, &log, true, kept));
        }
        let (mut cubin, mut log) = build(source, &[])?;
        if parse(&log).0.is_empty() && self.version >= (13, 0) {
            // The compiler's own cache says nothing of registers.
            (cubin, log) = build(source, &["--no-cache"])?;
        }
        if let Some(base) = &kept {
            keep(base, &cubin, &log)?;
        }
        Ok(finished(cubin, &log, false, kept))
    }
}

fn finished(cubin: Vec<u8>, log: &str, cached: bool, kept: Option<PathBuf>) -> Compiled {
    let (kernels, warnings) = parse(log);
    Compiled {
        cubin,
        kernels,
        warnings,
        cached,
        file: kept.map(|base| base.with_extension("cubin")),
    }
}

/// The log first: a cubin that is there is whole, and has its log.
fn keep(base: &Path, cubin: &[u8], log: &str) -> Result<(), CudaError> {
    let io = |path: &Path, e: std::io::Error| CudaError::Io {
        path: path.display().to_string(),
        cause: format!("cannot be written: {e}"),
    };
    if let Some(dir) = base.parent() {
        std::fs::create_dir_all(dir).map_err(|e| io(dir, e))?;
    }
    for (extension, bytes) in [("log", log.as_bytes()), ("cubin", cubin)] {
        let path = base.with_extension(extension);
        let temporary = base.with_extension(format!("{extension}.{}", std::process::id()));
        std::fs::write(&temporary, bytes)
            .and_then(|()| std::fs::rename(&temporary, &path))
            .map_err(|e| io(&path, e))?;
    }
    Ok(())
}

/// A program of NVRTC, destroyed at the end.
struct Program(sys::nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made by create_program and destroyed once.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

impl Program {
    fn log(&self) -> String {
        // SAFETY: the program is alive.
        let bytes = unsafe { result::get_program_log(self.0) }.unwrap_or_default();
        let bytes: Vec<u8> = bytes
            .iter()
            .map(|&c| c as u8)
            .take_while(|&c| c != 0)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The text with its macros in front; lines keep their numbers.
fn with_macros(source: &Source) -> String {
    let macros: String = source
        .options
        .iter()
        .filter_map(|o| o.strip_prefix("-D"))
        .map(|d| {
            let (name, value) = d.split_once('=').unwrap_or((d, "1"));
            format!("#define {name} {value}\n")
        })
        .collect();
    if macros.is_empty() {
        return source.text.to_owned();
    }
    format!("{macros}#line 1 \"{}\"\n{}", source.name, source.text)
}

fn build(source: &Source, more: &[&str]) -> Result<(Vec<u8>, String), CudaError> {
    let text = |s: &str| {
        CString::new(s)
            .map_err(|_| CudaError::Compile(format!("{}: a NUL byte in it", source.name)))
    };
    let (code, name) = (text(&with_macros(source))?, text(source.name)?);
    let mut options = vec![
        format!("--gpu-architecture={}", source.arch),
        "--std=c++17".into(),
        "--ptxas-options=-v".into(),
    ];
    options.extend(
        source
            .options
            .iter()
            .filter(|o| !o.starts_with("-D"))
            .cloned(),
    );
    options.extend(more.iter().map(|&o| o.to_owned()));
    for o in &options {
        text(o)?;
    }
    let program = Program(
        result::create_program(&code, Some::<&CStr>(&name))
            .map_err(|e| CudaError::Compile(e.to_string()))?,
    );
    // SAFETY: the program is alive.
    if let Err(e) = unsafe { result::compile_program(program.0, &options) } {
        let log = program.log();
        return Err(CudaError::Compile(if log.trim().is_empty() {
            format!(
                "{}: {e} with the options {}",
                source.name,
                options.join(" ")
            )
        } else {
            log.trim_end().to_owned()
        }));
    }
    let failed = |e: result::NvrtcError| CudaError::Compile(e.to_string());
    let mut size = 0_usize;
    // SAFETY: the program is alive and compiled; the buffer has the size it names.
    let cubin = unsafe {
        sys::nvrtcGetCUBINSize(program.0, &mut size)
            .result()
            .map_err(failed)?;
        let mut cubin = vec![0_u8; size];
        sys::nvrtcGetCUBIN(program.0, cubin.as_mut_ptr().cast())
            .result()
            .map_err(failed)?;
        cubin
    };
    Ok((cubin, program.log()))
}
