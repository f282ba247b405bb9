//! Sizes and orientations that are not all the same: any number of a particle's description may be
//! spread over several values with weights.

use crate::form::gauss;
use serde::Deserialize;
use toml::{Table, Value};

/// A number of the particle, and how it is spread about the value that the page gives it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistributionText {
    /// Where it stands in the particle: `form.radius`, `tilt`, `core.form.radius`; or `orientation`.
    pub of: String,
    pub kind: Kind,
    /// Standard deviation in the number's own unit; of a lognormal distribution that of the logarithm;
    /// half the width of a uniform one, half the width at half maximum of a Cauchy one.
    #[serde(default)]
    pub width: f64,
    #[serde(default = "many")]
    pub samples: usize,
    /// Numbers that grow in the same proportion.
    #[serde(default)]
    pub with: Vec<String>,
}

fn many() -> usize {
    11
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Gaussian,
    Lognormal,
    Uniform,
    Cauchy,
    /// All orientations alike: `samples` values of each angle.
    Isotropic,
}

/// Deviations to which tails are followed.
const TAILS: f64 = 4.0;

impl DistributionText {
    /// Particles that it makes of one.
    pub fn count(&self) -> usize {
        if self.of == "orientation" {
            self.samples.saturating_pow(3)
        } else {
            self.samples
        }
    }

    /// Values about a middle one, with weights that sum to one.
    fn points(&self, middle: f64) -> Result<Vec<(f64, f64)>, String> {
        let n = self.samples;
        if !(1..=10_000).contains(&n) {
            return Err(format!("samples = {n}: 1 to 10000 are possible"));
        }
        if !(self.width > 0.0 && self.width.is_finite()) {
            return Err(format!("width = {}: it must be above 0", self.width));
        }
        // Gauss's points on the part that is followed.
        let over = |half: f64, at: &dyn Fn(f64) -> f64, density: &dyn Fn(f64) -> f64| {
            let mut out: Vec<(f64, f64)> = gauss(n)
                .into_iter()
                .map(|(x, w)| (at(x * half), w * density(x * half)))
                .collect();
            let sum: f64 = out.iter().map(|p| p.1).sum();
            out.iter_mut().for_each(|p| p.1 /= sum);
            out
        };
        let bell = |t: f64| (-0.5 * t * t).exp();
        Ok(match self.kind {
            Kind::Gaussian => over(TAILS, &|t| middle + self.width * t, &bell),
            // The page's value is the median.
            Kind::Lognormal => over(TAILS, &|t| middle * (self.width * t).exp(), &bell),
            Kind::Uniform => over(1.0, &|t| middle + self.width * t, &|_| 1.0),
            // Cut where a Cauchy distribution still has one part in forty outside; it has no end.
            Kind::Cauchy => over(12.0, &|t| middle + self.width * t, &|t| 1.0 / (1.0 + t * t)),
            Kind::Isotropic => return Err("only of orientation".into()),
        })
    }

    /// The particle in all its values.
    ///
    /// # Errors
    /// The number is not there, or a value makes no sense.
    pub fn spread(&self, particle: &Table) -> Result<Vec<(f64, Table)>, String> {
        let wrong = |m: String| format!("the distribution of \"{}\": {m}", self.of);
        if self.of == "orientation" {
            return self.orientations(particle).map_err(wrong);
        }
        let middle = number(particle, &self.of).map_err(wrong)?;
        self.points(middle)
            .map_err(wrong)?
            .into_iter()
            .map(|(value, weight)| {
                let mut one = particle.clone();
                set(&mut one, &self.of, value).map_err(wrong)?;
                for other in &self.with {
                    let own = number(particle, other).map_err(wrong)?;
                    set(&mut one, other, own * value / middle).map_err(wrong)?;
                }
                Ok((weight, one))
            })
            .collect()
    }

    fn orientations(&self, particle: &Table) -> Result<Vec<(f64, Table)>, String> {
        if self.kind != Kind::Isotropic || !(1..=64).contains(&self.samples) {
            return Err("kind must be isotropic, with 1 to 64 samples an angle".into());
        }
        let n = self.samples;
        let mut out = Vec::new();
        for (cosine, w) in gauss(n) {
            for i in 0..n {
                for j in 0..n {
                    let step = 360.0 / n as f64;
                    let mut one = particle.clone();
                    set(&mut one, "tilt", cosine.acos().to_degrees())?;
                    // Half a step apart, so that no symmetry of the particle meets one of the samples.
                    set(&mut one, "turn", step * (i as f64 + 0.25))?;
                    set(&mut one, "rotation", step * (j as f64 + 0.5))?;
                    out.push((0.5 * w / (n * n) as f64, one));
                }
            }
        }
        Ok(out)
    }
}

