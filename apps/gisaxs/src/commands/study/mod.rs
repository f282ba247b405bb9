//! `gisaxs study`.

mod args;
mod cases;
mod placed;
mod scaling;
mod tables;

pub use args::StudyArgs;

use crate::mesh_form_factor::Method;
use crate::study::Case;
use greenup_app::args::pin_pool;
use greenup_app::study::Files;
use greenup_app::{AppError, Result, machine};
use greenup_files::Outputs;
use greenup_report::provenance::Provenance;

pub fn study(args: &StudyArgs) -> Result {
    let provenance = Provenance::of_process();
    let mut outputs = Outputs::new();
    if let Some(machine) = args.machine.machine.as_deref().and_then(machine::file) {
        outputs.input(machine);
    }
    let endings: &[_] = if args.scaling {
        &["json"]
    } else {
        &["json", "html"]
    };
    let files = Files::new(args.out.as_deref(), &mut outputs, endings, false)?;
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
    match (args.scaling, on_cpu) {
        (false, _) => tables::tables(args, of_methods, provenance, &files),
        (_, true) => scaling::threads(args, &of_methods(cases::of_threads()), provenance, &files),
        _ => scaling::gpus(args, &of_methods(cases::of_gpus()), provenance, &files),
    }
}
