//! Memory of the host for copies to and from the GPU.

use crate::precision::Real;
use greenup_device::cuda::{CudaError, Pinned, Session};

/// Memory of the host for copies: pinned, from which the GPU copies several times as fast, if there is a GPU.
pub(super) enum Staging {
    Pageable(Vec<u128>),
    Pinned(Pinned),
}

impl Staging {
    pub fn pageable(bytes: usize) -> Self {
        Self::Pageable(vec![0; bytes.div_ceil(16)])
    }

    /// Pinned memory, if the host has it.
    pub fn pinned(ordinal: i32, bytes: usize) -> Result<Self, CudaError> {
        let pinned = Session::open(ordinal)?.pinned(bytes);
        Ok(pinned.map_or_else(|_| Self::pageable(bytes), Self::Pinned))
    }

    /// Its first `count` values.
    ///
    /// # Panics
    /// It is shorter.
    pub fn values<R: Real>(&mut self, count: usize) -> Result<&mut [R], CudaError> {
        let bytes = match self {
            Self::Pageable(words) => greenup_device::memory::bytes_mut(words),
            Self::Pinned(pinned) => pinned.bytes()?,
        };
        // SAFETY: any bits are numbers of a plain type.
        let (head, values, _) = unsafe { bytes.align_to_mut::<R>() };
        assert!(
            head.is_empty() && count <= values.len(),
            "too little memory for a copy"
        );
        Ok(&mut values[..count])
    }
}
