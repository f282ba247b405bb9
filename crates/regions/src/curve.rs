//! Energy of one sensor over time, from its readings.

use greenup_meter::Quantity;

/// A moment at which the energy is known.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// ns.
    at: u64,
    joules: f64,
    /// Ticks until then.
    tick: u64,
}

/// Energy since some start as a function of time: linear between ticks.
pub struct Curve {
    quantity: Quantity,
    points: Vec<Point>,
    last: Option<(u64, f64)>,
    /// The last reading was that before it.
    was_same: bool,
    ticks: u64,
    last_tick: Option<u64>,
    /// Lengths of the last ticks, ns.
    lengths: Vec<u64>,
    integral: f64,
    /// Times in which a sensor of power paused: what it drew then is not known.
    pauses: Vec<(u64, u64)>,
}

/// A pause is longer than this many ticks, and than this time, ns.
const PAUSE: (u64, u64) = (5, 300_000_000);

/// Pauses that are kept apart; then the last one grows.
const MOST_PAUSES: usize = 256;

/// Points that are kept; then those long ago are thinned.
const MOST_POINTS: usize = 1 << 16;

/// Lengths of ticks whose median is the tick.
const LENGTHS: usize = 31;

impl Curve {
    pub fn new(quantity: Quantity) -> Self {
        Self {
            quantity,
            points: Vec::new(),
            last: None,
            was_same: false,
            ticks: 0,
            last_tick: None,
            lengths: Vec::new(),
            integral: 0.0,
            pauses: Vec::new(),
        }
    }

    /// Adds a reading, J or W at ns. Returns whether the value had changed.
    pub fn push(&mut self, at: u64, value: f64) -> bool {
        let Some((before, old)) = self.last else {
            self.last = Some((at, value));
            if self.quantity == Quantity::Power {
                self.add_point(at);
            }
            return false;
        };
        if at <= before || !value.is_finite() {
            return false;
        }
        self.last = Some((at, value));
        let changed = value != old;
        match self.quantity {
            Quantity::Power => {
                let ordinary = self.tick().unwrap_or(u64::MAX).saturating_mul(PAUSE.0);
                if at - before > ordinary.max(PAUSE.1) {
                    let is_full = self.pauses.len() >= MOST_PAUSES;
                    match self.pauses.last_mut().filter(|_| is_full) {
                        Some(last) => last.1 = at,
                        None => self.pauses.push((before, at)),
                    }
                }
                self.integral += 0.5 * (old + value) * (at - before) as f64 * 1e-9;
                if changed {
                    self.count_tick(at);
                }
                self.add_point(at);
            }
            Quantity::Energy if changed => {
                self.integral += value - old;
                // A counter that is slower than its readings changed, on the mean, half the time between two of them
                // earlier. A faster one shows its value of now.
                let at = if self.was_same {
                    at - (at - before) / 2
                } else {
                    at
                };
                self.count_tick(at);
                self.add_point(at);
            }
            Quantity::Energy => {}
        }
        self.was_same = !changed;
        changed
    }

    fn count_tick(&mut self, at: u64) {
        self.ticks += 1;
        if let Some(last) = self.last_tick.replace(at) {
            if self.lengths.len() == LENGTHS {
                self.lengths.remove(0);
            }
            self.lengths.push(at.saturating_sub(last));
        }
    }

    fn add_point(&mut self, at: u64) {
        if self.points.len() >= MOST_POINTS {
            // Every other point of the older part goes: energies between those that stay are as exact as before.
            let old = self.points.len() * 3 / 4;
            let mut i = 0;
            self.points.retain(|_| {
                i += 1;
                i > old || i % 2 == 1
            });
        }
        self.points.push(Point {
            at,
            joules: self.integral,
            tick: self.ticks,
        });
    }

    /// Ticks seen.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Time between two changes of the value, ns; where there were too few, between two readings.
    pub fn tick(&self) -> Option<u64> {
        if self.lengths.len() >= 3 {
            let mut lengths = self.lengths.clone();
            let middle = lengths.len() / 2;
            return Some(*lengths.select_nth_unstable(middle).1);
        }
        let (first, last) = (self.points.first()?, self.points.last()?);
        let n = self.points.len() as u64 - 1;
        (n > 0).then(|| (last.at - first.at) / n)
    }

    /// Until when the energy is known.
    pub fn known_until(&self) -> Option<u64> {
        (self.points.len() > 1).then(|| self.points[self.points.len() - 1].at)
    }

