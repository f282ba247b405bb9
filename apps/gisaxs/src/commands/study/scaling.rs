//! `gisaxs study --scaling`: cases on 1, 2, 4, … GPUs or threads.

use super::args::StudyArgs;
use super::placed::{parameters, placed};
use crate::GisaxsError;
use crate::commands::boards::meters;
use crate::mesh_form_factor::{MakeMeter, Watch};
use crate::session;
use crate::study::{Case, Devices, Scaled, Team, scale, scaled_table};
use crate::wisdom;
use greenup_app::args::pin_pool;
use greenup_app::study::{self, Case as _, Files, Record, counts};
use greenup_app::{AppError, Result, interrupt, print};
use greenup_device::CpuFacts;
use greenup_device::affinity::{Pin, Places};
use greenup_report::provenance::Provenance;
use greenup_report::table::Columns;
use serde_json::{Value, json};
use std::sync::Arc;

/// Measures cases on 1 to N GPUs, and their energy if asked for.
pub fn gpus(args: &StudyArgs, cases: &[Case], provenance: Provenance, files: &Files) -> Result {
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
        columns: scaled_table::of_gpus(),
        caption: scaled_table::GPUS,
    };
    let meter = (!args.no_energy).then(meters);
    study.run((cases, &teams), (args, meter.as_ref()), provenance, files)
}

/// Measures cases on 1 to N threads, pinned in each order.
pub fn threads(args: &StudyArgs, cases: &[Case], provenance: Provenance, files: &Files) -> Result {
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
        columns: scaled_table::of_threads(),
        caption: scaled_table::THREADS,
    };
    study.run((cases, &teams), (args, None), provenance, files)
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
        files: &Files,
    ) -> Result {
        let value = |rows: &[Scaled<D>], provenance: &Provenance| {
            let mut value = self.facts.clone();
            value["rows"] = json!(rows);
            value["provenance"] = json!(provenance);
            value
        };
        let watch = Watch {
            progress: &|_| {},
            stop: interrupt::flag(),
        };
        let gpus = args.device.device.is_gpu();
        let on: Vec<_> = teams.iter().map(Team::devices).collect();
        let name = ("gisaxs scaling", self.title.as_str());
        let rounds = args.rounds.to_string();
        let facts = study::facts(name, &parameters(gpus), [("rounds", &rounds)], &provenance);
        let rows = study::measure(
            &placed(cases, &on, gpus),
            &mut Record::open(files.folder(), &facts)?,
            &mut provenance,
            |case| {
                let rows = scale(&case.case, teams, (args.rounds.into(), meter), &watch)?;
                let trial = |(config, row): (_, Scaled<D>)| {
                    let mut trial = study::timed(config, row.times_s.clone(), row.on.energy_j());
                    let times = [("evaluation_s", row.evaluation_s), ("whole_s", row.whole_s)];
                    trial.metrics = times.map(|(name, s)| (name.into(), s)).into();
                    (trial, row)
                };
                Ok(rows.map(|rows| case.configs().into_iter().zip(rows).map(trial).collect()))
            },
            |rows, provenance| {
                files.write("json", || {
                    Ok(format!("{:#}\n", value(rows, provenance)).into())
                })
            },
        )?;
        if args.json {
            print::data(value(&rows, &provenance).to_string());
        } else {
            print::line(&self.title);
            print::table(&self.columns.table("", rows));
            print::line(self.caption);
        }
        study::complete()
    }
}
