//! Energy of regions: each sensor's energy of a short slice of the run, times the share of the slice that a region was
//! active.

use crate::curve::Curve;
use crate::names::PathId;
use std::collections::VecDeque;

/// Time in regions between two visits of the collector.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// ns.
    pub from: u64,
    pub to: u64,
    /// Path, inclusive and exclusive time, ns, of all threads together.
    pub times: Vec<(PathId, u64, u64)>,
}

/// Energy of a path by one sensor.
#[derive(Clone, Copy, Debug, Default)]
pub struct Energy {
    /// J while any thread was inside.
    pub joules: f64,
    /// The same in no region within.
    pub exclusive_joules: f64,
    /// Time that the energy is of, s.
    pub active_s: f64,
    /// Ticks of the sensor during which the region was active.
    pub ticks: u64,
    next_tick: u64,
}

/// Slices that wait for a tick; beyond, two become one.
const MOST_WAITING: usize = 512;

/// Energies of all paths by all sensors.
pub struct Attribution {
    waiting: VecDeque<Slice>,
    /// Slices before the first waiting one.
    gone: usize,
    /// By sensor: slices done, and energies by path.
    sensors: Vec<(usize, Vec<Energy>)>,
    /// Time that any thread was inside, s, by path.
    active: Vec<f64>,
}

impl Attribution {
    pub fn new(sensors: usize) -> Self {
        Self {
            waiting: VecDeque::new(),
            gone: 0,
            sensors: vec![(0, Vec::new()); sensors],
            active: Vec::new(),
        }
    }

    /// Adds the time since the last slice.
    pub fn add(&mut self, slice: Slice) {
        if self.sensors.is_empty() || slice.times.is_empty() {
            return;
        }
        let length = slice.to.saturating_sub(slice.from);
        for &(path, inclusive, _) in &slice.times {
            let path = path as usize;
            if self.active.len() <= path {
                self.active.resize(path + 1, 0.0);
            }
            self.active[path] += inclusive.min(length) as f64 * 1e-9;
        }
        self.waiting.push_back(slice);
        if self.waiting.len() > MOST_WAITING {
            self.merge();
        }
        // One sensor may be far behind another: it loses the oldest.
        while self.waiting.len() > 4 * MOST_WAITING {
            self.waiting.pop_front();
            self.gone += 1;
            for (done, _) in &mut self.sensors {
                *done = (*done).max(self.gone);
            }
        }
    }

    /// Joins neighbours that no sensor has done.
    fn merge(&mut self) {
        let most = self.sensors.iter().map(|s| s.0).max().unwrap_or(0);
        let keep = most.saturating_sub(self.gone).min(self.waiting.len());
        let mut merged: VecDeque<Slice> = self.waiting.drain(..keep).collect();
        let mut rest = std::mem::take(&mut self.waiting).into_iter();
        while let Some(mut a) = rest.next() {
            if let Some(b) = rest.next() {
                a.to = b.to;
                for (path, inclusive, exclusive) in b.times {
                    match a.times.iter_mut().find(|t| t.0 == path) {
                        Some(t) => {
                            t.1 += inclusive;
                            t.2 += exclusive;
                        }
                        None => a.times.push((path, inclusive, exclusive)),
                    }
                }
            }
            merged.push_back(a);
        }
        self.waiting = merged;
    }

    /// Gives the energy of all slices that a sensor now knows; with `last`, of all slices that it can know at all.
    pub fn update(&mut self, sensor: usize, curve: &Curve, failed: bool, last: bool) {
        let (gone, waiting) = (self.gone, &self.waiting);
        let (done, energies) = &mut self.sensors[sensor];
        let known = curve.known_until().unwrap_or(0);
        for slice in waiting.iter().skip(*done - gone) {
            if !last && !failed && slice.to > known {
                break;
            }
            *done += 1;
            attribute(energies, slice, curve);
        }
    }

    /// Forgets slices that all sensors have done.
    pub fn forget(&mut self) {
        let least = self.sensors.iter().map(|s| s.0).min().unwrap_or(0);
        while self.gone < least {
            self.waiting.pop_front();
            self.gone += 1;
        }
    }

    /// End of the last slice that waits.
    pub fn waits_until(&self) -> Option<u64> {
        self.waiting.back().map(|s| s.to)
    }

    /// Time that any thread was inside a path, s.
    pub fn active_s(&self, path: PathId) -> f64 {
        self.active.get(path as usize).copied().unwrap_or(0.0)
    }

    /// Energy of a path by a sensor.
    pub fn of(&self, sensor: usize, path: PathId) -> Option<Energy> {
        let energy = *self.sensors[sensor].1.get(path as usize)?;
        (energy.active_s > 0.0).then_some(energy)
    }
}

