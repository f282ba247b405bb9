//! Kernels' source on the host's fibers, for tests of machines without a GPU.

use super::SHIM;
use std::path::Path;
use std::process::Command;

/// Builds `source` and then `main` behind the header of fibers, in `dir`, and runs it: it is given two files by name, one
/// with the arrays (each a count and that many doubles), one to write doubles to, which are returned.
///
/// # Errors
/// What the compiler or the program said.
pub fn on_fibers(
    source: &str,
    main: &str,
    arrays: &[Vec<f64>],
    dir: &Path,
) -> Result<Vec<f64>, String> {
    let words = |e: std::io::Error| e.to_string();
    let at = |name: &str| dir.join(name);
    // Memory that a launch gives is the header's.
    let source = source
        .replace(
            "extern __shared__ double room[];",
            "double *room = (double *)greenup_shared();",
        )
        .replace(
            "extern __shared__ real room[];",
            "real *room = (real *)greenup_shared();",
        );
    std::fs::write(at("shim.hpp"), SHIM).map_err(words)?;
    std::fs::write(
        at("twin.cc"),
        format!("#include \"shim.hpp\"\n{source}\n{main}"),
    )
    .map_err(words)?;
    let mut bytes: Vec<u8> = Vec::new();
    for a in arrays {
        bytes.extend((a.len() as f64).to_le_bytes());
        bytes.extend(a.iter().flat_map(|x| x.to_le_bytes()));
    }
    std::fs::write(at("in"), bytes).map_err(words)?;
    let said = |command: &mut Command| -> Result<(), String> {
        let out = command.output().map_err(words)?;
        let text = || String::from_utf8_lossy(&out.stderr).into_owned();
        out.status.success().then_some(()).ok_or_else(text)
    };
    said(
        Command::new("c++")
            .args(["-std=c++17", "-O1", "-w", "-o"])
            .args([at("twin"), at("twin.cc")]),
    )?;
    said(Command::new(at("twin")).args([at("in"), at("out")]))?;
    let out = std::fs::read(at("out")).map_err(words)?;
    Ok(out
        .as_chunks::<8>()
        .0
        .iter()
        .map(|b| f64::from_le_bytes(*b))
        .collect())
}
