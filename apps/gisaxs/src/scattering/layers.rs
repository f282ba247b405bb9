//! Layers on a substrate: the waves in each, by Parratt's recursion in ratios, which does not overflow for evanescent
//! waves, and the reflectivity.

use crate::GisaxsError;
use greenup_process::memory;
use num_complex::Complex64;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};

/// A layer of a stack; the first is the medium above the sample, the last the substrate.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// δ of the refractive index n = 1 − δ + iβ.
    pub delta: f64,
    /// β of the refractive index n = 1 − δ + iβ.
    pub beta: f64,
    /// Thickness, nm; ignored of the first and the last layer.
    pub thickness: f64,
    /// Root-mean-square roughness of its upper interface, nm (Névot–Croce).
    pub roughness: f64,
}

impl Layer {
    /// A layer of `thickness` nm without roughness.
    pub fn smooth(delta: f64, beta: f64, thickness: f64) -> Self {
        Self {
            delta,
            beta,
            thickness,
            roughness: 0.0,
        }
    }

    /// 1 − n² = 2δ − δ² + β² − 2iβ (1 − δ).
    pub fn contrast(&self) -> Complex64 {
        let (d, b) = (self.delta, self.beta);
        Complex64::new(2.0 * d - d * d + b * b, -2.0 * b * (1.0 - d))
    }
}

/// Wave number in the medium above the sample, 1/nm, without its absorption: k₀ (1 − δ). Angles are those in that medium.
pub fn outside(layers: &[Layer], k0: f64) -> f64 {
    k0 * (1.0 - layers.first().map_or(0.0, |l| l.delta))
}

/// Where the roughness of the layers is beyond what its model holds for, in words.
pub fn notes(layers: &[Layer]) -> Vec<String> {
    let inner = |j: usize| j > 0 && j + 1 < layers.len();
    let mut out = Vec::new();
    for (j, l) in layers.iter().enumerate() {
        // Névot and Croce's factors hold for interfaces that do not overlap.
        let thin = [j.saturating_sub(1), j].into_iter().filter(|i| inner(*i));
        if let Some(i) = thin
            .into_iter()
            .find(|i| 2.0 * l.roughness > layers[*i].thickness)
        {
            out.push(format!(
                "the roughness of layer {j}, {} nm, is more than half of the thickness of layer {i}, {} nm: the factors of Névot and \
                 Croce hold for interfaces that do not overlap; use thin layers that follow the profile",
                l.roughness, layers[i].thickness
            ));
        }
    }
    out
}

/// The waves T e^{−i k_z (z − z_ref)} + R e^{+i k_z (z − z_ref)} in a layer, with z_ref at its upper interface (0 for
/// the first), for an incoming amplitude of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waves {
    /// k_z, 1/nm, with Im ≥ 0.
    pub kz: Complex64,
    /// Amplitude T of the downward wave.
    pub t: Complex64,
    /// Amplitude R of the upward wave.
    pub r: Complex64,
}

/// k_z in a layer, 1/nm, with Im ≥ 0: k₀ √(n² − n₀² cos² α) with the real part n₀ of the refractive index above the sample
/// and the grazing angle α there, rad. 1 − n² is `above` for n₀.
fn vertical(k0: f64, angle: f64, above: f64, layer: &Layer) -> Complex64 {
    let sine = angle.sin();
    k0 * (sine * sine * (1.0 - above) + (above - layer.contrast())).sqrt()
}

/// The waves in every layer, for the wave number k₀ in vacuum, 1/nm, and a grazing angle in the first layer, rad.
///
/// Rough interfaces have the factors of Névot and Croce: with P = (k₁ + k₂)/2k₁ e^{−(k₁ − k₂)² σ²/2} and
/// M = (k₁ − k₂)/2k₁ e^{−(k₁ + k₂)² σ²/2}, waves of amplitudes T and R below come from P T + M R above. X = R/T needs only
/// M/P, T also P.
pub fn waves(layers: &[Layer], k0: f64, angle: f64) -> Vec<Waves> {
    let i = Complex64::I;
    let above = layers
        .first()
        .map_or(0.0, |l| 2.0 * l.delta - l.delta * l.delta);
    let kz: Vec<Complex64> = layers
        .iter()
        .map(|l| vertical(k0, angle, above, l))
        .collect();
    let n = layers.len();
    // e^{i k_z d} of each layer with two interfaces.
    let through = |j: usize| {
        if j == 0 {
            Complex64::ONE
        } else {
            (i * kz[j] * layers[j].thickness).exp()
        }
    };
    let reflected = |j: usize| {
        let sum = kz[j] + kz[j + 1];
        if sum.norm_sqr() == 0.0 {
            return Complex64::ZERO;
        }
        let sigma = layers[j + 1].roughness;
        (kz[j] - kz[j + 1]) / sum * (-2.0 * kz[j] * kz[j + 1] * sigma * sigma).exp()
    };
    // 1/P
    let entering = |j: usize, r: Complex64| {
        let (sum, difference) = (kz[j] + kz[j + 1], kz[j] - kz[j + 1]);
        let sigma = layers[j + 1].roughness;
        if sigma == 0.0 || sum.norm_sqr() == 0.0 {
            return 1.0 + r;
        }
        2.0 * kz[j] / sum * (0.5 * difference * difference * sigma * sigma).exp()
    };
    // R/T at the top of each layer, and just above the interface below it.
    let mut top = vec![Complex64::ZERO; n];
    for j in (0..n.saturating_sub(1)).rev() {
        let r = reflected(j);
        let bottom = (r + top[j + 1]) / (1.0 + r * top[j + 1]);
        let e = through(j);
        top[j] = bottom * e * e;
    }
    let mut out = Vec::with_capacity(n);
    let mut t = Complex64::ONE;
    for j in 0..n {
        out.push(Waves {
            kz: kz[j],
            t,
            r: top[j] * t,
        });
        if j + 1 < n {
            let r = reflected(j);
            t = t * through(j) * entering(j, r) / (1.0 + r * top[j + 1]);
        }
    }
    out
}

