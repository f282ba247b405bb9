//! Tables of the page, and the same as CSV.

use super::kinds::{of_all, of_time, span};
use crate::attribution::{GpuProfile, Profile, Row};
use crate::cpu::{Cpu, Estimated};
use crate::names::without_namespaces;
use greenup_model::Op;
use greenup_report::si::{si, three};
use greenup_report::table::{Cell, Columns, Table};

/// A kernel's name after its number in the order of energy: figures cut names, and those of libraries begin alike.
pub fn numbered(k: usize, name: &str) -> String {
    format!("{}. {name}", k + 1)
}

/// The cell of a kernel: sorted by its number, which stays on the line of its name.
fn kernel((k, row): &(usize, &Row)) -> Cell {
    let text = numbered(*k, &row.name).replacen(' ', "\u{a0}", 1);
    Cell::number(*k as f64, text).marked("wrap")
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

/// Where time and energy go, and what to do: the columns of kernels, which the page numbers.
pub fn columns(g: &GpuProfile) -> Columns<'_, (Option<usize>, &Row)> {
    Columns::<(Option<usize>, &Row)>::new()
        .cell(
            "kernel",
            "its number as in the figures; its whole name is in profile.json and kernels.csv",
            |(k, r)| k.map_or_else(|| Cell::text(&r.name), |k| kernel(&(k, *r))),
        )
        .cell("launches", "of one grid; of pauses: how many", |(_, r)| {
            launches(r)
        })
        .detail()
        .si("time", "sum of its durations", "s", |(_, r)| r.time_s)
        .percent("of the time", span(g), |(_, r)| of_time(g, r.share_s))
        .si(
            "energy",
            "scaled to the meter, where there is one",
            "J",
            |(_, r)| g.energy(r),
        )
        .where_known()
        .percent(
            "of the energy",
            "share of the GPU's energy in the whole run",
            |(_, r)| of_all(g, g.energy(r)),
        )
        .kept()
        .where_known()
        .si("power", "mean while it ran", "W", |(_, r)| r.power_w)
        .where_known()
        .cell("binds", "at the roof of the machine model", |(_, r)| {
            Cell::known(r.bound.as_ref())
        })
        .kept()
        .where_known()
        .percent(
            "of the roof",
            "shortest time on this machine over the median",
            |(_, r)| r.of_roof,
        )
        .where_known()
}

/// Kernels, those with the most energy first.
pub fn kernels(g: &GpuProfile) -> Table {
    let rows = (g.kernels.iter().enumerate()).map(|(k, r)| (Some(k), r));
    columns(g)
        .text("group", "", |(_, r)| r.kind.name().to_owned())
        .cell("what to do", "", |(_, r)| advised(r))
        .where_known()
        .table("Kernels", rows)
}

/// What to do about it, if anything.
fn advised(row: &Row) -> Cell {
    match row.advice.as_str() {
        "" => Cell::missing().marked("wrap"),
        text => Cell::wrapped(text),
    }
}

/// How often it ran, where it is something that runs.
fn launches(row: &Row) -> Cell {
    match row.launches {
        0 => Cell::missing(),
        n => Cell::count(n),
    }
}

/// The names in full, which tables and figures cut.
pub fn names(g: &GpuProfile) -> Table {
    Columns::<(usize, &Row)>::new()
        .wrapped("name", "without namespaces", |(k, r)| {
            numbered(*k, &without_namespaces(&r.full_name))
        })
        .table("Names in full", g.kernels.iter().enumerate())
}

/// Kernels, those with the most energy first: launches and what the energy rests on.
pub fn times(g: &GpuProfile) -> Table {
    Columns::<(usize, &Row)>::new()
        .cell("kernel", "", kernel)
        .cell("grid / block", "blocks / threads of a block", |(_, r)| {
            Cell::known(Some(shape(r)).filter(|s| !s.is_empty()))
        })
        .where_known()
        .si("median", "of one launch", "s", |(_, r)| r.median_s)
        .si("shortest", "", "s", |(_, r)| r.least_s)
        .si("longest", "", "s", |(_, r)| r.longest_s)
        .si(
            "under ncu",
            "median duration of the launches that the profiler counted, alone on the GPU",
            "s",
            |(_, r)| r.profiler_s,
        )
        .where_known()
        .shown(
            "difference",
            "median over that under ncu, minus 1",
            |d| format!("{:+.1} %", 100.0 * d),
            |(_, r)| {
                let counted = r.profiler_s.filter(|s| *s > 0.0);
                counted.map(|s| r.median_s / s - 1.0)
            },
        )
        .where_known()
        .si(
            "model",
            "energy of all launches before it is scaled",
            "J",
            |(_, r)| r.model_j.filter(|_| g.model_j.is_some()),
        )
        .where_known()
        .text(
            "rests on",
            "counters, or the power of its class",
            |(_, r)| match &r.class {
                Some(c) => format!("{}: {c}", r.basis.name()),
                None => r.basis.name().to_owned(),
            },
        )
        .table("", g.kernels.iter().enumerate())
}

