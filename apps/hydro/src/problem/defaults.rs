//! Default mesh, refinement, final time and order of each problem.

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
