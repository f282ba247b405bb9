//! What binds a kernel and what to do about it, in plain words.

use crate::attribution::Row;
use crate::groups::{Group, Key};
use greenup_model::{Bound, Op};
use greenup_report::si::{percent, si};

/// Share of the roof's time above which a kernel is at its roof.
const AT_ROOF: f64 = 0.7;
/// Share of its busiest class's time above which a kernel is faster than its machine can be: rates of boards and clocks differ by less.
const BEYOND: f64 = 1.1;

/// How many times faster a kernel is than its machine can be.
fn excess(row: &Row) -> Option<f64> {
    let share = row.busiest_s? / row.median_s;
    (share > BEYOND && share.is_finite()).then_some(share)
}

/// A note on kernels that are faster than their machine can be.
pub fn beyond(kernels: &[Row], machine: &str) -> Option<String> {
    let all = || kernels.iter().filter_map(|r| Some((r, excess(r)?)));
    let (worst, share) = all().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let count = match all().count() {
        1 => "1 kernel is".to_owned(),
        n => format!("{n} kernels are"),
    };
    Some(format!(
        "{count} faster than {machine} can be, most of all {}: {} where {} is the least, {} of the roof. A unit or a counter is wrong, or \
         it ran on another machine (--machine): do not use their energies and powers",
        worst.name,
        si(worst.median_s, "s"),
        si(share * worst.median_s, "s"),
        percent(share)
    ))
}

/// Of a kernel with counters.
pub fn kernel(row: &Row, bound: Bound) -> String {
    if excess(row).is_some() {
        return "Faster than its machine can be: check units and --machine.".into();
    }
    let share = row.of_roof.unwrap_or(0.0);
    if share < 0.1 && row.median_s < 10e-6 {
        return format!(
            "Too short to fill the GPU ({:.1} µs): fuse it with its neighbours, batch it, or launch it in a CUDA graph.",
            row.median_s * 1e6
        );
    }
    let memory = matches!(bound, Bound::Op(op) if op.is_bytes());
    match (share >= AT_ROOF, bound) {
        (true, Bound::Op(Op::Dram)) => "At the roof of slow memory: only fewer bytes help. Fuse it with kernels before or after it, or store in fewer bits.".into(),
        (true, Bound::Op(Op::L2 | Op::L1)) => "At the roof of a cache: keep more of its data in registers or shared memory.".into(),
        (true, Bound::Cap) => "At the power cap: it gets faster only if each result takes less energy, by a lower precision or fewer bytes.".into(),
        (true, _) => "At the arithmetic roof: only fewer operations or a lower precision help.".into(),
        (false, _) if memory => format!(
            "At {} of its roof, memory: look at coalesced and wide accesses, and more bytes in flight.",
            percent(share)
        ),
        (false, _) => format!(
            "At {} of its roof: look at occupancy, tile sizes, waves of blocks that do not fill the GPU, and instructions other than the arithmetic.",
            percent(share)
        ),
    }
}

/// Of a kernel without counters: its length alone tells something.
pub fn uncounted(row: &Row) -> String {
    if row.median_s < 5e-6 {
        format!(
            "Short ({:.1} µs): launches cost as much. Fuse, batch, or use a CUDA graph.",
            row.median_s * 1e6
        )
    } else {
        String::new()
    }
}

/// Of copies and memsets.
pub fn copy(key: &Key, group: &Group) -> String {
    let rate = group.bytes / group.time_s.max(1e-12);
    match key {
        Key::Copy(1..=4) if rate < 10e9 && group.median_s > 20e-6 => {
            "Slow for a bus: use pinned memory and larger copies.".to_owned()
        }
        Key::Copy(1..=4) => {
            "Overlap it with kernels in another stream, or keep the data on the GPU.".to_owned()
        }
        Key::Copy(_) => "A kernel that reads the data in place would save it.".to_owned(),
        _ => "A kernel that writes the zeros itself would save it.".to_owned(),
    }
}

/// Of the time between kernels.
pub fn gap() -> String {
    "The GPU waits, at constant power: fewer and larger launches, CUDA graphs, data loaded ahead."
        .to_owned()
}

/// Of long gaps: no launch takes that long.
pub fn pause() -> String {
    "The program does something else: start-up, data, files, or work of the CPU. The timeline shows when."
        .to_owned()
}

/// Of the time before the first and after the last work.
pub fn outside(outside_s: f64, wall_s: f64) -> String {
    if outside_s > 0.2 * wall_s {
        "Start and end of the program take a large part of the run: profile a longer one."
            .to_owned()
    } else {
        String::new()
    }
}
