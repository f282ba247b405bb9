//! The result of `fmm run` as text, page and figure.

use super::balance::Balance;
use super::evaluation::Timings;
use crate::check::Errors;
use crate::commands::drawing::Drawing;
use crate::commands::predicted::Predicted;
use crate::commands::time;
use crate::cost_model::PhaseWork;
use crate::engine::PhaseTimes;
use crate::options::M2l;
use crate::plan::SetupTimes;
use greenup_app::print;
use greenup_app::ranks::Boards;
use greenup_meter::Measurement;
use greenup_report::bar_rows::{self, Bars, RowBar};
use greenup_report::chart::{Chart, Series, Sign, Unit};
use greenup_report::page::{Answer, Fact};
use greenup_report::provenance::Provenance;
use greenup_report::si::si;
use greenup_report::table::{Columns, Table};
use serde::Serialize;
use std::fmt::Write as _;

/// Result of a run.
#[derive(Serialize)]
pub struct Report {
    pub provenance: Provenance,
    pub kernel: String,
    pub precision: &'static str,
    pub sources: usize,
    pub targets: usize,
    pub gradient: bool,
    pub accuracy: f64,
    pub order: usize,
    pub ncrit: usize,
    pub m2l: M2l,
    pub device: String,
    /// Processes, or threads with a device each.
    pub ranks: usize,
    pub levels: Vec<usize>,
    pub setup_times: SetupTimes,
    pub setup_s: f64,
    pub evaluation_s: f64,
    /// Where the time of the evaluation goes.
    pub timings: Timings,
    pub phases: PhaseTimes,
    /// How points per leaf were balanced between a GPU and the cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    pub work: Vec<PhaseWork>,
    /// Lower bounds by a machine model, phase by phase.
    pub bound: Option<Vec<Predicted>>,
    /// The machine of the bounds, and whether the run was on it.
    pub bound_machine: Option<BoundMachine>,
    /// Repeated evaluations, without copies to and from the device.
    pub measured: Option<Measurement>,
    /// With several ranks: their measurements at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boards: Option<Boards>,
    pub errors: Option<Errors>,
    /// Columns of the output file, after x, y and z.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<&'static [&'static str]>,
}

/// The machine of lower bounds.
#[derive(Serialize)]
pub struct BoundMachine {
    pub name: String,
    /// Whether its file names the device that ran: only then a ratio to the bound says anything.
    pub is_this: bool,
}

/// What the page and the figure show.
pub fn drawing(r: &Report) -> Drawing {
    let mut headline = vec![
        Fact::new("evaluation", time(r.evaluation_s)),
        Fact::new(
            "time per point",
            time(r.evaluation_s / r.targets.max(1) as f64),
        ),
        Fact::new("set-up", time(r.setup_s)),
    ];
    if let Some(j) = r.boards.as_ref().and_then(|b| b.total_j) {
        let each = j / r.targets.max(1) as f64;
        headline.push(Fact::new("energy per point, all boards", si(each, "J")));
    } else if let Some(m) = &r.measured
        && let (Some(w), Some(j)) = (&m.power_w, &m.energy_j)
    {
        headline.push(Fact::new("power", si(w.median, "W")));
        let each = j.median / r.targets.max(1) as f64;
        headline.push(Fact::new("energy per point", si(each, "J")));
    }
    if let Some(e) = &r.errors {
        headline.push(Fact::new(
            "error of the potential",
            format!("{:.2e}", e.potential),
        ));
        let gradient = e.gradient.map(|g| format!("{g:.2e}"));
        headline.extend(gradient.map(|g| Fact::new("error of the gradient", g)));
    }
    let evaluations = match r.timings.evaluations {
        1 => "One evaluation".to_owned(),
        n => format!(
            "{n} evaluations, {} to {}",
            time(r.evaluation_s),
            time(r.timings.slowest_s)
        ),
    };
    let details = format!(
        "ncrit {}, boxes per level {:?}. Set-up: {}. {evaluations}.",
        r.ncrit,
        r.levels,
        setup_parts(r.setup_s, &r.setup_times)
    );
    Drawing {
        title: "Fast multipole method: an evaluation".into(),
        subtitle: input(r),
        answer: Answer::new(
            answer(r),
            certainty(r),
            "`fmm tune` looks for faster settings of the same points.",
        ),
        headline,
        paragraphs: vec![details],
        charts: vec![(phases(r), "")],
        tables: vec![table(r)],
        footer: "Phases of the fastest evaluation. Flops and bytes from the cost model: an FMA counts as two flops, \
                 each value once per phase.",
    }
}

