//! `fmm run --distributed`: each rank has a part of the points.

use super::check_interrupt;
use super::device::{engine, measured, meter};
use super::input::Input;
use super::ranks::{Timings, longest, timings};
use super::time;
use greenup_app::args::Device;
use greenup_app::provenance::Provenance;
use greenup_app::ranks::{Boards, Team};
use greenup_app::{Result, print};
use greenup_device::memory::{bytes, bytes_mut};
use greenup_fmm::check::{Errors, errors_at};
use greenup_fmm::distributed::Distributed;
use greenup_fmm::engine::PhaseTimes;
use greenup_fmm::options::Options;
use greenup_fmm::plan::SetupTimes;
use greenup_fmm::points::{Points, files};
use greenup_fmm::precision::Real;
use greenup_meter::Measurement;
use greenup_ranks::Ranks;
use serde::Serialize;
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
    team: &Team,
    device: impl Fn(&dyn Ranks) -> Device + Sync,
) -> Result {
    let report = team.run(|ranks| of::<R>(asked, options, ranks, device(&**ranks)))?;
    if !team.has_first() {
        return Ok(());
    }
    if asked.json {
        return print::json(&report);
    }
    print::line(text(&report).trim_end());
    Ok(())
}

fn of<R: Real>(
    asked: &Asked<'_>,
    options: &Options,
    ranks: &Arc<dyn Ranks>,
    device: Device,
) -> Result<Report> {
    let ranks = &**ranks;
    let mut provenance = Provenance::of_process().seeded(Some(asked.input.seed));
    let (points, charges) = asked.input.load_piece(ranks.rank(), ranks.size())?;
    let start = Instant::now();
    let sum = Distributed::<R>::new(ranks, (&points, &charges), options)?;
    let (mut engine, name) = engine(Arc::clone(sum.plan()), device, asked.kernels)?;
    let setup_s = longest(ranks, start.elapsed().as_secs_f64());
    let mut results = Vec::new();
    let mut best: Option<(Timings, PhaseTimes)> = None;
    for _ in 0..asked.repeat.max(1) {
        check_interrupt()?;
        ranks.barrier();
        let start = Instant::now();
        let exchange_s = sum.evaluate(ranks, &mut *engine, &mut results)?;
        let new = timings(ranks, start, (&engine.phases(), exchange_s, 0.0));
        if best.is_none_or(|b| new.0.evaluation_s < b.0.evaluation_s) {
            best = Some(new);
        }
    }
    let (timings, phases) = best.ok_or_else(|| greenup_app::AppError::new("no evaluation"))?;
    let (mut measurement, mut boards) = (None, None);
    if asked.measure {
        ranks.barrier();
        let m = measured(&mut meter(device)?, &mut *engine)?;
        if ranks.size() > 1 {
            let energy = m.energy_j.as_ref().map(|e| e.median);
            boards = Boards::of(ranks, m.time_s.median, energy)?;
        }
        measurement = Some(m);
    }
    let mut errors = None;
    if asked.check > 0 || asked.out.is_some() {
        let own = sum.in_input_order(ranks, &results);
        let piece = (&points, charges.as_slice());
        if asked.check > 0 && sum.points() > 0 {
            errors = Some(check(
                ranks,
                options,
                piece,
                (&own, sum.points()),
                asked.check,
            ));
        }
        if let Some(path) = asked.out {
            write(ranks, options, (&points, &own), path)?;
        }
    }
    check_interrupt()?;
    provenance.took("set-up", setup_s);
    provenance.took("evaluation", timings.evaluation_s);
    let (own, others) = sum.own_points();
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
        device: match ranks.size() {
            1 => name,
            n => format!("{name}, {n} ranks"),
        },
        ranks: ranks.size(),
        own_points,
        other_points,
        boxes,
        peak_memory_bytes,
        setup_times: sum.plan().setup_times(),
        setup_s,
        evaluation_s: timings.evaluation_s,
        timings,
        phases,
        measured: measurement,
        boards,
        errors,
    })
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

/// Gathers points and results on the first rank, which writes them.
fn write(
    ranks: &dyn Ranks,
    o: &Options,
    (points, results): (&Points, &[f64]),
    path: &std::path::Path,
) -> Result {
    let gathered = |x: &[f64]| -> Option<Vec<f64>> {
        let all = ranks.gather(bytes(x))?.concat();
        let mut out = vec![0.0; all.len() / 8];
        bytes_mut(&mut out).copy_from_slice(&all);
        Some(out)
    };
    let x = [0, 1, 2].map(|a| gathered(&points.x[a]));
    let mut all = Vec::new();
    for c in 0..o.kernel.outputs(o.gradient) {
        let own = &results[c * points.len()..(c + 1) * points.len()];
        all.extend(gathered(own).unwrap_or_default());
    }
    if ranks.rank() == 0 {
        let points = Points {
            x: x.map(Option::unwrap_or_default),
        };
        files::write(path, &points, o.kernel.columns(o.gradient), &all)?;
        print::note(format!("wrote {}", path.display()));
    }
    Ok(())
}

fn text(r: &Report) -> String {
    let mut out = format!(
        "{} of {} points in {}, accuracy {:e} (order {}, ncrit {}), on {}; points distributed\n",
        r.kernel, r.sources, r.precision, r.accuracy, r.order, r.ncrit, r.device
    );
    out += &format!(
        "evaluation {} (phases {}, exchange {}, permutation {}, transfers {}); set-up {}\n",
        time(r.evaluation_s),
        time(r.timings.compute_s),
        time(r.timings.exchange_s),
        time(r.timings.permutation_s),
        time(r.timings.transfers_s),
        time(r.setup_s)
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
