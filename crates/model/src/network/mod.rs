//! Several nodes: the network between them, the link between the devices of a node, and what messages cost.
//!
//! | module | contents |
//! |---|---|
//! | [`mod@traffic`] | messages and reductions of a computation: their time and energy on a machine |
//! | [`mod@bisection`] | zones cut into parts by recursive bisection |
//! | [`mod@surfaces`] | zones and shared nodes of the parts of a box |
//! | [`mod@host`] | what ranks of a host share: memory, caches, clock |

pub mod bisection;
pub mod host;
pub mod surfaces;
pub mod traffic;

pub use bisection::bisect;
pub use host::{Host, Memory};
pub use surfaces::{BoxMesh, Surfaces, surfaces};
pub use traffic::{Nodes, Scaled, Share, Traffic, scaled};

use crate::machine::{Estimate, MachineError, check_estimate};
use serde::{Deserialize, Serialize};

/// The network between the nodes of a machine. All constants are those of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// α: time of an empty message between two nodes, s.
    pub latency_s: Estimate,
    /// β: bytes that a node sends in a second, B/s; its devices share it.
    pub bandwidth_bytes_per_s: Estimate,
    /// Energy of a byte between nodes, J/B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_j_per_byte: Option<Estimate>,
    /// Power of a node whose devices wait, W.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_power_w: Option<Estimate>,
    /// Time of a stage of an all-reduce of a few numbers, s; there are log₂ of the nodes. Without it, the latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_reduce_stage_s: Option<Estimate>,
    /// Number of devices of a node.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub devices_per_node: usize,
}

/// The link between the devices of a node: NVLink, PCIe, or shared memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Time of an empty message between two devices, s.
    pub latency_s: Estimate,
    /// Bytes that a device sends to another in a second, B/s.
    pub bandwidth_bytes_per_s: Estimate,
    /// Energy of a byte, J/B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_j_per_byte: Option<Estimate>,
    /// Power of a device that waits, W. Without it, its part of the idle power of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_power_w: Option<Estimate>,
    /// Time of a stage of an all-reduce of a few numbers, s. Without it, the latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_reduce_stage_s: Option<Estimate>,
}

fn one() -> usize {
    1
}

fn is_one(n: &usize) -> bool {
    *n == 1
}

/// The constants that a network and a link share.
struct Constants<'a> {
    section: &'static str,
    /// Whose idle power it is.
    of: &'static str,
    latency_s: &'a Estimate,
    bandwidth_bytes_per_s: &'a Estimate,
    energy_j_per_byte: &'a Option<Estimate>,
    idle_power_w: &'a Option<Estimate>,
    all_reduce_stage_s: &'a Option<Estimate>,
}

impl<'a> Constants<'a> {
    fn known(&self) -> Vec<(&'static str, &'static str, &'a Estimate)> {
        [
            ("latency α", "s", Some(self.latency_s)),
            ("bandwidth β", "B/s", Some(self.bandwidth_bytes_per_s)),
            ("energy of a byte", "J/B", self.energy_j_per_byte.as_ref()),
            (self.of, "W", self.idle_power_w.as_ref()),
            ("all-reduce, a stage", "s", self.all_reduce_stage_s.as_ref()),
        ]
        .into_iter()
        .filter_map(|(name, unit, e)| Some((name, unit, e?)))
        .collect()
    }

    fn check(&self) -> Result<(), MachineError> {
        let all = [
            ("latency_s", Some(self.latency_s)),
            ("bandwidth_bytes_per_s", Some(self.bandwidth_bytes_per_s)),
            ("energy_j_per_byte", self.energy_j_per_byte.as_ref()),
            ("idle_power_w", self.idle_power_w.as_ref()),
            ("all_reduce_stage_s", self.all_reduce_stage_s.as_ref()),
        ];
        for (name, e) in all {
            if let Some(e) = e {
                let positive = name == "bandwidth_bytes_per_s";
                check_estimate(&format!("{}.{name}", self.section), e, positive)?;
            }
        }
        Ok(())
    }

    /// The constants at the ends of their intervals that make messages cheapest, or dearest, as those of a link.
    fn corner(&self, low: bool) -> Link {
        let end = |e: &Estimate, low: bool| Estimate::new(if low { e.low() } else { e.high() });
        let pick = |e: &Option<Estimate>| e.as_ref().map(|e| end(e, low));
        Link {
            latency_s: end(self.latency_s, low),
            bandwidth_bytes_per_s: end(self.bandwidth_bytes_per_s, !low),
            energy_j_per_byte: pick(self.energy_j_per_byte),
            idle_power_w: pick(self.idle_power_w),
            all_reduce_stage_s: pick(self.all_reduce_stage_s),
        }
    }
}

