//! `greenup compile`.

use crate::args::CompileArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{folders, print};
use greenup_device::cuda::{Capability, Compiled, Compiler, Gpu, Occupancy, Resources, Source};
use greenup_files::Outputs;
use greenup_report::table::Columns;
use serde::Serialize;

#[derive(Serialize)]
struct CompilationJson<'a> {
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
            AppError::new(format!("invalid architecture `{arch}`")).hint(format!(
                "use {}; the suffix `a` enables architecture-specific features",
                Capability::known().collect::<Vec<_>>().join(", ")
            )),
        );
    };
    let cache = folders::cache()?.join("cubins");
    let compiler = Compiler::new(Some(&cache))?;
    let options: Vec<String> = args
        .define
        .iter()
        .map(|d| format!("-D{d}"))
        .chain(args.option.iter().cloned())
        .collect();
    let compiled = compiler.compile(&Source {
        name: &args.source.display().to_string(),
        text: &text,
        arch: &arch,
        options: &options,
    })?;
    if let Some(path) = &args.out {
        greenup_files::write(path, &compiled.cubin)?;
    }
    let dynamic = u32::try_from(args.shared.unwrap_or(0)).unwrap_or(u32::MAX / 2);
    let occupancy: Vec<Occupancy> = compiled
        .kernels
        .iter()
        .map(|k| capability.occupancy(k, args.block_threads, dynamic))
        .collect();
    let driver_blocks = Gpu::all()
        .unwrap_or_default()
        .into_iter()
        .find(|g| g.arch == arch.trim_end_matches(|c: char| c.is_ascii_alphabetic()))
        .map(|g| g.blocks(&compiled, args.block_threads, dynamic))
        .transpose()?;
    if args.json {
        return print::json(&CompilationJson {
            source: args.source.display().to_string(),
            arch: &arch,
            nvrtc: format!("{}.{}", compiler.version.0, compiler.version.1),
            cubin_bytes: compiled.cubin.len(),
            threads: args.block_threads,
            dynamic_shared_bytes: dynamic,
            compiled: &compiled,
            occupancy,
            driver_blocks,
        });
    }
    for line in compiled.warnings.lines() {
        print::warn(line);
    }
    print::note(format!(
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
        print::note("no kernel in it: nothing is `__global__`, or templates are not instantiated");
        return Ok(());
    }
    print(&compiled.kernels, &occupancy, args.block_threads);
    let driver = driver_blocks.iter().flatten();
    for ((k, o), driver) in compiled.kernels.iter().zip(&occupancy).zip(driver) {
        if o.blocks != *driver {
            print::warn(format!(
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
            .ok_or_else(|| AppError::new("no GPU found").hint(none)),
        Err(e) => Err(AppError::new(format!("no GPU found: {e}")).hint(none)),
    }
}

fn print(kernels: &[Resources], occupancy: &[Occupancy], threads: u32) {
    let columns = Columns::<(&Resources, &Occupancy)>::new()
        .text("kernel", "", |(k, _)| k.name.clone())
        .text("registers", "", |(k, _)| k.registers.to_string())
        .text("shared B", "", |(k, _)| k.shared_bytes.to_string())
        .text("stack B", "", |(k, _)| k.stack_bytes.to_string())
        .text("spilled B", "", |(k, _)| {
            (k.spill_store_bytes + k.spill_load_bytes).to_string()
        })
        .text("blocks", "", |(_, o)| match o.blocks {
            0 => "cannot be launched".into(),
            n => format!("{n} × {threads}"),
        })
        .percent("occupancy", "", |(_, o)| o.share)
        .text("bound by", "", |(_, o)| o.limit.to_string());
    print::table(&columns.table("", kernels.iter().zip(occupancy)));
}
