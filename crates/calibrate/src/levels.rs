//! What a byte and a random access cost at each level of the memory hierarchy (thesis, table 6 and section 4.2).

use crate::bench::{Bench, HostBenchmark, Level};
use crate::gpu::context::{BenchContext, CheckError};
use crate::gpu::kind::{Fill, GpuBench, GpuBenchmark, GpuLevel};
use greenup_device::cuda::CudaError;
use greenup_device::{CpuFacts, Team};
use greenup_meter::{Measurement, Meter, Observer};
use greenup_model::Op;
use serde::Serialize;
use std::convert::Infallible;

/// Cost of a byte or of an access, with all cores or multiprocessors at work.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// Time, s.
    pub time_s: f64,
    /// Ends of the interval of the median time, s.
    pub time_lo_s: f64,
    /// See [`Cost::time_lo_s`].
    pub time_hi_s: f64,
    /// Energy with that of constant power, J, if a sensor measured it.
    pub energy_j: Option<f64>,
    /// Mean power, W, if a sensor measured it.
    pub power_w: Option<f64>,
}

impl Cost {
    fn of(m: &Measurement, count: f64) -> Self {
        Self {
            time_s: m.time_s.median / count,
            time_lo_s: m.time_s.lo / count,
            time_hi_s: m.time_s.hi / count,
            energy_j: m.energy_j.as_ref().map(|e| e.median / count),
            power_w: m.power_w.as_ref().map(|p| p.median),
        }
    }
}

/// Costs of a level.
#[derive(Clone, Debug, Serialize)]
pub struct LevelCost {
    /// `L1`, `L2`, `L3` or `DRAM`.
    pub level: String,
    /// Bytes of the table of random accesses: of each thread on a CPU, of all on a GPU.
    pub table_bytes: usize,
    /// A byte of a stream that is read; of L1 on a GPU, of shared memory.
    pub byte: Option<Cost>,
    /// A random access to a line, four at once a thread on a GPU, one on a CPU.
    pub access: Option<Cost>,
    /// Time of an access that waits for the one before, on one thread, s.
    pub latency_s: Option<f64>,
}

/// Measures the levels of a CPU; those measured before the observer cancelled.
pub fn cpu(facts: &CpuFacts, meter: &mut Meter, observer: &dyn Observer) -> Vec<LevelCost> {
    let team = Team::new(&facts.cores);
    let all = team.len();
    let go = || !observer.cancelled();
    let mut measure = |kind, level, threads| {
        let bench = Bench {
            kind,
            level,
            threads,
        };
        let prepared = bench.prepare(facts, &team, &go)?;
        let mut work = |seconds: f64| Ok::<_, Infallible>(prepared.run_while(seconds, &go));
        let measured = match meter.measure(observer, &mut work) {
            Ok(m) => m?,
            Err(never) => match never {},
        };
        observer.step(&bench.name());
        let count: f64 = prepared.work.iter().map(|(_, n)| n).sum();
        Some(Cost::of(&measured, count))
    };
    let levels = [Level::L1, Level::L2, Level::L3, Level::Dram];
    let there: Vec<(Level, usize)> = (levels.into_iter())
        .filter_map(|level| Some((level, level.bytes(facts, all)?)))
        .collect();
    observer.stage("memory levels", 3 * there.len());
    let mut out = Vec::new();
    for (level, table_bytes) in there {
        let cost = LevelCost {
            level: format!("{level:?}").to_uppercase(),
            table_bytes,
            byte: measure(HostBenchmark::Read, level, all),
            access: measure(HostBenchmark::Chase, level, all),
            latency_s: measure(HostBenchmark::Chase, level, 1).map(|c| c.time_s),
        };
        // An interrupted level is not whole.
        if !go() {
            break;
        }
        out.push(cost);
    }
    out
}

/// Checks the kernels against the host, then measures the levels of a GPU; those measured before the observer cancelled.
///
/// # Errors
/// A kernel gives wrong results or does not run.
pub fn gpu(
    context: &mut BenchContext,
    meter: &mut Meter,
    observer: &dyn Observer,
) -> Result<Vec<LevelCost>, CheckError> {
    let all = u32::try_from(context.gpu.multiprocessors).unwrap_or(1);
    let bench = |kind, multiprocessors| GpuBench {
        kind,
        multiprocessors,
        fill: Fill::Normal,
    };
    let stream = |level| match level {
        GpuLevel::L1 => GpuBenchmark::Shared,
        GpuLevel::L2 => GpuBenchmark::L2,
        GpuLevel::Dram => GpuBenchmark::Read,
    };
    observer.stage("memory levels", 3 * GpuLevel::ALL.len());
    let mut out = Vec::new();
    for level in GpuLevel::ALL {
        let mut measure = |bench: GpuBench| -> Result<Option<Cost>, CheckError> {
            if observer.cancelled() {
                return Ok(None);
            }
            context.check(&bench)?;
            let mut prepared = context.prepare(&bench)?;
            let mut times = Vec::new();
            let measured = meter.measure(observer, &mut |seconds| {
                times.clear();
                prepared.run(seconds, &mut times)
            });
            let measured = measured.map_err(|e: CudaError| CheckError::from(e))?;
            observer.step(&bench.name());
            // Streams count integer operations too.
            let data = |op: Op| op.is_bytes() || op == Op::Random;
            let count = prepared.work.iter().filter(|(op, _)| data(*op));
            let count: f64 = count.map(|(_, n)| n).sum();
            Ok(measured.map(|m| Cost::of(&m, count)))
        };
        let byte = measure(bench(stream(level), all))?;
        let access = measure(bench(GpuBenchmark::Random(level), all))?;
        let latency = measure(bench(GpuBenchmark::Latency(level), 1))?;
        let (Some(byte), Some(access), Some(latency)) = (byte, access, latency) else {
            break;
        };
        out.push(LevelCost {
            level: level.to_string(),
            table_bytes: level.lines() as usize * 64,
            byte: Some(byte),
            access: Some(access),
            latency_s: Some(latency.time_s),
        });
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_meter::Policy;
    use greenup_meter::observe::Silent;

    #[test]
    fn costs_of_a_cpu_grow_from_level_to_level() {
        let policy = Policy {
            window_s: 0.02,
            warmup_s: 0.01,
            max_repeats: 3,
            ..Policy::quick()
        };
        let mut meter = Meter::time_only(policy);
        let levels = cpu(&CpuFacts::read(), &mut meter, &Silent);
        let (first, last) = (&levels[0], &levels[levels.len() - 1]);
        assert_eq!((first.level.as_str(), last.level.as_str()), ("L1", "DRAM"));
        assert!(
            levels
                .iter()
                .all(|l| l.byte.is_some() && l.access.is_some())
        );
        assert!(first.latency_s.unwrap() > 1e-10);
        // Main memory is many times as far as the first cache, however busy the host is.
        assert!(last.latency_s.unwrap() > 3.0 * first.latency_s.unwrap());
        assert!(last.access.unwrap().time_s > last.byte.unwrap().time_s);
    }
}
