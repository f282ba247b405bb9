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
        // Numbers in proportion to an angle have no period.
        if !self.with.is_empty() {
            return None;
        }
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
    matches!(last_key(path), Some("cells" | "sides" | "layer"))
}

/// Whether the number at a path of an input file is a whole one.
fn whole(path: &str) -> bool {
    counted(path) || matches!(last_key(path), Some("n" | "columns" | "rows" | "samples"))
}

/// The last key that is no index of a list.
fn last_key(path: &str) -> Option<&str> {
    path.rsplit('.').find(|key| key.parse::<usize>().is_err())
}

/// The position of a solid that an input file leaves at its default.
const AT: [f64; 3] = [0.0; 3];

/// The value of a number that an input file leaves at its default; `tables` are the keys before it.
fn default(tables: &[&str], key: &str) -> Option<f64> {
    let (own, above) = match tables {
        [.., above, own] => (*own, *above),
        [own] => (*own, ""),
        [] => ("", ""),
    };
    Some(match (own, key) {
        ("beam", "intensity") | ("form", "scale") => 1.0,
        ("" | "particles", "height" | "layer" | "turn" | "tilt" | "rotation" | "beta")
        | ("", "background")
        | ("parts", "turn" | "tilt" | "rotation" | "beta")
        | ("core", "beta")
        | ("lattice" | "paracrystal", "rotation")
        | ("form", "below")
        | ("layers", "roughness" | "delta" | "beta") => 0.0,
        (_, "beta") if above == "materials" => 0.0,
        _ => return None,
    })
}

