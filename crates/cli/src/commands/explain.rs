//! `greenup explain`: what applications cost, predicted from their counters, beside what was measured (thesis, chapter 6).

use crate::args::ExplainArgs;
use crate::error::{CliError, Result};
use crate::{lookup, out, picture};
use greenup_app::output::Output;
use greenup_files::Outputs;
use greenup_model::op::Unit;
use greenup_model::{Machine, Op};
use greenup_report::page::{Cell, Fact, Figure, Header, Page, Section, Table};
use greenup_report::share_figure::{Group, shares};
use greenup_report::si::{percent, si};
use greenup_tune::analyze::counted::{self, FromCounters};
use greenup_tune::sweep::Folder;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Recorded sweeps of the applications of this workspace.
const KNOWN: [(&str, &[&str]); 4] = [
    ("fmm", &["fmm_h200", "fmm_ulist_h200", "fmm_ulist_f64_h200"]),
    ("gemm", &["dgemm_h200"]),
    ("gisaxs", &["form_factor_h200", "form_factor_list_h200"]),
    ("hydro", &["hydro_corner_h200"]),
];

/// What is said of an application.
#[derive(Serialize)]
struct Application {
    name: String,
    sweeps: Vec<String>,
    cases: Vec<FromCounters>,
    mean_error: f64,
    largest_error: f64,
    /// Least and largest share of constant power.
    constant_share: (f64, f64),
    /// Median of measured time over what the classes need at least.
    over_least_time: Option<f64>,
}

#[derive(Serialize)]
struct Answer {
    machine: String,
    applications: Vec<Application>,
    cases: usize,
    mean_error: f64,
    /// With each application counted once.
    mean_of_applications: f64,
    largest_error: f64,
}

pub fn run(args: &ExplainArgs) -> Result {
    let mut outputs = Outputs::new();
    let machine = lookup::input(&args.machine, &mut outputs)?;
    let names: Vec<&str> = if args.apps.is_empty() {
        KNOWN.iter().map(|k| k.0).collect()
    } else {
        args.apps.iter().map(String::as_str).collect()
    };
    for folder in names.iter().flat_map(|name| folders(name, &args.sweeps)) {
        // Whatever lies in a sweep is not to be written over.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            outputs.input(entry.path());
        }
    }
    let page_to = out::output(
        &mut outputs,
        args.out.as_deref(),
        &["html", "htm"],
        args.json,
    )?;
    let figure_to = args
        .figure
        .as_deref()
        .map(|path| Output::file(&mut outputs, path, &picture::ENDINGS))
        .transpose()?;
    let applications = names
        .iter()
        .map(|name| application(name, &args.sweeps, &machine))
        .collect::<Result<Vec<_>>>()?;
    let errors: Vec<f64> = applications
        .iter()
        .flat_map(|a| a.cases.iter().map(|c| c.error().abs()))
        .collect();
    let answer = Answer {
        machine: machine.title.clone(),
        cases: errors.len(),
        mean_error: mean(&errors),
        mean_of_applications: mean(
            &applications
                .iter()
                .map(|a| a.mean_error)
                .collect::<Vec<_>>(),
        ),
        largest_error: errors.iter().copied().fold(0.0, f64::max),
        applications,
    };
    if let Some(to) = &page_to {
        to.write(page(&answer).render()?.as_bytes())?;
        out::wrote(to);
    }
    if let Some(to) = &figure_to {
        picture::scaled(to, &figure(&answer), 1.5)?;
    }
    if args.json {
        return out::json(&answer);
    }
    if page_to.is_some_and(|to| to.is_stdout()) {
        return Ok(());
    }
    let range = |(a, b): (f64, f64)| format!("{} … {}", percent(a), percent(b));
    let rows = answer
        .applications
        .iter()
        .map(|a| {
            vec![
                a.name.clone(),
                a.cases.len().to_string(),
                percent(a.mean_error),
                percent(a.largest_error),
                range(a.constant_share),
                a.over_least_time
                    .map_or_else(|| "-".to_owned(), |x| format!("×{x:.2}")),
            ]
        })
        .collect();
    out::table(
        &[
            "application",
            "cases",
            "mean error",
            "largest",
            "constant power",
            "time to least",
        ],
        rows,
    );
    out::line(format!(
        "energy on {} from counters and measured time: mean error {} over {} cases, {} with each application counted once, largest {}",
        answer.machine,
        percent(answer.mean_error),
        answer.cases,
        percent(answer.mean_of_applications),
        percent(answer.largest_error)
    ));
    Ok(())
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len().max(1) as f64
}

