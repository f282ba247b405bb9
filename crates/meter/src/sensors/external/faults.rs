//! Meters with faults, in simulated time: the energy lies in its interval, or there is a warning and no energy.

use super::feed::Feed;
use crate::command::{CommandLine, CommandRun, Exit};
use crate::comparison::{CommandResult, Log, summarise};
use crate::interleaved::measured;
use crate::sampler::Trace;
use crate::sensor::{Quantity, Reading, SensorError};
use crate::stats::median;

/// Time between two lines, s.
const PERIOD_S: f64 = 0.02;
/// Ten periods are one block of runs.
const BLOCK: f64 = 10.0;
/// Time between a sample and its line, s.
const DELAY_S: f64 = 0.001;
const RUNS: usize = 12;
/// How long a run waits for the reading that closes it, s.
const CLOSING_S: f64 = 1.03;
const END_S: f64 = 14.0;

/// True power, W: two loads, and a slow wave.
fn watts(t: f64) -> f64 {
    let load = if t % 5.0 < 3.0 { 50.0 } else { 65.0 };
    load + 5.0 * (t / 1.7).sin()
}

/// Its integral from 0, J.
fn joules(t: f64) -> f64 {
    let periods = (t / 5.0).floor();
    let rest = t - 5.0 * periods;
    let load = periods * 280.0 + 50.0 * rest.min(3.0) + 65.0 * (rest - 3.0).max(0.0);
    load + 5.0 * 1.7 * (1.0 - (t / 1.7).cos())
}

/// What the meter prints: arrival and text.
type Printed = Vec<(f64, String)>;

fn each(line: impl Fn(usize, f64) -> Option<String>) -> Printed {
    let n = (END_S / PERIOD_S) as usize;
    (0..n)
        .filter_map(|i| {
            let t = i as f64 * PERIOD_S;
            Some((t + DELAY_S, line(i, t)?))
        })
        .collect()
}

/// By a clock, with plain lines.
fn clock(of: impl Fn(f64) -> f64) -> Printed {
    each(|_, t| Some(format!("{:.4},{:.3}", of(t), watts(t))))
}

/// One line among the others replaced.
fn instead(line: &str) -> Printed {
    each(|i, t| {
        Some(match i % 290 {
            130 => line.replace("TIME", &format!("{t:.4}")),
            _ => format!("{t:.4},{:.3}", watts(t)),
        })
    })
}

fn smi(t: f64) -> String {
    // Over midnight.
    let (h, s) = match t < 2.2 {
        true => ("2026/11/27 23:59", 57.8 + t),
        false => ("2026/11/28 00:00", t - 2.2),
    };
    format!("{h}:{s:06.3}")
}

