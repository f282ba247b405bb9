//! Memory requirements of a problem on a GPU, checked before allocation.

use crate::HydroError;
use crate::fem::mass_matrix::Csr;
use crate::hydro::Hydro;
use greenup_device::cuda::CudaError;
use greenup_setting::setting;

/// Memory of a problem on a GPU by the largest arrays, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Requirements {
    /// Corner-force matrices.
    corner: usize,
    /// Inverse energy mass matrices.
    inverse: usize,
    others: usize,
    zones: usize,
    order: usize,
    /// Length of the zone forces, which kernels index with 32 bits.
    forces: usize,
}

impl Requirements {
    /// Requirements with or without stored stresses and an assembled mass matrix, for an integrator with `rates` rates.
    pub fn of(h: &Hydro, stored: bool, csr: Option<&Csr>, rates: usize) -> Self {
        let (s, e) = (&h.space, &h.space.element);
        let (d, points) = (s.dim, e.points());
        let nodes = d * s.nodes;
        let when = |n: usize, when: bool| if when { n } else { 0 };
        let state = 2 * nodes + s.zones * e.energies;
        let forces = s.zones * d * e.local;
        let others = (2 + rates) * state
            + h.mass.len()
            + h.prescribed_mass.as_ref().map_or(0, Vec::len)
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

    /// Checks that the problem fits into `free` bytes.
    ///
    /// # Errors
    /// It does not; the message names the largest arrays.
    pub fn check(&self, free: usize) -> Result<(), HydroError> {
        let gb = |bytes: usize| format!("{:.2} GB", bytes as f64 * 1e-9);
        if u32::try_from(self.forces).is_err() {
            return Err(HydroError::Device(format!(
                "{} zones of order {} are too many for the GPU's 32-bit indices: use a smaller {} or a lower {}",
                self.zones,
                self.order,
                setting("refine"),
                setting("order")
            )));
        }
        let all = self.corner + self.inverse + self.others;
        if all <= free {
            return Ok(());
        }
        let (what, fix) = if self.corner > self.inverse {
            (
                format!(
                    "{} for the corner-force matrices of {}",
                    gb(self.corner),
                    setting("assembly").to("full")
                ),
                format!(
                    "{}, a smaller {} or a lower {}",
                    setting("assembly").to("partial"),
                    setting("refine"),
                    setting("order")
                ),
            )
        } else {
            (
                format!("{} for the inverse mass matrices", gb(self.inverse)),
                format!(
                    "a smaller {}, a lower {} or {}",
                    setting("refine"),
                    setting("energy_order"),
                    setting("device").to("cpu")
                ),
            )
        };
        Err(CudaError::OutOfMemory(format!(
            "{} zones of order {} need {} of GPU memory ({what}), and {} are free: use {fix}",
            self.zones,
            self.order,
            gb(all),
            gb(free)
        ))
        .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;
    use crate::problem::Standard;
    use crate::problem::initial_state::Orders;

    #[test]
    fn what_does_not_fit_is_refused_with_the_reason() {
        let mesh = Mesh::open("2x2x2", 0).unwrap();
        let (h, _) = Hydro::new(&mesh, Standard::Sedov.into(), &Orders::default(), 1.0).unwrap();
        let csr = Csr::of_mass(&h);
        let (free, full) = (
            Requirements::of(&h, false, None, 4),
            Requirements::of(&h, true, Some(&csr), 4),
        );
        // F_z is 81 x 8 in each of 8 zones.
        assert_eq!((free.corner, full.corner), (0, 8 * 8 * 81 * 8));
        assert_eq!(full.inverse, 8 * 8 * 64);
        let all = full.corner + full.inverse + full.others;
        assert!(full.check(all).is_ok());
        let words = full.check(all - 1).unwrap_err().to_string();
        assert!(
            words.contains("8 zones of order 2") && words.contains("--assembly partial"),
            "{words}"
        );
        let words = free.check(1000).unwrap_err().to_string();
        assert!(words.contains("GB"), "{words}");
        let many = Requirements {
            forces: 1 << 32,
            ..free
        };
        assert!(
            many.check(usize::MAX)
                .unwrap_err()
                .to_string()
                .contains("32-bit")
        );
    }
}
