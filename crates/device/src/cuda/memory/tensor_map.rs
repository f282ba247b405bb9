//! Tensor maps: arrays as tiles for the tensor memory accelerator (TMA, Hopper and later).

use crate::cuda::{CudaError, failed};
use cudarc::driver::sys;
use serde::{Deserialize, Serialize};
use std::mem::MaybeUninit;

/// Type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MapElement {
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
}

impl MapElement {
    fn bytes(self) -> u64 {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    fn raw(self) -> sys::CUtensorMapDataType {
        use sys::CUtensorMapDataType_enum as T;
        match self {
            Self::F32 => T::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            Self::F64 => T::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
            Self::I32 => T::CU_TENSOR_MAP_DATA_TYPE_INT32,
            Self::I64 => T::CU_TENSOR_MAP_DATA_TYPE_INT64,
        }
    }
}

/// An array of up to five dimensions, and its tiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapShape {
    /// Type of the elements.
    pub element: MapElement,
    /// Elements along each dimension, the contiguous one first.
    pub sizes: Vec<u64>,
    /// Elements between neighbours of each dimension but the first.
    pub steps: Vec<u64>,
    /// Elements of a tile along each dimension; at most 256.
    pub cut: Vec<u64>,
    /// Swizzle span, bytes: 0, 32, 64 or 128.
    pub swizzle: u32,
}

/// A tensor map: 128 bytes that a kernel takes as a `__grid_constant__`.
#[repr(transparent)]
pub struct TensorMap(sys::CUtensorMap);

impl TensorMap {
    /// Maps the array at an address.
    ///
    /// # Errors
    /// A shape that the copy engine cannot take, or a driver before CUDA 12.
    pub fn new(shape: &MapShape, address: u64) -> Result<Self, CudaError> {
        let refused = |cause: &str| CudaError::Driver {
            what: "there is no such tensor map",
            cause: cause.to_owned(),
        };
        let rank = shape.sizes.len();
        if !(1..=5).contains(&rank) || shape.cut.len() != rank || shape.steps.len() + 1 != rank {
            return Err(refused("1 to 5 sizes, as many of a box, one step less"));
        }
        let strides: Vec<u64> = shape
            .steps
            .iter()
            .map(|s| s * shape.element.bytes())
            .collect();
        let cut: Vec<u32> = shape
            .cut
            .iter()
            .map(|&n| u32::try_from(n).unwrap_or(u32::MAX))
            .collect();
        let swizzle = {
            use sys::CUtensorMapSwizzle_enum as S;
            match shape.swizzle {
                0 => S::CU_TENSOR_MAP_SWIZZLE_NONE,
                32 => S::CU_TENSOR_MAP_SWIZZLE_32B,
                64 => S::CU_TENSOR_MAP_SWIZZLE_64B,
                128 => S::CU_TENSOR_MAP_SWIZZLE_128B,
                _ => return Err(refused("swizzle is 0, 32, 64 or 128")),
            }
        };
        let ones = [1_u32; 5];
        let mut map = MaybeUninit::<sys::CUtensorMap>::zeroed();
        // SAFETY: all arrays have `rank` numbers (the strides one less, as the driver wants them);
        // the address is only written into the map.
        let result = unsafe {
            sys::cuTensorMapEncodeTiled(
                map.as_mut_ptr(),
                shape.element.raw(),
                rank as u32,
                address as usize as *mut _,
                shape.sizes.as_ptr(),
                strides.as_ptr(),
                cut.as_ptr(),
                ones.as_ptr(),
                sys::CUtensorMapInterleave_enum::CU_TENSOR_MAP_INTERLEAVE_NONE,
                swizzle,
                sys::CUtensorMapL2promotion_enum::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                sys::CUtensorMapFloatOOBfill_enum::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        result.result().map_err(failed(
            "invalid tensor map: sizes and steps must be multiples of 16 bytes, tiles at most 256 elements",
        ))?;
        // SAFETY: the driver wrote it; before, all its bytes were zeros.
        Ok(Self(unsafe { map.assume_init() }))
    }
}
