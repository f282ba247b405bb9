//! `fmm run --distributed`: each rank has a part of the points.

use super::accepted;
use super::evaluation::{self, BetweenRanks, Timings, devices, fastest, longest};
use super::report::setup;
use super::streamed::write;
use crate::FmmError;
use crate::check::{Errors, errors_at};
use crate::commands::check_interrupt;
use crate::commands::input::Input;
use crate::commands::time;
use crate::distributed::Distributed;
use crate::engine::PhaseTimes;
use crate::options::Options;
use crate::plan::SetupTimes;
use crate::points::Points;
use crate::precision::Real;
use crate::session::engines::engine;
use greenup_app::ranks::{Boards, RankTeam};
use greenup_app::{Result, print};
use greenup_device::DeviceSpec;
use greenup_meter::Measurement;
use greenup_ranks::Ranks;
use greenup_report::provenance::Provenance;
use greenup_setting::setting;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// What is asked for, beside the points and options.
pub struct Asked<'a> {
    pub input: &'a Input,
    pub kernels: &'a str,
    pub repeat: usize,
    pub measure: bool,
    pub check: usize,
    pub out: Option<&'a PathBuf>,
    pub json: bool,
}

/// Result of a run with distributed points.
#[derive(Serialize)]
struct Report {
    provenance: Provenance,
    kernel: String,
    precision: &'static str,
    distributed: bool,
    sources: u64,
    targets: u64,
    gradient: bool,
    accuracy: f64,
    order: usize,
    ncrit: usize,
    device: String,
    ranks: usize,
    /// Of each rank: its points, points of others that it has too, and boxes.
    own_points: Vec<i64>,
    other_points: Vec<i64>,
    boxes: Vec<i64>,
    /// Estimated work of the busiest rank over the mean, as points are cut; and if ranks had equal numbers of points.
    imbalance: f64,
    imbalance_by_points: f64,
    /// Largest memory of each rank's process so far, bytes.
    peak_memory_bytes: Vec<i64>,
    /// Of the first rank.
    setup_times: SetupTimes,
    setup_s: f64,
    evaluation_s: f64,
    timings: Timings,
    phases: PhaseTimes,
    measured: Option<Measurement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boards: Option<Boards>,
    errors: Option<Errors>,
}

/// Runs it on all ranks.
pub fn run<R: Real>(
    asked: &Asked<'_>,
    options: &Options,
    team: &RankTeam,
    device: impl Fn(&dyn Ranks) -> DeviceSpec + Sync,
) -> Result {
    let report = team.run(|ranks| run_in::<R>(asked, options, ranks, device(&**ranks)))?;
    if !team.has_first() {
        return Ok(());
    }
    if asked.json {
        return print::json(&report);
    }
    print::line(text(&report).trim_end());
    Ok(())
}

fn run_in<R: Real>(
    asked: &Asked<'_>,
    options: &Options,
    ranks: &Arc<dyn Ranks>,
    device: DeviceSpec,
) -> Result<Report> {
    let ranks = &**ranks;
    let mut provenance = Provenance::of_process().seeded(Some(asked.input.seed));
    let (points, charges) = asked.input.load_piece(ranks.rank(), ranks.size())?;
    let start = Instant::now();
    let sum = Distributed::<R>::new(ranks, (&points, &charges), options)?;
    let (mut engine, name) = engine(Arc::clone(sum.plan()), &device, asked.kernels)?;
    let setup_s = longest(ranks, start.elapsed().as_secs_f64());
    let mut results = Vec::new();
    let (mut timings, phases) = fastest(ranks, asked.repeat, || {
        let between = BetweenRanks {
            exchange_s: sum.evaluate(ranks, &mut *engine, &mut results)?,
            ..BetweenRanks::default()
        };
        Ok((engine.phases(), between))
    })?;
    let measured = if asked.measure {
        Some(evaluation::measure(ranks, &device, &mut *engine)?)
    } else {
        None
    };
    let (measured, boards) = measured.map_or((None, None), |(m, boards)| (Some(m), boards));
    ranks.barrier();
    let start = Instant::now();
    let own = sum.in_input_order(ranks, &results);
    timings.results_exchange_s = longest(ranks, start.elapsed().as_secs_f64());
    // Of another order now.
    drop(results);
    let mut errors = None;
    if sum.points() > 0 {
        let piece = (&points, charges.as_slice());
        let compared = |samples| check(ranks, options, piece, (&own, sum.points()), samples);
        let e = compared(asked.check.max(CHECKED));
        accepted(options, || refuse::<R>(options, &e))?;
        errors = (asked.check > 0).then(|| {
            if asked.check < CHECKED {
                compared(asked.check)
            } else {
                e
            }
        });
    }
    if let Some(path) = asked.out {
        let names = options.kernel.columns(options.gradient);
        write(ranks, names, (&points, &own), path)?;
    }
    check_interrupt()?;
    provenance.took("set-up", setup_s);
    provenance.took("evaluation", timings.evaluation_s);
    let (own, others) = sum.own_points();
    let [imbalance_by_points, imbalance] = sum.imbalance();
    let peak = greenup_process::memory::peak().unwrap_or(0);
    let counts = [
        own as i64,
        others as i64,
        sum.plan().tree().nodes.len() as i64,
        peak as i64,
    ];
    let [own_points, other_points, boxes, peak_memory_bytes] = counts.map(|n| {
        let mut all = vec![0; ranks.size()];
        all[ranks.rank()] = n;
        ranks.sum_integers(&mut all);
        all
    });
    Ok(Report {
        provenance,
        kernel: options.kernel.to_string(),
        precision: R::NAME,
        distributed: true,
        sources: sum.points(),
        targets: sum.points(),
        gradient: options.gradient,
        accuracy: options.tolerance,
        order: sum.plan().order(),
        ncrit: options.ncrit,
        device: devices(name, ranks.size()),
        ranks: ranks.size(),
        own_points,
        other_points,
        boxes,
        imbalance,
        imbalance_by_points,
        peak_memory_bytes,
        setup_times: sum.plan().setup_times(),
        setup_s,
        evaluation_s: timings.evaluation_s,
        timings,
        phases,
        measured,
        boards,
        errors,
    })
}

