//! A config of CUDA kernels as a library of the host: the same text, a fiber a thread. It shows
//! whether they are right where there is no GPU; it says nothing of their speed.

use crate::build::compile::Unit;
use crate::error::{CompileError, errors_in};
use crate::problem::{ConfigError, Problem};
use crate::worker::host_kernel::HostKernel;
use crate::worker::inputs::arguments::Arguments;
use crate::worker::protocol::Built;
use greenup_device::LibraryError;
use greenup_device::cuda::SHIM;
use greenup_meter::Observer;
use greenup_space::Value;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// After this a compiler counts as hanging.
const COMPILE: Duration = Duration::from_secs(600);

/// Compiles a config with the host's C++ compiler into `dir`.
///
/// # Errors
/// The compiler's own words, or a launch that has no shape.
pub fn compile(
    p: &Problem,
    config: &[Value],
    dir: &Path,
    observer: &dyn Observer,
) -> Result<Built, CompileError> {
    let io = |source: std::io::Error| CompileError::Io {
        what: dir.display().to_string(),
        source,
    };
    std::fs::create_dir_all(dir).map_err(io)?;
    let defines = p.defines(config).map_err(ConfigError::from)?;
    let launches = p.launches(config)?;
    let mut h = DefaultHasher::new();
    let key = Unit::of_sources(p).key();
    let key = key.map_err(|e| CompileError::Rejected(e.0))?;
    (key, &defines, SHIM).hash(&mut h);
    for l in &launches {
        (format!("{l:?}")).hash(&mut h);
    }
    let base = dir.join(format!("shim-{:016x}", h.finish()));
    let library = base.with_extension("so");
    if library.is_file() {
        return Ok(Built::Library(library));
    }
    let source = std::path::absolute(p.dir.join(&p.build.sources[0])).map_err(io)?;
    let header = dir.join("shim.hpp");
    std::fs::write(&header, SHIM).map_err(io)?;
    // Behind the header: the names of a problem must not change those of the host's library.
    let macros: String = defines
        .iter()
        .filter_map(|d| d.strip_prefix("-D")?.split_once('='))
        .map(|(name, value)| format!("#define {name} {value}\n"))
        .collect();
    let mut text = format!(
        "#include \"shim.hpp\"\n{macros}#include \"{}\"\nextern \"C\" void greenup_run(void **greenup_a, int64_t greenup_n) {{\n    for (; greenup_n > 0; greenup_n--) {{\n",
        source.display()
    );
    for l in &launches {
        let three = |v: [u32; 3]| format!("dim3{{{}, {}, {}}}", v[0], v[1], v[2]);
        let _ = writeln!(
            text,
            "        greenup::launch_kernel({}, greenup_a, {}, {}, {});",
            l.kernel,
            three(l.shape.grid),
            three(l.shape.block),
            l.shape.shared
        );
    }
    text.push_str("    }\n}\n");
    let wrapper = base.with_extension("cpp");
    std::fs::write(&wrapper, text).map_err(io)?;
    let mut command = Command::new("c++");
    command
        .args(["-std=c++17", "-O1", "-fPIC", "-shared", "-w"])
        .arg(&wrapper)
        .arg("-o")
        .arg(&library);
    let out = greenup_process::capture::output(&mut command, COMPILE, &|| observer.cancelled())
        .map_err(|source| CompileError::Io {
            what: "`c++` cannot be started".to_owned(),
            source,
        })?;
    let _ = std::fs::remove_file(&wrapper);
    if out.success() {
        return Ok(Built::Library(library));
    }
    Err(CompileError::Rejected(errors_in(&out.stderr)))
}

/// Runs it once on the arguments, in this process.
///
/// # Errors
/// The message of the loader.
pub fn run(built: &Built, arguments: &mut Arguments) -> Result<(), LibraryError> {
    HostKernel::load(built.file().unwrap_or(Path::new("")))?.run(&mut arguments.pointers(), 1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNELS: &str = r#"
extern "C" __global__ void reverse(int n, double *x) {
    __shared__ double kept[64];
    const int i = threadIdx.x;
    if (i < n) kept[i] = x[i];
    __syncthreads();
    double v = i < n ? kept[n - 1 - i] : 0;
    v += __shfl_xor_sync(~0u, v, 1);
    if (i < n) x[i] = v + blockIdx.x * late;
}
"#;

    fn problem(source: &str, dir: &Path) -> Problem {
        std::fs::write(dir.join("k.cu"), source).unwrap();
        let file = dir.join("problem.toml");
        std::fs::write(
            &file,
            r#"
[parameters]
late = [0, 1]
[build]
language = "cuda"
sources = ["k.cu"]
[[launch]]
kernel = "reverse"
grid = [1]
block = ["32 * 2"]
[[arguments]]
name = "n"
type = "i32"
value = "40"
[[arguments]]
name = "x"
type = "f64"
size = "40"
fill = "index"
role = "inout"
"#,
        )
        .unwrap();
        Problem::read(&file, &Default::default()).unwrap()
    }

    fn built(p: &Problem, dir: &Path) -> Built {
        let silent = greenup_meter::observe::Silent;
        compile(p, &[Value::Int(0)], &dir.join("build"), &silent).unwrap()
    }

    fn tried(source: &str, times: usize) -> (Vec<u8>, Vec<f64>) {
        let dir = tempfile::tempdir().unwrap();
        let p = problem(source, dir.path());
        let built = built(&p, dir.path());
        let mut a = Arguments::new(&p.data, 1, dir.path()).unwrap();
        for _ in 0..times {
            a.reset(true);
            run(&built, &mut a).unwrap();
        }
        let bytes = a.outputs();
        let numbers = bytes
            .chunks_exact(8)
            .map(|c| f64::from_ne_bytes(c.try_into().unwrap()))
            .collect();
        (bytes, numbers)
    }

    #[test]
    fn threads_share_memory_and_lanes_values() {
        let (_, x) = tried(KERNELS, 1);
        let want: Vec<f64> = (0..40_i32)
            .map(|i| f64::from(39 - i) + f64::from(39 - (i ^ 1)))
            .collect();
        assert_eq!(x, want);
    }

    #[test]
    fn a_missing_barrier_is_seen() {
        let (_, x) = tried(&KERNELS.replace("__syncthreads();", ""), 1);
        // What later threads would have written was read before: a static array's zeros.
        assert!(x[0] != 39.0 + 38.0, "{x:?}");
    }

    #[test]
    fn libraries_run_side_by_side() {
        let want = tried(KERNELS, 100).1;
        std::thread::scope(|s| {
            let all: Vec<_> = (0..4).map(|_| s.spawn(|| tried(KERNELS, 100).1)).collect();
            for t in all {
                assert_eq!(t.join().unwrap(), want);
            }
        });
    }

    #[test]
    fn writes_out_of_bounds_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        for (at, expected) in [("639", "behind its end"), ("-600", "before its start")] {
            let source =
                KERNELS.replace("if (i < n) kept", &format!("x[{at}] = 1; if (i < n) kept"));
            let p = problem(&source, dir.path());
            let built = built(&p, dir.path());
            let mut a = Arguments::new(&p.data, 1, dir.path()).unwrap();
            run(&built, &mut a).unwrap();
            let m = a
                .verify(None, crate::problem::Tolerance::default())
                .unwrap_err()
                .to_string();
            assert!(
                m.contains("wrote outside of `x`") && m.contains(expected),
                "{m}"
            );
        }
    }
}