fn attribute(energies: &mut Vec<Energy>, slice: &Slice, curve: &Curve) {
    if curve.is_paused(slice.from, slice.to) {
        return;
    }
    let (Some((start, first)), Some((end, last))) = (curve.at(slice.from), curve.at(slice.to))
    else {
        return;
    };
    let length = (slice.to - slice.from).max(1) as f64;
    let joules = (end - start).max(0.0);
    for &(path, inclusive, exclusive) in &slice.times {
        let path = path as usize;
        if energies.len() <= path {
            energies.resize(path + 1, Energy::default());
        }
        let e = &mut energies[path];
        // Several threads may be inside at once; the device spends its energy once.
        let share = (inclusive as f64 / length).min(1.0);
        e.joules += joules * share;
        e.exclusive_joules += joules * (exclusive as f64 / length).min(1.0);
        e.active_s += share * length * 1e-9;
        // Ticks are numbered by their end.
        let (first, last) = (first + 1, last + 1);
        let from = first.max(e.next_tick);
        if last >= from {
            e.ticks += last - from + 1;
            e.next_tick = last + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_meter::Quantity;

    const MS: u64 = 1_000_000;

    fn curve(watts: f64, tick: u64, to: u64) -> Curve {
        let mut curve = Curve::new(Quantity::Energy);
        for t in (0..=to).step_by(MS as usize) {
            curve.push(t, watts * (t / tick * tick) as f64 * 1e-9);
        }
        curve
    }

    fn slice(from: u64, to: u64, times: &[(PathId, u64, u64)]) -> Slice {
        Slice {
            from,
            to,
            times: times.to_vec(),
        }
    }

    #[test]
    fn short_regions_get_their_share_of_the_time() {
        let mut a = Attribution::new(1);
        // A second in slices of 10 ms; region 2 has 3 ms of each, two threads of region 3 all of it.
        for i in 20..120 {
            a.add(slice(
                i * 10 * MS,
                (i + 1) * 10 * MS,
                &[(2, 3 * MS, 2 * MS), (3, 20 * MS, 20 * MS)],
            ));
        }
        let curve = curve(100.0, 100 * MS, 1600 * MS);
        a.update(0, &curve, false, false);
        a.forget();
        assert!(a.waiting.is_empty());
        let e = a.of(0, 2).unwrap();
        assert!((e.joules - 30.0).abs() < 0.1 && (e.exclusive_joules - 20.0).abs() < 0.1);
        assert!((e.active_s - 0.3).abs() < 1e-9);
        assert!((10..=11).contains(&e.ticks), "{}", e.ticks);
        let e = a.of(0, 3).unwrap();
        assert!((e.joules - 100.0).abs() < 0.3, "{}", e.joules);
        assert!(a.of(0, 7).is_none());
    }

    #[test]
    fn slices_wait_for_their_tick_and_are_merged_when_there_are_many() {
        let mut a = Attribution::new(2);
        for i in 20..2020 {
            a.add(slice(i * MS, (i + 1) * MS, &[(2, MS / 2, MS / 2)]));
        }
        assert!(a.waiting.len() <= MOST_WAITING + 1);
        let fast = curve(50.0, MS, 5000 * MS);
        let slow = curve(100.0, 100 * MS, 1000 * MS);
        a.update(0, &fast, false, false);
        a.update(1, &slow, false, false);
        a.forget();
        assert!(!a.waiting.is_empty());
        assert!((a.of(0, 2).unwrap().joules - 50.0).abs() < 0.5);
        a.update(1, &curve(100.0, 100 * MS, 3000 * MS), false, true);
        a.forget();
        assert!(a.waiting.is_empty());
        assert!((a.of(1, 2).unwrap().joules - 100.0).abs() < 1.0);
    }

    #[test]
    fn a_counter_that_never_moves_does_not_fill_the_memory() {
        let mut a = Attribution::new(2);
        let fast = curve(50.0, MS, 20_000 * MS);
        let stuck = Curve::new(Quantity::Energy);
        for i in 20..20_000 {
            a.add(slice(i * MS, (i + 1) * MS, &[(2, MS / 2, MS / 2)]));
            a.update(0, &fast, false, false);
            a.update(1, &stuck, false, false);
            a.forget();
        }
        assert!(a.waiting.len() <= 4 * MOST_WAITING);
        assert!((a.of(0, 2).unwrap().joules - 499.5).abs() < 1.0);
        assert!(a.of(1, 2).is_none());
    }

    #[test]
    fn a_sensor_that_failed_holds_nothing_back() {
        let mut a = Attribution::new(1);
        a.add(slice(0, MS, &[(2, MS, MS)]));
        a.update(0, &Curve::new(Quantity::Energy), true, false);
        a.forget();
        assert!(a.waiting.is_empty() && a.of(0, 2).is_none());
    }
}
