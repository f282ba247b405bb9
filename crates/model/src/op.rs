//! Operation classes.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The hardware resource an operation class occupies.
///
/// Classes on one unit queue behind each other (their times add); different units overlap
/// perfectly, as eq 1 of the thesis assumes for flops and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// Scalar and vector floating-point pipes.
    Vector,
    /// Matrix (tensor) pipes.
    Tensor,
    /// Integer pipes.
    Integer,
    /// Special-function pipes.
    Special,
    /// First-level cache or shared memory.
    L1,
    /// Second-level cache.
    L2,
    /// Third-level cache.
    L3,
    /// Slow memory, streamed or accessed at random.
    Dram,
}

/// An operation class: the thing that has one time cost τ and one energy cost ε.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Op {
    /// Double precision flop.
    #[serde(rename = "f64")]
    F64,
    /// Single precision flop.
    #[serde(rename = "f32")]
    F32,
    /// Half precision flop.
    #[serde(rename = "f16")]
    F16,
    /// Double precision flop on matrix units.
    #[serde(rename = "tensor_f64")]
    TensorF64,
    /// TF32 flop on matrix units.
    #[serde(rename = "tensor_tf32")]
    TensorTf32,
    /// bfloat16 flop on matrix units.
    #[serde(rename = "tensor_bf16")]
    TensorBf16,
    /// FP8 flop on matrix units.
    #[serde(rename = "tensor_fp8")]
    TensorFp8,
    /// Int8 operation on matrix units.
    #[serde(rename = "tensor_int8")]
    TensorInt8,
    /// Integer operation.
    #[serde(rename = "int")]
    Int,
    /// Special function: square root, reciprocal, exponential.
    #[serde(rename = "special")]
    Special,
    /// Byte from L1 or shared memory.
    #[serde(rename = "l1")]
    L1,
    /// Byte from L2.
    #[serde(rename = "l2")]
    L2,
    /// Byte from L3.
    #[serde(rename = "l3")]
    L3,
    /// Byte from DRAM, streamed.
    #[serde(rename = "dram")]
    Dram,
    /// Random access to DRAM.
    #[serde(rename = "random")]
    Random,
}

impl Op {
    /// Every class, in the order used for display.
    pub const ALL: [Op; 15] = [
        Op::F64,
        Op::F32,
        Op::F16,
        Op::TensorF64,
        Op::TensorTf32,
        Op::TensorBf16,
        Op::TensorFp8,
        Op::TensorInt8,
        Op::Int,
        Op::Special,
        Op::L1,
        Op::L2,
        Op::L3,
        Op::Dram,
        Op::Random,
    ];

    /// The name used in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Op::F64 => "f64",
            Op::F32 => "f32",
            Op::F16 => "f16",
            Op::TensorF64 => "tensor_f64",
            Op::TensorTf32 => "tensor_tf32",
            Op::TensorBf16 => "tensor_bf16",
            Op::TensorFp8 => "tensor_fp8",
            Op::TensorInt8 => "tensor_int8",
            Op::Int => "int",
            Op::Special => "special",
            Op::L1 => "l1",
            Op::L2 => "l2",
            Op::L3 => "l3",
            Op::Dram => "dram",
            Op::Random => "random",
        }
    }

    /// What one operation is.
    pub fn describe(self) -> &'static str {
        match self {
            Op::F64 => "double-precision flop (an FMA counts two)",
            Op::F32 => "single-precision flop (an FMA counts two)",
            Op::F16 => "half-precision flop on the vector pipes",
            Op::TensorF64 => "double-precision flop on the tensor pipes",
            Op::TensorTf32 => "TF32 flop on the tensor pipes",
            Op::TensorBf16 => "BF16/FP16 flop on the tensor pipes",
            Op::TensorFp8 => "FP8 flop on the tensor pipes",
            Op::TensorInt8 => "INT8 operation on the tensor pipes",
            Op::Int => "32-bit integer add or logical operation",
            Op::Special => "hardware special function (square root, reciprocal root)",
            Op::L1 => "byte moved between registers and L1 or shared memory",
            Op::L2 => "byte moved from or to L2",
            Op::L3 => "byte moved from or to L3",
            Op::Dram => "byte moved from or to slow memory",
            Op::Random => "dependent random access to slow memory (one line each)",
        }
    }

    /// The unit of one operation: `flop`, `op`, `B` or `access`.
    pub fn unit_name(self) -> &'static str {
        match self {
            Op::L1 | Op::L2 | Op::L3 | Op::Dram => "B",
            Op::Random => "access",
            Op::Int | Op::Special | Op::TensorInt8 => "op",
            _ => "flop",
        }
    }

    /// The resource the class occupies.
    pub fn unit(self) -> Unit {
        match self {
            Op::F64 | Op::F32 | Op::F16 => Unit::Vector,
            Op::TensorF64 | Op::TensorTf32 | Op::TensorBf16 | Op::TensorFp8 | Op::TensorInt8 => {
                Unit::Tensor
            }
            Op::Int => Unit::Integer,
            Op::Special => Unit::Special,
            Op::L1 => Unit::L1,
            Op::L2 => Unit::L2,
            Op::L3 => Unit::L3,
            Op::Dram | Op::Random => Unit::Dram,
        }
    }

    /// Whether the class counts as useful work W (as opposed to traffic Q).
    pub fn is_flop(self) -> bool {
        matches!(self.unit(), Unit::Vector | Unit::Tensor)
    }

    /// Whether the class counts bytes of a memory level.
    pub fn is_bytes(self) -> bool {
        self.unit_name() == "B"
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An operation name that is not in [`Op::ALL`].
#[derive(Debug, thiserror::Error)]
#[error("unknown operation `{name}`; known are {}", Op::ALL.map(Op::name).join(", "))]
pub struct UnknownOp {
    /// The name that was given.
    pub name: String,
}

impl FromStr for Op {
    type Err = UnknownOp;
    fn from_str(s: &str) -> Result<Self, UnknownOp> {
        Op::ALL
            .into_iter()
            .find(|op| op.name() == s)
            .ok_or_else(|| UnknownOp { name: s.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_through_text_and_serde() {
        for op in Op::ALL {
            assert_eq!(op.name().parse::<Op>().unwrap(), op);
            assert_eq!(
                serde_json::to_string(&op).unwrap(),
                format!("\"{}\"", op.name())
            );
        }
        assert!("f65".parse::<Op>().unwrap_err().to_string().contains("f64"));
    }
}
