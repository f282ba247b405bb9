//! The section on the tuning run.

use super::tradeoff;
use crate::device::DeviceStudy;
use greenup_report::page::{Fact, Section};
use greenup_report::si::{percent, si};
use greenup_report::table::{Cell, Header, Table};

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
            match study.is_gpu() {
                true => "`greenup tune crates/gemm/src/kernels/gpu/problem.toml`",
                false => "`greenup gemm --tune` keeps the winner and",
            },
            study.anchor("tuning")
        ),
    ];
    let peak = tuning
        .comparison
        .peak_flops_per_s
        .as_ref()
        .map(|p| p.median);
    let rows = tuning
        .comparison
        .entries
        .iter()
        .map(|e| {
            let rate = tuning.size.flops() / e.time_s.median;
            vec![
                Cell::text(&e.name),
                Cell::number(e.time_s.median, si(e.time_s.median, "s")),
                Cell::text(format!(
                    "{} … {}",
                    si(e.time_s.lo, "s"),
                    si(e.time_s.hi, "s")
                )),
                Cell::number(rate, si(rate, "flop/s")),
                peak.map_or_else(
                    || Cell::text("–"),
                    |p| Cell::number(rate / p, percent(rate / p)),
                ),
                match e.error.is_nan() {
                    true => Cell::text("–"),
                    false => Cell::number(e.error, format!("{:.1e}", e.error)),
                },
            ]
        })
        .collect();
    section.tables = vec![Table {
        caption: "DGEMM, interleaved comparison".into(),
        header: vec![
            Header::new("kernel", ""),
            Header::new("time", "median of the rounds"),
            Header::new("95 %", "interval of the median"),
            Header::new("rate", ""),
            Header::new(
                "fraction of peak",
                "of multiply–adds in registers, measured in the same rounds",
            ),
            Header::new("error", "largest error over the sum of |a·b|"),
        ],
        rows,
    }];
    let config: Vec<String> = tuning
        .config
        .iter()
        .map(|(n, v)| format!("{n} = {v}"))
        .collect();
    let head = match tuning.found_faster() {
        true => "The fastest of the configs tried",
        false => "The default config stays",
    };
    section.items = vec![Fact::new(head, config.join(", "))];
    if let Some(t) = &tuning.tradeoff {
        tradeoff::add(t, &mut section);
    }
    Some(section)
}
