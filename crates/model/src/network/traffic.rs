//! Messages and reductions of a computation: their time and energy on a machine.
//!
//! A message of n bytes takes α + n/β, one after another; an all-reduce takes a stage for each doubling of the devices, first
//! over the link of a node, then over the network. A device that waits draws idle power.

use super::{Host, Link, Memory, Network};
use crate::machine::{Estimate, Machine};
use serde::Serialize;

/// Messages of one kind: between the devices of a node, or between nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Messages {
    /// Messages that the busiest device sends in an exchange.
    pub count: f64,
    /// Bytes that the busiest device sends in an exchange.
    pub bytes: f64,
    /// Bytes that all devices send in an exchange.
    pub total_bytes: f64,
}

/// What devices send each other during a computation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// Number of exchanges, one after another.
    pub exchanges: f64,
    /// Messages of an exchange within nodes.
    pub within: Messages,
    /// Messages of an exchange between nodes.
    pub between: Messages,
    /// Number of all-reduces of a few numbers.
    pub all_reduces: f64,
    /// Of ranks on cores: bytes that the busiest moves in its caches in an exchange, to pack what it sends and to add what it
    /// receives.
    pub packed_bytes: f64,
}

/// The devices of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Nodes {
    /// Number of devices.
    pub devices: usize,
    /// Number of nodes that hold them.
    pub nodes: usize,
}

impl Nodes {
    /// A number of full nodes of a machine.
    pub fn full(machine: &Machine, nodes: usize) -> Self {
        Self {
            devices: nodes * machine.devices_per_node(),
            nodes,
        }
    }

    /// A number of devices, on as few nodes as hold them; on one if the machine has no network.
    pub fn of_devices(machine: &Machine, devices: usize) -> Self {
        Self {
            devices,
            nodes: match &machine.network {
                Some(n) => devices.div_ceil(n.devices_per_node),
                None => 1,
            },
        }
    }

    /// Number of consecutive devices on a node.
    pub fn group(self, machine: &Machine) -> usize {
        match self.nodes {
            0 | 1 => self.devices.max(1),
            _ => machine.devices_per_node(),
        }
    }
}

/// The computation of the devices, without their messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// Time of the device with the most work, s.
    pub busiest_s: f64,
    /// Mean time of the devices, s.
    pub mean_s: f64,
    /// Energy of all devices while they compute, J; `None` if it is not known.
    pub energy_j: Option<f64>,
    /// Of ranks on cores, one each: what the busiest moves beyond the caches of its core. `None` of other devices.
    pub memory: Option<Memory>,
    /// Bytes that the cores of a host move to gather the results of its devices.
    pub gather_bytes: f64,
    /// Bytes that the cores of a host move in a second, B/s, where the machine does not tell it.
    pub gather_bytes_per_s: Option<f64>,
}

/// Time and energy of a computation on several devices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scaled {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of devices.
    pub devices: usize,
    /// Time, s.
    pub time_s: f64,
    /// Energy of all devices, J; `None` if a part of it is not known.
    pub energy_j: Option<f64>,
    /// Time of the device with the most work, s.
    pub compute_s: f64,
    /// Time of messages, s.
    pub exchange_s: f64,
    /// Time of all-reduces, s.
    pub all_reduce_s: f64,
    /// Part of the computation's time that ranks lose by sharing memory, caches and clock of their host, s.
    pub sharing_s: f64,
    /// Time in which the host gathers the results of its devices, s.
    pub gather_s: f64,
    /// Energy while devices compute, J.
    pub compute_j: Option<f64>,
    /// Energy while devices wait, J.
    pub wait_j: Option<f64>,
    /// Energy of the messages, J; 0 where the machine has none.
    pub message_j: f64,
}

impl Machine {
    /// Number of devices of a node; 1 without a network.
    pub fn devices_per_node(&self) -> usize {
        self.network.as_ref().map_or(1, |n| n.devices_per_node)
    }

