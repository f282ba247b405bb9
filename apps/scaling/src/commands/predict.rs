//! `greenup scaling`.

use super::args::{Application, Numbers, ScalingArgs};
use super::drawn::drawn;
use crate::pages::prediction::page::{
    Kind, page, predicted_table, published_page, published_table,
};
use crate::pages::prediction::{figure, published_figure};
use crate::published::{self, Beside};
use crate::{Compared, Costs, Problem, Record, compare, mean_error, rows};
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::{machine, output, print};
use greenup_files::Outputs;
use greenup_model::Machine;
use greenup_model::network::Nodes;
use greenup_report::page::Page;
use greenup_report::provenance::Provenance;
use greenup_report::si::{percent, si};
use greenup_report::table::Columns;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Serialize)]
struct Comparison<'a> {
    runs: &'a [Compared],
    mean_error: Option<f64>,
}

/// Published studies, and the figures that cannot be compared.
#[derive(Serialize)]
struct Published<'a> {
    studies: &'a [Beside],
    not_compared: &'a [&'a str],
}

/// Endings of an output.
const ENDINGS: [&str; 5] = ["svg", "png", "pdf", "html", "htm"];

pub fn run(args: &ScalingArgs) -> Result {
    if let Some(folder) = &args.study {
        return drawn(args, folder);
    }
    let mut outputs = Outputs::new();
    let machine = machine::input(&args.machine, &mut outputs)?;
    for file in args.record.iter().chain(&args.measured) {
        outputs.input(file);
    }
    let to = output::optional(&mut outputs, args.out.as_deref(), &ENDINGS, args.json)?;
    if let Some((flag, app)) = args.of_another() {
        return Err(AppError::new(format!(
            "{flag} is of {app}, not of {}",
            args.app().name()
        )));
    }
    let dim = args.dim.is_none_or(|d| (2..=3).contains(&d));
    let order = args.order.is_none_or(|k| (1..=8).contains(&k));
    if !dim || !order {
        return Err(AppError::new("--dim is 2 or 3, and --order 1 to 8"));
    }
    if args.published {
        return published(args, to.as_ref());
    }
    if !args.measured.is_empty() {
        return measured(args, &machine);
    }
    if machine.network.is_none() && machine.link.is_none() {
        print::warn(format!(
            "`{}` has no network: messages cost nothing. `greenup calibrate --network` measures one",
            machine.name
        ));
    }
    let record = match args.record.as_slice() {
        [] => Record::shipped(args.app().name(), &machine.name)?,
        files => joined(args.app(), files)?,
    };
    let at = |numbers: &Numbers, of: fn(&Machine, usize) -> Nodes| -> Vec<Nodes> {
        numbers.0.iter().map(|n| of(&machine, *n)).collect()
    };
    let usual = Numbers((0..=12).map(|k| 1 << k).collect());
    let at = match (&args.devices, &args.nodes) {
        (Some(devices), _) => at(devices, Nodes::of_devices),
        (None, nodes) => at(nodes.as_ref().unwrap_or(&usual), Nodes::full),
    };
    let predicted = |weak: bool| -> Result<Kind> {
        let problem = problem(args, weak);
        let words = words(args, &problem);
        let costs = Costs::new(&record, problem)?;
        Ok(Kind {
            weak,
            problem: words,
            rows: rows(&machine, &costs, &at),
        })
    };
    let asked = predicted(args.weak)?;
    if let Some(to) = &to {
        if is_page(to) {
            let kinds = [asked, predicted(!args.weak)?];
            let page = page(args.app().name(), &machine, &record, &kinds);
            write_page(page, to)?;
            let [asked, _] = kinds;
            return printed(args, to.is_stdout(), (&machine, &record), &asked);
        }
        let title = title(args, &machine);
        to.write_chart(&figure(&title, &asked.rows, args.weak), &args.look.look())?;
    }
    let drawn = to.as_ref().is_some_and(Output::is_stdout);
    printed(args, drawn, (&machine, &record), &asked)
}

/// Prints the table, or JSON.
fn printed(args: &ScalingArgs, drawn: bool, of: (&Machine, &Record), kind: &Kind) -> Result {
    if args.json {
        return print::json(&kind.rows);
    }
    if !drawn {
        table(args, of.0, of.1, kind);
    }
    Ok(())
}

fn is_page(to: &Output) -> bool {
    to.has_ending("html") || to.has_ending("htm")
}

fn write_page(page: Page, to: &Output) -> Result {
    let page = Page {
        provenance: Provenance::of_process().facts(),
        ..page
    };
    to.write(page.render()?.as_bytes())?;
    to.print_name();
    Ok(())
}

fn title(args: &ScalingArgs, machine: &Machine) -> String {
    let kind = if args.weak { "weak" } else { "strong" };
    format!("{} on {}, {kind} scaling", args.app().name(), machine.title)
}

/// The problem in words.
fn words(args: &ScalingArgs, p: &Problem) -> String {
    let each = if p.weak { " for each device" } else { "" };
    match args.app() {
        Application::Hydro => format!(
            "{} zones{each} in {}D, order {}, {} steps.",
            si(p.size, ""),
            p.dim,
            p.order,
            p.steps
        ),
        Application::Gisaxs => format!(
            "{} triangles, {} values of q{each}, method {}.",
            si(p.triangles, ""),
            si(p.size, ""),
            p.method
        ),
        Application::Fmm => format!("{} points{each}, {}.", si(p.size, ""), p.precision),
        Application::Tune => format!("{} trials{each}.", si(p.size, "")),
    }
}

