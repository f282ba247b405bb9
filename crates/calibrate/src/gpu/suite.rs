//! Which microbenchmarks a calibration of a GPU runs, and running them.

use super::context::BenchContext;
use super::kind::{Fill, GpuBench, GpuBenchmark, GpuLevel, Number, Operand};
use crate::record::Record;
use greenup_device::cuda::CudaError;
use greenup_files::FileError;
use greenup_meter::{Flag, Measurement, Meter, Observer, Policy};
use greenup_model::Work;

/// FMAs on each number of a stream.
const F64: [u32; 7] = [0, 1, 2, 4, 8, 16, 32];
const F32: [u32; 8] = [0, 1, 2, 4, 8, 16, 32, 64];
const F16: [u32; 5] = [1, 4, 16, 32, 64];

/// All microbenchmarks on all multiprocessors; those that fix constant power and the clock's effect
/// on parts of them too; some on other data.
pub fn plan(multiprocessors: u32, quick: bool) -> Vec<GpuBench> {
    let mut out = Vec::new();
    let mut add = |kind, share: f64, fill| {
        let parts = ((f64::from(multiprocessors) * share).round() as u32).max(1);
        out.push(GpuBench {
            kind,
            multiprocessors: parts,
            fill,
        });
    };
    let peaks = [
        GpuBenchmark::Peak(Number::F64),
        GpuBenchmark::Peak(Number::F32),
        GpuBenchmark::Peak(Number::F16),
        GpuBenchmark::Integers,
        GpuBenchmark::Roots,
        GpuBenchmark::Shared,
        GpuBenchmark::L2,
        GpuBenchmark::Dmma(8),
        GpuBenchmark::Dmma(16),
        GpuBenchmark::Wgmma(Operand::Tf32),
        GpuBenchmark::Wgmma(Operand::Bf16),
        GpuBenchmark::Wgmma(Operand::Fp8),
        GpuBenchmark::Wgmma(Operand::Int8),
    ];
    for kind in peaks.into_iter().chain([
        GpuBenchmark::Dmma(4),
        GpuBenchmark::Read,
        GpuBenchmark::Write,
        GpuBenchmark::CopyOnce,
        GpuBenchmark::Random(GpuLevel::Dram),
    ]) {
        add(kind, 1.0, Fill::Normal);
    }
    for (number, all) in [
        (Number::F64, &F64[..]),
        (Number::F32, &F32[..]),
        (Number::F16, &F16[..]),
    ] {
        for &k in all.iter().step_by(if quick { 2 } else { 1 }) {
            add(GpuBenchmark::Stream(number, k), 1.0, Fill::Normal);
        }
    }
    let shares: &[f64] = if quick {
        &[0.5]
    } else {
        &[0.25, 0.5, 0.75, 0.9]
    };
    for &share in shares {
        for kind in peaks {
            add(kind, share, Fill::Normal);
        }
        add(GpuBenchmark::Stream(Number::F64, 8), share, Fill::Normal);
        add(GpuBenchmark::Copy, share, Fill::Normal);
    }
    if !quick {
        for fill in [Fill::Uniform, Fill::Ones, Fill::Zeros] {
            for kind in [
                GpuBenchmark::Peak(Number::F64),
                GpuBenchmark::Dmma(16),
                GpuBenchmark::Wgmma(Operand::Bf16),
                GpuBenchmark::Read,
                GpuBenchmark::CopyOnce,
            ] {
                add(kind, 1.0, fill);
            }
        }
    }
    out
}

/// Windows long enough for a counter that ticks ten times per second.
pub fn policy(quick: bool) -> Policy {
    let (window_s, min_ticks) = if quick { (0.5, 5) } else { (1.0, 10) };
    Policy {
        window_s,
        min_ticks,
        warmup_s: 0.5 * window_s,
        warmup_ticks: 3,
        max_warmups: 1,
        min_repeats: 1,
        max_repeats: 1,
        rel_error: 0.005,
    }
}

