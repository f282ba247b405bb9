//! Distributions of sizes and orientations: any number in a particle's description may take several values with
//! weights.

use crate::GisaxsError;
use crate::form::gauss;
use serde::Deserialize;
use toml::{Table, Value};

/// The distribution of one number of a particle about its value in the input file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DistributionText {
    /// Path of the number in the particle, such as `form.radius`, `tilt` or `core.form.radius`; or `orientation`.
    pub of: String,
    /// Type of the distribution.
    pub kind: Kind,
    /// Width in the unit of the number: the standard deviation of a Gaussian, the half-width of a uniform distribution,
    /// the half-width at half maximum of a Cauchy distribution; of a lognormal one, the standard deviation of the
    /// logarithm.
    #[serde(default)]
    pub width: f64,
    /// Number of values, 1 to 10,000; of orientations, of each angle, 1 to 64.
    #[serde(default = "many")]
    pub samples: usize,
    /// Paths of other numbers that scale in proportion.
    #[serde(default)]
    pub with: Vec<String>,
}

fn many() -> usize {
    11
}

/// The type of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Normal about the value of the input file, cut off at four standard deviations.
    Gaussian,
    /// Normal in the logarithm, with the value of the input file as the median.
    Lognormal,
    /// Constant between value − width and value + width: by a Gauss–Legendre rule, over whole turns of an angle in equal
    /// steps.
    Uniform,
    /// Cauchy (Lorentzian), cut off at twelve half-widths.
    Cauchy,
    /// All orientations with equal weight; for `orientation` only.
    Isotropic,
}

/// Standard deviations at which tails are cut off.
const TAILS: f64 = 4.0;

impl DistributionText {
    /// Number of particles that replace one.
    pub fn count(&self) -> usize {
        if self.of == "orientation" {
            self.samples.saturating_pow(3)
        } else {
            self.samples
        }
    }

