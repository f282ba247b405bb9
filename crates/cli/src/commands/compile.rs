//! `greenup compile`.

use crate::args::CompileArgs;
use crate::error::{CliError, Result};
use crate::{folders, out};
use greenup_device::cuda::{
    Capability, Compiled, Compiler, CudaError, Gpu, Occupancy, Resources, Source,
};
use greenup_files::Outputs;
use greenup_report::si::percent;
use serde::Serialize;

#[derive(Serialize)]
struct Answer<'a> {
    source: String,
    arch: &'a str,
    nvrtc: String,
    cubin_bytes: usize,
    threads: u32,
    dynamic_shared_bytes: u32,
    #[serde(flatten)]
    compiled: &'a Compiled,
    /// In the order of the kernels.
    occupancy: Vec<Occupancy>,
    /// Blocks a multiprocessor by the driver, where a GPU of this architecture is here.
    driver_blocks: Option<Vec<u32>>,
}

/// A CUDA error with its cure.
pub fn failed(e: CudaError) -> CliError {
    let out = CliError::new(e.to_string());
    match e.cure() {
        Some(cure) => out.hint(cure),
        None => out,
    }
}

pub fn run(args: &CompileArgs) -> Result {
    let mut outputs = Outputs::new();
    outputs.input(&args.source);
    if let Some(path) = &args.out {
        outputs.file(path, &["cubin"])?;
    }
    let text = greenup_files::read_text(&args.source)?;
    let arch = match &args.arch {
        Some(a) => a.clone(),
        None => arch_here()?,
    };
    let Some(capability) = Capability::of(&arch) else {
        return Err(
            CliError::new(format!("`{arch}` is no known architecture")).hint(format!(
                "known are {}; an `a` behind gives their own features",
                Capability::known().collect::<Vec<_>>().join(", ")
            )),
        );
    };
    let cache = folders::cache()?.join("cubins");
    let compiler = Compiler::new(Some(&cache)).map_err(failed)?;
    let options: Vec<String> = args
        .define
        .iter()
        .map(|d| format!("-D{d}"))
        .chain(args.option.iter().cloned())
        .collect();
    let compiled = compiler
        .compile(&Source {
            name: &args.source.display().to_string(),
            text: &text,
            arch: &arch,
            options: &options,
        })
        .map_err(failed)?;
    if let Some(path) = &args.out {
        greenup_files::write(path, &compiled.cubin)?;
    }
    let dynamic = u32::try_from(args.shared.unwrap_or(0)).unwrap_or(u32::MAX / 2);
    let occupancy: Vec<Occupancy> = compiled
        .kernels
        .iter()
        .map(|k| capability.occupancy(k, args.threads, dynamic))
        .collect();
    let driver_blocks = Gpu::all()
        .unwrap_or_default()
        .into_iter()
        .find(|g| g.arch == arch.trim_end_matches(|c: char| c.is_ascii_alphabetic()))
        .map(|g| g.blocks(&compiled, args.threads, dynamic).map_err(failed))
        .transpose()?;
    if args.json {
        return out::json(&Answer {
            source: args.source.display().to_string(),
            arch: &arch,
            nvrtc: format!("{}.{}", compiler.version.0, compiler.version.1),
            cubin_bytes: compiled.cubin.len(),
            threads: args.threads,
            dynamic_shared_bytes: dynamic,
            compiled: &compiled,
            occupancy,
            driver_blocks,
        });
    }
    for line in compiled.warnings.lines() {
        out::warn(line);
    }
    out::note(format!(
        "{arch}, NVRTC {}.{}{}",
        compiler.version.0,
        compiler.version.1,
        if compiled.cached {
            ", compiled before"
        } else {
            ""
        }
    ));
    if compiled.kernels.is_empty() {
        out::note("no kernel in it: nothing is `__global__`, or templates are not instantiated");
        return Ok(());
    }
    print(&compiled.kernels, &occupancy, args.threads);
    let said = driver_blocks.iter().flatten();
    for ((k, o), driver) in compiled.kernels.iter().zip(&occupancy).zip(said) {
        if o.blocks != *driver {
            out::warn(format!(
                "{}: the driver fits {driver} blocks, the rules {}",
                k.name, o.blocks
            ));
        }
    }
    Ok(())
}

fn arch_here() -> Result<String> {
    let none = "name one with --arch, like sm_90";
    match Gpu::all() {
        Ok(gpus) => gpus
            .first()
            .map(|g| g.arch.clone())
            .ok_or_else(|| CliError::new("there is no GPU here to compile for").hint(none)),
        Err(e) => {
            Err(CliError::new(format!("there is no GPU here to compile for: {e}")).hint(none))
        }
    }
}

fn print(kernels: &[Resources], occupancy: &[Occupancy], threads: u32) {
    let rows = kernels
        .iter()
        .zip(occupancy)
        .map(|(k, o)| {
            vec![
                k.name.clone(),
                k.registers.to_string(),
                k.shared_bytes.to_string(),
                k.stack_bytes.to_string(),
                (k.spill_store_bytes + k.spill_load_bytes).to_string(),
                if o.blocks == 0 {
                    "cannot be launched".into()
                } else {
                    format!("{} × {threads}", o.blocks)
                },
                percent(o.share),
                o.limit.to_string(),
            ]
        })
        .collect();
    out::table(
        &[
            "kernel",
            "registers",
            "shared B",
            "stack B",
            "spilled B",
            "blocks",
            "occupancy",
            "bound by",
        ],
        rows,
    );
}