    /// The machine with each constant of network and link at the end of its interval that makes messages cheapest, or dearest.
    pub fn network_corner(&self, low: bool) -> Self {
        Self {
            network: self.network.as_ref().map(|n| n.corner(low)),
            link: self.link.as_ref().map(|l| l.corner(low)),
            host: self.host.as_ref().map(|h| h.corner(low)),
            ..self.clone()
        }
    }

    /// Power of a device that waits, W: that of the link, else its part of the idle power of a node, else the constant power.
    pub fn waiting_power_w(&self) -> Option<f64> {
        let own = self
            .link
            .as_ref()
            .and_then(|l| Some(l.idle_power_w.as_ref()?.value));
        let idle = self.network.as_ref().and_then(|n| {
            let node = n.idle_power_w.as_ref()?.value;
            Some(node / n.devices_per_node as f64)
        });
        own.or(idle)
            .or_else(|| self.constant_power_w.as_ref().map(|p| p.value))
    }
}

/// Time of an all-reduce of a few numbers, s.
fn all_reduce(machine: &Machine, at: Nodes) -> f64 {
    let stages = |n: usize| (n as f64).log2().ceil();
    let stage = |own: &Option<Estimate>, latency: &Estimate| own.as_ref().unwrap_or(latency).value;
    let between = |n: &Network| stage(&n.all_reduce_stage_s, &n.latency_s);
    let within = |l: &Link| stage(&l.all_reduce_stage_s, &l.latency_s);
    let network = machine.network.as_ref().map(between);
    // Without a link, devices of a node talk over the network.
    let link = machine.link.as_ref().map(within).or(network);
    let in_a_node = at.devices.div_ceil(at.nodes.max(1));
    stages(in_a_node) * link.unwrap_or(0.0) + stages(at.nodes) * network.or(link).unwrap_or(0.0)
}

/// Time of messages, s.
fn message_time(latency: &Estimate, bandwidth: f64, m: &Messages) -> f64 {
    m.count * latency.value + m.bytes / bandwidth
}

/// Time of an exchange, s.
fn exchange(machine: &Machine, at: Nodes, t: &Traffic) -> f64 {
    let sharing = at.devices.div_ceil(at.nodes.max(1)) as f64;
    let network = |m: &Messages| {
        machine.network.as_ref().map_or(0.0, |n| {
            message_time(&n.latency_s, n.bandwidth_bytes_per_s.value / sharing, m)
        })
    };
    let within = match &machine.link {
        Some(l) => message_time(&l.latency_s, l.bandwidth_bytes_per_s.value, &t.within),
        None => network(&t.within),
    };
    let between = match (&machine.network, &machine.link) {
        (None, Some(l)) => message_time(&l.latency_s, l.bandwidth_bytes_per_s.value, &t.between),
        _ => network(&t.between),
    };
    within + between
}

/// Energy of the messages of an exchange, J.
fn message_energy(machine: &Machine, t: &Traffic) -> f64 {
    let value = |e: &Option<Estimate>| e.as_ref().map(|e| e.value);
    let network = machine
        .network
        .as_ref()
        .and_then(|n| value(&n.energy_j_per_byte));
    let link = machine
        .link
        .as_ref()
        .and_then(|l| value(&l.energy_j_per_byte));
    t.within.total_bytes * link.or(network).unwrap_or(0.0)
        + t.between.total_bytes * network.or(link).unwrap_or(0.0)
}

/// Time of packing what a rank sends in an exchange and of adding what it receives, s.
fn packing(machine: &Machine, ranks: usize, share: &Share, t: &Traffic) -> f64 {
    let rate = machine.host.as_ref().and_then(|host| {
        // Between two exchanges the rank works on its other data, so that these have left the caches of its core.
        let least = host.private_cache_bytes.map_or(1.0, |b| b + 1.0);
        host.bandwidth(ranks, share.memory?.working_set_bytes.max(least))
    });
    rate.map_or(0.0, |all| t.packed_bytes * ranks as f64 / all)
}

/// Time in which a host gathers the results of its devices, s.
fn gathering(machine: &Machine, ranks: usize, share: &Share) -> f64 {
    let host = machine.host.as_ref();
    let rate = match share.memory {
        Some(_) => host.and_then(|h| h.bandwidth(ranks, f64::MAX)),
        None => host.and_then(Host::memory_rate),
    };
    let rate = rate.or(share.gather_bytes_per_s);
    rate.map_or(0.0, |rate| share.gather_bytes / rate)
}

