//! How far two devices are apart.
//!
//! Where machine models of both are known, by the dimensionless map of machines: the Euclidean distance of the three
//! dimensionless groups and of the time balance, in octaves. Else by the facts of the devices: the Euclidean distance of
//! the logarithms to base 2 of those that both have.

use crate::device::{Device, DeviceKind};
use greenup_model::map::Place;
use greenup_model::{Machine, Op, shipped};

/// How far two devices are apart, and how that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distance {
    /// The same device.
    Same,
    /// On the map of machines, octaves.
    Map(f64),
    /// By the facts of the devices, octaves.
    Facts(f64),
}

impl Distance {
    /// Order: the same device, then those on the map, then the others; nearer ones first.
    pub(crate) fn rank(self) -> (u8, f64) {
        match self {
            Self::Same => (0, 0.0),
            Self::Map(d) => (1, d),
            Self::Facts(d) => (2, d),
        }
    }

    /// Octaves.
    pub fn octaves(self) -> f64 {
        self.rank().1
    }

    /// How it was found, in words.
    pub fn basis(self) -> &'static str {
        match self {
            Self::Same => "the same device",
            Self::Map(_) => "map of machines",
            Self::Facts(_) => "facts of the devices",
        }
    }
}

/// Facts that are compared, by kind of device: how much of it there is, and what a processing unit has.
fn compared(kind: DeviceKind) -> &'static [&'static str] {
    match kind {
        DeviceKind::Cpu => &[
            "cores",
            "vector_bytes",
            "vector_registers",
            "l1d_bytes",
            "l2_bytes",
        ],
        DeviceKind::Gpu => &[
            "multiprocessors",
            "compute_capability_major",
            "max_threads_per_multiprocessor",
            "registers_per_multiprocessor",
            "shared_bytes_per_multiprocessor",
            "l2_bytes",
        ],
    }
}

/// Machine models and the devices that they are of.
#[derive(Clone, Debug, Default)]
pub struct Map {
    known: Vec<(String, Option<i64>, Machine)>,
}

impl Map {
    /// The machines of this list that name their device: those that `greenup calibrate` made.
    pub fn new(machines: impl IntoIterator<Item = Machine>) -> Self {
        let of = |m: Machine| {
            let name = m.facts.get("gpu").or_else(|| m.facts.get("cpu"))?.clone();
            let units = m.facts.get("multiprocessors").or(m.facts.get("threads"));
            let units = units.and_then(|n| n.parse().ok());
            Some((name, units, m))
        };
        Self {
            known: machines.into_iter().filter_map(of).collect(),
        }
    }

    /// The machines that come with the program.
    pub fn shipped() -> Self {
        Self::new(shipped::all().unwrap_or_default())
    }

    fn machine(&self, device: &Device) -> Option<&Machine> {
        let fits = |(name, units, _): &&(String, Option<i64>, Machine)| {
            *name == device.name
                && (units.is_none() || device.units().is_none() || *units == device.units())
        };
        self.known.iter().find(fits).map(|(.., m)| m)
    }

    fn place(&self, device: &Device, precision: &str) -> Option<Place> {
        let machine = self.machine(device)?;
        let first = if precision == "f64" { Op::F64 } else { Op::F32 };
        let place = |op| Place::of_machine(machine, op).ok().flatten();
        place(first)
    }

    /// The distance of two devices for a kernel of this precision; `None` for devices of different kinds, and for those
    /// that have nothing to compare.
    pub fn distance(&self, a: &Device, b: &Device, precision: &str) -> Option<Distance> {
        if a.kind != b.kind {
            return None;
        }
        if a.same(b) {
            return Some(Distance::Same);
        }
        if let (Some(p), Some(q)) = (self.place(a, precision), self.place(b, precision)) {
            return Some(Distance::Map(p.workload_distance(&q)));
        }
        by_facts(a, b).map(Distance::Facts)
    }
}

fn by_facts(a: &Device, b: &Device) -> Option<f64> {
    let both = compared(a.kind)
        .iter()
        .filter_map(|n| Some((a.fact(n)?, b.fact(n)?)))
        .filter(|(x, y)| *x > 0 && *y > 0);
    let squares: Vec<f64> = both
        .map(|(x, y)| (x as f64 / y as f64).log2().powi(2))
        .collect();
    (!squares.is_empty()).then(|| squares.iter().sum::<f64>().sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::entry;

    #[test]
    fn the_map_is_used_where_both_machines_are_on_it() {
        let map = Map::shipped();
        let h100 = Device::of_gpu_name("NVIDIA H100 80GB HBM3", "sm_90");
        let h200 = Device::of_gpu_name("NVIDIA H200", "sm_90");
        assert_eq!(map.distance(&h200, &h200, "f64"), Some(Distance::Same));
        let Some(Distance::Map(d)) = map.distance(&h100, &h200, "f64") else {
            panic!("not on the map");
        };
        assert!(d > 0.01 && d < 2.0, "{d}");
        let Some(Distance::Facts(d)) = Map::default().distance(&h100, &h200, "f64") else {
            panic!("no facts");
        };
        assert!((d - (60.0_f64 / 50.0).log2()).abs() < 1e-12, "{d}");
    }

    #[test]
    fn facts_stand_in_for_machines() {
        let map = Map::shipped();
        let two = entry("p", "a", 2, 1, 1.0).device;
        let eight = entry("p", "b", 8, 1, 1.0).device;
        assert_eq!(
            map.distance(&two, &eight, "f64"),
            Some(Distance::Facts(2.0))
        );
        let gpu = Device::of_gpu_name("NVIDIA H200", "sm_90");
        assert_eq!(map.distance(&two, &gpu, "f64"), None);
        let bare = Device::of_gpu_name("unknown", "");
        assert_eq!(map.distance(&bare, &gpu, "f64"), None);
    }
}