impl Network {
    fn all(&self) -> Constants<'_> {
        Constants {
            section: "network",
            of: "idle power of a node",
            latency_s: &self.latency_s,
            bandwidth_bytes_per_s: &self.bandwidth_bytes_per_s,
            energy_j_per_byte: &self.energy_j_per_byte,
            idle_power_w: &self.idle_power_w,
            all_reduce_stage_s: &self.all_reduce_stage_s,
        }
    }

    /// Names, units and values of its constants.
    pub fn constants(&self) -> Vec<(&'static str, &'static str, &Estimate)> {
        self.all().known()
    }

    /// The same with each constant at the end of its interval that makes messages cheapest, or dearest.
    pub(crate) fn corner(&self, low: bool) -> Self {
        let end = self.all().corner(low);
        Self {
            latency_s: end.latency_s,
            bandwidth_bytes_per_s: end.bandwidth_bytes_per_s,
            energy_j_per_byte: end.energy_j_per_byte,
            idle_power_w: end.idle_power_w,
            all_reduce_stage_s: end.all_reduce_stage_s,
            devices_per_node: self.devices_per_node,
        }
    }

    pub(crate) fn check(&self) -> Result<(), MachineError> {
        self.all().check()?;
        match self.devices_per_node {
            1..=1_000_000 => Ok(()),
            n => Err(MachineError::BadValue {
                field: "network.devices_per_node".into(),
                value: n as f64,
                bound: "from 1 to 1,000,000",
            }),
        }
    }
}

impl Link {
    fn all(&self) -> Constants<'_> {
        Constants {
            section: "link",
            of: "idle power of a device",
            latency_s: &self.latency_s,
            bandwidth_bytes_per_s: &self.bandwidth_bytes_per_s,
            energy_j_per_byte: &self.energy_j_per_byte,
            idle_power_w: &self.idle_power_w,
            all_reduce_stage_s: &self.all_reduce_stage_s,
        }
    }

    /// Names, units and values of its constants.
    pub fn constants(&self) -> Vec<(&'static str, &'static str, &Estimate)> {
        self.all().known()
    }

    pub(crate) fn corner(&self, low: bool) -> Self {
        self.all().corner(low)
    }

    pub(crate) fn check(&self) -> Result<(), MachineError> {
        self.all().check()
    }
}

#[cfg(test)]
mod tests {
    use crate::Machine;

    const TOML: &str = "name = 'm'\ntitle = 'M'\n\
        [network]\nlatency_s = { value = 1e-6, lo = 0.9e-6, hi = 1.1e-6 }\nbandwidth_bytes_per_s = { value = 1e10 }\n\
        idle_power_w = { value = 100.0 }\ndevices_per_node = 4\n\
        [link]\nlatency_s = { value = 2e-7 }\nbandwidth_bytes_per_s = { value = 4e11 }\n";

    #[test]
    fn a_machine_may_be_a_network_alone() {
        let m = Machine::from_toml(TOML).unwrap();
        assert_eq!(Machine::from_toml(&m.to_toml().unwrap()).unwrap(), m);
        let n = m.network.as_ref().unwrap();
        assert_eq!(n.devices_per_node, 4);
        assert_eq!(n.constants().len(), 3);
        assert_eq!(m.corner(false).network.unwrap().latency_s.value, 1.1e-6);
        let neither = TOML.split("[network]").next().unwrap();
        assert!(Machine::from_toml(neither).is_err());
    }

    #[test]
    fn bad_constants_are_named() {
        for (from, to, want) in [
            (
                "value = 1e10",
                "value = 0.0",
                "network.bandwidth_bytes_per_s",
            ),
            ("value = 4e11", "value = nan", "link.bandwidth_bytes_per_s"),
            ("value = 100.0", "value = -1.0", "network.idle_power_w"),
            ("hi = 1.1e-6", "hi = 0.5e-6", "interval"),
            (
                "devices_per_node = 4",
                "devices_per_node = 0",
                "devices_per_node",
            ),
            ("idle_power_w", "idle_power", "unknown field"),
        ] {
            let e = Machine::from_toml(&TOML.replace(from, to)).unwrap_err();
            assert!(e.to_string().contains(want), "{e}");
        }
    }
}