/// The runs of several files.
fn joined(app: Application, files: &[PathBuf]) -> Result<Record> {
    let mut out: Option<Record> = None;
    for file in files {
        let next = read(app, file)?;
        match &mut out {
            None => out = Some(next),
            Some(all) => all.runs.extend(next.runs),
        }
    }
    out.ok_or_else(|| AppError::new("no record was given"))
}

fn read(app: Application, file: &PathBuf) -> Result<Record> {
    let text = greenup_files::read_text(file)?;
    let name = file.display().to_string();
    let record = Record::parse(&name, &text)?;
    if record.application == app.name() {
        Ok(record)
    } else {
        Err(AppError::new(format!(
            "{name} is a run of {}, not of {}",
            record.application,
            app.name()
        ))
        .hint(format!("greenup scaling {} reads it", record.application)))
    }
}

fn problem(args: &ScalingArgs, weak: bool) -> Problem {
    let (columns, rows) = args.image.unwrap_or((4000.0, 2000.0));
    let size = match args.app() {
        Application::Hydro => args
            .zones
            .unwrap_or(if weak { 262_144.0 } else { 2_097_152.0 }),
        Application::Gisaxs => columns * rows,
        Application::Fmm => args.points.unwrap_or(4e7),
        Application::Tune => args.trials.unwrap_or(1000.0),
    };
    Problem {
        weak,
        size: size.max(1.0),
        steps: args.steps.unwrap_or(100.0),
        order: args.order.unwrap_or(2),
        dim: args.dim.unwrap_or(3),
        iterations: args.iterations,
        triangles: args.triangles.unwrap_or(7.5e6),
        rows,
        method: args.method.clone().unwrap_or_else(|| "direct".into()),
        precision: args.precision.clone().unwrap_or_else(|| "f32".into()),
    }
}

fn table(args: &ScalingArgs, machine: &Machine, record: &Record, kind: &Kind) {
    print::line(print::bold(&title(args, machine)));
    print::table(&predicted_table(kind));
    print::line("");
    print::line(format!(
        "Predicted from {} runs on one device ({} numbers, {}). Speedup, powerup and greenup compare with one device; \
         efficiency with the first row.",
        record.runs.len(),
        record.label.name(),
        if record.device.is_empty() {
            "device not stated"
        } else {
            &record.device
        }
    ));
    for source in &record.sources {
        print::line(format!("source: {source}"));
    }
}

/// Published scaling studies, with the model beside them.
fn published(args: &ScalingArgs, to: Option<&Output>) -> Result {
    let all: Vec<Beside> = published::all()?
        .into_iter()
        .filter(|s| s.application == args.app().name())
        .map(|s| {
            let machine = machine::load(&s.machine)?;
            Ok(s.beside(&machine)?)
        })
        .collect::<Result<_>>()?;
    if all.is_empty() {
        return Err(AppError::new(format!(
            "there is no published scaling study of {}",
            args.app().name()
        ))
        .hint("hydro and gisaxs have some"));
    }
    let without = published::not_stated(args.app().name());
    match to {
        Some(to) if is_page(to) => {
            write_page(published_page(args.app().name(), &all, without), to)?
        }
        Some(to) => to.write_chart(&published_figure(&all), &args.look.look())?,
        None => {}
    }
    if args.json {
        return print::json(&Published {
            studies: &all,
            not_compared: without,
        });
    }
    if to.is_some_and(Output::is_stdout) {
        return Ok(());
    }
    for b in &all {
        let s = &b.study;
        let kind = if s.weak { "weak" } else { "strong" };
        print::line(print::bold(&format!(
            "{}, {}: {kind} scaling",
            s.name, s.figure
        )));
        print::line(format!("source: {}", s.source));
        print::line(&s.about);
        print::table(&published_table(b));
        if !s.reason.is_empty() {
            print::line(format!("Why they differ: {}.", s.reason));
        }
        print::line("");
    }
    for why in without {
        print::line(why);
    }
    print::line(
        "The time of a node follows from the rate that a paper prints for a node: the scaling alone is compared. Efficiency is relative to one \
         node, in weak scaling to the first point. The model has the network alone: no jitter, no hyperblocks, no input and output.",
    );
    Ok(())
}

/// Runs on several devices, predicted from those on one.
fn measured(args: &ScalingArgs, machine: &Machine) -> Result {
    let mut files = Vec::new();
    for file in &args.measured {
        files.push((file.display().to_string(), read(args.app(), file)?));
    }
    let mut record = match args.record.as_slice() {
        [] => files[0].1.clone(),
        names => joined(args.app(), names)?,
    };
    if args.record.is_empty() {
        record.runs.clear();
    }
    let all = compare(machine, &record, &files).map_err(|e| {
        AppError::from(e)
            .hint("one of the files must be of a run on one device, or --record names one")
    })?;
    let mean = mean_error(&all);
    if args.json {
        return print::json(&Comparison {
            runs: &all,
            mean_error: mean,
        });
    }
    let columns = Columns::<Compared>::new()
        .text("run", "", |c| c.file.clone())
        .text("devices", "", |c| c.devices.to_string())
        .si("measured", "", "s", |c| c.measured_s)
        .si("predicted", "", "s", |c| c.predicted_s)
        .three("ratio", "", |c| c.predicted_s / c.measured_s)
        .si("measured J", "", "J", |c| c.measured_j)
        .si("predicted J", "", "J", |c| c.predicted_j);
    print::table(&columns.table("", &all));
    print::line("");
    print::line(match mean {
        Some(e) => format!("mean error of the times on several devices: {}", percent(e)),
        None => "no run is on several devices".into(),
    });
    Ok(())
}