    /// Paths of all numbers that change.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.of.as_str()).chain(self.with.iter().map(String::as_str))
    }

    /// Values about `center`, with weights that sum to one.
    fn points(&self, center: f64) -> Result<Vec<(f64, f64)>, GisaxsError> {
        let n = self.samples;
        if !(2..=10_000).contains(&n) {
            return Err(format!(
                "samples = {n}: 2 to 10000 are possible; one sample is the value itself, without a distribution"
            )
            .into());
        }
        if !(self.width > 0.0 && self.width.is_finite()) {
            return Err(format!("width = {}: it must be above 0", self.width).into());
        }
        // A Gauss–Legendre rule between the cut-offs.
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
            Kind::Gaussian => over(TAILS, &|t| center + self.width * t, &bell),
            // The value in the input file is the median.
            Kind::Lognormal => over(TAILS, &|t| center * (self.width * t).exp(), &bell),
            // Of whole turns: equal steps over one period, whose sums of periodic functions converge fastest.
            Kind::Uniform => match self.turns() {
                None => over(1.0, &|t| center + self.width * t, &|_| 1.0),
                Some(period) => {
                    let step = period / n as f64;
                    let at = |i| center - 0.5 * period + step * (i as f64 + 0.5);
                    (0..n).map(|i| (at(i), 1.0 / n as f64)).collect()
                }
            },
            // A Cauchy distribution has infinite tails; 5 % of it lies beyond this cut-off.
            Kind::Cauchy => over(12.0, &|t| center + self.width * t, &|t| 1.0 / (1.0 + t * t)),
            Kind::Isotropic => return Err("only of orientation".into()),
        })
    }

    /// The period of an angle all of whose values are taken, degrees: half a turn of an arrangement, a whole one of a
    /// form.
    fn turns(&self) -> Option<f64> {
        let mut keys = self.of.rsplit('.');
        let period = match (keys.next(), keys.next()) {
            (Some("rotation"), Some("lattice" | "paracrystal")) => 180.0,
            (Some("rotation" | "turn"), _) => 360.0,
            _ => return None,
        };
        (2.0 * self.width % period == 0.0).then_some(period)
    }

    /// The description of the particle at each value, with weights that sum to one.
    ///
    /// # Errors
    /// A path does not lead to a number, or kind, width or number of samples are invalid.
    pub fn spread(&self, particle: &Table) -> Result<Vec<(f64, Table)>, GisaxsError> {
        let wrong =
            |m: GisaxsError| GisaxsError::from(format!("the distribution of \"{}\": {m}", self.of));
        if self.of == "orientation" {
            return self.orientations(particle).map_err(wrong);
        }
        if let Some(path) = self.paths().find(|p| counted(p)) {
            return Err(wrong(format!("\"{path}\" is a whole number").into()));
        }
        let center = number(particle, &self.of).map_err(wrong)?;
        if center == 0.0 && (self.kind == Kind::Lognormal || !self.with.is_empty()) {
            let why = if self.kind == Kind::Lognormal {
                "all values of a lognormal distribution about 0 are 0"
            } else {
                "numbers cannot scale in proportion to 0"
            };
            return Err(wrong(why.into()));
        }
        self.points(center)
            .map_err(wrong)?
            .into_iter()
            .map(|(value, weight)| {
                let mut one = particle.clone();
                set(&mut one, &self.of, Value::Float(value)).map_err(wrong)?;
                for other in &self.with {
                    let own = number(particle, other).map_err(wrong)?;
                    set(&mut one, other, Value::Float(own * value / center)).map_err(wrong)?;
                }
                Ok((weight, one))
            })
            .collect()
    }

    fn orientations(&self, particle: &Table) -> Result<Vec<(f64, Table)>, GisaxsError> {
        if self.kind != Kind::Isotropic || !(1..=64).contains(&self.samples) {
            return Err("kind must be isotropic, with 1 to 64 samples per angle".into());
        }
        if self.width != 0.0 || !self.with.is_empty() {
            return Err("all orientations have no width, and no numbers that scale with them: remove width and with".into());
        }
        let n = self.samples;
        let mut out = Vec::new();
        for (cosine, w) in gauss(n) {
            for i in 0..n {
                for j in 0..n {
                    let step = 360.0 / n as f64;
                    let mut one = particle.clone();
                    set(&mut one, "tilt", Value::Float(cosine.acos().to_degrees()))?;
                    // Offset by fractions of a step, so that no sample coincides with a symmetry of the particle.
                    set(&mut one, "turn", Value::Float(step * (i as f64 + 0.25)))?;
                    set(&mut one, "rotation", Value::Float(step * (j as f64 + 0.5)))?;
                    out.push((0.5 * w / (n * n) as f64, one));
                }
            }
        }
        Ok(out)
    }
}

/// Whether the number at a path of particles is a whole one.
fn counted(path: &str) -> bool {
    let mut keys = path.rsplit('.').filter(|key| key.parse::<usize>().is_err());
    matches!(keys.next(), Some("cells" | "sides" | "layer"))
}

/// Numbers that an input file may leave at their default, by table and key.
const DEFAULTS: [(&str, &str, f64); 11] = [
    ("beam", "intensity", 1.0),
    ("", "background", 0.0),
    ("", "height", 0.0),
    ("particles", "height", 0.0),
    ("parts", "turn", 0.0),
    ("parts", "tilt", 0.0),
    ("parts", "rotation", 0.0),
    ("lattice", "rotation", 0.0),
    ("paracrystal", "rotation", 0.0),
    ("form", "below", 0.0),
    ("form", "scale", 1.0),
];

