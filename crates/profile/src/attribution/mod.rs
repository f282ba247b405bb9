//! The energy of a run, attributed to its kernels, copies and gaps: predicted with the machine model, then scaled to the meter.

mod class;
mod gpu;
mod row;
mod timeline;

pub use class::Class;
pub use gpu::{BETWEEN, GpuProfile, OUTSIDE, PAUSES, Window};
pub use row::{Basis, Row};
pub use timeline::Timeline;

use crate::activity::Activity;
use crate::cpu::Cpu;
use crate::groups;
use crate::record::{GpuFacts, Recorded, same_bus};
use greenup_model::Machine;
use serde::Serialize;

/// A profiled run.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Time of the run, s.
    pub wall_s: f64,
    /// The GPUs that it used.
    pub gpus: Vec<GpuProfile>,
    /// The CPU; a table of `ncu` does not tell of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Cpu>,
    /// What a reader must know of the measurement.
    pub notes: Vec<String>,
}

/// The model of a GPU, if there is one for its name.
pub type ModelOf<'a> = &'a dyn Fn(&GpuFacts) -> Option<Machine>;

/// Attributes the joules of a run to what ran. `host` is the model of the CPU.
pub fn attribute(
    run: &Recorded,
    activity: &[Activity],
    model_of: ModelOf,
    host: Option<&Machine>,
) -> Profile {
    let mut notes = run.notes.clone();
    for a in activity {
        let of = format!("process {}", a.pid);
        notes.extend(a.messages.iter().map(|m| format!("{of}: {m}")));
        if a.dropped > 0 {
            notes.push(format!(
                "{of}: CUPTI dropped {} records: times of kernels are too small",
                a.dropped
            ));
        }
        if !a.complete && !a.events.is_empty() && a.messages.is_empty() {
            notes.push(format!(
                "{of} terminated without a flush: launches of its last fifth of a second may be missing"
            ));
        }
    }
    let devices = groups::devices(activity);
    let gpus: Vec<GpuProfile> = (devices.iter())
        .map(|d| {
            let same = |g: &&GpuFacts| same_bus(&g.bus_id, &d.bus_id);
            // A process that recorded no bus used the only GPU.
            let only = (run.gpus.len() == 1).then(|| &run.gpus[0]);
            let facts = run.gpus.iter().find(same).or(only);
            gpu::profile(run, d, facts, facts.and_then(model_of).as_ref())
        })
        .collect();
    for g in &gpus {
        notes.extend(g.notes.iter().map(|n| format!("{}: {n}", g.name)));
    }
    let host_trace = (run.host_sensor.as_deref()).and_then(|id| run.trace(Some(id)));
    let measured = host_trace.and_then(|t| Some((t.id.clone(), t.joules(0.0, run.wall_s)?)));
    if let (Some(t), None) = (host_trace, &measured) {
        notes.push(t.why_not());
    }
    let times = (run.wall_s, run.user_s, run.system_s);
    Profile {
        command: run.command.clone(),
        wall_s: run.wall_s,
        gpus,
        cpu: (!run.from_table).then(|| Cpu::of(times, run.memory_bytes, &run.cpu, measured, host)),
        notes,
    }
}
