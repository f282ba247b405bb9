//! Operations and bytes of the parts of a step, for predictions by a machine model.

use crate::engine::Part;
use crate::hydro::Hydro;
use greenup_model::{Op, Work};

/// Operations and bytes of a part of a step with partial assembly; `iterations` is the number of CG iterations of a
/// solve. The flops per quadrature point are an estimate (eigenvectors, singular values, equation of state).
pub fn of_part(h: &Hydro, part: Part, iterations: f64) -> Work {
    let (s, e) = (&h.space, &h.space.element);
    let (d, n, q) = (
        s.dim as f64,
        (e.order + 1) as f64,
        e.factors.as_ref().map_or(1, |f| f.points) as f64,
    );
    let (zones, nodes) = (s.zones as f64, (s.dim * s.nodes) as f64);
    let (points, local, energies) = (e.points() as f64, e.local as f64, e.energies as f64);
    // Lines of sums along each direction, values or gradients alone.
    let lines: f64 = (0..s.dim)
        .map(|g| 2.0 * n.powi((s.dim - g) as i32) * q.powi(g as i32 + 1))
        .sum();
    let mut work = Work::new();
    // Counts that are finite and not negative are always taken.
    let mut add = |op, count| {
        let _ = work.add(op, count);
    };
    if part == Part::Corner {
        let at_point = [60.0, 180.0, 1000.0][s.dim - 1];
        add(Op::F64, zones * (points * at_point + 3.0 * d * d * lines));
        add(
            Op::Dram,
            8.0 * (2.0 * nodes
                + zones * (points + 3.0 * energies + d * local + energies * energies))
                + 4.0 * zones * local,
        );
    } else {
        add(
            Op::F64,
            iterations * (zones * (2.0 * d * lines + d * points) + 12.0 * nodes),
        );
        add(
            Op::Dram,
            iterations
                * (8.0 * (8.0 * nodes + zones * (points + 2.0 * d * local)) + 8.0 * zones * local),
        );
    }
    work
}