/// The number at a path of keys and indices joined by dots, or its default.
///
/// # Errors
/// The path does not lead to a number.
pub fn number(table: &Table, path: &str) -> Result<f64, GisaxsError> {
    let mut at: Option<&Value> = None;
    let mut tables = Vec::new();
    for key in path.split('.') {
        let within = at;
        at = match within {
            None => table.get(key),
            Some(Value::Table(t)) => t.get(key),
            Some(Value::Array(a)) => key.parse::<usize>().ok().and_then(|n| a.get(n)),
            Some(_) => None,
        };
        if at.is_none() {
            let own = tables.last().copied().unwrap_or("");
            let default = DEFAULTS.iter().find(|d| (d.0, d.1) == (own, key));
            return match default {
                Some(d) if path.ends_with(key) => Ok(d.2),
                _ => Err(missing(
                    path,
                    key,
                    within.unwrap_or(&Value::Table(table.clone())),
                )),
            };
        }
        if key.parse::<usize>().is_err() {
            tables.push(key);
        }
    }
    match at {
        Some(Value::Float(x)) => Ok(*x),
        Some(Value::Integer(n)) => Ok(*n as f64),
        _ => Err(format!("\"{path}\" is not a number").into()),
    }
}

/// The error of a key that does not exist, with the nearest that does.
fn missing(path: &str, key: &str, within: &Value) -> GisaxsError {
    let keys: Vec<String> = match within {
        Value::Table(t) => t.keys().cloned().collect(),
        Value::Array(a) => vec![format!("indices 0 to {}", a.len().saturating_sub(1))],
        _ => Vec::new(),
    };
    let near = greenup_space::closest(key, keys.iter().map(String::as_str));
    let fix = match (near, keys.is_empty()) {
        (Some(near), _) => format!("; did you mean `{near}`?"),
        (None, false) => format!("; there are {}", keys.join(", ")),
        (None, true) => String::new(),
    };
    format!("there is no \"{key}\" of \"{path}\"{fix}").into()
}

/// Sets the value at a path of keys and indices. The last keys may be new: the reader of the input file refuses those that
/// it does not know. A whole number stays an integer where one was.
///
/// # Errors
/// The path leads into a value that is no table, or beyond the end of a list.
pub fn set(table: &mut Table, path: &str, value: Value) -> Result<(), GisaxsError> {
    let mut keys = path.split('.').peekable();
    let first = keys.next().unwrap_or_default();
    // Where a table would be new, a key that is almost one of those there is meant to be it.
    let check = |t: &Table, key: &str, last: bool| -> Result<(), GisaxsError> {
        let near = greenup_space::closest(key, t.keys().map(String::as_str));
        match (t.contains_key(key) || last, near) {
            (false, Some(_)) => Err(missing(path, key, &Value::Table(t.clone()))),
            _ => Ok(()),
        }
    };
    check(table, first, keys.peek().is_none())?;
    let mut at = table
        .entry(first)
        .or_insert_with(|| Value::Table(Table::new()));
    while let Some(key) = keys.next() {
        let last = keys.peek().is_none();
        if let Value::Table(t) = &*at {
            check(t, key, last)?;
        }
        let whole = at.clone();
        at = match at {
            Value::Table(t) => Some(t.entry(key).or_insert_with(|| Value::Table(Table::new()))),
            Value::Array(a) => key.parse::<usize>().ok().and_then(|n| a.get_mut(n)),
            _ => None,
        }
        .ok_or_else(|| missing(path, key, &whole))?;
    }
    *at = match (&*at, value) {
        (Value::Integer(_), Value::Float(x)) if x.fract() == 0.0 && x.abs() < 9e15 => {
            Value::Integer(x as i64)
        }
        (_, value) => value,
    };
    Ok(())
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
        assert!(
            t.spread(&particle)
                .unwrap_err()
                .to_string()
                .contains("height")
        );
        t.with.clear();
        t.of = "form.shape".into();
        assert!(
            t.spread(&particle)
                .unwrap_err()
                .to_string()
                .contains("is not a number")
        );
        t.of = "form.radius".into();
        t.width = -1.0;
        assert!(
            t.spread(&particle)
                .unwrap_err()
                .to_string()
                .contains("above 0")
        );
    }
}