/// A finished (or interrupted) calibration of a GPU.
#[derive(Clone, Debug, Default)]
pub struct GpuCalibration {
    /// One record a microbenchmark.
    pub records: Vec<Record>,
    /// Microbenchmarks that gave wrong results or did not run, and why; they are not measured.
    pub failed: Vec<String>,
    /// Stopped before the last microbenchmark.
    pub interrupted: bool,
}

/// Checks each kind of kernel against the host, then measures the plan in random order; each record is given to `keep`
/// as soon as it is measured.
///
/// # Errors
/// Those of `keep`.
pub fn run(
    plan: &[GpuBench],
    context: &mut BenchContext,
    meter: &mut Meter,
    observer: &dyn Observer,
    keep: &mut dyn FnMut(&Record) -> Result<(), FileError>,
) -> Result<GpuCalibration, FileError> {
    let mut out = GpuCalibration::default();
    let mut order: Vec<GpuBench> = plan
        .iter()
        .filter(|b| context.can(b.kind))
        .copied()
        .collect();
    observer.stage("compiling kernels", 0);
    context.compile(&order);
    observer.stage("checking kernels", order.len());
    let mut wrong = Vec::new();
    let mut seen = Vec::new();
    for bench in &order {
        if observer.cancelled() {
            out.interrupted = true;
            return Ok(out);
        }
        observer.step(&bench.name());
        if seen.contains(&bench.kind) {
            continue;
        }
        seen.push(bench.kind);
        if let Err(e) = context.check(bench) {
            out.failed.push(e.to_string());
            wrong.push(bench.kind);
        }
    }
    order.retain(|b| !wrong.contains(&b.kind));
    fastrand::Rng::with_seed(0x706c_616e).shuffle(&mut order);
    observer.stage("calibrating", order.len());
    for bench in &order {
        if observer.cancelled() {
            out.interrupted = true;
            break;
        }
        observer.step(&bench.name());
        match measure(bench, context, meter, observer) {
            Ok(Some(r)) => {
                keep(&r)?;
                out.records.push(r);
            }
            Ok(None) => out.interrupted = true,
            Err(e) => out.failed.push(format!("{}: {e}", bench.name())),
        }
    }
    Ok(out)
}

fn measure(
    bench: &GpuBench,
    context: &mut BenchContext,
    meter: &mut Meter,
    observer: &dyn Observer,
) -> Result<Option<Record>, CudaError> {
    let all = f64::from(u32::try_from(context.gpu.multiprocessors).unwrap_or(1));
    let mut prepared = context.prepare(bench)?;
    let mut times = Vec::new();
    let measured = meter.measure(observer, &mut |seconds| {
        times.clear();
        prepared.run(seconds, &mut times)
    })?;
    Ok(measured.map(|m| record(bench, &prepared.work, &m, all)))
}

fn record(bench: &GpuBench, work: &Work, m: &Measurement, all: f64) -> Record {
    let flags: Vec<String> = m
        .flags
        .iter()
        .filter(|f| **f != Flag::NoEnergy)
        .map(ToString::to_string)
        .collect();
    let number = |v: Option<f64>| v.map_or_else(String::new, |v| format!("{v}"));
    Record {
        benchmark: bench.name(),
        setting: format!("{} multiprocessors", bench.multiprocessors),
        work: work.clone(),
        time_s: m.time_s.median,
        energy_j: m.energy_j.as_ref().map(|e| e.median),
        occupancy: f64::from(bench.multiprocessors) / all,
        notes: vec![
            ("_clock_hz".into(), number(m.state.clock_hz)),
            (
                "_power_w".into(),
                number(m.power_w.as_ref().map(|p| p.median)),
            ),
            ("_sensor_ratio".into(), number(m.other_over_main)),
            ("_temperature_c".into(), number(m.state.temperature_c)),
            ("_time_lo_s".into(), format!("{:e}", m.time_s.lo)),
            ("_time_hi_s".into(), format!("{:e}", m.time_s.hi)),
            ("_repeats".into(), m.time_s.n.to_string()),
            ("_flags".into(), flags.join("; ")),
        ],
    }
}
