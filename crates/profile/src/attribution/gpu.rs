//! The joules of one GPU.

use super::class::{Class, filled};
use super::row::{Basis, Row};
use super::timeline::Timeline;
use crate::counters::Counted;
use crate::groups::{Device, Group, Key};
use crate::kind::Kind;
use crate::record::{GpuFacts, Recorded};
use crate::{advice, names};
use greenup_model::{Machine, Op, Work};
use greenup_report::si::si;
use greenup_study::energy::at_roof;
use greenup_tune::analyze::counted::marginal;
use serde::Serialize;

/// The name of the time between launches.
pub const BETWEEN: &str = "between kernels";
/// The name of the long gaps.
pub const PAUSES: &str = "pauses over 100 ms";
/// The name of what the meter counted outside of the window.
pub const OUTSIDE: &str = "before the first and after the last work";

/// From the first work of the GPU to its last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Window {
    /// Start, s after that of the program.
    pub from_s: f64,
    /// End, s.
    pub to_s: f64,
    /// Energy within, J, measured.
    pub joules: Option<f64>,
}

/// One GPU of a run.
#[derive(Clone, Debug, Serialize)]
pub struct GpuProfile {
    /// Model.
    pub name: String,
    /// Bus address.
    pub bus_id: String,
    /// Model of its energy.
    pub machine: Option<String>,
    /// Its sensor.
    pub sensor: Option<String>,
    /// Energy of the whole run, J, measured.
    pub measured_j: Option<f64>,
    /// From its first work to its last.
    pub window: Window,
    /// Sum of the model's energies within the window, J, not scaled.
    pub model_j: Option<f64>,
    /// Measured over model, within the window.
    pub scale: Option<f64>,
    /// Sum of the attributed energies of the whole run, J.
    pub attributed_j: Option<f64>,
    /// Time with work, s.
    pub busy_s: f64,
    /// Time without, within the window, s.
    pub gap_s: f64,
    /// Long gaps: start and end, s after the start of the program.
    pub pauses: Vec<(f64, f64)>,
    /// When each group of kernels ran.
    #[serde(skip)]
    pub timeline: Timeline,
    /// Mean core clock within the window, Hz.
    pub clock_hz: Option<f64>,
    /// Share of the window's model energy that rests on counters.
    pub counted_share: f64,
    /// Shares of time with a lowered clock, by reason.
    pub throttling: Vec<(String, f64)>,
    /// Mean power over time: s after the start, W.
    pub power: Vec<(f64, f64)>,
    /// Kernels, that with the most energy first.
    pub kernels: Vec<Row>,
    /// Copies, memsets, gaps, and the time before and after.
    pub others: Vec<Row>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

impl GpuProfile {
    /// Energy of a row, J: scaled to the meter, where there is one, else by the model.
    pub fn energy(&self, row: &Row) -> Option<f64> {
        let model = row.model_j.filter(|_| self.model_j.is_some());
        row.joules.or(model)
    }
}

/// Step of the curve of power, s.
const STEP_S: f64 = 0.2;
/// A window shorter than this has too few changes of the counter, s.
const SHORT_S: f64 = 1.0;

/// Attributes the energy of one GPU.
pub(super) fn profile(
    run: &Recorded,
    device: &Device,
    facts: Option<&GpuFacts>,
    machine: Option<&Machine>,
) -> GpuProfile {
    let after = |ns: u64| (ns as f64 - run.start_ns as f64) * 1e-9;
    let (from_s, to_s) = (after(device.first_ns), after(device.last_ns));
    let trace = run.trace(facts.and_then(|f| f.sensor.as_deref()));
    let measured_j = trace.and_then(|t| t.joules(0.0, run.wall_s));
    // The meter was read during the run alone: a window that reaches beyond it is cut.
    let (a, b) = (from_s.clamp(0.0, run.wall_s), to_s.clamp(0.0, run.wall_s));
    let inside = trace
        .and_then(|t| t.joules(a, b))
        .filter(|_| measured_j.is_some());
    let clock_hz = trace.and_then(|t| t.clock(from_s, to_s));
    let mut notes = Vec::new();
    let model = Model {
        machine: machine.filter(|m| m.has_energy()),
        clock_hz,
        step_clocks: trace.map_or_else(Vec::new, |t| clocks(t, device, from_s)),
        multiprocessors: facts.map(|f| f.multiprocessors),
    };
    let mut kernels = Vec::new();
    let mut others = Vec::new();
    for group in &device.groups {
        let counted = run.counters.iter().find(|c| c.is_of(&group.key));
        let row = model.row(group, counted);
        match &group.key {
            Key::Kernel { .. } => kernels.push(row),
            Key::Copy(_) | Key::Set => others.push(row),
        }
    }
    if !run.from_table {
        others.extend(model.gaps(device));
    }
    if (run.counters.iter()).any(|c| c.partitions_estimated(model.machine)) {
        notes.push(
            "the profiler did not count the bytes between the partitions of L2, which its count of L2 contains twice: half of the bytes \
             of slow memory are taken for them"
                .into(),
        );
    }
    let model_j: Option<f64> = (kernels.iter().chain(&others)).map(|r| r.model_j).sum();
    let scale = (inside.zip(model_j))
        .filter(|(_, m)| *m > 0.0)
        .map(|(j, m)| j / m);
    let by_counters: f64 = (kernels.iter().filter(|r| r.basis == Basis::Counters))
        .filter_map(|r| r.model_j)
        .sum();
    for row in kernels.iter_mut().chain(&mut others) {
        row.joules = row.model_j.zip(scale).map(|(j, s)| j * s);
        let joules = row
            .joules
            .or(row.model_j.filter(|_| model.machine.is_some()));
        row.power_w = joules
            .filter(|_| row.share_s > 0.0)
            .map(|j| j / row.share_s);
    }
    if let (Some(all), Some(inside)) = (measured_j, inside) {
        let outside_s = run.wall_s - (b - a);
        let mut row = Row::plain(OUTSIDE, Basis::Measured, outside_s);
        row.joules = Some(all - inside);
        row.model_j = row.joules;
        row.power_w = row
            .joules
            .filter(|_| outside_s > 0.0)
            .map(|j| j / outside_s);
        row.advice = advice::outside(outside_s, run.wall_s);
        others.push(row);
        if b - a < SHORT_S {
            notes.push(format!(
                "its work took {}, in which the sensor changed only a few times: joules are rough",
                si(b - a, "s")
            ));
        }
    } else if let Some(t) = trace {
        notes.push(t.why_not());
    }
    match machine {
        None => notes.push("no machine model of it: energy is attributed by time alone; `greenup calibrate --device cuda` makes one".into()),
        Some(m) if !m.has_energy() => notes.push(format!(
            "the machine model {} has no energies: energy is attributed by time alone",
            m.name
        )),
        Some(_) => {}
    }
    notes.extend(machine.and_then(|m| advice::beyond(&kernels, &m.title)));
    let by_energy = |r: &Row| r.joules.or(r.model_j).unwrap_or(r.share_s);
    kernels.sort_by(|a, b| by_energy(b).total_cmp(&by_energy(a)));
    let attributed = (measured_j.is_some() && scale.is_some())
        .then(|| kernels.iter().chain(&others).filter_map(|r| r.joules).sum());
    GpuProfile {
        name: facts.map_or_else(|| "GPU".to_owned(), |f| f.name.clone()),
        bus_id: device.bus_id.clone(),
        machine: model.machine.map(|m| m.name.clone()),
        sensor: trace.map(|t| t.id.clone()),
        measured_j,
        window: Window {
            from_s,
            to_s,
            joules: inside,
        },
        model_j: model_j.filter(|_| model.machine.is_some()),
        scale: scale.filter(|_| model.machine.is_some()),
        attributed_j: attributed,
        busy_s: device.busy_s,
        gap_s: device.gap_s,
        pauses: (device.pauses.iter())
            .map(|(a, b)| (from_s + a, from_s + b))
            .collect(),
        // A table of `ncu` tells how long kernels ran, not when.
        timeline: if run.from_table {
            Timeline::default()
        } else {
            Timeline::of(device, (from_s, to_s))
        },
        clock_hz,
        counted_share: model_j
            .filter(|m| *m > 0.0)
            .map_or(0.0, |m| (by_counters / m).abs()),
        throttling: trace
            .map(crate::joules::Trace::throttling)
            .unwrap_or_default(),
        power: trace.map(|t| t.power(STEP_S)).unwrap_or_default(),
        kernels,
        others,
        notes,
    }
}

/// Mean core clock of each step of a device that began to work at `from_s`, Hz.
fn clocks(trace: &crate::joules::Trace, device: &Device, from_s: f64) -> Vec<Option<f64>> {
    let last = (device.groups.iter())
        .filter_map(|g| Some(g.steps.last()?.0))
        .max();
    let at = |n: u32| from_s + f64::from(n) * device.step_s;
    (0..last.map_or(0, |n| n + 1))
        .map(|n| trace.clock(at(n), at(n + 1)))
        .collect()
}

/// What predicts energies.
struct Model<'a> {
    machine: Option<&'a Machine>,
    /// Mean core clock while the GPU had work, Hz.
    clock_hz: Option<f64>,
    /// The same of each step of the device.
    step_clocks: Vec<Option<f64>>,
    multiprocessors: Option<i64>,
}

