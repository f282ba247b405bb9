//! Interaction kernels.

use crate::error::{FmmError, invalid};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A kernel K(x, y) with r = |x - y|. Its parameters are in the units of the points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kernel")]
pub enum Kernel {
    /// 1 / (4 pi r): gravity, electrostatics (thesis, §6.1).
    Laplace,
    /// e^(-kappa r) / (4 pi r): screened charges.
    Yukawa {
        /// Inverse screening length.
        kappa: f64,
    },
    /// e^(i k r) / (4 pi r): sound; charges and potentials are complex.
    Helmholtz {
        /// Wave number.
        k: f64,
    },
    /// (I / r + x xᵀ / r³) / (8 pi mu): velocities of slow flow of forces.
    Stokes {
        /// Viscosity.
        mu: f64,
    },
}

impl Kernel {
    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Laplace => "laplace",
            Self::Yukawa { .. } => "yukawa",
            Self::Helmholtz { .. } => "helmholtz",
            Self::Stokes { .. } => "stokes",
        }
    }

    /// Values per source: 1 charge, 2 (complex charge) or 3 (force).
    pub fn inputs(self) -> usize {
        match self {
            Self::Laplace | Self::Yukawa { .. } => 1,
            Self::Helmholtz { .. } => 2,
            Self::Stokes { .. } => 3,
        }
    }

    /// Values per target: the potential, then its gradient if asked for (Helmholtz: real parts, then imaginary).
    pub fn outputs(self, gradient: bool) -> usize {
        self.inputs() * if gradient { 4 } else { 1 }
    }

    /// Names of the values per target, for files.
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

    /// Index of its function in `fmm.c`.
    pub(crate) fn sums(self, gradient: bool) -> usize {
        let first = match self {
            Self::Laplace => 0,
            Self::Yukawa { .. } => 2,
            Self::Helmholtz { .. } => 4,
            Self::Stokes { .. } => 6,
        };
        first + usize::from(gradient)
    }

    /// The constant factor of the kernel, which the sums omit.
    pub fn factor(self) -> f64 {
        use std::f64::consts::PI;
        match self {
            Self::Stokes { mu } => 1.0 / (8.0 * PI * mu),
            _ => 1.0 / (4.0 * PI),
        }
    }

    /// Its dimensionless parameter, with lengths in units of `unit`.
    pub fn parameter(self, unit: f64) -> f64 {
        match self {
            Self::Yukawa { kappa } => kappa * unit,
            Self::Helmholtz { k } => k * unit,
            _ => 0.0,
        }
    }

    /// Whether K(s x, s y) = K(x, y) / s, so that all levels share operators.
    pub(crate) fn scales(self) -> bool {
        match self {
            Self::Laplace | Self::Stokes { .. } => true,
            Self::Yukawa { kappa } => kappa == 0.0,
            Self::Helmholtz { k } => k == 0.0,
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// A parameter is not finite, negative or (viscosity) zero; gradients of Stokes velocities.
    pub fn check(self, gradient: bool) -> Result<(), FmmError> {
        let (name, value, ok) = match self {
            Self::Laplace => return Ok(()),
            Self::Yukawa { kappa } => ("kappa", kappa, kappa >= 0.0),
            Self::Helmholtz { k } => ("k", k, k >= 0.0),
            Self::Stokes { mu } => ("mu", mu, mu > 0.0),
        };
        if !ok || !value.is_finite() {
            let expected = match name {
                "mu" => "a finite number above 0",
                _ => "a finite number, 0 or more",
            };
            return Err(invalid(name, value, expected));
        }
        if gradient && matches!(self, Self::Stokes { .. }) {
            return Err(FmmError::StokesGradient);
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
