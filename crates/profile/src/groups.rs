//! Launches of the same kernel together, and how they share the time of a GPU.

use crate::activity::{Activity, Event, What};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

mod parts;
mod steps;

pub use parts::nearest;

/// What is the same in all members of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// Launches of one kernel with one grid and about the same duration.
    Kernel {
        /// Name, as the compiler wrote it.
        name: String,
        /// Blocks of the grid.
        grid: [i32; 3],
        /// Threads of a block.
        block: [i32; 3],
        /// Which part of them, from 0: launches that take clearly longer than others do other work.
        part: u8,
    },
    /// Copies of one kind, by CUPTI's number.
    Copy(u32),
    /// Memory was set.
    Set,
}

impl Key {
    /// The name of a kernel, as the compiler wrote it.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Kernel { name, .. } => Some(name),
            Self::Copy(_) | Self::Set => None,
        }
    }
}

/// Equal work of a GPU, done once or many times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What it is.
    pub key: Key,
    /// How often it ran.
    pub launches: u64,
    /// Sum of its durations, s.
    pub time_s: f64,
    /// Its share of the GPU's time, s: where several ran at once, each has an equal part.
    pub share_s: f64,
    /// Median of its durations, s.
    pub median_s: f64,
    /// Shortest, s.
    pub least_s: f64,
    /// Longest, s.
    pub longest_s: f64,
    /// Bytes of copies and memsets together.
    pub bytes: f64,
    /// Which launches of its name, counted from 1 in the process with the most launches, its first ones are.
    pub invocations: Vec<u32>,
    /// Its share of the time by [`Device::step_s`]: number of the step, and s.
    pub steps: Vec<(u32, f64)>,
}

/// What one GPU did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Device {
    /// Bus address, or `device N` if no process recorded it.
    pub bus_id: String,
    /// Groups, that with the most time first.
    pub groups: Vec<Group>,
    /// Start of the first, ns of the monotonic clock.
    pub first_ns: u64,
    /// End of the last.
    pub last_ns: u64,
    /// Time within which something ran, s.
    pub busy_s: f64,
    /// Time between, s.
    pub gap_s: f64,
    /// Gaps longer than [`LONG_S`]: start and end, s after the first start.
    pub pauses: Vec<(f64, f64)>,
    /// Step in which groups tell when they ran, s, from the first start.
    pub step_s: f64,
}

/// A longer gap is no delay of a launch: the program does something else, s.
pub const LONG_S: f64 = 0.1;

/// First launches of a group that are remembered.
const REMEMBERED: usize = 256;

const UNNAMED: &str = "device ";

/// Bus address of a device, or its number where the process did not record it.
fn bus(a: &Activity, device: u32) -> String {
    match a.devices.get(&device) {
        Some(bus) => bus.to_lowercase(),
        None => format!("{UNNAMED}{device}"),
    }
}

/// Whether this stands for a device that a process did not name.
pub fn is_unnamed(bus: &str) -> bool {
    bus.starts_with(UNNAMED)
}

/// Bus addresses of all devices that were used.
pub fn buses(all: &[Activity]) -> BTreeSet<String> {
    let of = |a: &Activity| -> BTreeSet<u32> { a.events.iter().map(|e| e.device).collect() };
    (all.iter())
        .flat_map(|a| of(a).into_iter().map(|d| bus(a, d)))
        .collect()
}

/// The devices of all processes, by bus address.
pub fn devices(all: &[Activity]) -> Vec<Device> {
    let mut by_bus: BTreeMap<String, Vec<(usize, &Event)>> = BTreeMap::new();
    for (process, a) in all.iter().enumerate() {
        for e in &a.events {
            let bus = bus(a, e.device);
            by_bus.entry(bus).or_default().push((process, e));
        }
    }
    by_bus
        .into_iter()
        .map(|(bus, events)| device(bus, events, all))
        .collect()
}