/// How long an evaluation takes, and which phase of its table takes most of it.
fn answer(r: &Report) -> String {
    let what = match r.targets {
        1 => "The potential of 1 point takes".to_owned(),
        n => format!("The potentials of {n} points take"),
    };
    let parts = parts(r);
    let most =
        longest(&parts).map(|p| format!("; the longest phase is {}, {}", p.name, time(p.time_s)));
    let most = most.unwrap_or_default();
    format!("{what} {}{most}.", time(r.evaluation_s))
}

/// How well the results and the time are known.
fn certainty(r: &Report) -> String {
    let checked = match &r.errors {
        Some(e) => format!(
            "Relative error of the potential against direct sums: {:.2e}.",
            e.potential
        ),
        None if r.sources == 0 || r.targets == 0 => "Nothing was compared.".to_owned(),
        None => format!(
            "A few results were compared with direct sums, and none was refused for the relative error of {:e} that is aimed at; `--check N` gives the error of N.",
            r.accuracy
        ),
    };
    let times = match r.timings.evaluations {
        1 => "It was evaluated once; set-up is not in its time.".to_owned(),
        n => format!(
            "The time is the least of {n} evaluations, of which the slowest took {}; set-up is not in it.",
            time(r.timings.slowest_s)
        ),
    };
    format!("{checked} {times}")
}

/// The row of a table that takes most; time in which two of them ran at once is none.
fn longest<'a, 'b>(parts: &'b [Part<'a>]) -> Option<&'b Part<'a>> {
    let all = parts.iter().filter(|p| p.name != OVERLAPPED);
    all.max_by(|a, b| a.time_s.total_cmp(&b.time_s))
}

/// The row of time that counts twice.
const OVERLAPPED: &str = "overlapped";

/// What an evaluation needs beside its phases.
fn beside(r: &Report) -> impl Iterator<Item = (&'static str, f64)> {
    let t = r.timings;
    let all = [
        ("permutation", t.permutation_s),
        ("transfers", t.transfers_s),
        ("exchange", t.exchange_s),
        ("gather", t.gather_s),
        (OVERLAPPED, r.phases.overlapped_s),
    ];
    // Without a device there are no transfers, without ranks no exchange.
    all.into_iter()
        .filter(|(name, s)| *s > 1e-6 || *name == "permutation")
}

/// Times of the phases: a bar each, and what the machine model predicts.
fn phases(r: &Report) -> Chart {
    let predicted = |i: usize| Some(r.bound.as_ref()?.get(i)?.time_s);
    let timed = (r.work.iter().enumerate())
        .map(|(i, w)| (w.phase.name(), r.phases.of(w.phase), predicted(i)))
        .filter(|(_, s, _)| *s > 0.0)
        .chain(beside(r).map(|(name, s)| (name, s, None)));
    let rows: Vec<_> = timed
        .map(|(name, measured, predicted)| {
            let bar = |value: f64, what: &str| RowBar {
                value,
                interval: None,
                tip: format!("{name}, {what}: {}", time(value)),
            };
            let mut bars = vec![Some(bar(measured, "measured"))];
            if r.bound.is_some() {
                bars.push(predicted.map(|s| bar(s, "lower bound")));
            }
            (name.to_owned(), bars)
        })
        .collect();
    let unit = Unit::si("s");
    Chart {
        title: "times of the phases".into(),
        series: Series::all(["measured", "lower bound of the machine model"], Sign::Area),
        panels: vec![bar_rows::panel("", "time", unit, Bars::Beside, &rows)],
        ..Chart::default()
    }
}

/// A phase, or another step of an evaluation.
struct Part<'a> {
    name: &'static str,
    time_s: f64,
    work: Option<&'a PhaseWork>,
    bound: Option<&'a Predicted>,
}

/// Phases in their order, then what an evaluation needs beside them.
fn parts(r: &Report) -> Vec<Part<'_>> {
    let phases = r.work.iter().enumerate().map(|(i, w)| Part {
        name: w.phase.name(),
        time_s: r.phases.of(w.phase),
        work: Some(w),
        bound: r.bound.as_ref().and_then(|b| b.get(i)),
    });
    let others = beside(r).map(|(name, time_s)| Part {
        name,
        time_s,
        work: None,
        bound: None,
    });
    phases.chain(others).collect()
}