impl Model<'_> {
    fn constant_w(&self) -> Option<f64> {
        Some(self.machine?.constant_power_w.as_ref()?.value)
    }

    /// Clocks while a group ran, each with the time at it, s.
    fn clocks(&self, group: &Group) -> Vec<(f64, f64)> {
        let of = |n: u32| self.step_clocks.get(n as usize).copied().flatten();
        let own: Vec<(f64, f64)> = (group.steps.iter())
            .filter_map(|&(n, s)| Some((of(n).or(self.clock_hz)?, s)))
            .collect();
        if own.is_empty() {
            self.clock_hz.map(|hz| (hz, 1.0)).into_iter().collect()
        } else {
            own
        }
    }

    /// Square of the core's voltage over that at the highest clock: the mean while a group ran.
    fn squared(&self, clocks: &[(f64, f64)]) -> f64 {
        self.machine
            .and_then(|m| m.clock.as_ref())
            .and_then(|c| mean(clocks, |hz| c.voltage(hz).powi(2)))
            .unwrap_or(1.0)
    }

    /// The GPU waits, for launches and for the program: with its idle power, where the model has it.
    fn gaps(&self, device: &Device) -> Vec<Row> {
        let pause_s: f64 = device.pauses.iter().map(|(a, b)| b - a).sum();
        let mut all = vec![Row {
            advice: advice::gap(),
            ..self.waits(BETWEEN, (device.gap_s - pause_s).max(0.0))
        }];
        if !device.pauses.is_empty() {
            all.push(Row {
                launches: device.pauses.len() as u64,
                advice: advice::pause(),
                ..self.waits(PAUSES, pause_s)
            });
        }
        all
    }

    fn waits(&self, name: &str, gap_s: f64) -> Row {
        let waiting_w = self.machine.and_then(Machine::waiting_power_w);
        let basis = match self.machine {
            None => Basis::Time,
            Some(_) if waiting_w == self.constant_w() => Basis::ConstantPower,
            Some(_) => Basis::IdlePower,
        };
        let mut row = Row::plain(name, basis, gap_s);
        row.model_j = Some(waiting_w.unwrap_or(1.0) * gap_s);
        row
    }

    fn row(&self, group: &Group, counted: Option<&Counted>) -> Row {
        let mut row = described(group);
        row.profiler_s = counted.and_then(|c| c.time_s);
        row.counted = counted.map_or(0, |c| c.launches);
        let clocks = self.clocks(group);
        row.clock_hz = mean(&clocks, |hz| hz);
        let work =
            (counted.and_then(|c| c.work(&group.key, self.machine))).or_else(|| moved(group));
        if let Some(work) = &work {
            row.work = work.iter().collect();
            row.flops = Some(work.flops()).filter(|f| *f > 0.0);
            row.intensity = work.intensity().filter(|i| *i > 0.0);
        }
        let Some(machine) = self.machine else {
            row.basis = Basis::Time;
            row.model_j = Some(group.share_s);
            return row;
        };
        let constant_j = self.constant_w().unwrap_or(0.0) * group.share_s;
        let squared = self.squared(&clocks);
        let energies = (work.as_ref()).and_then(|w| marginal(machine, w, squared).ok());
        match energies {
            Some(by_op) => {
                row.basis = if counted.is_some() {
                    Basis::Counters
                } else {
                    Basis::Bytes
                };
                row.model_j =
                    Some(group.launches as f64 * by_op.values().sum::<f64>() + constant_j);
                row.energy_by_op_j = by_op;
            }
            None => {
                let class = Class::of(&group.key);
                let above = class.power_w(machine).unwrap_or(0.0)
                    * filled(&group.key, class, self.multiprocessors);
                row.basis = Basis::PowerClass;
                row.class = Some(class.name());
                row.model_j = Some(constant_j + above * group.share_s);
            }
        }
        if let Some(p) = counted
            .and(work.as_ref())
            .and_then(|w| at_roof(machine, w).ok())
        {
            row.roof_s = Some(p.time_s);
            row.of_roof = Some(p.time_s / group.median_s).filter(|s| s.is_finite());
            row.bound = Some(p.bound.to_string());
            row.busiest_s = p.time_by_op_s.values().copied().reduce(f64::max);
            row.advice = advice::kernel(&row, p.bound);
        } else if matches!(group.key, Key::Kernel { .. }) {
            row.advice = advice::uncounted(&row);
        } else {
            row.advice = advice::copy(&group.key, group);
        }
        row
    }
}

