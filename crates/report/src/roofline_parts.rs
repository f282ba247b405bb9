//! What a roofline figure shows: panels, lines, measured points.

use greenup_model::{EnergyRoofline, Machine, MachineError, Op};

/// One of the three panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panel {
    /// flop/s.
    Time,
    /// flop/J: the arch line.
    Energy,
    /// W.
    Power,
}

impl Panel {
    pub const ALL: [Panel; 3] = [Panel::Time, Panel::Energy, Panel::Power];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Panel::Time => "Roofline: time",
            Panel::Energy => "Arch line: energy",
            Panel::Power => "Power line",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Panel::Time => "Gflop/s",
            Panel::Energy => "Gflop/J",
            Panel::Power => "W",
        }
    }

    pub(crate) fn scale(self) -> f64 {
        match self {
            Panel::Power => 1.0,
            _ => 1e-9,
        }
    }

    /// What the panel shows at an intensity, in its unit.
    pub fn value(self, r: &EnergyRoofline, intensity: f64) -> f64 {
        self.scale()
            * match self {
                Panel::Time => 1.0 / r.time_per_flop(intensity),
                Panel::Energy => 1.0 / r.energy_per_flop(intensity),
                Panel::Power => r.power(intensity),
            }
    }
}

/// A memory level's own roof, drawn thin in the time panel.
#[derive(Clone, Debug)]
pub struct LevelRoof {
    pub name: String,
    /// τ of the level, s/B.
    pub tau: f64,
}

/// One machine's lines.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub roofline: EnergyRoofline,
    /// The cheapest and the dearest machine inside the intervals.
    pub corners: Option<(EnergyRoofline, EnergyRoofline)>,
    pub levels: Vec<LevelRoof>,
    /// Whether energy and power are known.
    pub has_energy: bool,
}

impl Line {
    /// The lines of a machine for one flop class against slow memory.
    ///
    /// # Errors
    /// When the machine has no time for one of the two.
    pub fn of(machine: &Machine, flop: Op) -> Result<Self, MachineError> {
        let view = |m: &Machine| -> Result<EnergyRoofline, MachineError> {
            m.roofline(flop, Op::Dram).or_else(|e| match e {
                MachineError::NoEnergy(_) => Ok(EnergyRoofline {
                    tau_flop: m.time_of(flop)?,
                    tau_mem: m.time_of(Op::Dram)?,
                    eps_flop: 0.0,
                    eps_mem: 0.0,
                    pi0: 0.0,
                    dpi: None,
                }),
                e => Err(e),
            })
        };
        let roofline = view(machine)?;
        let (low, high) = (view(&machine.corner(true))?, view(&machine.corner(false))?);
        let levels = [Op::L1, Op::L2, Op::L3]
            .into_iter()
            .filter_map(|op| {
                Some(LevelRoof {
                    name: op.name().to_uppercase(),
                    tau: machine.time_of(op).ok()?,
                })
            })
            .collect();
        Ok(Self {
            name: machine.name.clone(),
            has_energy: machine.roofline(flop, Op::Dram).is_ok(),
            corners: (low != high).then_some((low, high)),
            roofline,
            levels,
        })
    }
}

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub value: f64,
    pub lo: f64,
    pub hi: f64,
}

/// A measured computation.
#[derive(Clone, Debug)]
pub struct Point {
    pub name: String,
    /// Which line it was measured on.
    pub line: usize,
    pub intensity: f64,
    pub flops_per_s: Interval,
    pub flops_per_j: Option<Interval>,
    pub power_w: Option<Interval>,
}
