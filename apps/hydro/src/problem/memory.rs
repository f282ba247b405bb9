//! Memory of a run, checked before it is allocated.

use crate::HydroError;
use crate::fem::element::{Element, Shape};
use crate::problem::initial_state::Orders;
use greenup_setting::setting;

/// Measured memory of runs divided by the arrays counted here (measured: 1.2 to 1.5).
const COUNTED: f64 = 1.25;

/// Size of a run.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Shape of the zones.
    pub shape: Shape,
    /// Number of zones.
    pub zones: f64,
    /// Orders of the spaces.
    pub orders: Orders,
    /// Whether the host uses full assembly, and the number of rates that its integrator stores; `None` on a GPU.
    pub host: Option<(bool, usize)>,
}

impl Size {
    /// Peak memory of the host during set-up and run, bytes.
    pub fn bytes(&self) -> f64 {
        let (shape, k, t) = (self.shape, self.orders.kinematic, self.orders.energy);
        let (d, z) = (shape.dim() as f64, self.zones);
        let local = shape.nodes(k) as f64;
        let energies = shape.nodes(t) as f64;
        let points = if shape.tensor() {
            (((3 * k + t - 1) / 2 + 1) as f64).powi(shape.dim() as i32)
        } else {
            Element::new(shape, k, t).points() as f64
        };
        // Nodes that zones share; of simplices a zone has 1/d! of a box.
        let share = if shape.tensor() { 1.0 } else { d };
        let nodes = z * (k as f64).powf(d) / share;
        let mesh = z * (24.0 / share + 4.0 * shape.corners() as f64 + 4.0);
        let space = z * local * 12.0 + nodes * (9.0 * d + 4.0);
        let state = 8.0 * (2.0 * d * nodes + z * energies);
        let mass = 8.0 * z * points;
        // Each zone at the start with its inverse Jacobians at all points.
        let start = 8.0 * z * (points * (2.0 + d * d) + energies) + mass;
        let running = match self.host {
            None => 0.0,
            Some((full, rates)) => {
                let own = if full {
                    // Matrices of zones and rows of their sum are there at once.
                    let corner = z * d * local * energies;
                    8.0 * (corner + z * (energies * energies + local * local))
                } else {
                    8.0 * z * (points * (1.0 + d * d) + local * d + energies * energies)
                };
                own + (2 + rates) as f64 * state
            }
        };
        COUNTED * (mesh + space + state + start.max(mass + running))
    }

    /// Checks that the run fits into memory, and that its nodes have 32-bit numbers.
    ///
    /// # Errors
    /// It does not fit; the message states the memory that is needed and available.
    pub fn check(&self) -> Result<(), HydroError> {
        let o = &self.orders;
        // The start refuses these with a better reason.
        if !(1..=8).contains(&o.kinematic) || o.energy >= 8 {
            return Ok(());
        }
        let numbers = self.zones * (self.shape.nodes(o.kinematic) * self.shape.dim()) as f64;
        if numbers >= f64::from(u32::MAX) {
            return Err(HydroError::Setting(format!(
                "{} zones of order {} are too many: nodes have 32-bit numbers; use a smaller {}",
                self.zones,
                o.kinematic,
                setting("refine")
            )));
        }
        let what = format!("a run of {} zones of order {}", self.zones, o.kinematic);
        greenup_process::memory::check(&what, self.bytes() as u64).map_err(|cause| {
            HydroError::Memory {
                cause,
                fix: format!(
                    "use a smaller {} or {}",
                    setting("refine"),
                    setting("order")
                ),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_grow_with_zones_and_orders() {
        let orders = |kinematic| Orders {
            kinematic,
            energy: kinematic - 1,
            ..Orders::default()
        };
        let size = |zones, k, full| Size {
            shape: Shape::Hex,
            zones,
            orders: orders(k),
            host: Some((full, 4)),
        };
        let small = size(1e5, 2, false).bytes();
        assert!(size(2e5, 2, false).bytes() > 1.9 * small);
        assert!(size(1e5, 3, false).bytes() > 2.0 * small);
        assert!(size(1e5, 3, true).bytes() > size(1e5, 3, false).bytes());
        size(100.0, 2, false).check().unwrap();
        let e = size(4096_f64.powi(3), 2, false).check().unwrap_err();
        assert!(e.to_string().contains("32-bit"), "{e}");
        let e = size(2.1e7, 3, false).check().unwrap_err();
        assert!(e.to_string().contains("GiB of memory, but"), "{e}");
    }
}