    /// Energy at a time, J, and the number of ticks until then. Up to one and a half ticks outside of what is known,
    /// the power next to it holds.
    pub fn at(&self, t: u64) -> Option<(f64, u64)> {
        let n = self.points.len();
        if n < 2 {
            return None;
        }
        let reach = self.tick()? * 3 / 2 + 1_000_000;
        let i = self.points.partition_point(|p| p.at < t).clamp(1, n - 1);
        let (a, b) = (self.points[i - 1], self.points[i]);
        if t + reach < a.at || t > b.at.saturating_add(reach) {
            return None;
        }
        if self.is_paused(t, t) {
            return None;
        }
        let share = (t as f64 - a.at as f64) / (b.at - a.at) as f64;
        let tick = if t >= b.at { b.tick } else { a.tick };
        Some((a.joules + share * (b.joules - a.joules), tick))
    }

    /// Whether the sensor paused at some time between two.
    pub fn is_paused(&self, from: u64, to: u64) -> bool {
        self.pauses.iter().any(|p| p.0 < to && from < p.1)
    }

    /// Energy between two times, J.
    pub fn between(&self, from: u64, to: u64) -> Option<f64> {
        if self.is_paused(from, to) {
            return None;
        }
        // An extrapolation never gives back energy.
        Some((self.at(to)?.0 - self.at(from)?.0).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// 100 W for even seconds, 300 W for odd ones.
    fn energy(t: u64) -> f64 {
        let s = t as f64 * 1e-9;
        let pairs = (s / 2.0).floor();
        let rest = s - 2.0 * pairs;
        400.0 * pairs + 100.0 * rest.min(1.0) + 300.0 * (rest - 1.0).max(0.0)
    }

    #[test]
    fn a_slow_counter_is_exact_to_a_share_of_a_tick() {
        let mut curve = Curve::new(Quantity::Energy);
        for i in 0..5000u64 {
            let t = i * 4 * MS;
            curve.push(t, energy(t / (100 * MS) * (100 * MS)));
        }
        assert!((curve.tick().unwrap() as f64 / 100e6 - 1.0).abs() < 0.05);
        // A second of each power: edges lie within ticks, and ticks are seen up to 4 ms late.
        for s in 1..18u64 {
            let e = curve
                .between(s * 1000 * MS + 3 * MS, (s + 1) * 1000 * MS + 3 * MS)
                .unwrap();
            let truth = energy((s + 1) * 1000 * MS + 3 * MS) - energy(s * 1000 * MS + 3 * MS);
            assert!((e - truth).abs() < 0.02 * truth, "{s}: {e} {truth}");
        }
        assert_eq!(curve.between(0, 40_000 * MS), None);
        let end = curve.known_until().unwrap();
        assert!(curve.at(end + 100 * MS).is_some() && curve.at(end + 200 * MS).is_none());
    }

    #[test]
    fn power_is_integrated_and_a_stuck_counter_knows_nothing() {
        let mut curve = Curve::new(Quantity::Power);
        for i in 0..100u64 {
            curve.push(i * 10 * MS, if i < 50 { 10.0 } else { 20.0 });
        }
        let e = curve.between(100 * MS, 900 * MS).unwrap();
        assert!((e - 12.0).abs() < 0.11, "{e}");
        let mut stuck = Curve::new(Quantity::Energy);
        for i in 0..100u64 {
            stuck.push(i * MS, 0.0);
        }
        assert_eq!((stuck.ticks(), stuck.between(0, 50 * MS)), (0, None));
    }

    #[test]
    fn a_pause_of_a_meter_has_no_energy() {
        let mut curve = Curve::new(Quantity::Power);
        for i in (0..200u64).chain(700..900) {
            curve.push(i * 10 * MS, 50.0 + (i % 2) as f64);
        }
        let e = curve.between(100 * MS, 1900 * MS).unwrap();
        assert!((e - 50.5 * 1.8).abs() < 0.1, "{e}");
        for (from, to) in [(1000, 8000), (1900, 3000), (3000, 4000), (6000, 8000)] {
            assert_eq!(curve.between(from * MS, to * MS), None, "{from} {to}");
        }
        assert!(curve.at(3000 * MS).is_none() && curve.at(8000 * MS).is_some());
    }

    #[test]
    fn memory_is_bounded_and_old_energies_stay() {
        let mut curve = Curve::new(Quantity::Energy);
        for i in 0..400_000u64 {
            curve.push(i * MS, 0.05 * i as f64);
        }
        assert!(curve.points.len() <= MOST_POINTS);
        let e = curve.between(1000 * MS, 399_000 * MS).unwrap();
        assert!((e - 0.05 * 398_000.0).abs() < 0.5, "{e}");
    }
}
