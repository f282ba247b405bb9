//! `hydro study`: time, power and energy of steps and their parts, for both assemblies and several orders, as in
//! figures 14 to 16 and table 7 of the BLAST paper.

mod args;
mod cases;
pub mod compare;
mod comparison;
mod figures;
mod page;
mod power;
mod prepared;
mod record;
pub mod report;
mod row;
mod table;

pub use args::StudyArgs;

use cases::PARAMETERS;
use greenup_app::study::{self, Bench, Files, Record};
use greenup_app::{Result, interrupt, print, sensors};
use greenup_device::CpuFacts;
use greenup_files::Outputs;
use greenup_meter::Policy;
use greenup_report::provenance::Provenance;
use prepared::Prepared;
use record::Study;
use std::time::Instant;

/// Formats of the output, all with one name.
const ENDINGS: [&str; 4] = ["json", "html", "csv", "png"];

pub fn study(args: &StudyArgs) -> Result {
    args.check()?;
    let files = Files::new(args.out.as_deref(), &mut Outputs::new(), &ENDINGS, true)?;
    args.threads.start()?;
    // Inside the pool, tasks start without waking a thread.
    rayon::scope(|_| run_in_pool(args, &files))
}

fn run_in_pool(args: &StudyArgs, files: &Files) -> Result {
    let mut provenance = Provenance::of_process();
    let machine = args.machine.load()?;
    let (device, named) = (&args.device.device, args.sensor.sensor.as_deref());
    let policy = Policy {
        window_s: args.window / 3.0,
        warmup_s: args.window / 5.0,
        max_warmups: 1,
        min_repeats: 3,
        max_repeats: 3,
        ..Policy::quick()
    };
    let name = match device.gpu() {
        Some(n) => sensors::gpu(Some(&n.to_string()))?.name,
        None => CpuFacts::read().model,
    };
    let predicted = args.machine.machine.iter().map(|m| ("machine", m));
    let facts = study::facts(("hydro", &name), &PARAMETERS, predicted, &provenance);
    let mut record = Record::open(files.folder(), &facts)?;
    let bench = Bench::new(device, named, policy)?.noted();
    let mut bench = bench.following(device, named);
    let mut prepared: Option<Prepared> = None;
    let rows = study::measure(
        &args.cases(),
        &mut record,
        &mut provenance,
        |case| {
            let begin = Instant::now();
            // Parts of one step follow each other on the same engine.
            let same = |p: &Prepared| p.of == (case.order, case.assembly);
            let ready = match prepared.take().filter(same) {
                Some(ready) => ready,
                None => Prepared::new(case, device)?,
            };
            let built = begin.elapsed();
            let found = prepared
                .insert(ready)
                .row(case, &mut bench, machine.as_ref())?;
            Ok(found.map(|(mut trial, row)| {
                trial.build_s = built.as_secs_f64();
                vec![(trial, row)]
            }))
        },
        |rows, provenance| record::write(files, rows, provenance),
    )?;
    let _saving = interrupt::saving();
    if args.json {
        print::json(&record::value(&rows, &provenance))?;
    } else {
        table::print(&rows);
    }
    let study = Study {
        rows,
        provenance: provenance.facts(),
    };
    study.write_drawings(files, &provenance, &args.look.look())?;
    study::complete()
}
