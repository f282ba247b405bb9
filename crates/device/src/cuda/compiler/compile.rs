//! Compiles sources to cubins with NVRTC. A private cache holds the cubins by a key of the source, its includes, the
//! options, the architecture and the compiler.

use super::includes;
use super::resources::{Resources, parse};
use super::source::Source;
use crate::cuda::{CudaError, libraries};
use cudarc::nvrtc::{result, sys};
use greenup_files::{Cache, FileError};
use serde::Serialize;
use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};

/// A compiled source.
#[derive(Clone, Debug, Serialize)]
pub struct Compiled {
    /// The compiled kernels.
    #[serde(skip)]
    pub cubin: Vec<u8>,
    /// Resources of each kernel.
    pub kernels: Vec<Resources>,
    /// Warnings of the compiler, empty if there are none.
    pub warnings: String,
    /// Whether it was read from the cache.
    pub cached: bool,
    /// Its file in the cache.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// NVRTC with its cache.
pub struct Compiler {
    /// Major and minor version.
    pub version: (i32, i32),
    cache: Option<Cache>,
}

impl Compiler {
    /// Loads NVRTC; `cache` is the folder of compiled kernels.
    ///
    /// # Errors
    /// NVRTC is missing, or the cache is another user's or cannot be written.
    pub fn new(cache: Option<&Path>) -> Result<Self, CudaError> {
        libraries::nvrtc()?;
        let mut version = (0, 0);
        // SAFETY: the library is present; both pointers are valid.
        unsafe { sys::nvrtcVersion(&mut version.0, &mut version.1) }
            .result()
            .map_err(|e| CudaError::Compile(e.to_string()))?;
        Ok(Self {
            version,
            cache: cache.map(Cache::open).transpose().map_err(cache_error)?,
        })
    }

    /// Compiles to a cubin for the architecture.
    ///
    /// # Errors
    /// The message of the compiler, with file and line, or the cache cannot be written.
    pub fn compile(&self, source: &Source) -> Result<Compiled, CudaError> {
        let kept_as = self.cache.as_ref().zip(key(source, self.version));
        if let Some((cache, key)) = &kept_as {
            let file = format!("{key}.cubin");
            let log = cache.read(&format!("{key}.log"));
            if let (Some(cubin), Some(log)) = (cache.read(&file), log) {
                let log = String::from_utf8_lossy(&log);
                return Ok(finished(cubin, &log, Some(cache.folder().join(file)), true));
            }
        }
        // What comes out of NVRTC's own cache has no report of registers.
        let own: &[&str] = if self.version >= (13, 0) {
            &["--no-cache"]
        } else {
            &[]
        };
        let (cubin, log) = build(source, own)?;
        let file = match &kept_as {
            None => None,
            Some((cache, key)) => {
                cache
                    .put(&format!("{key}.log"), log.as_bytes())
                    .map_err(cache_error)?;
                Some(
                    cache
                        .put(&format!("{key}.cubin"), &cubin)
                        .map_err(cache_error)?,
                )
            }
        };
        Ok(finished(cubin, &log, file, false))
    }
}

fn finished(cubin: Vec<u8>, log: &str, file: Option<PathBuf>, cached: bool) -> Compiled {
    let (kernels, warnings) = parse(log);
    Compiled {
        cubin,
        kernels,
        warnings,
        cached,
        file,
    }
}

/// A cache key of everything that a cubin depends on; `None` if not all of it is known.
fn key(source: &Source, version: (i32, i32)) -> Option<String> {
    let mut parts: Vec<Vec<u8>> = vec![
        format!("nvrtc {}.{}", version.0, version.1).into(),
        source.name.into(),
        source.text.into(),
        source.arch.into(),
        source.options.len().to_le_bytes().into(),
    ];
    parts.extend(source.options.iter().map(|o| o.clone().into_bytes()));
    parts.extend(includes::read(source)?);
    Some(Cache::key(parts))
}

fn cache_error(e: FileError) -> CudaError {
    CudaError::Cache(match e.hint() {
        Some(hint) => format!("compiled kernels: {e}; {hint}"),
        None => format!("compiled kernels: {e}"),
    })
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

/// The cache folder of compiled kernels, for all programs of the workspace: `$XDG_CACHE_HOME/greenup/cubins`, else below
/// `~/.cache`; `None` without a home folder.
pub fn cubins() -> Option<PathBuf> {
    let from = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let base = from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("greenup/cubins"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_change_with_all_that_a_cubin_depends_on() {
        let dir = tempfile::tempdir().unwrap();
        let header = dir.path().join("a.cuh");
        std::fs::write(&header, "#define N 1\n").unwrap();
        let options = [format!("-I{}", dir.path().display())];
        let source = Source {
            name: "k.cu",
            text: "#include \"a.cuh\"\n",
            arch: "sm_90",
            options: &options,
        };
        let first = key(&source, (13, 0)).unwrap();
        assert_eq!(key(&source, (13, 0)).unwrap(), first);
        assert_ne!(key(&source, (13, 1)).unwrap(), first);
        let other = |change: &dyn Fn(&mut Source)| {
            let mut s = source.clone();
            change(&mut s);
            key(&s, (13, 0)).unwrap()
        };
        let more = [options[0].clone(), "-DN=2".to_owned()];
        assert_ne!(other(&|s| s.arch = "sm_80"), first);
        assert_ne!(other(&|s| s.text = "#include \"a.cuh\"\n "), first);
        assert_ne!(other(&|s| s.name = "l.cu"), first);
        let with_option = Source {
            options: &more,
            ..source.clone()
        };
        assert_ne!(key(&with_option, (13, 0)).unwrap(), first);
        std::fs::write(&header, "#define N 2\n").unwrap();
        assert_ne!(key(&source, (13, 0)).unwrap(), first);
    }

    #[test]
    fn a_damaged_cubin_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let Ok(compiler) = Compiler::new(Some(dir.path())) else {
            // NVRTC is not here.
            return;
        };
        let source = Source {
            name: "k.cu",
            text: "extern \"C\" __global__ void k(float *x) { *x = 1; }",
            arch: "sm_90",
            options: &[],
        };
        let made = compiler.compile(&source).unwrap();
        assert!(!made.cached && compiler.compile(&source).unwrap().cached);
        let file = made.file.unwrap();
        for damaged in [&b""[..], &made.cubin[..made.cubin.len() / 2]] {
            std::fs::write(&file, damaged).unwrap();
            let anew = compiler.compile(&source).unwrap();
            assert!(!anew.cached);
            assert_eq!(anew.cubin, made.cubin);
        }
    }
}
