//! The tuning run's section.

use crate::study::Study;
use greenup_report::page::{Cell, Fact, Header, Section, Table};
use greenup_report::si::{percent, si};

pub fn section(study: &Study) -> Option<Section> {
    let mut section = Section {
        id: "tuning".into(),
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
            "DGEMM, {}: {} All took turns on the same matrices, and every result was checked against sums in twice the precision.",
            tuning.size,
            tuning.describe()
        ),
        "`greenup gemm --tune` searches longer and keeps the winner; `greenup analyze` explains the sweep in the folder `tuning`."
            .into(),
    ];
    let peak = tuning.contest.peak_flops_per_s.as_ref().map(|p| p.median);
    let rows = tuning
        .contest
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
                Cell::number(e.error, format!("{:.1e}", e.error)),
            ]
        })
        .collect();
    section.tables = vec![Table {
        caption: "DGEMM in turns".into(),
        header: vec![
            Header::new("who", ""),
            Header::new("time", "median of the rounds"),
            Header::new("95 %", "interval of the median"),
            Header::new("rate", ""),
            Header::new(
                "of peak",
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
    section.items = vec![Fact::new("The best kernel", config.join(", "))];
    Some(section)
}
