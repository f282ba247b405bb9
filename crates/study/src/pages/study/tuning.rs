//! The section on the tuning run.

use super::tradeoff;
use crate::device::DeviceStudy;
use greenup_gemm::{Comparison, Entry, Size};
use greenup_meter::Summary;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit,
};
use greenup_report::page::{Fact, Figure, Section};
use greenup_report::si::{factor, si, three};
use greenup_report::table::{Cell, Columns};

/// A tuned kernel against others; `None` where none was tuned.
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
    if !tuning.found_faster() {
        section.title = "No tuned kernel beat the default".into();
    }
    section.figures = intervals(&tuning.comparison)
        .map(|c| Figure::chart(&c, "Time of a product: medians of the rounds with 95 % intervals; in brackets over that of the first."))
        .into_iter()
        .collect();
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
    section.tables = vec![
        columns(tuning.size, &tuning.comparison)
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

/// Times of all products with their intervals; `None` without any.
fn intervals(all: &Comparison) -> Option<Chart> {
    if all.entries.is_empty() {
        return None;
    }
    let name = |e: &Entry| match &e.ratio {
        Some(r) => format!("{} (×{})", e.name, three(r.median)),
        None => e.name.clone(),
    };
    let (x, y) = (
        Axis::new("time", Unit::si("s"), Scale::Linear),
        // The first on top.
        Scale::Names(all.entries.iter().rev().map(name).collect()),
    );
    let mut panel = Panel::new("", x, Axis::new("", Unit::None, y));
    panel.height = Height::Rows(30.0);
    for (row, e) in all.entries.iter().rev().enumerate() {
        let at = row as f64;
        let tip = format!("{}: {}", e.name, si(e.time_s.median, "s"));
        panel.push(Layer::dashed(
            0,
            vec![(e.time_s.lo, at), (e.time_s.hi, at)],
            3.0,
            "",
            tip.clone(),
        ));
        let mark = Mark {
            x: e.time_s.median,
            y: at,
            interval: None,
            tip,
        };
        panel.push(Layer::points(0, vec![mark], 9.0));
    }
    Some(Chart {
        title: "Kernels in the same rounds".into(),
        series: vec![Series::new("", Ink::Series(0), Sign::Dot)],
        panels: vec![panel],
        ..Chart::default()
    })
}

/// The table of an interleaved comparison of products of one size.
pub fn columns(size: Size, all: &Comparison) -> Columns<'_, Entry> {
    let rate = move |e: &Entry| size.flops() / e.time_s.median;
    let peak = all.peak_flops_per_s.as_ref().map(|p| p.median);
    Columns::<Entry>::new()
        .text("kernel", "", |e| e.name.clone())
        .si("time", "median of the rounds", "s", |e| e.time_s.median)
        .range("95 %", "interval of the median", "s", |e| {
            (e.time_s.lo, e.time_s.hi)
        })
        .si("rate", "", "flop/s", rate)
        .percent(
            "fraction of peak",
            "of multiply–adds in registers, measured in the same rounds",
            move |e| peak.map(|p| rate(e) / p),
        )
        .cell(
            "time to greenup's",
            "time over that of the first, with its 95 % interval",
            |e| Cell::known(e.ratio.as_ref().map(ratio)),
        )
        .where_known()
        .shown(
            "error",
            "largest error over the sum of |a·b|",
            |e| format!("{e:.1e}"),
            |e| e.error,
        )
}

fn ratio(s: &Summary) -> String {
    let tie = if s.lo <= 1.0 && s.hi >= 1.0 {
        ", no difference found"
    } else {
        ""
    };
    let [median, lo, hi] = [s.median, s.lo, s.hi].map(factor);
    format!("{median} [{lo} … {hi}]{tie}")
}
