//! Tables of the page, and the same as CSV.

use crate::attribution::{GpuProfile, Profile, Row};
use crate::cpu::{Cpu, Estimated};
use greenup_model::Op;
use greenup_report::si::{percent, si, three};
use greenup_report::table::{Cell, Header, Table};

fn number(v: Option<f64>, unit: &str) -> Cell {
    v.map_or_else(Cell::missing, |v| Cell::number(v, si(v, unit)))
}

fn share(v: Option<f64>) -> Cell {
    v.map_or_else(Cell::missing, |v| Cell::number(v, percent(v)))
}

/// Share of a row in the energy of the GPU.
fn of_all(g: &GpuProfile, r: &Row) -> Cell {
    let all = g.measured_j.or(g.model_j).filter(|a| *a > 0.0);
    share(g.energy(r).zip(all).map(|(j, a)| j / a))
}

/// A kernel's name after its number in the order of energy: figures cut names, and those of libraries begin alike.
pub fn numbered(k: usize, name: &str) -> String {
    format!("{}. {name}", k + 1)
}

/// The cell of a kernel: sorted by its number, which stays on the line of its name.
fn kernel(k: usize, row: &Row) -> Cell {
    let text = numbered(k, &row.name).replacen(' ', "\u{a0}", 1);
    Cell::number(k as f64, text).marked("wrap")
}

/// Grid × block.
pub fn shape(row: &Row) -> String {
    let text = |v: [i32; 3]| match v {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x}×{y}"),
        [x, y, z] => format!("{x}×{y}×{z}"),
    };
    match (row.grid, row.block) {
        (Some(g), Some(b)) => format!("{} / {}", text(g), text(b)),
        _ => String::new(),
    }
}

/// Kernels, those with the most energy first: where time and energy go, and what to do.
pub fn kernels(g: &GpuProfile) -> Table {
    let busy = g.busy_s + g.gap_s;
    Table {
        caption: "Kernels".into(),
        header: vec![
            Header::new(
                "kernel",
                "its number as in the figures; its whole name is in profile.json and kernels.csv",
            ),
            Header::new("launches", "of one grid"),
            Header::new("time", "sum of its durations"),
            Header::new(
                "of the time",
                "share of the time from the first to the last work",
            ),
            Header::new("energy", "scaled to the meter, where there is one"),
            Header::new(
                "of the energy",
                "share of the GPU's energy in the whole run",
            ),
            Header::new("power", "mean while it ran"),
            Header::new("binds", "at the roof of the machine model"),
            Header::new(
                "of the roof",
                "shortest time on this machine over the median",
            ),
            Header::new("what to do", ""),
        ],
        rows: (g.kernels.iter().enumerate())
            .map(|(k, r)| {
                vec![
                    kernel(k, r),
                    Cell::number(r.launches as f64, r.launches.to_string()),
                    number(Some(r.time_s), "s"),
                    share((busy > 0.0).then(|| r.share_s / busy)),
                    number(g.energy(r), "J"),
                    of_all(g, r),
                    number(r.power_w, "W"),
                    r.bound.as_ref().map_or_else(Cell::missing, Cell::text),
                    share(r.of_roof),
                    Cell::wrapped(&r.advice),
                ]
            })
            .collect(),
    }
}

/// Kernels, those with the most energy first: launches and what the energy rests on.
pub fn times(g: &GpuProfile) -> Table {
    Table {
        caption: "Launches of each kernel, and its energy before it is scaled".into(),
        header: vec![
            Header::new("kernel", ""),
            Header::new("grid / block", "blocks / threads of a block"),
            Header::new("median", "of one launch"),
            Header::new("shortest", ""),
            Header::new("longest", ""),
            Header::new(
                "under ncu",
                "median duration of the launches that the profiler counted, alone on the GPU",
            ),
            Header::new("difference", "median over that under ncu, minus 1"),
            Header::new("model", "energy of all launches before it is scaled"),
            Header::new("rests on", "counters, or the power of its class"),
        ],
        rows: (g.kernels.iter().enumerate())
            .map(|(k, r)| {
                let apart = r
                    .profiler_s
                    .filter(|s| *s > 0.0)
                    .map(|s| r.median_s / s - 1.0);
                vec![
                    kernel(k, r),
                    Cell::text(shape(r)),
                    number(Some(r.median_s), "s"),
                    number(Some(r.least_s), "s"),
                    number(Some(r.longest_s), "s"),
                    number(r.profiler_s, "s"),
                    apart.map_or_else(Cell::missing, |d| {
                        Cell::number(d, format!("{:+.1} %", 100.0 * d))
                    }),
                    number(r.model_j.filter(|_| g.model_j.is_some()), "J"),
                    Cell::text(match &r.class {
                        Some(c) => format!("{}: {c}", r.basis.name()),
                        None => r.basis.name().to_owned(),
                    }),
                ]
            })
            .collect(),
    }
}