fn device(bus_id: String, mut events: Vec<(usize, &Event)>, all: &[Activity]) -> Device {
    events.sort_by_key(|(_, e)| e.start_ns);
    let Shared {
        shares,
        busy_s,
        gap_s,
        pauses,
    } = shares(&events);
    let numbers = numbers(&events);
    let first_ns = events.first().map_or(0, |(_, e)| e.start_ns);
    let last_ns = events.iter().map(|(_, e)| e.end_ns).max().unwrap_or(0);
    let in_steps = steps::Steps::of(first_ns, last_ns);
    // Names have numbers of their own in each process.
    let mut by_what: HashMap<(usize, What), usize> = HashMap::new();
    let mut by_key: HashMap<Key, usize> = HashMap::new();
    let mut members: Vec<(Key, Vec<usize>)> = Vec::new();
    for (i, &(process, e)) in events.iter().enumerate() {
        let at = *by_what.entry((process, e.what)).or_insert_with(|| {
            let key = key(&all[process], e.what);
            *by_key.entry(key.clone()).or_insert_with(|| {
                members.push((key, Vec::new()));
                members.len() - 1
            })
        });
        members[at].1.push(i);
    }
    let finished = |(mut key, mut launches): (Key, Vec<usize>)| {
        let ns = |i: &usize| duration(events[*i].1);
        launches.sort_by_key(ns);
        let durations: Vec<u64> = launches.iter().map(ns).collect();
        let cuts = match &key {
            Key::Kernel { .. } => parts::cuts(&durations),
            Key::Copy(_) | Key::Set => Vec::new(),
        };
        let ends = cuts.into_iter().chain([launches.len()]);
        let mut from = 0;
        let mut out = Vec::new();
        for (n, to) in ends.enumerate() {
            if let Key::Kernel { part, .. } = &mut key {
                *part = n as u8;
            }
            let members = &launches[from..to];
            let when = members.iter().map(|&i| (events[i].1, shares[i]));
            out.push(Group {
                steps: in_steps.of_launches(when),
                ..group(key.clone(), members, &events, &shares, &numbers)
            });
            from = to;
        }
        out
    };
    let mut groups: Vec<Group> = members.into_iter().flat_map(finished).collect();
    groups.sort_by(|a, b| b.share_s.total_cmp(&a.share_s));
    Device {
        bus_id,
        groups,
        first_ns,
        last_ns,
        busy_s,
        gap_s,
        pauses,
        step_s: in_steps.step_s,
    }
}

fn duration(e: &Event) -> u64 {
    e.end_ns.saturating_sub(e.start_ns)
}

/// Of each launch of the process with the most launches, which one of its name it is, counted from 1; 0 else.
fn numbers(events: &[(usize, &Event)]) -> Vec<u32> {
    let mut launches: BTreeMap<usize, usize> = BTreeMap::new();
    for (process, e) in events {
        if matches!(e.what, What::Kernel { .. }) {
            *launches.entry(*process).or_default() += 1;
        }
    }
    let main = launches.iter().max_by_key(|(_, n)| **n).map(|(p, _)| *p);
    let mut counted: HashMap<u32, u32> = HashMap::new();
    (events.iter())
        .map(|(process, e)| match e.what {
            What::Kernel { name, .. } if Some(*process) == main => {
                let n = counted.entry(name).or_default();
                *n += 1;
                *n
            }
            _ => 0,
        })
        .collect()
}

fn key(a: &Activity, what: What) -> Key {
    match what {
        What::Kernel { name, grid, block } => Key::Kernel {
            name: a.names.get(name as usize).cloned().unwrap_or_default(),
            grid,
            block,
            part: 0,
        },
        What::Copy(kind) => Key::Copy(kind),
        What::Set => Key::Set,
    }
}

/// The group of these launches, which are sorted by duration.
fn group(
    key: Key,
    launches: &[usize],
    events: &[(usize, &Event)],
    shares: &[f64],
    numbers: &[u32],
) -> Group {
    let n = launches.len();
    let of = |i: &usize| duration(events[*i].1) as f64 * 1e-9;
    let at = |k: usize| launches.get(k).map_or(0.0, of);
    let mut invocations: Vec<u32> = (launches.iter().map(|&i| numbers[i]))
        .filter(|n| *n > 0)
        .collect();
    invocations.sort_unstable();
    invocations.truncate(REMEMBERED);
    Group {
        key,
        launches: n as u64,
        time_s: launches.iter().map(of).sum(),
        share_s: launches.iter().map(|&i| shares[i]).sum(),
        median_s: 0.5 * (at(n.saturating_sub(1) / 2) + at(n / 2)),
        least_s: at(0),
        longest_s: at(n.saturating_sub(1)),
        bytes: launches.iter().map(|&i| events[i].1.bytes as f64).sum(),
        invocations,
        steps: Vec::new(),
    }
}

/// How events share the time of a device.
struct Shared {
    /// Each event's share, s.
    shares: Vec<f64>,
    busy_s: f64,
    gap_s: f64,
    pauses: Vec<(f64, f64)>,
}