/// Targets at which results are compared with direct sums at least.
const CHECKED: usize = 32;

/// Refuses results that are less accurate than asked for, as a sample of the targets tells.
fn refuse<R: Real>(o: &Options, e: &Errors) -> std::result::Result<(), FmmError> {
    for (what, error) in [("potentials", Some(e.potential)), ("gradients", e.gradient)] {
        let Some(error) = error.filter(|e| e.is_nan() || *e > 2.0 * o.tolerance) else {
            continue;
        };
        return Err(FmmError::Inaccurate {
            what,
            error,
            targets: e.targets,
            accuracy: o.tolerance,
            hint: if R::DOUBLE {
                "contributions that cancel lose their digits".to_owned()
            } else {
                format!("use {}", setting("precision").to("f64"))
            },
        });
    }
    Ok(())
}

/// Errors against direct sums at targets evenly spaced among all: each rank sums over its piece of the sources.
fn check(
    ranks: &dyn Ranks,
    o: &Options,
    (points, charges): (&Points, &[f64]),
    (results, all): (&[f64], u64),
    samples: usize,
) -> Errors {
    let (n, size, rank) = (all as usize, ranks.size(), ranks.rank());
    let first = (n as u128 * rank as u128 / size as u128) as usize;
    let count = samples.min(n);
    let outputs = o.kernel.outputs(o.gradient);
    // A number and zeros of the other ranks add up without rounding.
    let mut values = vec![0.0; count * (3 + outputs)];
    for k in 0..count {
        let i = (k * n / count).wrapping_sub(first);
        if i < points.len() {
            for (c, x) in points.at(i).into_iter().enumerate() {
                values[c * count + k] = x;
            }
            for c in 0..outputs {
                values[(3 + c) * count + k] = results[c * points.len() + i];
            }
        }
    }
    ranks.sum(&mut values);
    let at = Points {
        x: std::array::from_fn(|a| values[a * count..(a + 1) * count].to_vec()),
    };
    let kernel = (o.kernel, o.gradient);
    errors_at(ranks, kernel, (points, charges), &at, &values[3 * count..])
}

fn text(r: &Report) -> String {
    let mut out = format!(
        "{} of {} points in {}, accuracy {:e} (order {}, ncrit {}), on {}; points distributed\n",
        r.kernel, r.sources, r.precision, r.accuracy, r.order, r.ncrit, r.device
    );
    let t = &r.timings;
    out += &setup(r.setup_s, &r.setup_times);
    let _ = writeln!(out, "evaluation        {:>9}", time(r.evaluation_s));
    for (name, s) in [
        ("phases", t.compute_s),
        ("exchange", t.exchange_s),
        ("permutation", t.permutation_s),
        ("transfers", t.transfers_s),
    ] {
        let _ = writeln!(out, "  {name:<15} {:>9}", time(s));
    }
    if t.results_exchange_s > 0.0 {
        let _ = writeln!(out, "results exchange  {:>9}", time(t.results_exchange_s));
    }
    let _ = writeln!(
        out,
        "busiest rank over mean work {:.2} (with equal numbers of points {:.2})",
        r.imbalance, r.imbalance_by_points
    );
    for rank in 0..r.ranks {
        out += &format!(
            "rank {rank}: {} points, {} of others, {} boxes, peak memory {}\n",
            r.own_points[rank],
            r.other_points[rank],
            r.boxes[rank],
            greenup_process::memory::size(r.peak_memory_bytes[rank] as u64)
        );
    }
    if let Some(e) = &r.errors {
        out += &format!("error of the potential {:.2e}", e.potential);
        if let Some(g) = e.gradient {
            out += &format!(", of the gradient {g:.2e}");
        }
        out += &format!(" at {} targets\n", e.targets);
    }
    out
}