/// Mean of a function of the clock over the time at each.
fn mean(clocks: &[(f64, f64)], of: impl Fn(f64) -> f64) -> Option<f64> {
    let time: f64 = clocks.iter().map(|c| c.1).sum();
    (time > 0.0).then(|| clocks.iter().map(|&(hz, s)| of(hz) * s).sum::<f64>() / time)
}

fn described(group: &Group) -> Row {
    // A table of `ncu` may have none.
    let known = |size: &[i32; 3]| size[0] > 0;
    let (symbol, grid, block, full) = match &group.key {
        Key::Kernel {
            name, grid, block, ..
        } => (
            Some(name.clone()),
            Some(*grid),
            Some(*block),
            names::full(name),
        ),
        Key::Copy(kind) => (None, None, None, names::copy(*kind).to_owned()),
        Key::Set => (None, None, None, "memset".to_owned()),
    };
    Row {
        kind: Kind::of(&group.key, &full),
        name: names::short(&full),
        full_name: full,
        symbol,
        grid: grid.filter(known),
        block: block.filter(known),
        launches: group.launches,
        share_s: group.share_s,
        median_s: group.median_s,
        least_s: group.least_s,
        longest_s: group.longest_s,
        bytes: group.bytes,
        ..Row::plain("", Basis::PowerClass, group.time_s)
    }
}

/// Bytes from and to slow memory of one copy or memset.
fn moved(group: &Group) -> Option<Work> {
    let times = match group.key {
        Key::Kernel { .. } => return None,
        Key::Copy(5..=8) => 2.0,
        Key::Copy(9) => 0.0,
        Key::Copy(_) | Key::Set => 1.0,
    };
    Work::new()
        .with(Op::Dram, times * group.bytes / group.launches.max(1) as f64)
        .ok()
}

#[cfg(test)]
mod tests;