/// Copies, gaps, and the time before and after.
pub fn others(g: &GpuProfile) -> Table {
    Table {
        caption: "Copies and the rest".into(),
        header: vec![
            Header::new("what", ""),
            Header::new("times", ""),
            Header::new("time", ""),
            Header::new("bytes", ""),
            Header::new("rate", ""),
            Header::new(
                "energy",
                "scaled to the meter, where there is one; before and after: measured",
            ),
            Header::new("of the energy", ""),
            Header::new("power", ""),
            Header::new("rests on", ""),
            Header::new("what to do", ""),
        ],
        rows: (g.others.iter())
            .map(|r| {
                let bytes = Some(r.bytes).filter(|b| *b > 0.0);
                vec![
                    Cell::text(&r.name),
                    match r.launches {
                        0 => Cell::missing(),
                        n => Cell::number(n as f64, n.to_string()),
                    },
                    number(Some(r.share_s), "s"),
                    number(bytes, "B"),
                    number(
                        bytes.filter(|_| r.time_s > 0.0).map(|b| b / r.time_s),
                        "B/s",
                    ),
                    number(g.energy(r), "J"),
                    of_all(g, r),
                    number(r.power_w, "W"),
                    Cell::text(r.basis.name()),
                    Cell::wrapped(&r.advice),
                ]
            })
            .collect(),
    }
}

/// Operations and bytes of one launch of each kernel with counters.
pub fn work(g: &GpuProfile) -> Table {
    let counted: Vec<(usize, &Row)> = (g.kernels.iter().enumerate())
        .filter(|(_, r)| r.counted > 0 && !r.work.is_empty())
        .collect();
    let ops: Vec<Op> = (Op::ALL.into_iter())
        .filter(|op| {
            counted
                .iter()
                .any(|(_, r)| r.work.get(op).is_some_and(|n| *n > 0.0))
        })
        .collect();
    let mut header = vec![
        Header::new("kernel", ""),
        Header::new("grid / block", ""),
        Header::new("counted", "launches"),
        Header::new("flop/B", "flops over bytes of slow memory"),
    ];
    header.extend(ops.iter().map(|op| Header::new(op.name(), op.describe())));
    Table {
        caption: "Counted work of one launch".into(),
        header,
        rows: (counted.iter())
            .map(|(k, r)| {
                let mut row = vec![
                    kernel(*k, r),
                    Cell::text(shape(r)),
                    Cell::number(r.counted as f64, r.counted.to_string()),
                    r.intensity
                        .map_or_else(Cell::missing, |i| Cell::number(i, three(i))),
                ];
                row.extend(
                    ops.iter()
                        .map(|op| number(r.work.get(op).copied(), op.unit_name())),
                );
                row
            })
            .collect(),
    }
}

/// Names and values of the counters of the CPU that there are.
pub fn cpu_counts(c: &Cpu) -> Vec<(&'static str, String)> {
    let n = &c.counts;
    let plain = |v: f64| si(v, "").trim_end().to_owned();
    let all = [
        ("instructions", n.instructions.map(plain)),
        ("cycles", n.cycles.map(plain)),
        (
            "instructions per cycle",
            n.instructions
                .zip(n.cycles)
                .filter(|(_, c)| *c > 0.0)
                .map(|(i, c)| three(i / c)),
        ),
        ("last-level cache misses", n.cache_misses.map(plain)),
        ("flops", c.flops.map(plain)),
        ("page faults", n.page_faults.map(plain)),
        ("context switches", n.context_switches.map(plain)),
        ("waited for a core", n.waited_for_core_s.map(|s| si(s, "s"))),
        (
            match c.dram {
                Estimated::LowerLimit => "slow memory, at least",
                _ => "slow memory, by cache misses",
            },
            c.dram_bytes.map(|b| si(b, "B")),
        ),
        ("flop/B", c.intensity.map(three)),
        ("binds", c.bound.clone()),
    ];
    (all.into_iter())
        .filter_map(|(name, v)| Some((name, v?)))
        .collect()
}

/// All rows of all GPUs as CSV, in SI units.
///
/// # Errors
/// A row cannot be written.
pub fn csv(p: &Profile) -> Result<Vec<u8>, ::csv::Error> {
    let mut out = ::csv::Writer::from_writer(Vec::new());
    let mut head = vec![
        "gpu",
        "name",
        "symbol",
        "grid",
        "block",
        "launches",
        "time_s",
        "share_s",
        "median_s",
        "least_s",
        "longest_s",
        "profiler_s",
        "basis",
        "model_j",
        "joules",
        "power_w",
        "clock_hz",
        "bytes",
        "intensity",
        "bound",
        "of_roof",
    ];
    head.extend(Op::ALL.iter().map(|op| op.name()));
    out.write_record(&head)?;
    let n = |v: Option<f64>| v.map_or_else(String::new, |v| v.to_string());
    let three =
        |v: Option<[i32; 3]>| v.map_or_else(String::new, |[x, y, z]| format!("{x} {y} {z}"));
    for g in &p.gpus {
        for r in g.kernels.iter().chain(&g.others) {
            let mut row = vec![
                g.bus_id.clone(),
                r.full_name.clone(),
                r.symbol.clone().unwrap_or_default(),
                three(r.grid),
                three(r.block),
                r.launches.to_string(),
                r.time_s.to_string(),
                r.share_s.to_string(),
                r.median_s.to_string(),
                r.least_s.to_string(),
                r.longest_s.to_string(),
                n(r.profiler_s),
                r.basis.name().to_owned(),
                n(r.model_j),
                n(r.joules),
                n(r.power_w),
                n(r.clock_hz),
                r.bytes.to_string(),
                n(r.intensity),
                r.bound.clone().unwrap_or_default(),
                n(r.of_roof),
            ];
            row.extend(Op::ALL.iter().map(|op| n(r.work.get(op).copied())));
            out.write_record(&row)?;
        }
    }
    out.into_inner().map_err(|e| e.into_error().into())
}
