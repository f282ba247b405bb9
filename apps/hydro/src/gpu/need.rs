//! Whether a problem fits a GPU, known before anything is put there.

use crate::csr::Csr;
use crate::hydro::Hydro;

/// Bytes of a problem on a GPU, by what takes most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// Corner-force matrices, and inverse mass matrices of energies.
    corner: usize,
    inverse: usize,
    others: usize,
    zones: usize,
    order: usize,
    /// Numbers of the forces of all zones, which kernels count with 32 bits.
    forces: usize,
}

impl Need {
    /// With stored stresses or not, an assembled mass matrix or not, and so many rates of an integrator.
    pub fn of(h: &Hydro, stored: bool, csr: Option<&Csr>, rates: usize) -> Self {
        let (s, e) = (&h.space, &h.space.element);
        let (d, points) = (s.dim, e.points());
        let nodes = d * s.nodes;
        let when = |n: usize, when: bool| if when { n } else { 0 };
        let state = 2 * nodes + s.zones * e.energies;
        let forces = s.zones * d * e.local;
        let others = (2 + rates) * state
            + h.mass.len()
            + h.given.as_ref().map_or(0, Vec::len)
            + h.inverse.len()
            + when(s.zones * (d * d + 1) * points, stored)
            + forces
            + s.zones * e.energies
            + when(nodes, csr.is_some())
            + 4 * nodes
            // Indices of half the size.
            + (s.zones * e.local + s.shares.len()) / 2
            + csr.map_or(0, |m| m.values.len() * 3 / 2);
        Self {
            corner: when(8 * forces * e.energies, csr.is_some()),
            inverse: 8 * s.zones * e.energies * e.energies,
            others: 8 * others,
            zones: s.zones,
            order: e.order,
            forces,
        }
    }

    /// Compares with what is free.
    ///
    /// # Errors
    /// It does not fit, with what takes most.
    pub fn check(&self, free: usize) -> Result<(), String> {
        let gb = |bytes: usize| format!("{:.2} GB", bytes as f64 * 1e-9);
        if u32::try_from(self.forces).is_err() {
            return Err(format!(
                "{} zones of order {} are too many for the GPU's 32-bit indices: take a smaller --refine or a lower --order",
                self.zones, self.order
            ));
        }
        let all = self.corner + self.inverse + self.others;
        if all <= free {
            return Ok(());
        }
        let (what, fix) = if self.corner > self.inverse {
            (
                format!(
                    "{} for the corner-force matrices of --operator full",
                    gb(self.corner)
                ),
                "--operator matrix-free, a smaller --refine or a lower --order",
            )
        } else {
            (
                format!("{} for the inverse mass matrices", gb(self.inverse)),
                "a smaller --refine, a lower --energy-order or --device cpu",
            )
        };
        Err(format!(
            "{} zones of order {} need {} of GPU memory ({what}), and {} are free: take {fix}",
            self.zones,
            self.order,
            gb(all),
            gb(free)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::problem::Standard;
    use crate::start::Orders;

    #[test]
    fn what_does_not_fit_is_refused_with_the_reason() {
        let orders = Orders {
            kinematic: 2,
            energy: 1,
            cg_tol: 1e-12,
            cg_max: 300,
            cfl: 0.5,
        };
        let mesh = Mesh::open("2x2x2", 0).unwrap();
        let (h, _) = Hydro::new(&mesh, Standard::Sedov.into(), &orders, 1.0).unwrap();
        let csr = Csr::of_mass(&h);
        let (free, full) = (
            Need::of(&h, false, None, 4),
            Need::of(&h, true, Some(&csr), 4),
        );
        // F_z is 81 x 8 in each of 8 zones.
        assert_eq!((free.corner, full.corner), (0, 8 * 8 * 81 * 8));
        assert_eq!(full.inverse, 8 * 8 * 64);
        let all = full.corner + full.inverse + full.others;
        assert!(full.check(all).is_ok());
        let words = full.check(all - 1).unwrap_err();
        assert!(
            words.contains("8 zones of order 2") && words.contains("--operator matrix-free"),
            "{words}"
        );
        let words = free.check(1000).unwrap_err();
        assert!(words.contains("GB"), "{words}");
        let many = Need {
            forces: 1 << 32,
            ..free
        };
        assert!(many.check(usize::MAX).unwrap_err().contains("32-bit"));
    }
}
