//! The HTML page and the figure of the energies of applications.

use crate::applications::{Application, Explained};
use greenup_model::Op;
use greenup_model::op::Unit;
use greenup_report::chart::Chart;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::share_figure::{Group, shares};
use greenup_report::si::percent;
use greenup_report::table::{Cell, Columns, Table};
use greenup_tune::analyze::counted::FromCounters;
use std::collections::BTreeSet;

const PARTS: [&str; 4] = ["arithmetic", "other instructions", "data", "constant power"];

/// Predicted energy of a case by [`PARTS`], J.
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

/// The figure: predicted energy of each case by its parts, relative to the measured energy.
pub fn figure(a: &Explained) -> Chart {
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
                    .map(|c| {
                        let shares = parts(c).iter().map(|j| j / c.measured_j).collect();
                        (c.label.clone(), shares)
                    })
                    .collect(),
            }
        })
        .collect();
    shares("predicted energy over measured", &PARTS, &groups)
}

/// The applications, with how far the prediction misses them.
pub fn summary(a: &Explained) -> Table {
    let range = |(lo, hi)| format!("{} … {}", percent(lo), percent(hi));
    Columns::<Application>::new()
        .text("application", "", |x| x.name.clone())
        .count("cases", "", |x| x.cases.len() as u64)
        .percent(
            "mean error",
            "of |predicted - measured| over measured",
            |x| x.mean_error,
        )
        .percent("largest", "", |x| x.largest_error)
        .cell(
            "constant power",
            "its share of the predicted energy, minimum and maximum",
            |x| Cell::number(x.constant_share.0, range(x.constant_share)),
        )
        .shown(
            "T / T_min",
            "median ratio of measured time to the roofline bound",
            |t| format!("×{t:.2}"),
            |x| x.over_least_time,
        )
        .table(
            "Energies from hardware counters, the machine's costs and the measured time",
            &a.applications,
        )
}

/// Builds the page.
pub fn page(a: &Explained) -> Page {
    let mut sections = vec![Section {
        id: "summary".into(),
        title: "Energy, predicted and measured".into(),
        label: Some("measured"),
        paragraphs: vec![
            "Each column is a case: a kernel or a whole evaluation with one choice of its parameters. Its parts are what the machine's costs give for \
             the counters of the run, and constant power over the measured time; the line at 100 % is the energy that the board's counter \
             measured."
                .into(),
        ],
        figures: vec![Figure::chart(&figure(a), "Cases of each application by their error.")],
        tables: vec![summary(a)],
        ..Section::default()
    }];
    for app in &a.applications {
        sections.push(Section {
            id: app.name.clone(),
            title: app.name.clone(),
            paragraphs: vec![format!("From {}.", app.sweeps.join(", "))],
            tables: std::iter::once(columns().table("All cases", &app.cases))
                .chain(by_kernel(app))
                .collect(),
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
        provenance: Vec::new(),
        ..Page::default()
    }
}

/// A table of the share of each kernel in the predicted energy; `None` if no case has several kernels.
fn by_kernel(app: &Application) -> Option<Table> {
    let several: Vec<&FromCounters> = (app.cases.iter())
        .filter(|c| !c.by_kernel_j.is_empty())
        .collect();
    let names: BTreeSet<&String> = several.iter().flat_map(|c| c.by_kernel_j.keys()).collect();
    let columns = Columns::<FromCounters>::new()
        .text("config", "", |c| c.label.clone())
        .and_each(names, |columns, n| {
            columns.percent(n, "marginal energy", move |c| {
                c.by_kernel_j.get(n).map(|j| j / c.predicted_j)
            })
        })
        .percent("constant power", "", |c| c.constant_j / c.predicted_j);
    (!several.is_empty())
        .then(|| columns.table("Shares of the predicted energy by kernel", several))
}

/// Energies of cases from their counters.
pub fn columns<'a>() -> Columns<'a, FromCounters> {
    Columns::<FromCounters>::new()
        .text("config", "", |c| c.label.clone())
        .detail()
        .count("trial", "line of the sweep", |c| c.trial as u64)
        .si("time", "measured", "s", |c| c.time_s)
        .si(
            "T_min",
            "roofline bound, at the clock that the power cap permits",
            "s",
            |c| c.predicted_s,
        )
        .detail()
        .si(
            "power",
            "measured; above a board's limit only until the limit acts",
            "W",
            |c| c.measured_j / c.time_s,
        )
        .detail()
        .si("measured", "energy", "J", |c| c.measured_j)
        .si("predicted", "energy", "J", |c| c.predicted_j)
        .shown(
            "error",
            "",
            |e| format!("{:+.1} %", 100.0 * e),
            FromCounters::error,
        )
        .and_each(PARTS.into_iter().enumerate(), |columns, (k, name)| {
            columns
                .percent(name, "share of the predicted energy", move |c| {
                    parts(c)[k] / c.predicted_j
                })
                .and_if(k + 1 < PARTS.len(), Columns::detail)
        })
}