/// Specular reflectivity |R|² for the wave number k₀ in vacuum, 1/nm, at a grazing angle in the first layer, rad.
pub fn reflectivity(layers: &[Layer], k0: f64, angle: f64) -> f64 {
    waves(layers, k0, angle)
        .first()
        .map_or(0.0, |w| w.r.norm_sqr())
}

/// The same at many angles, degrees; `None` if stopped.
///
/// # Errors
/// An angle does not lie between 0° and 90°, or there is no memory for the result.
pub fn reflectivities(
    layers: &[Layer],
    k0: f64,
    degrees: &[f64],
    stop: &AtomicBool,
) -> Result<Option<Vec<f64>>, GisaxsError> {
    let outside = |a: &f64| !(0.0..=90.0).contains(a);
    if let Some(a) = degrees.iter().copied().find(outside) {
        return Err(GisaxsError::Invalid(format!(
            "an angle of {a}°: it must lie between 0° and 90°"
        )));
    }
    let what = format!("the reflectivity at {} angles", degrees.len());
    memory::check(&what, 8 * degrees.len() as u64)?;
    let at = |a: &f64| {
        if stop.load(Ordering::Relaxed) {
            0.0
        } else {
            reflectivity(layers, k0, a.to_radians())
        }
    };
    let out = degrees.par_iter().with_min_len(1 << 10).map(at).collect();
    Ok((!stop.load(Ordering::Relaxed)).then_some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_angles_are_checked_and_stop() {
        let layers = [Layer::smooth(0.0, 0.0, 0.0), Layer::smooth(6e-6, 2e-8, 0.0)];
        let stop = AtomicBool::new(false);
        let of = |angles: &[f64]| reflectivities(&layers, 62.8, angles, &stop);
        let found = of(&[0.1, 90.0]).unwrap().unwrap();
        assert_eq!(found[0], reflectivity(&layers, 62.8, 0.1_f64.to_radians()));
        for wrong in [-0.1, 90.1, f64::NAN] {
            assert!(of(&[0.1, wrong]).is_err(), "{wrong}");
        }
        stop.store(true, Ordering::Relaxed);
        assert!(of(&[0.1]).unwrap().is_none());
    }

    #[test]
    fn waves_join_at_every_interface() {
        let layers = [
            Layer::smooth(0.0, 0.0, 0.0),
            Layer::smooth(8e-6, 8e-7, 40.0),
            Layer::smooth(2e-6, 1e-8, 25.0),
            Layer::smooth(6e-6, 2e-8, 0.0),
        ];
        for angle in [0.01_f64, 0.2, 0.35, 1.0] {
            let w = waves(&layers, 62.8, angle.to_radians());
            for j in 0..3 {
                let e = if j == 0 {
                    Complex64::ONE
                } else {
                    (Complex64::I * w[j].kz * layers[j].thickness).exp()
                };
                let (t, r) = (w[j].t * e, w[j].r / e);
                let (u, d) = (w[j + 1].t, w[j + 1].r);
                assert!((t + r - u - d).norm() < 1e-12, "{angle} {j}");
                let slope = w[j].kz * (t - r) - w[j + 1].kz * (u - d);
                assert!(
                    slope.norm() < 1e-12 * w[j].kz.norm().max(1.0),
                    "{angle} {j}"
                );
            }
        }
    }

    #[test]
    fn thick_absorbers_do_not_overflow() {
        let layers = [
            Layer::smooth(0.0, 0.0, 0.0),
            Layer::smooth(8e-6, 8e-6, 1e6),
            Layer::smooth(6e-6, 2e-8, 0.0),
        ];
        let r = reflectivity(&layers, 62.8, 0.1_f64.to_radians());
        assert!(r > 0.0 && r < 1.0, "{r}");
    }

    #[test]
    fn roughness_takes_from_the_reflection() {
        let mut layers = [Layer::smooth(0.0, 0.0, 0.0), Layer::smooth(6e-6, 2e-8, 0.0)];
        let smooth = reflectivity(&layers, 62.8, 0.5_f64.to_radians());
        layers[1].roughness = 1.0;
        assert!(reflectivity(&layers, 62.8, 0.5_f64.to_radians()) < 0.7 * smooth);
    }
}
