//! Default mesh, refinement, final time and order of each problem.

use super::{Problem, Standard};

/// Default settings of a problem; those of Laghos's documented runs where it has the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Defaults {
    /// Name of the built-in mesh.
    pub mesh: &'static str,
    /// Number of uniform refinements of this mesh; other meshes use [`Defaults::REFINE`].
    pub refine: usize,
    /// Final time.
    pub t_final: f64,
    /// Kinematic order; the order of energies is one less.
    pub order: usize,
}

impl Defaults {
    /// Number of uniform refinements of a mesh that the user chooses.
    pub const REFINE: usize = 2;

    /// Defaults of a problem file.
    pub const GENERAL: Self = Self {
        mesh: "square01_quad",
        refine: 2,
        t_final: 0.6,
        order: 2,
    };
}

impl Standard {
    /// Default settings of the problem.
    pub fn defaults(self) -> Defaults {
        let (mesh, refine, t_final, order) = match self {
            Self::TaylorGreen => ("square01_quad", 3, 0.75, 2),
            Self::Sedov => ("square01_quad", 2, 0.6, 2),
            Self::Sod => ("segment01", 5, 0.2, 2),
            Self::TriplePoint => ("rectangle01_quad", 2, 3.0, 2),
            // A full turn of the inner vortex takes 0.4 π.
            Self::Gresho => ("square_gresho", 3, 0.628_318_53, 3),
            // The times at which these configurations are published (Kurganov and Tadmor 2002).
            Self::Riemann12 => ("square01_quad", 3, 0.25, 2),
            Self::Riemann6 => ("square01_quad", 3, 0.3, 2),
            Self::RayleighTaylor => ("rt2D", 1, 4.0, 4),
            Self::Noh => ("square01_quad", 3, 0.6, 2),
            Self::Saltzman => ("saltzman01_quad", 2, 0.6, 2),
        };
        Defaults {
            mesh,
            refine,
            t_final,
            order,
        }
    }
}

impl Problem {
    /// Default settings of the problem.
    pub fn defaults(&self) -> Defaults {
        self.standard()
            .map_or(Defaults::GENERAL, Standard::defaults)
    }
}
