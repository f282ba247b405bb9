//! `gisaxs study`.

mod args;
mod cases;
mod scaling;
mod tables;

pub use args::StudyArgs;

use super::files::write;
use crate::mesh_form_factor::Method;
use crate::study::Case;
use greenup_app::args::pin_pool;
use greenup_app::{AppError, Result, machine};
use greenup_files::Outputs;
use greenup_files::outputs::ending;
use greenup_report::provenance::Provenance;
use serde_json::Value;

/// Formats of the output.
const ENDINGS: [&str; 2] = ["json", "html"];

pub fn study(args: &StudyArgs) -> Result {
    let provenance = Provenance::of_process();
    let mut page = false;
    if let Some(path) = &args.out {
        let mut out = Outputs::new();
        if let Some(machine) = args.machine.machine.as_deref().and_then(machine::file) {
            out.input(machine);
        }
        out.file(path, &ENDINGS)?;
        page = ending(path, &ENDINGS)? == "html";
    }
    args.threads.start()?;
    let on_cpu = !args.device.device.is_gpu();
    match args.pin[..] {
        // Each number of threads has a pool of its own.
        _ if args.scaling && on_cpu => {}
        [pin] => pin_pool(pin, (0, 1))?,
        _ => {
            let why = "several orders of --pin are compared by --scaling on a CPU";
            return Err(AppError::new(why).hint("name one order"));
        }
    }
    let methods: Vec<Method> = args.method.iter().copied().map(Method::from).collect();
    let of_methods = |mut all: Vec<Case>| {
        all.retain(|c| methods.is_empty() || methods.contains(&c.method));
        all
    };
    let keep = |value: &Value| match &args.out {
        Some(path) => write(path, format!("{value:#}\n")),
        None => Ok(()),
    };
    if args.scaling && page {
        return Err(AppError::new("--scaling writes json, not html"));
    }
    if args.scaling && on_cpu {
        return scaling::threads(args, &of_methods(cases::of_threads()), provenance, &keep);
    }
    if args.scaling {
        return scaling::gpus(args, &of_methods(cases::of_gpus()), provenance, &keep);
    }
    tables::tables(args, of_methods, provenance, page)
}