fn table(r: &Report) -> Table {
    Columns::<Part>::new()
        .text("phase", "", |p| p.name.to_owned())
        .si("time", "", "s", |p| p.time_s)
        // A phase without work has no rate.
        .si("performance", "", "flop/s", |p| {
            Some(p.work?.flops / p.time_s).filter(|_| p.time_s > 0.0)
        })
        .si("flops", "", "flop", |p| p.work.map(|w| w.flops))
        .si("bytes", "", "B", |p| p.work.map(|w| w.bytes))
        .si("bound of the time", "", "s", |p| p.bound.map(|b| b.time_s))
        .where_known()
        .si("bound of the energy", "", "J", |p| p.bound?.energy_j)
        .where_known()
        .table("", parts(r))
}

/// What was evaluated.
fn input(r: &Report) -> String {
    format!(
        "{}, {}{}, {} sources, {} targets, accuracy {:e} (surface order {}), on {}",
        r.kernel,
        r.precision,
        if r.gradient { " with gradients" } else { "" },
        r.sources,
        r.targets,
        r.accuracy,
        r.order,
        r.device
    )
}

fn joules(j: Option<f64>) -> String {
    j.map_or_else(String::new, |j| format!(", {}", si(j, "J")))
}

/// The time of the set-up and of its steps, a line.
pub fn setup(seconds: f64, p: &SetupTimes) -> String {
    format!(
        "set-up            {:>9}  ({})\n",
        time(seconds),
        setup_parts(seconds, p)
    )
}

/// The parts of a set-up; the rest is the device and its memory.
fn setup_parts(seconds: f64, p: &SetupTimes) -> String {
    let rest = seconds - (p.sort_s + p.tree_s + p.lists_s + p.operators_s);
    format!(
        "sort {}, tree {}, lists {}, operators {}, rest {}",
        time(p.sort_s),
        time(p.tree_s),
        time(p.lists_s),
        time(p.operators_s),
        time(rest.max(0.0))
    )
}

/// Prints the result.
pub fn print(r: &Report) {
    print::line(input(r));
    print::line(format!("ncrit {}, boxes per level {:?}", r.ncrit, r.levels));
    print::line(setup(r.setup_s, &r.setup_times).trim_end());
    if let Some(b) = &r.balance {
        print::line(b.text().trim_end());
    }
    print::line(format!("evaluation        {:>9}", time(r.evaluation_s)));
    print::table(&table(r));
    print::line(sums(r).trim_end());
}

/// What is known of the evaluation as a whole.
fn sums(r: &Report) -> String {
    let mut out = String::new();
    if let Some(p) = &r.bound {
        let time_s: f64 = p.iter().map(|p| p.time_s).sum();
        let energy_j: Option<f64> = p.iter().map(|p| p.energy_j).sum();
        let _ = write!(
            out,
            "lower bound{}: {}{}",
            r.bound_machine
                .as_ref()
                .map_or_else(String::new, |m| format!(" on {}", m.name)),
            time(time_s),
            joules(energy_j),
        );
        let _ = match &r.bound_machine {
            Some(m) if m.is_this => writeln!(
                out,
                "; T / T_min {:.2}",
                r.phases.total_s() / time_s.max(1e-12)
            ),
            _ => writeln!(
                out,
                "; this run was on another device, so there is no ratio to it"
            ),
        };
    }
    if let Some(b) = &r.boards {
        let longest = b.time_s.iter().fold(0.0, |m: f64, t| m.max(*t));
        let _ = writeln!(
            out,
            "repeated evaluations: {}{} on all boards",
            time(longest),
            joules(b.total_j)
        );
    } else if let Some(m) = &r.measured {
        let _ = write!(out, "repeated evaluations: {}", time(m.time_s.median));
        if let (Some(w), Some(j)) = (&m.power_w, &m.energy_j) {
            let _ = write!(
                out,
                ", {}, {}, {} per point",
                si(w.median, "W"),
                si(j.median, "J"),
                si(j.median / r.targets as f64, "J")
            );
        }
        out.push('\n');
    }
    if let Some(e) = &r.errors {
        let _ = write!(
            out,
            "error at {} targets: potential {:.2e}",
            e.targets, e.potential
        );
        if let Some(g) = e.gradient {
            let _ = write!(out, ", gradient {g:.2e}");
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_phase_is_the_longest_row_of_the_table() {
        let part = |name, time_s| Part {
            name,
            time_s,
            work: None,
            bound: None,
        };
        let all = [("P2P", 1.0), ("permutation", 2.0), (OVERLAPPED, 3.0)].map(|(n, s)| part(n, s));
        assert_eq!(longest(&all).map(|p| p.name), Some("permutation"));
        assert!(longest(&all[2..]).is_none());
    }
}
