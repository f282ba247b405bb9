//! `gisaxs study --scaling`: cases on 1, 2, 4, … GPUs or threads.

use super::args::StudyArgs;
use super::cases::complete;
use crate::GisaxsError;
use crate::commands::boards::meters;
use crate::mesh_form_factor::{MakeMeter, Watch};
use crate::session;
use crate::study::{Case, Devices, OnGpus, OnThreads, Scaled, Team, scale};
use crate::wisdom;
use greenup_app::args::pin_pool;
use greenup_app::study::{counts, measure};
use greenup_app::{AppError, Result, interrupt, print};
use greenup_device::CpuFacts;
use greenup_device::affinity::{Pin, Places};
use greenup_report::provenance::Provenance;
use greenup_report::table::Columns;
use serde_json::{Value, json};
use std::sync::Arc;

/// Writes the result after each case.
type Keep<'a> = &'a dyn Fn(&Value) -> Result;

/// Measures cases on 1 to N GPUs, and their energy if asked for.
pub fn gpus(args: &StudyArgs, cases: &[Case], provenance: Provenance, keep: Keep) -> Result {
    let gpus = session::gpus(&args.device.device, (0, 1))?;
    if gpus.is_empty() {
        return Err(
            AppError::new("--scaling compares numbers of GPUs").hint("add --device cuda:all")
        );
    }
    let names: Vec<&str> = gpus.iter().map(|g| g.name()).collect();
    let counts = counts(gpus.len());
    let teams: Vec<Team> = counts.iter().map(|n| Team::gpus(&gpus[..*n])).collect();
    let study = Study {
        title: names.join(" + "),
        facts: json!({
            "devices": names, "gpus": counts, "rounds": args.rounds, "threads": rayon::current_num_threads(),
        }),
        caption: "evaluate: upload, kernels and download of the slowest GPU, and the rest on the host. Speedups: all \
                  kernels, evaluation, and whole (preparation and evaluation). Energy: kernels of all GPUs.",
        columns: columns::<OnGpus>()
            .count("GPUs", "", |r| r.on.gpus as u64)
            .shown("prepare, s", "", four, |r| r.on.prepare_s)
            .shown("evaluate, s", "", four, |r| r.evaluation_s)
            .shown("upload, s", "", four, |r| r.on.upload_s)
            .shown("kernels, s", "", four, |r| r.on.kernel_s)
            .shown("download, s", "", four, |r| r.on.download_s)
            .shown("host, s", "", four, |r| r.on.host_s)
            .shown("speedup of kernels", "", ratio, |r| r.on.kernel_speedup)
            .shown("of evaluation", "", ratio, |r| r.on.evaluation_speedup)
            .shown("of whole", "", ratio, |r| r.on.whole_speedup)
            .shown("energy, J", "", four, |r| r.on.total_j)
            .shown("greenup", "", ratio, |r| r.on.greenup),
    };
    let meter = (!args.no_energy).then(meters);
    study.run((cases, &teams), (args, meter.as_ref()), provenance, keep)
}

/// Measures cases on 1 to N threads, pinned in each order.
pub fn threads(args: &StudyArgs, cases: &[Case], provenance: Provenance, keep: Keep) -> Result {
    let (facts, places) = (CpuFacts::read(), Places::read());
    let blocks = wisdom::read()?.blocks();
    let pinned = |pin: Pin| pin_pool(pin, (0, 1)).map_err(|e| GisaxsError::from(e.message));
    let teams = (counts(rayon::current_num_threads()).into_iter())
        .flat_map(|n| args.pin.iter().map(move |pin| (n, *pin)))
        .map(|of| Team::threads(of, blocks, pinned))
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let study = Study {
        title: facts.model.clone(),
        facts: json!({
            "device": facts.model, "cpus": facts.cpus.len(), "cores": facts.cores.len(), "sockets": facts.sockets,
            "numa_nodes": places.nodes, "virtual_machine": facts.virtual_machine, "rounds": args.rounds,
        }),
        caption: "Medians of the rounds. GFLOP/s: by the operation count of direct sums in the paper (85 n_t + 16) for \
                  every method.",
        columns: columns::<OnThreads>()
            .count("threads", "", |r| r.on.threads as u64)
            .text("pin", "", |r| r.on.pin.name().into())
            .text("evaluate, s [shortest…longest]", "", |r| {
                let [lo, hi] = r.evaluation_range_s;
                format!("{:.4} [{lo:.4}…{hi:.4}]", r.evaluation_s)
            })
            .three("GFLOP/s", "", |r| r.on.gflops)
            .shown("speedup", "", ratio, |r| r.on.speedup)
            .percent("efficiency", "", |r| r.on.efficiency),
    };
    study.run((cases, &teams), (args, None), provenance, keep)
}

fn four(v: f64) -> String {
    format!("{v:.4}")
}

fn ratio(v: f64) -> String {
    format!("{v:.3}")
}

fn columns<D>() -> Columns<'static, Scaled<D>> {
    Columns::<Scaled<D>>::new()
        .text("method", "", |r| r.case.method())
        .text("q_z", "", |r| r.case.q_z().into())
        .count("triangles", "", |r| r.triangles as u64)
        .count("q", "", |r| r.points as u64)
}

/// What differs between GPUs and threads.
struct Study<D> {
    title: String,
    facts: Value,
    columns: Columns<'static, Scaled<D>>,
    caption: &'static str,
}

impl<D: Devices> Study<D> {
    fn run(
        self,
        (cases, teams): (&[Case], &[Team]),
        (args, meter): (&StudyArgs, Option<&Arc<MakeMeter>>),
        mut provenance: Provenance,
        keep: Keep,
    ) -> Result {
        let value = |rows: &[Vec<Scaled<D>>], provenance: &Provenance| {
            let mut value = self.facts.clone();
            value["rows"] = json!(rows.concat());
            value["provenance"] = json!(provenance);
            value
        };
        let watch = Watch {
            progress: &|_| {},
            stop: interrupt::flag(),
        };
        let rows = measure(
            cases,
            &mut provenance,
            Case::name,
            |case| Ok(scale(case, teams, (args.rounds.into(), meter), &watch)?),
            |rows, provenance| keep(&value(rows, provenance)),
        )?;
        print::line(if args.json {
            value(&rows, &provenance).to_string()
        } else {
            let bits = |r: &Scaled<D>| if r.same_bits { "yes" } else { "NO" }.to_owned();
            let columns = self.columns.text("bits of one", "", bits);
            let lines = columns.table("", rows.concat()).lines().join("\n");
            format!("{}\n{lines}\n{}", self.title, self.caption)
        });
        complete(rows.len(), cases.len())
    }
}
