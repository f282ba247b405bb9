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
    /// All panels in the order drawn.
    pub const ALL: [Panel; 3] = [Panel::Time, Panel::Energy, Panel::Power];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Panel::Time => "Roofline",
            Panel::Energy => "Arch line",
            Panel::Power => "Power line",
        }
    }

    /// Quantity and unit.
    pub(crate) fn axis(self) -> (&'static str, &'static str) {
        match self {
            Panel::Time => ("performance", "flop/s"),
            Panel::Energy => ("efficiency", "flop/J"),
            Panel::Power => ("power", "W"),
        }
    }

    /// What the panel shows at an intensity: flop/s, flop/J or W.
    pub fn value(self, r: &EnergyRoofline, intensity: f64) -> f64 {
        match self {
            Panel::Time => 1.0 / r.time_per_flop(intensity),
            Panel::Energy => 1.0 / r.energy_per_flop(intensity),
            Panel::Power => r.power(intensity),
        }
    }
}

/// A memory level's own roof, drawn thin in the time panel.
#[derive(Clone, Debug)]
pub struct LevelRoof {
    /// Name of the level.
    pub name: String,
    /// τ of the level, s/B.
    pub tau: f64,
}

/// One machine's lines.
#[derive(Clone, Debug)]
pub struct Line {
    /// Name of the machine.
    pub name: String,
    /// Its two-class model.
    pub roofline: EnergyRoofline,
    /// Models at the lower and the upper ends of all intervals.
    pub corners: Option<(EnergyRoofline, EnergyRoofline)>,
    /// Roofs of the cache levels.
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
    /// Best estimate.
    pub value: f64,
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
}

/// A measured computation.
#[derive(Clone, Debug)]
pub struct Point {
    /// Name of the computation.
    pub name: String,
    /// Which line it was measured on.
    pub line: usize,
    /// Intensity, flop/B.
    pub intensity: f64,
    /// Performance, flop/s.
    pub flops_per_s: Interval,
    /// Efficiency, flop/J, if energy was measured.
    pub flops_per_j: Option<Interval>,
    /// Mean power, W, if it was measured.
    pub power_w: Option<Interval>,
    /// Whether it is a microbenchmark of the calibration: drawn small, without a label.
    pub calibration: bool,
    /// Its fraction of the roof that binds it, and that roof's name where none of the lines is it.
    pub roof: Option<(f64, Option<String>)>,
}
