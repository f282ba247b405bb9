//! Evaluation of a plan, and its phases.

use crate::FmmError;
use crate::precision::Real;
use serde::Serialize;

/// A phase of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Phase {
    /// Charges to equivalent charges, from the leaves to the root.
    #[serde(rename = "P2M+M2M")]
    Upward,
    /// V lists: Fourier transforms of equivalent charges.
    #[serde(rename = "M2L FFT")]
    M2lFft,
    /// V lists: products in Fourier space.
    #[serde(rename = "M2L Hadamard")]
    M2lHadamard,
    /// V lists: inverse transforms to check potentials.
    #[serde(rename = "M2L inverse FFT")]
    M2lInverseFft,
    /// V lists with compressed matrices.
    #[serde(rename = "M2L compressed")]
    M2lCompressed,
    /// X lists, and equivalent charges from the root to the leaves.
    #[serde(rename = "P2L+L2L")]
    Downward,
    /// Equivalent charges and W lists at the targets.
    #[serde(rename = "L2P+M2P")]
    Expansions,
    /// U lists: sources at targets.
    #[serde(rename = "P2P")]
    P2p,
}

impl Phase {
    /// All phases in their order.
    pub const ALL: [Self; 8] = [
        Self::Upward,
        Self::M2lFft,
        Self::M2lHadamard,
        Self::M2lInverseFft,
        Self::M2lCompressed,
        Self::Downward,
        Self::Expansions,
        Self::P2p,
    ];

    /// Its name in the terms of the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::Upward => "P2M+M2M",
            Self::M2lFft => "M2L FFT",
            Self::M2lHadamard => "M2L Hadamard",
            Self::M2lInverseFft => "M2L inverse FFT",
            Self::M2lCompressed => "M2L compressed",
            Self::Downward => "P2L+L2L",
            Self::Expansions => "L2P+M2P",
            Self::P2p => "P2P",
        }
    }
}

/// Seconds of the phases of an evaluation.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PhaseTimes {
    /// [`Phase::Upward`].
    pub p2m_m2m_s: f64,
    /// [`Phase::M2lFft`].
    pub m2l_fft_s: f64,
    /// [`Phase::M2lHadamard`].
    pub m2l_hadamard_s: f64,
    /// [`Phase::M2lInverseFft`].
    pub m2l_inverse_fft_s: f64,
    /// [`Phase::M2lCompressed`].
    pub m2l_compressed_s: f64,
    /// [`Phase::Downward`].
    pub p2l_l2l_s: f64,
    /// [`Phase::Expansions`].
    pub l2p_m2p_s: f64,
    /// [`Phase::P2p`].
    pub p2p_s: f64,
    /// Permuting and converting charges and results.
    pub permutation_s: f64,
    /// Copies to and from the device.
    pub transfers_s: f64,
    /// Time in which a phase on a GPU and one on the host's cores ran at once: the phases add up to so much more than passed.
    #[serde(skip_serializing_if = "is_zero")]
    pub overlapped_s: f64,
}

fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

impl PhaseTimes {
    /// Seconds of a phase.
    pub fn of(&self, phase: Phase) -> f64 {
        match phase {
            Phase::Upward => self.p2m_m2m_s,
            Phase::M2lFft => self.m2l_fft_s,
            Phase::M2lHadamard => self.m2l_hadamard_s,
            Phase::M2lInverseFft => self.m2l_inverse_fft_s,
            Phase::M2lCompressed => self.m2l_compressed_s,
            Phase::Downward => self.p2l_l2l_s,
            Phase::Expansions => self.l2p_m2p_s,
            Phase::P2p => self.p2p_s,
        }
    }

    /// All of them.
    pub fn values_mut(&mut self) -> [&mut f64; 11] {
        [
            &mut self.p2m_m2m_s,
            &mut self.m2l_fft_s,
            &mut self.m2l_hadamard_s,
            &mut self.m2l_inverse_fft_s,
            &mut self.m2l_compressed_s,
            &mut self.p2l_l2l_s,
            &mut self.l2p_m2p_s,
            &mut self.p2p_s,
            &mut self.permutation_s,
            &mut self.transfers_s,
            &mut self.overlapped_s,
        ]
    }

    /// Seconds of M2L as a whole.
    pub fn m2l_s(&self) -> f64 {
        self.m2l_fft_s + self.m2l_hadamard_s + self.m2l_inverse_fft_s + self.m2l_compressed_s
    }

    /// Seconds of all phases, without permutation and transfers; time in which a GPU and the host's cores worked at once
    /// counts once.
    pub fn total_s(&self) -> f64 {
        Phase::ALL.iter().map(|p| self.of(*p)).sum::<f64>() - self.overlapped_s
    }
}

/// Evaluates a plan on a device.
pub trait Engine {
    /// Results at the targets of the plan in the units of the points, component by component: `[component][target]`, in the
    /// order of the input.
    ///
    /// # Errors
    /// The number of charges is wrong or one is not finite; the device is lost.
    fn evaluate(&mut self, charges: &[f64]) -> Result<Vec<f64>, FmmError> {
        let mut out = Vec::new();
        self.evaluate_into(charges, &mut out)?;
        Ok(out)
    }

    /// As [`Engine::evaluate`], into memory that can be used again: `out` is replaced.
    ///
    /// # Errors
    /// As [`Engine::evaluate`].
    fn evaluate_into(&mut self, charges: &[f64], out: &mut Vec<f64>) -> Result<(), FmmError>;

    /// Seconds of the phases of the last evaluation.
    fn phases(&self) -> PhaseTimes;

    /// Repeats the last evaluation `times` times, for measurements: nothing is copied to or from the device, nor exchanged
    /// with other ranks.
    ///
    /// # Errors
    /// The device is lost.
    fn repeat(&mut self, times: usize) -> Result<(), FmmError>;
}

/// An engine whose evaluation is done in two steps, if points are distributed over ranks: between them ranks exchange
/// equivalent charges. Charges, equivalent charges and results are in the unit and order of the boxes.
pub trait Steps<R: Real>: Engine {
    /// P2M and M2M of the boxes that this rank computes alone. `fill` writes the charges of all sources of the plan; the
    /// equivalent charges of the boxes that were named as needed by others replace `sent`, box by box.
    ///
    /// # Errors
    /// The device is lost.
    fn begin(&mut self, fill: &mut dyn FnMut(&mut [R]), sent: &mut Vec<R>) -> Result<(), FmmError>;

    /// The rest of the evaluation, with the equivalent charges from other ranks, in the order of the boxes. `take` gets
    /// the sums at the targets, `[component][target]`, without the kernel's factor.
    ///
    /// # Errors
    /// The device is lost.
    fn finish(&mut self, received: &[R], take: &mut dyn FnMut(&[R])) -> Result<(), FmmError>;
}