/// Sweeps of an application by name, or one by its folder.
fn folders(name: &str, sweeps: &Path) -> Vec<PathBuf> {
    match KNOWN.iter().find(|k| k.0 == name) {
        Some((_, all)) => all.iter().map(|s| sweeps.join(s)).collect(),
        None => vec![PathBuf::from(name)],
    }
}

/// Cases of an application by name, or of a sweep by its folder.
fn application(name: &str, sweeps: &Path, machine: &Machine) -> Result<Application> {
    let known = KNOWN.iter().any(|k| k.0 == name);
    let folders = folders(name, sweeps);
    let mut cases = Vec::new();
    for folder in &folders {
        let sweep = Folder::read(folder).map_err(|e| {
            CliError::new(e.to_string()).hint(format!(
                "APP is {} (with --sweeps, where their sweeps are), or the folder of a sweep",
                KNOWN.map(|k| k.0).join(", ")
            ))
        })?;
        cases.extend(counted::predict(&sweep, machine)?);
    }
    if cases.is_empty() {
        return Err(
            CliError::new(format!("{name} has no counters with energies"))
                .hint("`greenup profile` reads them"),
        );
    }
    let errors: Vec<f64> = cases.iter().map(|c| c.error().abs()).collect();
    let constant: Vec<f64> = cases.iter().map(|c| c.constant_j / c.predicted_j).collect();
    let mut ratios: Vec<f64> = (cases
        .iter()
        .filter_map(|c| c.predicted_s.map(|s| c.time_s / s)))
    .collect();
    ratios.sort_by(f64::total_cmp);
    Ok(Application {
        name: match known {
            true => name.to_owned(),
            false => folders[0]
                .file_name()
                .map_or_else(|| name.to_owned(), |n| n.to_string_lossy().into_owned()),
        },
        sweeps: folders.iter().map(|f| f.display().to_string()).collect(),
        mean_error: mean(&errors),
        largest_error: errors.iter().copied().fold(0.0, f64::max),
        constant_share: (
            constant.iter().copied().fold(f64::INFINITY, f64::min),
            constant.iter().copied().fold(0.0, f64::max),
        ),
        over_least_time: ratios.get(ratios.len() / 2).copied(),
        cases,
    })
}

const PARTS: [&str; 4] = ["arithmetic", "other instructions", "data", "constant power"];

/// Energies of a case by [`PARTS`], J.
fn parts(c: &FromCounters) -> [f64; 4] {
    let of = |keep: &dyn Fn(Op) -> bool| {
        c.by_op_j
            .iter()
            .filter(|(op, _)| keep(**op))
            .map(|(_, j)| j)
            .sum()
    };
    let data = |op: Op| op.is_bytes();
    let whole = |op: Op| op.unit() == Unit::Integer;
    [
        of(&|op| !data(op) && !whole(op)),
        of(&whole),
        of(&data),
        c.constant_j,
    ]
}

fn figure(a: &Answer) -> String {
    let groups: Vec<Group> = a
        .applications
        .iter()
        .map(|app| {
            let mut cases: Vec<&FromCounters> = app.cases.iter().collect();
            cases.sort_by(|x, y| x.error().total_cmp(&y.error()));
            Group {
                name: app.name.clone(),
                cases: cases
                    .iter()
                    .map(|c| parts(c).iter().map(|j| j / c.measured_j).collect())
                    .collect(),
            }
        })
        .collect();
    shares("predicted energy over measured", &PARTS, &groups)
}

