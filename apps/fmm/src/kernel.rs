//! Interaction kernels: what a source gives at a distance.

use crate::FmmError;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A kernel K(x, y) with r = |x - y|. Its parameters are in the units of the points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kernel")]
pub enum Kernel {
    /// 1 / (4 pi r): gravity, electrostatics (thesis, §6.1).
    Laplace,
    /// e^(-kappa r) / (4 pi r): screened charges.
    Yukawa { kappa: f64 },
    /// e^(i k r) / (4 pi r): sound; charges and potentials are complex.
    Helmholtz { k: f64 },
    /// (I / r + x xᵀ / r³) / (8 pi mu): velocities of slow flow of forces.
    Stokes { mu: f64 },
}

impl Kernel {
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Yukawa { .. } => "yukawa",
            Self::Helmholtz { .. } => "helmholtz",
            Self::Stokes { .. } => "stokes",
        }
    }

    /// Numbers a source: a charge, two parts of one, or a force.
    pub fn inputs(self) -> usize {
        match self {
            Self::Laplace | Self::Yukawa { .. } => 1,
            Self::Helmholtz { .. } => 2,
            Self::Stokes { .. } => 3,
        }
    }

    /// Numbers a target: the potential, and where asked for its gradient (of Helmholtz: real parts, then imaginary).
    pub fn outputs(self, gradient: bool) -> usize {
        self.inputs() * if gradient { 4 } else { 1 }
    }

    /// Names of the outputs, for files.
    pub fn columns(self, gradient: bool) -> &'static [&'static str] {
        match (self, gradient) {
            (Self::Laplace | Self::Yukawa { .. }, false) => &["potential"],
            (Self::Laplace | Self::Yukawa { .. }, true) => {
                &["potential", "gradient_x", "gradient_y", "gradient_z"]
            }
            (Self::Helmholtz { .. }, false) => &["potential_re", "potential_im"],
            (Self::Helmholtz { .. }, true) => &[
                "potential_re",
                "potential_im",
                "gradient_x_re",
                "gradient_y_re",
                "gradient_z_re",
                "gradient_x_im",
                "gradient_y_im",
                "gradient_z_im",
            ],
            (Self::Stokes { .. }, _) => &["velocity_x", "velocity_y", "velocity_z"],
        }
    }

    /// Which of the sums of `fmm.c`.
    pub(crate) fn sums(self, gradient: bool) -> usize {
        let first = match self {
            Self::Laplace => 0,
            Self::Yukawa { .. } => 2,
            Self::Helmholtz { .. } => 4,
            Self::Stokes { .. } => 6,
        };
        first + usize::from(gradient)
    }

    /// What stands before the sums, whose own factor is 1.
    pub fn factor(self) -> f64 {
        use std::f64::consts::PI;
        match self {
            Self::Stokes { mu } => 1.0 / (8.0 * PI * mu),
            _ => 1.0 / (4.0 * PI),
        }
    }

    /// The parameter of sums, where lengths are counted in `unit`.
    pub fn parameter(self, unit: f64) -> f64 {
        match self {
            Self::Yukawa { kappa } => kappa * unit,
            Self::Helmholtz { k } => k * unit,
            _ => 0.0,
        }
    }

    /// Whether K(s x, s y) = K(x, y) / s: then one size of box serves all.
    pub(crate) fn scales(self) -> bool {
        match self {
            Self::Laplace | Self::Stokes { .. } => true,
            Self::Yukawa { kappa } => kappa == 0.0,
            Self::Helmholtz { k } => k == 0.0,
        }
    }

    /// Checks the parameters, and whether there are gradients where wanted.
    ///
    /// # Errors
    /// A parameter that is no number, negative or (viscosity) zero; gradients of Stokes' velocities.
    pub fn check(self, gradient: bool) -> Result<(), FmmError> {
        let (name, value, ok) = match self {
            Self::Laplace => return Ok(()),
            Self::Yukawa { kappa } => ("kappa", kappa, kappa >= 0.0),
            Self::Helmholtz { k } => ("k", k, k >= 0.0),
            Self::Stokes { mu } => ("mu", mu, mu > 0.0),
        };
        if !ok || !value.is_finite() {
            return Err(FmmError(format!(
                "{name} is {value}: take a finite number {}",
                if name == "mu" { "above 0" } else { "from 0 on" }
            )));
        }
        if gradient && matches!(self, Self::Stokes { .. }) {
            return Err(FmmError(
                "Stokes gives velocities: leave --gradient away".to_owned(),
            ));
        }
        Ok(())
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Laplace => Ok(()),
            Self::Yukawa { kappa } => write!(f, " (kappa {kappa})"),
            Self::Helmholtz { k } => write!(f, " (k {k})"),
            Self::Stokes { mu } => write!(f, " (mu {mu})"),
        }
    }
}