/// The faults by name.
fn faults() -> Vec<(&'static str, Printed)> {
    let bursts = |by: f64| -> Printed {
        let late = |(at, line): (f64, String)| ((at / by).ceil() * by, line);
        clock(|t| t).into_iter().map(late).collect()
    };
    let mut swapped = clock(|t| t);
    for i in (100..swapped.len()).step_by(120) {
        let one = swapped[i].1.clone();
        swapped[i].1 = std::mem::replace(&mut swapped[i - 1].1, one);
    }
    vec![
        ("none", clock(|t| t)),
        (
            "clock set back by 0.5 s",
            clock(|t| if t < 2.2 { 1e4 + t } else { 9999.5 + t }),
        ),
        (
            "clock set back by an hour",
            clock(|t| if t < 2.2 { 1e4 + t } else { 6400.0 + t }),
        ),
        (
            "clock set forward by an hour",
            clock(|t| if t < 2.2 { 1e4 + t } else { 13600.0 + t }),
        ),
        (
            "clock starts anew at 0",
            clock(|t| if t < 2.2 { 1e4 + t } else { t - 2.2 }),
        ),
        ("clock 0.1 % slow", clock(|t| 0.999 * t)),
        ("clock at half the rate", clock(|t| 0.5 * t)),
        ("times in ms without a unit", clock(|t| 1e12 + 1e3 * t)),
        (
            "times in ms, named in the header",
            each(|i, t| {
                let head = if i == 0 { "time_ms,watts\n" } else { "" };
                Some(format!("{head}{:.0},{:.3}", 1e3 * t, watts(t)))
            }),
        ),
        (
            "times of 0.1 s: five lines each",
            clock(|t| (t * 10.0 + 1e-6).floor() / 10.0),
        ),
        ("a value of nan", instead("TIME,nan")),
        ("a value of -0.01", instead("TIME,-0.01")),
        ("a torn line", instead("TIM0.250,5")),
        ("a time of 1e9", instead("1e9,50")),
        ("lines out of order", swapped),
        (
            "milliwatts with their unit",
            each(|_, t| Some(format!("{t:.4}, {:.0} mW", 1e3 * watts(t)))),
        ),
        (
            "milliwatts without a unit",
            each(|_, t| Some(format!("{t:.4},{:.0}", 1e3 * watts(t)))),
        ),
        (
            "decimal commas",
            each(|_, t| Some(format!("{t:.4};{:.3}", watts(t)).replace('.', ","))),
        ),
        (
            "decimal commas, times missing",
            each(|_, t| Some(format!("{:.2}", watts(t)).replace('.', ","))),
        ),
        (
            "nvidia-smi over midnight",
            each(|i, t| {
                let value = if i % 50 == 49 {
                    "[N/A]".into()
                } else {
                    format!("{:.2} W", watts(t))
                };
                Some(format!("{}, {value}", smi(t)))
            }),
        ),
        (
            "a counter of joules that starts anew",
            each(|_, t| {
                let from = if t < 3.1 { 0.0 } else { joules(3.1) };
                Some(format!("{t:.4}, {:.4} J", joules(t) - from))
            }),
        ),
        ("lines in bursts of 0.5 s", bursts(0.5)),
        ("lines in bursts of 4 s", bursts(4.0)),
        (
            "late start: 1.5 s",
            each(|_, t| (t > 1.5).then(|| format!("{t:.4},{:.3}", watts(t)))),
        ),
        (
            "stops for 5 s",
            each(|_, t| (!(4.0..9.0).contains(&t)).then(|| format!("{t:.4},{:.3}", watts(t)))),
        ),
        (
            "hangs from 3 s on",
            each(|_, t| (t < 3.0).then(|| format!("{t:.4},{:.3}", watts(t)))),
        ),
        (
            "repeats its last value from 2 s on",
            clock(|t| t)
                .into_iter()
                .map(|(at, line)| {
                    let value = if at < 2.0 { watts(at - DELAY_S) } else { 57.5 };
                    (
                        at,
                        format!("{},{value:.3}", line.split(',').next().unwrap_or_default()),
                    )
                })
                .collect(),
        ),
        ("repeats its last line from 4 s on", {
            let mut all = clock(|t| t);
            let stop = all[200].1.clone();
            all[200..].iter_mut().for_each(|l| l.1.clone_from(&stop));
            all
        }),
        (
            "two devices in one stream",
            each(|i, _| {
                let t = (i / 2) as f64 * 2.0 * PERIOD_S;
                Some(format!(
                    "{t:.4},{:.3}",
                    watts(t) * if i % 2 == 0 { 1.0 } else { 3.0 }
                ))
            }),
        ),
    ]
}

/// What a reader knows when: readings with their arrival, and states that hold from a moment on.
struct Read {
    readings: Vec<(f64, Reading)>,
    stuck: Vec<(f64, bool)>,
    /// When, at which line, and why.
    failed: Option<(f64, usize, String)>,
    notes: Vec<String>,
    period_s: f64,
}

fn read(printed: &Printed) -> Read {
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
            || name.ends_with("commas");
        assert!(silent || !warnings.is_empty(), "{name}: no word");
    }
}
