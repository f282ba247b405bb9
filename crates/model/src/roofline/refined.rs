//! Refined peak: what an instruction mix can reach when not every instruction is a full-rate FMA
//! (§3.4.4).

use serde::{Deserialize, Serialize};

/// One kind of instruction in the mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// Name of the instruction.
    pub name: String,
    /// How many of it one iteration issues.
    pub count: f64,
    /// Flops each lane does with it (FMA 2, add 1, reciprocal root 1, integer 0).
    pub flops: f64,
    /// Lanes one core retires per cycle.
    pub lanes_per_cycle: f64,
    /// Lanes of other pipes that can work on other instructions meanwhile (one flop each).
    #[serde(default)]
    pub co_issued_lanes: f64,
}

/// What the mix reaches on one core and on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RefinedPeak {
    /// Cycles one core needs to issue one iteration for one group of lanes.
    pub cycles: f64,
    /// Scalar instructions retired in an average cycle.
    pub instructions_per_cycle: f64,
    /// Flops per cycle of one core.
    pub flops_per_cycle: f64,
    /// Flops per second of the machine.
    pub flops_per_second: f64,
}

/// Refined peak of a mix whose instruction kinds issue one after another.
///
/// `lanes` is the width one instruction covers (32 threads of a warp, 8 doubles of a vector).
pub fn refined_peak(mix: &[Instruction], lanes: f64, cores: f64, clock_hz: f64) -> RefinedPeak {
    let (mut cycles, mut issued, mut flops) = (0.0, 0.0, 0.0);
    for i in mix {
        let c = i.count * lanes / i.lanes_per_cycle;
        cycles += c;
        issued += c * (i.lanes_per_cycle + i.co_issued_lanes);
        flops += c * (i.lanes_per_cycle * i.flops + i.co_issued_lanes);
    }
    RefinedPeak {
        cycles,
        instructions_per_cycle: issued / cycles,
        flops_per_cycle: flops / cycles,
        flops_per_second: flops / cycles * cores * clock_hz,
    }
}
