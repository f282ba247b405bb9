//! Vector instruction sets, and which of them this CPU has.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A vector instruction set that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Isa {
    /// The default target of the compiler (SSE2 on x86-64: no FMA).
    Portable,
    /// 128-bit vectors of AArch64.
    Neon,
    /// 256-bit vectors with FMA.
    Avx2,
    /// 512-bit vectors.
    Avx512,
}

impl Isa {
    /// All instruction sets.
    pub const ALL: [Isa; 4] = [Isa::Portable, Isa::Neon, Isa::Avx2, Isa::Avx512];

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Portable => "portable",
            Isa::Neon => "neon",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// Whether this CPU (and this build's architecture) can run it.
    pub fn available(self) -> bool {
        match self {
            Isa::Portable => true,
            Isa::Neon => cfg!(target_arch = "aarch64"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => {
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx2 | Isa::Avx512 => false,
        }
    }

    /// The widest one available.
    pub fn best() -> Self {
        HostIsa::best().get()
    }

    /// Proof that this CPU has it, for safe functions that call its kernels.
    pub fn on_host(self) -> Option<HostIsa> {
        self.available().then_some(HostIsa(self))
    }

    /// Size of a vector register, bytes.
    pub fn vector_bytes(self) -> usize {
        match self {
            Isa::Portable | Isa::Neon => 16,
            Isa::Avx2 => 32,
            Isa::Avx512 => 64,
        }
    }

    /// Flops of one vector instruction on elements of `bytes`: an FMA counts two per lane.
    pub fn flops_per_instruction(self, bytes: usize) -> f64 {
        let lanes = (self.vector_bytes() / bytes) as f64;
        if self == Isa::Portable && cfg!(target_arch = "x86_64") {
            lanes
        } else {
            2.0 * lanes
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An instruction set that this CPU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostIsa(Isa);

impl HostIsa {
    /// Every CPU has it.
    pub const PORTABLE: Self = Self(Isa::Portable);

    /// The widest one.
    pub fn best() -> Self {
        let mut all = Isa::ALL.into_iter().rev();
        all.find_map(Isa::on_host).unwrap_or(Self::PORTABLE)
    }

    /// Which one it is.
    pub fn get(self) -> Isa {
        self.0
    }
}

impl fmt::Display for HostIsa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{HostIsa, Isa};

    #[test]
    fn only_what_the_host_has_is_proven() {
        for isa in Isa::ALL {
            assert_eq!(
                isa.on_host().map(HostIsa::get),
                isa.available().then_some(isa)
            );
        }
        let neither = Isa::ALL.iter().filter(|i| i.on_host().is_none()).count();
        assert!(neither > 0, "no CPU has both Neon and AVX");
        assert_eq!(Isa::Portable.on_host(), Some(HostIsa::PORTABLE));
    }

    #[test]
    fn the_best_is_available() {
        assert!(Isa::best().available());
        assert_eq!(Isa::Avx512.flops_per_instruction(8), 16.0);
    }
}
