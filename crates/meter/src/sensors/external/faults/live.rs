//! Live meters with faults: the energy lies in its interval, or there is a warning and no energy.

use super::{END_S, PERIOD_S, Printed, faults, joules};
use crate::command::{CommandLine, CommandRun, Exit};
use crate::comparison::{CommandResult, Log, summarise};
use crate::interleaved::measured;
use crate::sampler::Trace;
use crate::sensor::{Quantity, Reading, SensorError};
use crate::sensors::external::feed::Feed;
use crate::stats::median;

/// Ten periods are one block of runs.
const BLOCK: f64 = 10.0;
const RUNS: usize = 12;
/// How long a run waits for the reading that closes it, s.
const CLOSING_S: f64 = 1.03;

/// What a reader knows when: readings with their arrival, and states that hold from a moment on.
pub struct Read {
    readings: Vec<(f64, Reading)>,
    stuck: Vec<(f64, bool)>,
    /// When, at which line, and why.
    failed: Option<(f64, usize, String)>,
    pub notes: Vec<String>,
    period_s: f64,
}

pub fn read(printed: &Printed) -> Read {
    let mut feed = Feed::default();
    let mut out = Read {
        readings: Vec::new(),
        stuck: Vec::new(),
        failed: None,
        notes: Vec::new(),
        period_s: PERIOD_S,
    };
    let mut i = 0;
    while i < printed.len() {
        let arrival = printed[i].0;
        let n = printed[i..].iter().take_while(|p| p.0 == arrival).count();
        let mut new = Vec::new();
        let lines = printed[i..i + n].iter().flat_map(|p| p.1.lines());
        let done = feed.push(lines, arrival, &mut new);
        out.readings.extend(new.into_iter().map(|r| (arrival, r)));
        out.stuck.push((arrival, feed.is_stuck()));
        if let Err((line, e)) = done {
            out.failed = Some((arrival, line, e.to_string()));
            break;
        }
        i += n;
    }
    out.notes = feed.notes();
    out.period_s = feed.period_s().unwrap_or(PERIOD_S);
    out
}

impl Read {
    /// What a run from `from` to `to` sees, and when it is closed.
    fn trace(&self, from: f64, to: f64) -> (Trace, f64) {
        let closed = (self.readings.iter())
            .find(|(at, r)| *at >= to && r.at_s >= to)
            .map_or(f64::INFINITY, |r| r.0);
        let close = closed.min(to + CLOSING_S);
        let before = self.readings.iter().rfind(|r| r.0 <= from);
        let during = self.readings.iter().filter(|r| r.0 > from && r.0 <= close);
        let mut readings: Vec<Reading> = Vec::new();
        for (_, r) in before.into_iter().chain(during) {
            if readings.last().is_none_or(|l| r.at_s > l.at_s) {
                readings.push(*r);
            }
        }
        let is_stuck = self.stuck.iter().any(|s| s.1 && s.0 > from && s.0 <= close);
        let id = || "meter".to_owned();
        let error = match &self.failed {
            Some((at, line, cause)) if *at <= close => Some(SensorError::Malformed {
                id: id(),
                source_name: "its output".into(),
                line: *line,
                cause: cause.clone(),
            }),
            _ => is_stuck.then(|| SensorError::Stuck { id: id() }),
        };
        let trace = Trace {
            id: id(),
            readings,
            read_cost_s: Vec::new(),
            states: Vec::new(),
            error,
        };
        (trace, close)
    }
}

/// Twelve runs of about 0.3 s from 0.7 s on, or so many blocks of them, and the true energy of a run of each.
fn runs(meter: &Read) -> (CommandResult, Vec<f64>) {
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut log, mut truth) = (Log::default(), Vec::new());
    let mut from = 0.7;
    let mut to = from;
    while log.blocks.len() < RUNS && to < END_S - 2.0 {
        let start = from;
        let mut n = 0;
        while n == 0 || to - start < BLOCK * meter.period_s {
            to = from + 0.3 + 0.03 * rng.f64();
            log.runs.push(CommandRun {
                start_s: from,
                end_s: to,
                user_s: 0.0,
                system_s: 0.0,
                max_rss_bytes: None,
                context_switches: 0,
                run_queue_s: None,
                exit: Exit::Code(0),
            });
            n += 1;
            from = to;
        }
        let (trace, close) = meter.trace(start, to);
        let span = (start, to);
        (log.blocks).push(measured(Quantity::Power, &trace, span, n, meter.period_s));
        truth.push((joules(to) - joules(start)) / n as f64);
        from = close.max(to) + 0.05 + 0.03 * rng.f64();
    }
    let command = CommandLine::parse("app").unwrap();
    (summarise(&command, &log, true).unwrap(), truth)
}

#[test]
#[expect(clippy::print_stdout, reason = "the table of docs/results/faults.md")]
fn an_energy_lies_in_its_interval_or_there_is_a_warning_and_none() {
    println!("| fault | runs with energy | true, J | measured, J | interval, J | warning |");
    println!("|---|--:|--:|--:|--:|---|");
    let all = faults();
    assert!(all.len() > 20);
    for (name, printed) in &all {
        let meter = read(printed);
        let (r, truth) = runs(&meter);
        let true_j = median(&truth);
        let warnings: Vec<&String> = r.warnings.iter().chain(&meter.notes).collect();
        let shown = match &r.energy_j {
            Some(e) => format!("{:.3} | {:.3} … {:.3}", e.median, e.lo, e.hi),
            None => "– | –".to_owned(),
        };
        let said: Vec<String> = warnings.iter().map(|w| w.replace('|', "/")).collect();
        println!(
            "| {name} | {} of {} | {true_j:.3} | {shown} | {} |",
            r.energy_runs,
            r.runs,
            said.join("; ")
        );
        match &r.energy_j {
            Some(e) => {
                assert!(
                    e.lo <= true_j && true_j <= e.hi,
                    "{name}: {true_j} J, {e:?}"
                );
                // Each run has its own energy: all but those in which the load changes, to a sample.
                if r.energy_runs == r.runs {
                    let off: Vec<f64> = (r.energies_j.iter().zip(&truth))
                        .map(|(e, t)| (e - t).abs())
                        .collect();
                    let worst = off.iter().copied().fold(0.0, f64::max);
                    // Of a sample that was skipped just there, twice.
                    let step = 15.0 * 2.0 * meter.period_s;
                    assert!(worst < step && median(&off) < 0.1 * step, "{name}: {off:?}");
                }
            }
            None => assert!(!warnings.is_empty(), "{name}: no energy without a word"),
        }
        assert!(r.energy_runs == r.runs || !r.warnings.is_empty(), "{name}");
        let rate =
            name.contains("as fast") || name.contains("half the rate") || name.contains("numbers");
        if rate {
            let said = r.warnings.join(" ");
            assert!(
                r.energy_j.is_none() && said.contains("times as fast as the host's"),
                "{name}: {said}"
            );
        }
        let plain = [
            "none",
            "late start: 1.5 s",
            "times in ms, named in the header",
        ];
        let silent = plain.contains(name)
            || name.starts_with("clock 0.1")
            || name.starts_with("times of 0.1")
            || name.starts_with("lines in bursts of 0.5")
            || name.ends_with("their unit")
            || name.ends_with("with units")
            || name.starts_with("a separator")
            || name.ends_with("commas");
        assert!(silent || !warnings.is_empty(), "{name}: no word");
    }
}