fn page(a: &Answer) -> Page {
    let summary = Table {
        caption: "Energies from hardware counters, the machine's costs and the measured time"
            .into(),
        header: [
            ("application", ""),
            ("cases", ""),
            ("mean error", "of |predicted - measured| over measured"),
            ("largest", ""),
            (
                "constant power",
                "its share of the predicted energy, least and largest",
            ),
            (
                "time to least",
                "median of measured time over what the busiest class needs",
            ),
        ]
        .map(|(n, about)| Header::new(n, about))
        .to_vec(),
        rows: a
            .applications
            .iter()
            .map(|x| {
                vec![
                    Cell::text(&x.name),
                    Cell::number(x.cases.len() as f64, x.cases.len().to_string()),
                    Cell::number(x.mean_error, percent(x.mean_error)),
                    Cell::number(x.largest_error, percent(x.largest_error)),
                    Cell::number(
                        x.constant_share.0,
                        format!(
                            "{} … {}",
                            percent(x.constant_share.0),
                            percent(x.constant_share.1)
                        ),
                    ),
                    x.over_least_time
                        .map_or_else(|| Cell::text("-"), |t| Cell::number(t, format!("×{t:.2}"))),
                ]
            })
            .collect(),
    };
    let mut sections = vec![Section {
        id: "summary".into(),
        title: "Energy, predicted and measured".into(),
        label: Some("measured"),
        paragraphs: vec![
            "Each column is a case: a kernel or a whole evaluation with one choice of its parameters. Its parts are what the machine's costs give for \
             the counters of the run, and constant power over the measured time; the line at 1 is what the board's counter of \
             energy said."
                .into(),
        ],
        figures: vec![Figure {
            svg: figure(a),
            caption: "Cases of each application by their error.".into(),
        }],
        tables: vec![summary],
        ..Section::default()
    }];
    for app in &a.applications {
        sections.push(Section {
            id: app.name.clone(),
            title: app.name.clone(),
            paragraphs: vec![format!("From {}.", app.sweeps.join(", "))],
            tables: std::iter::once(cases(app)).chain(by_kernel(app)).collect(),
            ..Section::default()
        });
    }
    Page {
        title: "What applications cost".into(),
        subtitle: a.machine.clone(),
        headline: vec![
            Fact::new("cases", a.cases.to_string()),
            Fact::new("mean error of energy", percent(a.mean_error)),
            Fact::new("each application once", percent(a.mean_of_applications)),
            Fact::new("largest", percent(a.largest_error)),
        ],
        sections,
        footer:
            "Method: J. W. Choi, On the Analysis of Algorithms and Machines for Energy, chapter 6."
                .into(),
    }
}

/// Where cases have several kernels: what each takes of the predicted energy.
fn by_kernel(app: &Application) -> Option<Table> {
    let several: Vec<&FromCounters> = (app.cases.iter())
        .filter(|c| !c.by_kernel_j.is_empty())
        .collect();
    let names: BTreeSet<&String> = several.iter().flat_map(|c| c.by_kernel_j.keys()).collect();
    let mut header = vec![Header::new("config", "")];
    header.extend(names.iter().map(|n| Header::new(n, "marginal energy")));
    header.push(Header::new("constant power", ""));
    let share =
        |j: f64, c: &FromCounters| Cell::number(j / c.predicted_j, percent(j / c.predicted_j));
    (!several.is_empty()).then(|| Table {
        caption: "Shares of the predicted energy by kernel".into(),
        header,
        rows: (several.iter())
            .map(|c| {
                let mut row = vec![Cell::text(&c.label)];
                row.extend(names.iter().map(|n| match c.by_kernel_j.get(*n) {
                    Some(j) => share(*j, c),
                    None => Cell::text("-"),
                }));
                row.push(share(c.constant_j, c));
                row
            })
            .collect(),
    })
}

fn cases(app: &Application) -> Table {
    let mut header = vec![
        Header::new("config", ""),
        Header::new("trial", "line of the sweep"),
        Header::new("time", "measured"),
        Header::new(
            "least time",
            "of the busiest class, at the clock that the cap permits",
        ),
        Header::new(
            "power",
            "measured; above a board's limit only until the limit acts",
        ),
        Header::new("measured", "energy"),
        Header::new("predicted", "energy"),
        Header::new("error", ""),
    ];
    header.extend(PARTS.map(|p| Header::new(p, "share of the predicted energy")));
    Table {
        caption: "All cases".into(),
        header,
        rows: app
            .cases
            .iter()
            .map(|c| {
                let mut row = vec![
                    Cell::text(&c.label),
                    Cell::number(c.trial as f64, c.trial.to_string()),
                    Cell::number(c.time_s, si(c.time_s, "s")),
                    c.predicted_s
                        .map_or_else(|| Cell::text("-"), |s| Cell::number(s, si(s, "s"))),
                    Cell::number(c.measured_j / c.time_s, si(c.measured_j / c.time_s, "W")),
                    Cell::number(c.measured_j, si(c.measured_j, "J")),
                    Cell::number(c.predicted_j, si(c.predicted_j, "J")),
                    Cell::number(c.error(), format!("{:+.1} %", 100.0 * c.error())),
                ];
                row.extend(
                    parts(c).map(|j| Cell::number(j / c.predicted_j, percent(j / c.predicted_j))),
                );
                row
            })
            .collect(),
    }
}