/// Time and energy of a computation on several devices of a machine. Without network and link, messages cost nothing; without
/// what its host shares, ranks do not slow each other down.
pub fn scaled(machine: &Machine, at: Nodes, share: &Share, traffic: &Traffic) -> Scaled {
    let alone = at.devices <= 1;
    let of_several = |s: f64| if alone { 0.0 } else { s };
    let ranks = at.devices.div_ceil(at.nodes.max(1));
    let compute_s = match (&machine.host, &share.memory) {
        (Some(host), Some(memory)) => host.shared_s(share.busiest_s, memory, ranks),
        _ => share.busiest_s,
    };
    let slower = if share.busiest_s > 0.0 {
        compute_s / share.busiest_s
    } else {
        1.0
    };
    let each = exchange(machine, at, traffic) + packing(machine, ranks, share, traffic);
    let exchange_s = of_several(traffic.exchanges * each);
    let all_reduce_s = of_several(traffic.all_reduces * all_reduce(machine, at));
    let message_j = of_several(traffic.exchanges * message_energy(machine, traffic));
    let gather_s = of_several(gathering(machine, ranks, share));
    let time_s = compute_s + exchange_s + all_reduce_s + gather_s;
    let waiting_s = at.devices as f64 * (time_s - share.mean_s * slower).max(0.0);
    let wait_j = if waiting_s > 0.0 {
        machine.waiting_power_w().map(|w| w * waiting_s)
    } else {
        Some(0.0)
    };
    // A core that waits for memory draws about as much as one that computes.
    let compute_j = share.energy_j.map(|e| e * slower);
    Scaled {
        nodes: at.nodes,
        devices: at.devices,
        time_s,
        energy_j: compute_j.zip(wait_j).map(|(e, w)| e + w + message_j),
        compute_s,
        exchange_s,
        all_reduce_s,
        sharing_s: compute_s - share.busiest_s,
        gather_s,
        compute_j,
        wait_j,
        message_j,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine::from_toml(
            "name = 'm'\ntitle = 'M'\n\
             [network]\nlatency_s = { value = 1e-6 }\nbandwidth_bytes_per_s = { value = 1e10 }\n\
             energy_j_per_byte = { value = 1e-9 }\nidle_power_w = { value = 400.0 }\ndevices_per_node = 4\n\
             [link]\nlatency_s = { value = 1e-7 }\nbandwidth_bytes_per_s = { value = 1e11 }\n\
             all_reduce_stage_s = { value = 3e-7 }\n",
        )
        .unwrap()
    }

    #[test]
    fn a_message_takes_latency_and_bytes_over_bandwidth() {
        let m = machine();
        let share = Share {
            busiest_s: 1e-3,
            mean_s: 1e-3,
            energy_j: Some(8.0),
            ..Share::default()
        };
        let t = Traffic {
            exchanges: 10.0,
            within: Messages {
                count: 2.0,
                bytes: 2e6,
                total_bytes: 8e6,
            },
            between: Messages {
                count: 1.0,
                bytes: 1e6,
                total_bytes: 4e6,
            },
            all_reduces: 5.0,
            ..Traffic::default()
        };
        let s = scaled(&m, Nodes::full(&m, 2), &share, &t);
        assert_eq!((s.nodes, s.devices), (2, 8));
        // Four devices share the network of a node.
        let exchange = 2.0 * 1e-7 + 2e6 / 1e11 + 1e-6 + 1e6 / 2.5e9;
        assert!((s.exchange_s / (10.0 * exchange) - 1.0).abs() < 1e-12);
        // Two stages over the link, one over the network.
        assert!((s.all_reduce_s / (5.0 * (2.0 * 3e-7 + 1e-6)) - 1.0).abs() < 1e-12);
        assert!((s.time_s - (1e-3 + s.exchange_s + s.all_reduce_s)).abs() < 1e-15);
        // A link without an energy of its own takes the network's.
        assert!((s.message_j / (10.0 * 12e6 * 1e-9) - 1.0).abs() < 1e-12);
        let wait = 8.0 * 100.0 * (s.time_s - 1e-3);
        assert!((s.wait_j.unwrap() / wait - 1.0).abs() < 1e-12);
        assert!((s.energy_j.unwrap() - (8.0 + wait + s.message_j)).abs() < 1e-12);
    }

    #[test]
    fn a_device_alone_sends_nothing() {
        let m = machine();
        let t = Traffic {
            exchanges: 10.0,
            between: Messages {
                count: 1.0,
                bytes: 1.0,
                total_bytes: 1.0,
            },
            all_reduces: 3.0,
            ..Traffic::default()
        };
        let share = Share {
            busiest_s: 2.0,
            mean_s: 2.0,
            energy_j: None,
            ..Share::default()
        };
        let one = scaled(&m, Nodes::of_devices(&m, 1), &share, &t);
        assert_eq!((one.time_s, one.energy_j), (2.0, None));
        assert_eq!(one.wait_j, Some(0.0));
        assert_eq!(
            Nodes::of_devices(&m, 5),
            Nodes {
                devices: 5,
                nodes: 2
            }
        );
    }

    #[test]
    fn ranks_of_a_host_share_its_memory() {
        let m = Machine::from_toml(
            "name = 'm'\ntitle = 'M'\n[host]\nprivate_cache_bytes = 1e6\n\
             [[host.active]]\ncores = 1\nmemory_bytes_per_s = { value = 1e10 }\n\
             [[host.active]]\ncores = 2\nmemory_bytes_per_s = { value = 1.25e10 }\n",
        )
        .unwrap();
        let share = Share {
            busiest_s: 1.0,
            mean_s: 1.0,
            energy_j: Some(10.0),
            memory: Some(Memory {
                bytes: 5e9,
                working_set_bytes: 1e8,
                within_s: 1.0,
            }),
            gather_bytes: 1.25e9,
            ..Share::default()
        };
        let t = Traffic {
            exchanges: 10.0,
            packed_bytes: 1e6,
            ..Traffic::default()
        };
        let two = Nodes {
            devices: 2,
            nodes: 1,
        };
        let s = scaled(&m, two, &share, &t);
        // Half a second waits for memory, 1.6 times as long beside another rank.
        assert!((s.sharing_s - 0.3).abs() < 1e-12, "{s:?}");
        assert!((s.gather_s - 0.1).abs() < 1e-12, "{s:?}");
        assert!((s.exchange_s - 10.0 * 1e6 * 2.0 / 1.25e10).abs() < 1e-12);
        assert!((s.time_s - (1.4 + s.exchange_s)).abs() < 1e-12);
        assert!((s.compute_j.unwrap() - 13.0).abs() < 1e-12);
        let one = scaled(
            &m,
            Nodes {
                devices: 1,
                nodes: 1,
            },
            &share,
            &t,
        );
        assert_eq!((one.time_s, one.energy_j), (1.0, Some(10.0)));
        // Each on a host of its own.
        let apart = scaled(
            &m,
            Nodes {
                devices: 2,
                nodes: 2,
            },
            &share,
            &t,
        );
        assert_eq!(apart.sharing_s, 0.0);
    }

    #[test]
    fn without_a_network_messages_cost_nothing() {
        let m =
            Machine::from_toml("name = 'm'\ntitle = 'M'\n[cost.f64]\ntime_s = { value = 1e-12 }\n")
                .unwrap();
        let t = Traffic {
            exchanges: 1.0,
            between: Messages {
                count: 9.0,
                bytes: 1e9,
                total_bytes: 1e9,
            },
            all_reduces: 1.0,
            ..Traffic::default()
        };
        let share = Share {
            busiest_s: 1.0,
            mean_s: 0.5,
            energy_j: Some(1.0),
            ..Share::default()
        };
        let s = scaled(&m, Nodes::full(&m, 16), &share, &t);
        assert_eq!(s.time_s, 1.0);
        // Devices wait, at a power that is not known.
        assert_eq!(s.energy_j, None);
    }
}
