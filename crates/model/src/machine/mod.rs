//! A machine: costs of one device, each with its interval and provenance.

mod error;
mod estimate;
pub mod shipped;

pub use error::MachineError;
pub(crate) use error::check_estimate;
pub(crate) use estimate::End;
pub use estimate::{Estimate, Label};

use crate::network::{Host, Link, Network};
use crate::op::Op;
use crate::roofline::EnergyRoofline;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Cost of one operation: τ in seconds and ε in joules, each where it is known.
///
/// Without a time the class never binds (table 5 of the thesis gives energies alone).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpCost {
    /// τ, s per operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_s: Option<Estimate>,
    /// ε, J per operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy_j: Option<Estimate>,
    /// The core clock at which the time was measured, Hz; a load that keeps this class busy is not
    /// run at a higher one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_hz: Option<f64>,
}

/// How the device lowers its clock to keep the power cap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocking {
    /// Highest core clock, Hz.
    pub highest_hz: Estimate,
    /// s: relative fall of the voltage over relative fall of the clock.
    pub voltage_slope: Estimate,
    /// Power that the device keeps to, W.
    pub cap_w: Estimate,
}

/// Costs of one device.
///
/// A machine without energy costs predicts time alone. Without `usable_power_w` it has no cap.
///
/// ```
/// use greenup_model::{Machine, Op};
///
/// let machine = Machine::from_toml(
///     "name = 'm'\ntitle = 'My machine'\n\
///      [cost.f64]\ntime_s = { value = 1e-12 }\n\
///      [cost.dram]\ntime_s = { value = 1e-11 }\n",
/// )?;
/// assert_eq!(machine.time_of(Op::Dram)?, 1e-11);
/// assert!(Machine::from_toml("name = 'm'").is_err());
/// # Ok::<(), greenup_model::MachineError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Short name, the one given to `--machine`.
    pub name: String,
    /// Full name of the device.
    pub title: String,
    /// Provenance of every number that has no label of its own.
    #[serde(default)]
    pub label: Label,
    /// Notes for the reader.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Papers, files or commands that the numbers come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Facts of the run that made the numbers: clocks, threads, versions, the command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
    /// Warnings that a reader of the numbers must see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// π₀ in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant_power_w: Option<Estimate>,
    /// Δπ in watts: usable power above π₀.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable_power_w: Option<Estimate>,
    /// How the device lowers its clock to keep the power cap; energy costs are those at the highest clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clocking>,
    /// The network between nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// The link between the devices of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Link>,
    /// What the devices or ranks of a host share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// Costs by operation class; none of a machine that is a network alone.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cost: BTreeMap<Op, OpCost>,
}

impl Machine {
    /// A machine without constants.
    pub fn without_constants(name: String, title: String, label: Label) -> Self {
        Self {
            name,
            title,
            label,
            about: String::new(),
            sources: Vec::new(),
            facts: BTreeMap::new(),
            warnings: Vec::new(),
            constant_power_w: None,
            usable_power_w: None,
            clock: None,
            network: None,
            link: None,
            host: None,
            cost: BTreeMap::new(),
        }
    }

    /// Reads and checks a machine in TOML.
    ///
    /// # Errors
    /// [`MachineError::Syntax`] with line and column, or the first value that cannot be a cost.
    pub fn from_toml(text: &str) -> Result<Self, MachineError> {
        let machine: Machine =
            toml::from_str(text).map_err(|e| MachineError::Syntax(Box::new(e)))?;
        machine.check()?;
        Ok(machine)
    }

    /// The machine as TOML text, as [`Machine::from_toml`] reads it.
    ///
    /// # Errors
    /// A value that TOML cannot represent.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    /// Checks that every constant is valid: times positive, energies and powers not
    /// negative, nothing NaN or infinite, intervals around their values.
    ///
    /// # Errors
    /// [`MachineError::BadValue`], [`MachineError::BadInterval`] or [`MachineError::NoCosts`].
    pub fn check(&self) -> Result<(), MachineError> {
        let none = self.network.is_none() && self.link.is_none() && self.host.is_none();
        if self.cost.is_empty() && none {
            return Err(MachineError::NoCosts(self.name.clone()));
        }
        for (op, cost) in &self.cost {
            if let Some(time) = &cost.time_s {
                check_estimate(&format!("cost.{op}.time_s"), time, true)?;
            }
            if let Some(energy) = &cost.energy_j {
                check_estimate(&format!("cost.{op}.energy_j"), energy, false)?;
            }
        }
        if let Some(p) = &self.constant_power_w {
            check_estimate("constant_power_w", p, false)?;
        }
        if let Some(p) = &self.usable_power_w {
            check_estimate("usable_power_w", p, true)?;
        }
        if let Some(c) = &self.clock {
            check_estimate("clock.highest_hz", &c.highest_hz, true)?;
            check_estimate("clock.cap_w", &c.cap_w, true)?;
            check_estimate("clock.voltage_slope", &c.voltage_slope, false)?;
        }
        self.network.as_ref().map_or(Ok(()), Network::check)?;
        self.link.as_ref().map_or(Ok(()), Link::check)?;
        self.host.as_ref().map_or(Ok(()), Host::check)
    }

