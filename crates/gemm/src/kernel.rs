//! One config of the family, compiled and loaded.

use crate::{GemmError, Matrices, Product};
use greenup_device::CpuFacts;
use greenup_device::Library;
use greenup_files::{Cache, Scratch};
use greenup_space::Value;
use greenup_tune::Problem;
use greenup_tune::build::compile::{Unit, compiler_version};
use greenup_tune::error::BuildError;
use std::ffi::c_void;
use std::path::Path;

type Entry = unsafe extern "C" fn(i64, i64, i64, *mut f64, i64, *const f64, i64, *const f64, i64);

/// A compiled config. It computes any size, whatever size it was tuned for. Not reentrant: the packed panels are static
/// memory of the kernel.
pub struct Kernel {
    entry: Entry,
    name: String,
    /// Values of the parameters, in the order of the problem.
    pub config: Vec<Value>,
}

impl Kernel {
    /// Compiles a config, or loads it from the cache in `dir` if sources, options, compiler and processor are the same.
    ///
    /// # Errors
    /// The config does not compile or load, or the cache cannot be used or belongs to another user.
    pub fn build(
        problem: &Problem,
        config: &[Value],
        name: &str,
        dir: &Path,
    ) -> Result<Self, GemmError> {
        let cache = Cache::open(dir)?;
        let unit = Unit::of_config(problem, config).map_err(BuildError::from)?;
        let key = key(
            &unit,
            &compiler_version(&problem.build),
            &CpuFacts::target(),
        );
        let file = format!("{key}.so");
        let entry = match cache.get(&file).map(|path| entry(&path)) {
            Some(Ok(entry)) => entry,
            // Missing, damaged, or linked on a host with other system libraries.
            Some(Err(_)) | None => {
                let scratch = Scratch::create(std::env::temp_dir())?;
                let made = unit.compile(scratch.path())?;
                let bytes = std::fs::read(&made).map_err(|cause| GemmError::Io {
                    path: made.display().to_string(),
                    cause,
                })?;
                entry(&cache.put(&file, &bytes)?)?
            }
        };
        Ok(Self {
            entry,
            name: name.to_owned(),
            config: config.to_vec(),
        })
    }
}

/// Cache key: changes with everything that determines the machine code.
fn key(unit: &Unit, compiler: &str, target: &str) -> String {
    let sources = unit
        .sources
        .iter()
        .map(|s| std::fs::read(s).unwrap_or_default());
    // Lists as text with quotes: no two of them are written alike.
    let options = [
        format!("{:?} {:?}", unit.entry, unit.build),
        format!("{:?} {:?}", unit.defines, unit.data),
        compiler.to_owned(),
        target.to_owned(),
    ];
    Cache::key(sources.chain(options.map(String::into_bytes)))
}

fn entry(path: &Path) -> Result<Entry, GemmError> {
    let symbol = Library::open(path)
        .and_then(|l| l.symbol("dgemm"))
        .map_err(|cause| GemmError::Library {
            path: path.display().to_string(),
            cause: cause.to_string(),
        })?;
    // SAFETY: the family's source defines `dgemm` with this signature.
    Ok(unsafe { std::mem::transmute::<*mut c_void, Entry>(symbol) })
}

impl Product for Kernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn multiply(&self, x: &mut Matrices) {
        let [m, n, k] = [x.size.m, x.size.n, x.size.k].map(|v| v as i64);
        // SAFETY: the matrices have these sizes, without gaps between rows, and do not overlap.
        unsafe {
            (self.entry)(
                m,
                n,
                k,
                x.c.as_mut_slice().as_mut_ptr(),
                n,
                x.a.as_slice().as_ptr(),
                k,
                x.b.as_slice().as_ptr(),
                n,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Size, family};

    #[test]
    fn the_key_changes_with_the_processor_the_compiler_and_the_sources() {
        let dir = tempfile::tempdir().unwrap();
        let cpu = CpuFacts::read();
        let problem = family::problem(dir.path(), Size { m: 8, n: 8, k: 8 }, &cpu).unwrap();
        let config = family::untuned(&problem, &cpu);
        let unit = Unit::of_config(&problem, &config).unwrap();
        let first = key(&unit, "cc 14", "cpu a");
        assert_eq!(first, key(&unit, "cc 14", "cpu a"));
        assert_ne!(first, key(&unit, "cc 14", "cpu b"));
        assert_ne!(first, key(&unit, "cc 15", "cpu a"));
        std::fs::write(dir.path().join("dgemm.c"), "int x;").unwrap();
        assert_ne!(first, key(&unit, "cc 14", "cpu a"));
    }
}
