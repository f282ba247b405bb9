//! The HTML page and the figure of the energies of applications.

use crate::applications::{Application, Explained};
use greenup_model::Op;
use greenup_model::op::Unit;
use greenup_report::chart::Chart;
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::share_figure::{Group, shares};
use greenup_report::si::percent;
use greenup_report::table::{Cell, Columns, Table};
use greenup_report::text::middle;
use greenup_tune::analyze::counted::FromCounters;
use std::collections::{BTreeMap, BTreeSet};

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

/// A case as figures and tables name it.
pub struct Case<'a> {
    /// Its number among the cases of its application by error, from 1.
    id: usize,
    /// Its config: what differs between the cases.
    short: String,
    of: &'a FromCounters,
}

/// Longest name of a case.
const NAME: usize = 48;

impl<'a> Case<'a> {
    /// The cases of an application, that with the lowest error first: as in the figure.
    pub fn by_error(all: &'a [FromCounters]) -> Vec<Self> {
        let mut cases = Self::in_order(all);
        cases.sort_by(|x, y| x.of.error().total_cmp(&y.of.error()));
        for (k, case) in cases.iter_mut().enumerate() {
            case.id = k + 1;
        }
        cases
    }

    /// The cases as they were recorded.
    pub fn in_order(all: &'a [FromCounters]) -> Vec<Self> {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, value) in all.iter().flat_map(|c| pairs(&c.label)) {
            values.entry(name).or_default().insert(value);
        }
        let differs = |name: &str| all.len() < 2 || values[name].len() > 1;
        (all.iter().enumerate())
            .map(|(k, of)| {
                let own = pairs(&of.label).filter(|(name, _)| differs(name));
                let words: Vec<String> = own.map(|(name, value)| word(name, value)).collect();
                Self {
                    id: k + 1,
                    short: middle(&words.join(" "), NAME),
                    of,
                }
            })
            .collect()
    }
}

impl Case<'_> {
    /// The class of operations with the most energy, and its share.
    pub fn most(&self) -> Option<(Op, f64)> {
        let all = self.of.by_op_j.iter();
        let (op, joules) = all.max_by(|a, b| a.1.total_cmp(b.1))?;
        Some((*op, joules / self.of.predicted_j))
    }
}

/// Names and values of a config.
fn pairs(label: &str) -> impl Iterator<Item = (&str, &str)> {
    label
        .split(' ')
        .map(|w| w.split_once('=').unwrap_or((w, "")))
}

/// `cube` of `points=cube`, `250k` of `n=250000`, `ncrit=128` of others.
fn word(name: &str, value: &str) -> String {
    match value.parse::<f64>() {
        Ok(n) if n >= 1e4 && n % 1e3 == 0.0 && n < 1e6 => format!("{name}={}k", n / 1e3),
        Ok(n) if n >= 1e6 && n % 1e5 == 0.0 => format!("{name}={}M", n / 1e6),
        Ok(_) => format!("{name}={value}"),
        Err(_) if matches!(value, "True" | "False" | "") => format!("{name}={value}"),
        Err(_) => value.to_owned(),
    }
}

