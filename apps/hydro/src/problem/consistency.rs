//! Consistency of a problem's arrays. Its fields are public, and kernels index memory by them without checks.

use crate::HydroError;
use crate::hydro::Hydro;

impl Hydro {
    /// Checks what kernels rely on: array lengths, and indices within them.
    ///
    /// # Errors
    /// An array length or an index does not fit the others.
    pub(crate) fn consistent(&self) -> Result<(), HydroError> {
        let (s, e) = (&self.space, &self.space.element);
        let (zones, points) = (s.zones, e.points());
        let dd = s.dim * s.dim;
        let sizes = [
            s.dim == e.dim() && (1..=3).contains(&s.dim),
            zones > 0 && e.local > 0 && e.energies > 0 && points > 0,
            s.of_zone.len() == zones * e.local,
            s.begin.len() == s.nodes + 1,
            s.constrained.len() == s.dim * s.nodes,
            self.gas.len() == zones,
            self.mass.len() == zones * points,
            self.prescribed_mass
                .as_ref()
                .is_none_or(|m| m.len() == zones * points),
            self.inverse.len() == zones * dd * if self.affine { 1 } else { points },
            e.energy.len() == points * e.energies,
            e.factors.as_ref().is_none_or(|f| {
                let (n, t, d) = (e.order + 1, e.energy_order + 1, s.dim as u32);
                // The rule that kernels for one order are compiled with.
                f.points == (3 * e.order + e.energy_order - 1) / 2 + 1
                    && f.points.pow(d) == points
                    && n.pow(d) == e.local
                    && t.pow(d) == e.energies
                    && f.value.len() == f.points * n
                    && f.gradient.len() == f.points * n
                    && f.energy.len() == f.points * t
            }),
        ];
        let within = || {
            s.of_zone.iter().all(|n| (*n as usize) < s.nodes)
                && s.begin.is_sorted()
                && s.begin
                    .last()
                    .is_some_and(|n| *n as usize <= s.shares.len())
                && s.shares
                    .iter()
                    .all(|(z, i)| (*z as usize) < zones && (*i as usize) < e.local)
        };
        if sizes.iter().all(|fits| *fits) && within() {
            return Ok(());
        }
        Err(HydroError::Device(
            "the problem's sizes or indices do not go together".into(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::{Corner, Operator as _, PartialAssembly};
    use crate::engine::State;
    use crate::mesh::Mesh;
    use crate::problem::Standard;
    use crate::problem::initial_state::Orders;
    use greenup_device::HostIsa;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    fn problem() -> (Hydro, State) {
        let mesh = Mesh::open("3x2", 0).unwrap();
        Hydro::new(&mesh, Standard::Sedov.into(), &Orders::default(), 1.0).unwrap()
    }

    #[test]
    fn kernels_get_no_indices_beyond_their_arrays() {
        let breaks: [fn(&mut Hydro); 6] = [
            |h| h.space.of_zone[3] = 1 << 30,
            |h| h.space.shares[0].0 = 1 << 20,
            |h| h.space.nodes += 1,
            |h| h.space.element.order = 4,
            |h| {
                h.mass.pop();
            },
            |h| h.affine = false,
        ];
        for (i, change) in breaks.iter().enumerate() {
            let (mut h, _) = problem();
            assert!(h.consistent().is_ok());
            change(&mut h);
            assert!(h.consistent().is_err(), "{i}");
            assert!(
                Corner::new(&h, HostIsa::best(), false, 0..1).is_err(),
                "{i}"
            );
            assert!(PartialAssembly::new(Arc::new(h)).is_err(), "{i}");
        }
    }

    #[test]
    fn zones_that_are_not_there_are_refused() {
        let (h, _) = problem();
        assert!(Corner::new(&h, HostIsa::best(), false, 0..7).is_err());
        assert!(Corner::new(&h, HostIsa::best(), false, 6..6).is_err());
    }

    #[test]
    fn slices_of_other_lengths_are_not_read_beyond_their_end() {
        let (h, s) = problem();
        let mut corner = Corner::new(&h, HostIsa::best(), false, 0..6).unwrap();
        corner.stresses(&s.x, &s.v, &s.e);
        let mut solved = PartialAssembly::new(Arc::new(h)).unwrap();
        solved.stresses(&s);
        let short = State {
            x: s.x[1..].to_vec(),
            ..s.clone()
        };
        let (mut few, mut many) = (vec![0.0; 3], vec![0.0; s.v.len() + 1]);
        let refused = |f: &mut dyn FnMut()| {
            assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
        };
        refused(&mut || _ = corner.stresses(&short.x, &s.v, &s.e));
        refused(&mut || _ = corner.stresses(&s.x, &s.v, &s.e[1..]));
        refused(&mut || corner.forces(&mut few));
        refused(&mut || corner.work(&s.v, None, &mut few));
        refused(&mut || corner.work(&s.v, Some(&[1.0]), &mut s.e.clone()));
        refused(&mut || solved.accelerations(&mut few));
        refused(&mut || solved.accelerations(&mut many));
        let none = State {
            v: Vec::new(),
            ..s.clone()
        };
        refused(&mut || _ = solved.energies(&none));
    }
}