/// Copies, gaps, and the time before and after.
pub fn others(g: &GpuProfile) -> Table {
    let bytes = |r: &Row| Some(r.bytes).filter(|b| *b > 0.0);
    Columns::<Row>::new()
        .text("what", "", |r| r.name.clone())
        .cell("times", "", launches)
        .si("time", "", "s", |r| r.share_s)
        .percent("of the time", span(g), |r| of_time(g, r.share_s))
        .where_known()
        .si("bytes", "", "B", bytes)
        .where_known()
        .si("rate", "", "B/s", move |r| {
            bytes(r).filter(|_| r.time_s > 0.0).map(|b| b / r.time_s)
        })
        .where_known()
        .si(
            "energy",
            "scaled to the meter, where there is one; before and after: measured",
            "J",
            |r| g.energy(r),
        )
        .where_known()
        .percent("of the energy", "", |r| of_all(g, g.energy(r)))
        .where_known()
        .si("power", "", "W", |r| r.power_w)
        .where_known()
        .text("rests on", "", |r| r.basis.name().to_owned())
        .cell("what to do", "", advised)
        .where_known()
        .table("Copies and the rest", &g.others)
}

/// Operations and bytes of one launch of each kernel with counters.
pub fn work(g: &GpuProfile) -> Table {
    let counted =
        (g.kernels.iter().enumerate()).filter(|(_, r)| r.counted > 0 && !r.work.is_empty());
    let done = |op: &Op| {
        let mut counts = counted.clone().filter_map(|(_, r)| r.work.get(op));
        counts.any(|n| *n > 0.0)
    };
    Columns::<(usize, &Row)>::new()
        .cell("kernel", "", kernel)
        .text("grid / block", "", |(_, r)| shape(r))
        .count("counted", "launches", |(_, r)| r.counted as u64)
        .three("flop/B", "flops over bytes of slow memory", |(_, r)| {
            r.intensity
        })
        .and_each(Op::ALL.into_iter().filter(done), |c, op| {
            c.si(op.name(), op.describe(), op.unit_name(), move |(_, r)| {
                r.work.get(&op).copied()
            })
        })
        .table("Counted work of one launch", counted.clone())
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
pub fn csv(p: &Profile) -> String {
    let sizes = |v: Option<[i32; 3]>| Cell::known(v.map(|[x, y, z]| format!("{x} {y} {z}")));
    let rows = (p.gpus.iter()).flat_map(|g| {
        let rows = g.kernels.iter().chain(&g.others);
        rows.map(move |r| (&g.bus_id, r))
    });
    Columns::<(&String, &Row)>::new()
        .text("gpu", "", |(bus, _)| (*bus).clone())
        .text("name", "", |(_, r)| r.full_name.clone())
        .text("kind", "", |(_, r)| r.kind.name().to_owned())
        .cell("symbol", "", |(_, r)| Cell::known(r.symbol.as_ref()))
        .cell("grid", "", move |(_, r)| sizes(r.grid))
        .cell("block", "", move |(_, r)| sizes(r.block))
        .count("launches", "", |(_, r)| r.launches)
        .exact("time_s", |(_, r)| r.time_s)
        .exact("share_s", |(_, r)| r.share_s)
        .exact("median_s", |(_, r)| r.median_s)
        .exact("least_s", |(_, r)| r.least_s)
        .exact("longest_s", |(_, r)| r.longest_s)
        .exact("profiler_s", |(_, r)| r.profiler_s)
        .text("basis", "", |(_, r)| r.basis.name().to_owned())
        .exact("model_j", |(_, r)| r.model_j)
        .exact("joules", |(_, r)| r.joules)
        .exact("power_w", |(_, r)| r.power_w)
        .exact("clock_hz", |(_, r)| r.clock_hz)
        .exact("bytes", |(_, r)| r.bytes)
        .exact("intensity", |(_, r)| r.intensity)
        .cell("bound", "", |(_, r)| Cell::known(r.bound.as_ref()))
        .exact("of_roof", |(_, r)| r.of_roof)
        .and_each(Op::ALL, |c, op| {
            c.exact(op.name(), move |(_, r)| r.work.get(&op).copied())
        })
        .csv(rows)
}
