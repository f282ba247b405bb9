//! Kernels on the host in a separate process, for tests that bring their own `main`.

use super::SHIM;
use crate::cuda::CudaError;
use std::path::Path;
use std::process::Command;

/// A source whose dynamic shared memory, `extern __shared__ TYPE NAME[];`, is that of the header.
pub(super) fn for_host(source: &str) -> String {
    const BEGIN: &str = "extern __shared__ ";
    let mut parts = source.split(BEGIN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let declaration = part.split_once("[];");
        match declaration.and_then(|(d, rest)| Some((d.split_once(' ')?, rest))) {
            Some(((real, name), rest)) if !name.contains(' ') => {
                out.push_str(&format!(
                    "{real} *{name} = ({real} *)greenup_shared();{rest}"
                ));
            }
            _ => out.extend([BEGIN, part]),
        }
    }
    out
}

/// Compiles `source` and `main` with the header of fibers in `folder` and runs the program. Its arguments are two files: one
/// to read the arrays from (each its count and its values, as doubles), one to write the returned doubles to.
///
/// # Errors
/// The C++ compiler is missing, or its message; the message of the program.
pub fn on_fibers(
    source: &str,
    main: &str,
    arrays: &[Vec<f64>],
    folder: &Path,
) -> Result<Vec<f64>, CudaError> {
    let at = |name: &str| folder.join(name);
    let io = |e: std::io::Error| CudaError::Compile(e.to_string());
    let text = format!("#include \"shim.hpp\"\n{}\n{main}", for_host(source));
    std::fs::write(at("shim.hpp"), SHIM).map_err(io)?;
    std::fs::write(at("program.cc"), text).map_err(io)?;
    let input: Vec<u8> = (arrays.iter())
        .flat_map(|a| std::iter::once(a.len() as f64).chain(a.iter().copied()))
        .flat_map(f64::to_le_bytes)
        .collect();
    std::fs::write(at("in"), input).map_err(io)?;
    run(Command::new("c++")
        .args(["-std=c++17", "-O1", "-w", "-o"])
        .args([at("program"), at("program.cc")]))?;
    run(Command::new(at("program")).args([at("in"), at("out")]))?;
    let out = std::fs::read(at("out")).map_err(io)?;
    let (values, _) = out.as_chunks::<8>();
    Ok(values.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

/// Runs a command to its end.
pub(super) fn run(command: &mut Command) -> Result<(), CudaError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |e: std::io::Error| {
        CudaError::Compile(format!(
            "{program} cannot be started: {e}; install a C++ compiler"
        ))
    };
    let out = command.output().map_err(failed)?;
    if out.status.success() {
        Ok(())
    } else {
        Err(CudaError::Compile(
            String::from_utf8_lossy(&out.stderr).into_owned(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::for_host;

    #[test]
    fn dynamic_shared_memory_is_that_of_the_header() {
        let text =
            "a; extern __shared__ real tile[]; b[]; extern __shared__ __align__(8) char x[]; c";
        let want = "a; real *tile = (real *)greenup_shared(); b[]; extern __shared__ __align__(8) char x[]; c";
        assert_eq!(for_host(text), want);
    }
}
