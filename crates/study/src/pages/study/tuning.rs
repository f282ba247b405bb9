//! The section on the tuning run.

use super::tradeoff;
use crate::device::DeviceStudy;
use greenup_gemm::comparison::Entry;
use greenup_report::page::{Fact, Section};
use greenup_report::table::{Cell, Columns};

pub fn section(study: &DeviceStudy) -> Option<Section> {
    let mut section = Section {
        id: study.anchor("tuning"),
        title: "A kernel tuned for this machine".into(),
        label: Some("measured"),
        ..Section::default()
    };
    let tuning = match study.tuning.as_ref()? {
        Ok(t) => t,
        Err(why) => {
            section.label = None;
            section.paragraphs = vec![format!("DGEMM could not be tuned: {why}")];
            return Some(section);
        }
    };
    section.paragraphs = vec![
        format!(
            "DGEMM, {}: {} The kernels were measured interleaved on the same matrices, and the result of every tuned kernel was verified against sums in twice the working precision.",
            tuning.size,
            tuning.describe()
        ),
        format!(
            "{} searches longer; `greenup analyze` explains the sweep in the folder `{}`.",
            if study.is_gpu() {
                "`greenup tune crates/gemm/src/kernels/gpu/problem.toml`"
            } else {
                "`greenup gemm --tune` keeps the winner and"
            },
            study.anchor("tuning")
        ),
    ];
    let peak = tuning
        .comparison
        .peak_flops_per_s
        .as_ref()
        .map(|p| p.median);
    let flops = tuning.size.flops();
    section.tables = vec![
        Columns::<Entry>::new()
            .text("kernel", "", |e| e.name.clone())
            .si("time", "median of the rounds", "s", |e| e.time_s.median)
            .cell("95 %", "interval of the median", |e| {
                Cell::range(Some((e.time_s.lo, e.time_s.hi)), "s")
            })
            .si("rate", "", "flop/s", |e| flops / e.time_s.median)
            .percent(
                "fraction of peak",
                "of multiply–adds in registers, measured in the same rounds",
                |e| peak.map(|p| flops / e.time_s.median / p),
            )
            .shown(
                "error",
                "largest error over the sum of |a·b|",
                |e| format!("{e:.1e}"),
                |e| e.error,
            )
            .table("DGEMM, interleaved comparison", &tuning.comparison.entries),
    ];
    let config: Vec<String> = tuning
        .config
        .iter()
        .map(|(n, v)| format!("{n} = {v}"))
        .collect();
    let head = if tuning.found_faster() {
        "The fastest of the configs tried"
    } else {
        "The default config stays"
    };
    section.items = vec![Fact::new(head, config.join(", "))];
    if let Some(t) = &tuning.tradeoff {
        tradeoff::add(t, &mut section);
    }
    Some(section)
}