/// The number at a path of keys and indices joined by dots, or its default.
///
/// # Errors
/// The path does not lead to a number.
pub fn number(table: &Table, path: &str) -> Result<f64, GisaxsError> {
    let mut at: Option<&Value> = None;
    let mut tables = Vec::new();
    let keys: Vec<&str> = path.split('.').collect();
    for (n, key) in keys.iter().copied().enumerate() {
        let within = at;
        at = match within {
            None => table.get(key),
            Some(Value::Table(t)) => t.get(key),
            Some(Value::Array(a)) => key.parse::<usize>().ok().and_then(|n| a.get(n)),
            Some(_) => None,
        };
        if at.is_none() {
            let known = match keys[n + 1..] {
                [] => default(&tables, key),
                [index] if key == "at" => {
                    index.parse().ok().and_then(|k: usize| AT.get(k).copied())
                }
                _ => None,
            };
            return known
                .ok_or_else(|| missing(path, key, within.unwrap_or(&Value::Table(table.clone()))));
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
    // A list has its default before one of its numbers is set; other new values are tables.
    let new = |key: &str, next: Option<&&str>| match next {
        Some(index) if key == "at" && index.parse::<usize>().is_ok() => {
            Value::Array(AT.map(Value::Float).to_vec())
        }
        _ => Value::Table(Table::new()),
    };
    // Where a table would be new, a key that is almost one of those there is meant to be it.
    let check = |t: &Table, key: &str, next: Option<&&str>| -> Result<(), GisaxsError> {
        let near = greenup_space::closest(key, t.keys().map(String::as_str));
        let known = t.contains_key(key) || next.is_none() || new(key, next).is_array();
        match (known, near) {
            (false, Some(_)) => Err(missing(path, key, &Value::Table(t.clone()))),
            _ => Ok(()),
        }
    };
    check(table, first, keys.peek())?;
    let mut at = (table.entry(first)).or_insert_with(|| new(first, keys.peek()));
    while let Some(key) = keys.next() {
        if let Value::Table(t) = &*at {
            check(t, key, keys.peek())?;
        }
        let whole = at.clone();
        at = match at {
            Value::Table(t) => Some(t.entry(key).or_insert_with(|| new(key, keys.peek()))),
            Value::Array(a) => key.parse::<usize>().ok().and_then(|n| a.get_mut(n)),
            _ => None,
        }
        .ok_or_else(|| missing(path, key, &whole))?;
    }
    *at = match (&*at, value) {
        (old, Value::Float(x))
            if (old.is_integer() || whole(path)) && x.fract() == 0.0 && x.abs() < 9e15 =>
        {
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

    /// The numbers at a path of the particles of a uniform distribution over ±`width`.
    fn spread_of(path: &str, more: &str, width: f64) -> Vec<(f64, f64)> {
        let particle: Table = toml::from_str(
            "form = { radius = 5 }\nrotation = 10.0\nparacrystal = { rotation = 20.0 }\nparts = [{}]\ncore = {}",
        )
        .unwrap();
        let d: DistributionText = toml::from_str(&format!(
            "of = '{path}'\nkind = 'uniform'\nwidth = {width}\nsamples = 40\n{more}"
        ))
        .unwrap();
        let all = d.spread(&particle).unwrap();
        all.iter()
            .map(|(w, t)| (*w, number(t, path).unwrap()))
            .collect()
    }

    #[test]
    fn whole_turns_have_a_period_only_alone() {
        let ends = |all: &[(f64, f64)]| {
            let values = || all.iter().map(|p| p.1);
            (
                values().fold(f64::MAX, f64::min),
                values().fold(f64::MIN, f64::max),
            )
        };
        let near = |(a, b): (f64, f64), (c, d): (f64, f64)| {
            assert!((a - c).abs() < 1.0 && (b - d).abs() < 1.0, "{a} {b}");
        };
        // Equal steps over half a turn and a turn: the first is half a step from the end.
        let alone = spread_of("paracrystal.rotation", "", 180.0);
        near(ends(&alone), (20.0 - 90.0 + 2.25, 20.0 + 90.0 - 2.25));
        near(
            ends(&spread_of("rotation", "", 360.0)),
            (10.0 - 180.0 + 4.5, 10.0 + 180.0 - 4.5),
        );
        let both = spread_of("paracrystal.rotation", "with = ['rotation']", 180.0);
        near(ends(&both), (20.0 - 180.0, 20.0 + 180.0));
        // The mean of x² about the centre is width²/3.
        let square: f64 = both.iter().map(|(w, x)| w * (x - 20.0).powi(2)).sum();
        assert!(
            (square / (180.0 * 180.0 / 3.0) - 1.0).abs() < 1e-9,
            "{square}"
        );
    }

    #[test]
    fn keys_at_their_default_are_distributed_and_set() {
        for path in [
            "tilt",
            "turn",
            "at.2",
            "parts.0.at.0",
            "parts.0.tilt",
            "core.at.2",
            "height",
        ] {
            let all = spread_of(path, "", 3.0);
            let mean: f64 = all.iter().map(|(w, x)| w * x).sum();
            let square: f64 = all.iter().map(|(w, x)| w * x * x).sum();
            assert!(mean.abs() < 1e-9 && (square - 3.0).abs() < 1e-9, "{path}");
        }
        let mut t: Table =
            toml::from_str("[[particles]]\nform = {}\nbeta = 1.0\n[[layers]]").unwrap();
        for (path, value) in [("particles.0.at.2", 4.0), ("particles.0.layer", 1.0)] {
            assert_eq!(number(&t, path).unwrap(), 0.0, "{path}");
            set(&mut t, path, Value::Float(value)).unwrap();
            assert_eq!(number(&t, path).unwrap(), value, "{path}");
        }
        let particle = &t["particles"][0];
        assert_eq!(particle["at"], Value::from(vec![0.0, 0.0, 4.0]));
        assert_eq!(particle["layer"], Value::Integer(1));
        assert_eq!(number(&t, "layers.0.roughness").unwrap(), 0.0);
        for path in [
            "particles.0.at.3",
            "particles.0.at.x",
            "particles.0.tild",
            "tilt.2",
        ] {
            assert!(number(&t, path).is_err(), "{path}");
        }
        assert!(set(&mut t, "particles.0.at.3", Value::Float(1.0)).is_err());
    }
}