/// The figure: predicted energy of each case by its parts, relative to the measured energy.
pub fn figure(a: &Explained) -> Chart {
    let groups: Vec<Group> = (a.applications.iter())
        .map(|app| Group {
            name: app.name.clone(),
            cases: (Case::by_error(&app.cases).iter())
                .map(|c| {
                    let shares = parts(c.of).iter().map(|j| j / c.of.measured_j).collect();
                    (format!("{}. {}", c.id, c.short), shares)
                })
                .collect(),
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
            times,
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
        items: vec![
            Fact::new("mean error over all cases", percent(a.mean_error)),
            Fact::new("each application once", percent(a.mean_of_applications)),
            Fact::new("largest error", percent(a.largest_error)),
        ],
        figures: vec![Figure::chart(
            &figure(a),
            "Cases of each application by their error, with their numbers in the tables.",
        )],
        tables: vec![summary(a)],
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
        answer: answer(a),
        sections,
        footer:
            "Method: J. W. Choi, On the Analysis of Algorithms and Machines for Energy, chapter 6."
                .into(),
        provenance: Vec::new(),
        ..Page::default()
    }
}

/// How well energies are predicted, where least, and where most is to be gained.
fn answer(a: &Explained) -> Answer {
    let says = vec![format!(
        "Counters and the machine's costs predict the energy of {} cases to {} on average, {} at worst.",
        a.cases,
        percent(a.mean_error),
        percent(a.largest_error)
    )];
    let mut sure = vec!["Nothing was fitted to these cases. Energies are predicted for the measured times: errors of a predicted time would come on top.".to_owned()];
    let of = |x: &&Application| x.mean_error;
    if let Some(worst) = a.applications.iter().max_by(|x, y| of(x).total_cmp(&of(y)))
        && a.applications.len() > 1
    {
        sure.push(format!(
            "Least sure: {}, with a mean error of {}.",
            worst.name,
            percent(worst.mean_error)
        ));
    }
    let slow = |x: &Application| x.over_least_time.unwrap_or(0.0);
    let slowest = a
        .applications
        .iter()
        .max_by(|x, y| slow(x).total_cmp(&slow(y)));
    let next = match slowest.and_then(|x| Some((x, x.over_least_time?))) {
        Some((x, t)) if t > SLOW => format!(
            "Speed up the kernels of {} first: its median case takes {} the time that its work needs at least, and constant power all that time. Its cases stand below.",
            x.name,
            times(t)
        ),
        _ => "`greenup profile` tells the same of a program of your own.".to_owned(),
    };
    Answer {
        says,
        sure,
        next: vec![next],
    }
}

/// Time over the least, from which a faster kernel is worth the work.
const SLOW: f64 = 1.2;

fn times(t: f64) -> String {
    format!("×{t:.2}")
}

/// The cases of an application in the order of the figure.
fn cases(app: &Application) -> Table {
    let first = Columns::<Case>::new()
        .count("case", "its number in the figure", |c| c.id as u64)
        .text("config", "what differs between the cases", |c| {
            c.short.clone()
        });
    columns(first)
        .text("whole config", "", |c| c.of.label.clone())
        .table("All cases, by their error", Case::by_error(&app.cases))
}

/// A table of the share of each kernel in the predicted energy; `None` if no case has several kernels.
fn by_kernel(app: &Application) -> Option<Table> {
    let several: Vec<Case> = (Case::by_error(&app.cases).into_iter())
        .filter(|c| !c.of.by_kernel_j.is_empty())
        .collect();
    let keys = |c: &Case<'_>| c.of.by_kernel_j.keys().cloned().collect::<Vec<_>>();
    let names: BTreeSet<String> = several.iter().flat_map(keys).collect();
    let columns = Columns::<Case>::new()
        .count("case", "", |c| c.id as u64)
        .text("config", "", |c| c.short.clone())
        .and_each(&names, |columns, n| {
            columns.percent(n, "marginal energy", move |c| {
                c.of.by_kernel_j.get(n).map(|j| j / c.of.predicted_j)
            })
        })
        .percent("constant power", "", |c| c.of.constant_j / c.of.predicted_j);
    (!several.is_empty())
        .then(|| columns.table("Shares of the predicted energy by kernel", several))
}

/// Energies of cases from their counters, after the first columns.
pub fn columns<'a>(first: Columns<'a, Case<'a>>) -> Columns<'a, Case<'a>> {
    first
        .count("trial", "line of the sweep", |c| c.of.trial as u64)
        .si("time", "measured", "s", |c| c.of.time_s)
        .si(
            "T_min",
            "roofline bound, at the clock that the power cap permits",
            "s",
            |c| c.of.predicted_s,
        )
        .detail()
        .si(
            "power",
            "measured; above a board's limit only until the limit acts",
            "W",
            |c| c.of.measured_j / c.of.time_s,
        )
        .detail()
        .si("measured", "energy", "J", |c| c.of.measured_j)
        .si("predicted", "energy", "J", |c| c.of.predicted_j)
        .shown(
            "error",
            "",
            |e| format!("{:+.1} %", 100.0 * e),
            |c| c.of.error(),
        )
        .and_each(PARTS.into_iter().enumerate(), |columns, (k, name)| {
            columns
                .percent(name, "share of the predicted energy", move |c| {
                    parts(c.of)[k] / c.of.predicted_j
                })
                .and_if(k + 1 < PARTS.len(), Columns::detail)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_have_one_name_in_the_figure_and_in_tables() {
        let case = |trial: usize, label: &str, predicted_j: f64| FromCounters {
            trial,
            label: label.into(),
            time_s: 1.0,
            measured_j: 10.0,
            predicted_j,
            by_op_j: BTreeMap::new(),
            by_kernel_j: BTreeMap::new(),
            constant_j: predicted_j,
            predicted_s: None,
        };
        let all = [
            case(0, "points=cube n=250000 ncrit=64 gradient=False", 11.0),
            case(3, "points=sphere n=1000000 ncrit=128 gradient=False", 9.0),
        ];
        let cases = Case::by_error(&all);
        let names: Vec<(usize, &str)> = cases.iter().map(|c| (c.id, c.short.as_str())).collect();
        assert_eq!(
            names,
            [(1, "sphere n=1M ncrit=128"), (2, "cube n=250k ncrit=64")]
        );
        let recorded = Case::in_order(&all);
        assert_eq!((recorded[0].id, recorded[0].of.trial), (1, 0));
    }
}