    /// The cost of `op`.
    ///
    /// # Errors
    /// [`MachineError::NoCost`] naming the classes the machine does have.
    pub fn cost_of(&self, op: Op) -> Result<&OpCost, MachineError> {
        self.cost.get(&op).ok_or_else(|| MachineError::NoCost {
            machine: self.name.clone(),
            op,
            known: self
                .cost
                .keys()
                .map(|op| op.name())
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    /// τ of `op`, s.
    ///
    /// # Errors
    /// When the class, or its time, is not known.
    pub fn time_of(&self, op: Op) -> Result<f64, MachineError> {
        self.cost_of(op)?
            .time_s
            .as_ref()
            .map(|t| t.value)
            .ok_or_else(|| MachineError::NoTime {
                machine: self.name.clone(),
                op,
            })
    }

    /// Whether energy can be predicted: π₀ and at least one ε are known.
    pub fn has_energy(&self) -> bool {
        self.constant_power_w.is_some() && self.cost.values().any(|c| c.energy_j.is_some())
    }

    /// Whether constant power is taken as 0, as no device has none: it is not known, and efficiencies are upper bounds.
    pub fn lacks_constant_power(&self) -> bool {
        self.constant_power_w
            .as_ref()
            .is_some_and(|p| p.value == 0.0)
    }

    /// The flop class to draw when the user names none: the first of f64, f32, … that is costed.
    pub fn main_flop(&self) -> Option<Op> {
        [Op::F64, Op::F32]
            .into_iter()
            .chain(Op::ALL)
            .find(|op| op.is_flop() && self.cost.contains_key(op))
    }

    /// The two-class view of this machine: one flop class against one memory level.
    ///
    /// # Errors
    /// When one of the two has no cost, or no energy cost.
    pub fn roofline(&self, flop: Op, mem: Op) -> Result<EnergyRoofline, MachineError> {
        let energy = |op| {
            self.cost_of(op)?
                .energy_j
                .as_ref()
                .map(|e| e.value)
                .ok_or_else(|| MachineError::NoEnergy(self.name.clone()))
        };
        Ok(EnergyRoofline {
            tau_flop: self.time_of(flop)?,
            tau_mem: self.time_of(mem)?,
            eps_flop: energy(flop)?,
            eps_mem: energy(mem)?,
            pi0: self
                .constant_power_w
                .as_ref()
                .ok_or_else(|| MachineError::NoEnergy(self.name.clone()))?
                .value,
            dpi: self.usable_power_w.as_ref().map(|p| p.value),
        })
    }

    /// This machine with every constant at the end of its interval that makes computations
    /// cheapest (`low = true`) or dearest.
    pub fn corner(&self, low: bool) -> Self {
        let end = if low { End::Low } else { End::High };
        let pick = |e: &Estimate| Estimate::new(end.of(e));
        let mut m = self.network_corner(low);
        for cost in m.cost.values_mut() {
            cost.time_s = cost.time_s.as_ref().map(pick);
            cost.energy_j = cost.energy_j.as_ref().map(pick);
        }
        m.constant_power_w = m.constant_power_w.as_ref().map(pick);
        m.usable_power_w =
            (m.usable_power_w.as_ref()).map(|e| Estimate::new(end.of_usable_power(e)));
        m
    }

    pub(crate) fn scale(&self, time: f64, power: f64) -> Self {
        let mut m = self.clone();
        for cost in m.cost.values_mut() {
            cost.time_s = cost.time_s.as_ref().map(|e| e.scaled(time));
        }
        m.constant_power_w = m.constant_power_w.as_ref().map(|e| e.scaled(power));
        m.usable_power_w = m.usable_power_w.as_ref().map(|e| e.scaled(power));
        if let Some(c) = &mut m.clock {
            c.cap_w = c.cap_w.scaled(power);
        }
        m
    }

    pub(crate) fn with_usable_power(&self, dpi: f64) -> Self {
        Self {
            usable_power_w: Some(Estimate::new(dpi)),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "name = 'm'\ntitle = 'M'\n[constant_power_w]\nvalue = 100.0\n\
        [cost.f32]\ntime_s = { value = 1e-12 }\nenergy_j = { value = 1e-11, lo = 0.5e-11, hi = 2e-11 }\n\
        [cost.dram]\ntime_s = { value = 4e-12 }\nenergy_j = { value = 1e-10 }\n";

    #[test]
    fn toml_round_trips() {
        let m = Machine::from_toml(TOML).unwrap();
        assert_eq!(Machine::from_toml(&m.to_toml().unwrap()).unwrap(), m);
        assert!(m.has_energy());
        assert_eq!(m.main_flop(), Some(Op::F32));
    }

    #[test]
    fn bad_numbers_are_named() {
        for (from, to, want) in [
            ("1e-12", "nan", "cost.f32.time_s"),
            ("1e-12", "0.0", "above 0"),
            ("value = 100.0", "value = -1.0", "constant_power_w"),
            ("hi = 2e-11", "hi = 0.1e-11", "interval"),
        ] {
            let e = Machine::from_toml(&TOML.replace(from, to)).unwrap_err();
            assert!(e.to_string().contains(want), "{e}");
        }
        let e = Machine::from_toml("name = 'm'\ntitle = ").unwrap_err();
        assert!(e.to_string().contains("line 2"), "{e}");
    }

    #[test]
    fn a_missing_cost_lists_what_there_is() {
        let m = Machine::from_toml(TOML).unwrap();
        let e = m.roofline(Op::F64, Op::Dram).unwrap_err().to_string();
        assert!(
            e.contains("no cost for `f64`") && e.contains("f32, dram"),
            "{e}"
        );
    }
}
