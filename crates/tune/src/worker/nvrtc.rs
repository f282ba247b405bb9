//! Compiles CUDA sources in a worker process: NVRTC compiles one source at a time per process and may crash on a bad one.

use super::protocol::{Cuda, Message};
use crate::error::errors_in;
use crate::sweep::Failure;
use greenup_device::cuda::{Compiler, Source};

/// Compiles, in a process that does nothing else.
pub(crate) fn compile(cuda: &Cuda) -> Result<Message, (Failure, String)> {
    let failed = |m: String| (Failure::Compile, m);
    let text = std::fs::read_to_string(&cuda.source)
        .map_err(|e| failed(format!("{}: {e}", cuda.source.display())))?;
    let name = cuda
        .source
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let compiled = Compiler::new(Some(&cuda.cache))
        .and_then(|c| {
            c.compile(&Source {
                name: &name,
                text: &text,
                arch: &cuda.arch,
                options: &cuda.options,
            })
        })
        .map_err(|e| {
            let text = e.to_string();
            failed(match (errors_in(&text), e.hint()) {
                (errors, _) if !errors.is_empty() => errors,
                (_, Some(fix)) => format!("{text}: {fix}"),
                (_, None) => text,
            })
        })?;
    Ok(Message::Compiled {
        file: compiled.file.unwrap_or_default(),
        kernels: compiled.kernels,
    })
}