/// The number at a path of keys and indices joined by points.
///
/// # Errors
/// There is none.
pub fn number(table: &Table, path: &str) -> Result<f64, String> {
    let mut at: Option<&Value> = None;
    for key in path.split('.') {
        at = match at {
            None => table.get(key),
            Some(Value::Table(t)) => t.get(key),
            Some(Value::Array(a)) => key.parse::<usize>().ok().and_then(|n| a.get(n)),
            Some(_) => None,
        };
        if at.is_none() {
            return Err(format!("there is no \"{key}\" of \"{path}\""));
        }
    }
    match at {
        Some(Value::Float(x)) => Ok(*x),
        Some(Value::Integer(n)) => Ok(*n as f64),
        _ => Err(format!("\"{path}\" is no number")),
    }
}

/// Sets the number at a path; the last key may be new.
///
/// # Errors
/// The way there does not exist.
pub fn set(table: &mut Table, path: &str, value: f64) -> Result<(), String> {
    let (way, last) = path
        .rsplit_once('.')
        .map_or((None, path), |(w, l)| (Some(w), l));
    let mut keys = way.into_iter().flat_map(|w| w.split('.'));
    let missing = || format!("there is no \"{path}\"");
    let Some(first) = keys.next() else {
        table.insert(last.to_owned(), Value::Float(value));
        return Ok(());
    };
    let mut at = table.get_mut(first).ok_or_else(missing)?;
    for key in keys {
        at = match at {
            Value::Table(t) => t.get_mut(key),
            Value::Array(a) => key.parse::<usize>().ok().and_then(|n| a.get_mut(n)),
            _ => None,
        }
        .ok_or_else(missing)?;
    }
    match at {
        Value::Table(t) => {
            t.insert(last.to_owned(), Value::Float(value));
            Ok(())
        }
        Value::Array(a) => {
            let slot = last.parse::<usize>().ok().and_then(|n| a.get_mut(n));
            *slot.ok_or_else(missing)? = Value::Float(value);
            Ok(())
        }
        _ => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: &str, width: f64) -> DistributionText {
        toml::from_str(&format!(
            "of = 'form.radius'\nkind = '{kind}'\nwidth = {width}\nsamples = 41\nwith = ['form.height']"
        ))
        .unwrap()
    }

    #[test]
    fn moments_are_those_of_the_distribution() {
        let particle: Table = toml::from_str("form = { radius = 5, height = 8.0 }").unwrap();
        for (kind, width, mean, deviation) in [
            ("gaussian", 0.4, 5.0, 0.4),
            ("uniform", 0.6, 5.0, 0.6 / 3.0_f64.sqrt()),
            (
                "lognormal",
                0.1,
                5.0 * (0.005_f64).exp(),
                5.0 * (0.005_f64).exp() * (0.01_f64.exp_m1()).sqrt(),
            ),
        ] {
            let all = text(kind, width).spread(&particle).unwrap();
            let of = |f: &dyn Fn(f64) -> f64| -> f64 {
                all.iter()
                    .map(|(w, t)| w * f(number(t, "form.radius").unwrap()))
                    .sum()
            };
            let m = of(&|x| x);
            assert!((m - mean).abs() < 1e-3, "{kind} {m}");
            let d = of(&|x| (x - m).powi(2)).sqrt();
            assert!((d / deviation - 1.0).abs() < 2e-3, "{kind} {d}");
            assert!((of(&|_| 1.0) - 1.0).abs() < 1e-12);
            for (_, t) in &all {
                let ratio = number(t, "form.height").unwrap() / number(t, "form.radius").unwrap();
                assert!((ratio - 1.6).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        let particle: Table = toml::from_str("form = { radius = 5, shape = 'sphere' }").unwrap();
        let mut t = text("gaussian", 0.1);
        assert!(t.spread(&particle).unwrap_err().contains("height"));
        t.with.clear();
        t.of = "form.shape".into();
        assert!(t.spread(&particle).unwrap_err().contains("no number"));
        t.of = "form.radius".into();
        t.width = -1.0;
        assert!(t.spread(&particle).unwrap_err().contains("above 0"));
    }
}
