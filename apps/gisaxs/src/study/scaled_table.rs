//! Tables of cases on 1 to N GPUs or threads.

use super::scaling::{OnGpus, OnThreads, Scaled};
use greenup_report::table::Columns;

/// The text below the table of GPUs.
pub const GPUS: &str = "evaluate: upload, kernels and download of the slowest GPU, and the rest on the host. Speedups: all \
                        kernels, evaluation, and whole (preparation and evaluation). Energy: kernels of all GPUs.";

/// The text below the table of threads.
pub const THREADS: &str = "Medians of the rounds. GFLOP/s: by the operation count of direct sums in the paper (85 n_t + 16) \
                           for every method.";

/// The table of GPUs.
pub fn of_gpus() -> Columns<'static, Scaled<OnGpus>> {
    columns::<OnGpus>()
        .count("GPUs", "", |r| r.on.gpus as u64)
        .shown("prepare, s", "", four, |r| r.on.prepare_s)
        .shown("evaluate, s", "", four, |r| r.evaluation_s)
        .shown("upload, s", "", four, |r| r.on.upload_s)
        .shown("kernels, s", "", four, |r| r.on.kernel_s)
        .shown("download, s", "", four, |r| r.on.download_s)
        .shown("host, s", "", four, |r| r.on.host_s)
        .shown("speedup of kernels", "", ratio, |r| r.on.kernel_speedup)
        .shown("of evaluation", "", ratio, |r| r.on.evaluation_speedup)
        .shown("of whole", "", ratio, |r| r.on.whole_speedup)
        .shown("energy, J", "", four, |r| r.on.total_j)
        .shown("greenup", "", ratio, |r| r.on.greenup)
        .text("bits of one", "", bits)
}

/// The table of threads.
pub fn of_threads() -> Columns<'static, Scaled<OnThreads>> {
    columns::<OnThreads>()
        .count("threads", "", |r| r.on.threads as u64)
        .text("pin", "", |r| r.on.pin.name().into())
        .text("evaluate, s [shortest…longest]", "", |r| {
            let [lo, hi] = r.evaluation_range_s;
            format!("{:.4} [{lo:.4}…{hi:.4}]", r.evaluation_s)
        })
        .three("GFLOP/s", "", |r| r.on.gflops)
        .shown("speedup", "", ratio, |r| r.on.speedup)
        .percent("efficiency", "", |r| r.on.efficiency)
        .text("bits of one", "", bits)
}

fn columns<D>() -> Columns<'static, Scaled<D>> {
    Columns::<Scaled<D>>::new()
        .text("method", "", |r| r.case.method())
        .text("q_z", "", |r| r.case.q_z().into())
        .count("triangles", "", |r| r.triangles as u64)
        .count("q", "", |r| r.points as u64)
}

fn four(v: f64) -> String {
    format!("{v:.4}")
}

fn ratio(v: f64) -> String {
    format!("{v:.3}")
}

fn bits<D>(r: &Scaled<D>) -> String {
    if r.same_bits { "yes" } else { "NO" }.to_owned()
}
