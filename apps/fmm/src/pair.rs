//! The kernel of one pair in double precision, for distances of any size: no square or power overflows or vanishes.

use crate::kernel::Kernel;

/// Squares of distances that need no scaling.
const PLAIN: std::ops::Range<f64> = 1e-200..1e200;

/// Adds what a source contributes at a target: potentials, then (if `gradient`) their derivatives, in the order of
/// [`Kernel::outputs`], without the kernel's factor. `d` is the position of the target less that of the source; nothing is
/// added at 0. `parameter` is the kernel's, in the unit of `d`.
#[inline]
pub(crate) fn add(
    (kernel, parameter, gradient): (Kernel, f64, bool),
    charge: &[f64],
    d: [f64; 3],
    mut to: impl FnMut(usize, f64),
) {
    let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    // r = ρ m, and d = e m.
    let (rho, m, e) = if PLAIN.contains(&square) {
        (square.sqrt(), 1.0, d)
    } else {
        let m = d.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        if m == 0.0 {
            return;
        }
        let e = d.map(|x| x / m);
        (e.iter().map(|x| x * x).sum::<f64>().sqrt(), m, e)
    };
    // The gradient of f(r) is f' d / r, where f' = -f (1 + k r) / r.
    let along = |f: f64, a: usize| -f * (e[a] / rho) / rho / m;
    match kernel {
        Kernel::Laplace | Kernel::Yukawa { .. } => {
            let kr = parameter * rho * m;
            let decay = if kr == 0.0 { 1.0 } else { (-kr).exp() };
            let p = charge[0] / rho / m * decay;
            to(0, p);
            if gradient {
                (0..3).for_each(|a| to(1 + a, along(p, a) * (1.0 + kr)));
            }
        }
        Kernel::Helmholtz { .. } => {
            let kr = parameter * rho * m;
            let (s, c) = kr.sin_cos();
            let re = (charge[0] * c - charge[1] * s) / rho / m;
            let im = (charge[0] * s + charge[1] * c) / rho / m;
            to(0, re);
            to(1, im);
            if gradient {
                for a in 0..3 {
                    to(2 + a, along(re + kr * im, a));
                    to(5 + a, along(im - kr * re, a));
                }
            }
        }
        Kernel::Stokes { .. } => {
            let dot = (0..3).map(|a| charge[a] * (e[a] / rho)).sum::<f64>();
            (0..3).for_each(|a| to(a, (charge[a] + dot * (e[a] / rho)) / rho / m));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::add;
    use crate::direct;
    use crate::kernel::Kernel;
    use greenup_device::HostIsa;

    #[test]
    fn a_pair_has_the_values_of_the_sums_and_their_scaling() {
        let d = [0.3, -0.7, 0.2];
        for kernel in [
            Kernel::Laplace,
            Kernel::Yukawa { kappa: 1.7 },
            Kernel::Helmholtz { k: 2.1 },
            Kernel::Stokes { mu: 1.0 },
        ] {
            let gradient = kernel.name() != "stokes";
            let charge = [0.7, -0.4, 1.3];
            let charge = &charge[..kernel.inputs()];
            let x = d.map(|x| vec![x]);
            let zero = [0.0; 3].map(|x| vec![x]);
            let p = kernel.parameter(1.0);
            let isa = HostIsa::PORTABLE;
            let want = direct::sums::<f64>(kernel, gradient, p, &x, &zero, charge, isa);
            // Lengths of any size: potentials fall with them, gradients with their squares.
            for scale in [1.0, 1e-150, 1e-110, 1e150] {
                let mut got = vec![0.0; want.len()];
                let how = (kernel, p / scale, gradient);
                add(how, charge, d.map(|x| x * scale), |i, v| got[i] += v);
                for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                    let got = got * scale * if i < kernel.inputs() { 1.0 } else { scale };
                    assert!(
                        (got - want).abs() < 1e-13 * want.abs().max(0.1),
                        "{kernel} {i}"
                    );
                }
            }
            add((kernel, p, gradient), charge, [0.0; 3], |_, _| panic!());
        }
    }
}