fn shares(events: &[(usize, &Event)]) -> Shared {
    // Ends before starts, so that neighbours do not overlap.
    let mut edges: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * events.len());
    for (i, (_, e)) in events.iter().enumerate() {
        edges.push((e.start_ns, true, i));
        edges.push((e.end_ns.max(e.start_ns.saturating_add(1)), false, i));
    }
    edges.sort_unstable();
    let mut out = vec![0.0; events.len()];
    let (mut active, mut each, mut busy, mut gap) = (0_u64, 0.0, 0.0, 0.0);
    let first = edges.first().map_or(0, |e| e.0);
    let mut before = first;
    let mut pauses = Vec::new();
    for (at, starts, i) in edges {
        let dt = (at - before) as f64 * 1e-9;
        before = at;
        if active > 0 {
            busy += dt;
            each += dt / active as f64;
        } else {
            gap += dt;
            if dt > LONG_S {
                let end = (at - first) as f64 * 1e-9;
                pauses.push((end - dt, end));
            }
        }
        if starts {
            active += 1;
            out[i] = -each;
        } else {
            active -= 1;
            out[i] += each;
        }
    }
    Shared {
        shares: out,
        busy_s: busy,
        gap_s: gap,
        pauses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(start_ns: u64, end_ns: u64, name: u32, grid: i32) -> Event {
        Event {
            start_ns,
            end_ns,
            device: 0,
            stream: 1,
            bytes: 0,
            what: What::Kernel {
                name,
                grid: [grid, 1, 1],
                block: [128, 1, 1],
            },
        }
    }

    fn activity(names: &[&str], events: Vec<Event>) -> Activity {
        Activity {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            devices: [(0, "0000:1B:00.0".to_owned())].into(),
            events,
            ..Activity::default()
        }
    }

    #[test]
    fn overlapping_kernels_share_their_time() {
        // a runs 0 to 4 s, b 2 to 6 s; a gap to 8 s, then a again for 1 s.
        let s = 1_000_000_000;
        let a = activity(
            &["a", "b"],
            vec![
                event(2 * s, 6 * s, 1, 4),
                event(1, 4 * s, 0, 4),
                event(8 * s, 9 * s, 0, 4),
            ],
        );
        let d = devices(&[a]).remove(0);
        assert_eq!(d.bus_id, "0000:1b:00.0");
        let near = |x: f64, y: f64| (x - y).abs() < 1e-6;
        assert!(near(d.busy_s, 7.0) && near(d.gap_s, 2.0), "{d:?}");
        let [(from, to)] = d.pauses[..] else {
            panic!("{d:?}")
        };
        assert!(near(from, 6.0) && near(to, 8.0), "{d:?}");
        assert!(near(d.groups[0].share_s, 4.0) && near(d.groups[0].time_s, 5.0));
        assert!(near(d.groups[1].share_s, 3.0) && near(d.groups[1].time_s, 4.0));
        let sum: f64 = d.groups.iter().map(|g| g.share_s).sum();
        assert!(near(sum, d.busy_s));
        assert_eq!(d.step_s, 0.1);
        let in_steps: f64 = d.groups[0].steps.iter().map(|s| s.1).sum();
        assert!(near(in_steps, 4.0), "{in_steps}");
    }

    #[test]
    fn a_group_is_a_name_with_its_grid_over_all_processes() {
        let first = activity(
            &["a"],
            vec![
                event(10, 20, 0, 4),
                event(30, 60, 0, 8),
                event(70, 80, 0, 4),
            ],
        );
        let second = activity(&["b", "a"], vec![event(15, 21, 1, 4)]);
        let d = devices(&[first, second]).remove(0);
        assert_eq!(d.groups.len(), 2);
        let small = d.groups.iter().find(|g| g.launches == 3).unwrap();
        // Invocations are those of the process with the most launches.
        assert_eq!(small.invocations, [1, 3]);
        assert!((small.median_s - 10e-9).abs() < 1e-15 && (small.least_s - 6e-9).abs() < 1e-15);
    }

    #[test]
    fn launches_of_two_sizes_are_two_groups() {
        // A kernel of one name and grid that does four times the work in every third launch.
        let events = (0..30_u64)
            .map(|i| {
                let long = if i % 3 == 2 { 40_000 } else { 10_000 + i };
                event(100_000 * i + 1, 100_000 * i + 1 + long, 0, 132)
            })
            .collect();
        let d = devices(&[activity(&["a"], events)]).remove(0);
        let parts: Vec<_> = (d.groups.iter())
            .map(|g| (g.launches, g.invocations[0], (g.median_s * 1e6).round()))
            .collect();
        assert_eq!(parts, [(10, 3, 40.0), (20, 1, 10.0)]);
        let part = |g: &Group| match g.key {
            Key::Kernel { part, .. } => part,
            _ => unreachable!(),
        };
        assert_eq!((part(&d.groups[0]), part(&d.groups[1])), (1, 0));
        let time: f64 = d.groups.iter().map(|g| g.share_s).sum();
        assert!((time - d.busy_s).abs() < 1e-12);
    }
}
