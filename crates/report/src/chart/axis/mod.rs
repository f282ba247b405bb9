//! Axes: ranges, ticks and their labels.

pub mod number;
pub mod si;
mod ticks;

pub use number::{short, superscript};

use super::text::{SMALL, width};
use number::power_of_two;
use si::prefix_of;

/// Unit of the values of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Unit {
    /// A number.
    #[default]
    None,
    /// A unit that takes prefixes: `flop/s`, `J`, `W`, `s`, `B`.
    Si(String),
    /// A unit without prefixes: `flop/B`, `°`, `nm⁻¹`.
    Plain(String),
    /// Shares, shown in percent.
    Percent,
}

impl Unit {
    /// A unit that takes prefixes.
    pub fn si(unit: &str) -> Self {
        Self::Si(unit.to_owned())
    }

    /// A unit without prefixes.
    pub fn plain(unit: &str) -> Self {
        Self::Plain(unit.to_owned())
    }

    /// A value with its unit, three digits.
    pub fn show(&self, v: f64) -> String {
        match self {
            Self::None => crate::si::three(v),
            Self::Si(u) => crate::si::si(v, u),
            Self::Plain(u) => format!("{} {u}", crate::si::three(v)),
            Self::Percent => crate::si::percent(v),
        }
    }
}

/// How values map to positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Scale {
    /// Equal differences, equal lengths.
    #[default]
    Linear,
    /// Equal ratios, equal lengths; ticks at decades.
    Log,
    /// Equal ratios, equal lengths; ticks at powers of two.
    Log2,
    /// Named rows or columns; row `i` is the value `i`.
    Names(Vec<String>),
}

/// What an axis shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Quantity.
    pub title: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Scale.
    pub scale: Scale,
    /// Range; around the data without one.
    pub range: Option<(f64, f64)>,
    /// Whether a linear range contains zero.
    pub zero: bool,
    /// Whether a logarithmic axis has ticks at decades only, where it has two or more.
    pub decades: bool,
}

impl Axis {
    /// An axis around its data.
    pub fn new(title: &str, unit: Unit, scale: Scale) -> Self {
        Self {
            title: title.to_owned(),
            unit,
            scale,
            range: None,
            zero: false,
            decades: false,
        }
    }

    /// The same axis with zero in its range.
    pub fn from_zero(self) -> Self {
        Self { zero: true, ..self }
    }

    /// The same axis with ticks at decades only, where it has two or more.
    pub fn at_decades(self) -> Self {
        Self {
            decades: true,
            ..self
        }
    }

    /// The same axis over a fixed range.
    pub fn over(self, lo: f64, hi: f64) -> Self {
        Self {
            range: Some((lo, hi)),
            ..self
        }
    }

    fn log(&self) -> bool {
        matches!(self.scale, Scale::Log | Scale::Log2)
    }

    /// The axis over these values; others than finite ones (positive ones of a logarithm) are ignored.
    pub fn resolve(&self, values: impl Iterator<Item = f64>) -> Span {
        let values: Vec<f64> = values.filter(|v| v.is_finite()).collect();
        let counts = self.unit == Unit::None
            && self.scale == Scale::Linear
            && values.iter().any(|v| v.abs() > 1.0);
        let whole = counts && values.iter().all(|v| v.fract() == 0.0);
        let (lo, hi) = (self.range).unwrap_or_else(|| self.around(values.into_iter()));
        Span {
            lo,
            hi,
            log: self.log(),
            whole,
        }
    }

    fn around(&self, values: impl Iterator<Item = f64>) -> (f64, f64) {
        if let Scale::Names(names) = &self.scale {
            return (-0.5, names.len().max(1) as f64 - 0.5);
        }
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.filter(|v| v.is_finite() && (!self.log() || *v > 0.0)) {
            (lo, hi) = (lo.min(v), hi.max(v));
        }
        if lo > hi {
            return if self.log() { (0.1, 10.0) } else { (0.0, 1.0) };
        }
        if self.log() {
            // At least a factor of four is shown.
            let pad = (0.04 * (hi / lo).ln()).max(0.5 * (4.0 / (hi / lo)).ln().max(0.0));
            return ((lo.ln() - pad).exp(), (hi.ln() + pad).exp());
        }
        if self.zero {
            (lo, hi) = (lo.min(0.0), hi.max(0.0));
        }
        let pad = if hi > lo {
            0.05 * (hi - lo)
        } else {
            (0.1 * hi.abs()).max(f64::MIN_POSITIVE.max(if hi == 0.0 { 1.0 } else { 0.0 }))
        };
        let keep = |edge: f64, moved: f64| {
            if self.zero && edge == 0.0 { 0.0 } else { moved }
        };
        (keep(lo, lo - pad), keep(hi, hi + pad))
    }

    /// Factor of the values and title with unit, for a linear span: one prefix for all ticks.
    pub fn titled(&self, span: &Span) -> (f64, String) {
        let with = |unit: &str| match (self.title.is_empty(), unit.is_empty()) {
            (_, true) => self.title.clone(),
            (true, false) => unit.to_owned(),
            (false, false) => format!("{}, {unit}", self.title),
        };
        let most = span.lo.abs().max(span.hi.abs());
        let linear = !span.log && !matches!(self.scale, Scale::Names(_));
        match &self.unit {
            Unit::Si(u) if linear => {
                let (factor, prefix) = prefix_of(most);
                (factor, with(&format!("{prefix}{u}")))
            }
            Unit::Si(u) | Unit::Plain(u) => (1.0, with(u)),
            Unit::Percent => (0.01, with("%")),
            Unit::None if linear && most > 0.0 && !(1e-3..1e5).contains(&most) => {
                let e = most.log10().floor() as i32;
                (10_f64.powi(e), with(&format!("10{}", superscript(e))))
            }
            Unit::None => (1.0, with("")),
        }
    }

    /// Ticks (value, label) whose labels do not collide along `pixels`; `across` says that labels are side by side.
    pub fn ticks(&self, span: &Span, pixels: f64, across: bool) -> Vec<(f64, String)> {
        if let Scale::Names(names) = &self.scale {
            return names
                .iter()
                .enumerate()
                .map(|(i, n)| (i as f64, n.clone()))
                .collect();
        }
        let candidates = if span.log {
            self.log_ticks(span)
        } else {
            self.linear_ticks(span)
        };
        let fits = |ticks: &[(f64, String)]| {
            let at = |v: f64| pixels * span.share(v);
            let size = |t: &str| {
                if across {
                    width(t, SMALL, false) + 10.0
                } else {
                    SMALL * 1.5
                }
            };
            ticks
                .windows(2)
                .all(|w| (at(w[1].0) - at(w[0].0)).abs() >= 0.5 * (size(&w[0].1) + size(&w[1].1)))
        };
        let mut best: Vec<(f64, String)> = Vec::new();
        for ticks in candidates {
            // From fine to coarse: the first that fits and is not crowded.
            let each = match (across, span.log) {
                (true, true) => 34.0,
                (true, false) => 52.0,
                (false, _) => 30.0,
            };
            let crowded = ticks.len() as f64 > (pixels / each).max(3.0);
            if fits(&ticks) && !crowded && ticks.len() >= 2 {
                return ticks;
            }
            if fits(&ticks) && ticks.len() > best.len() {
                best = ticks;
            }
        }
        best
    }

    fn label(&self, v: f64, wide: bool) -> String {
        match &self.unit {
            Unit::Si(_) => {
                let (factor, prefix) = prefix_of(v);
                let number = short(v / factor);
                if prefix.is_empty() {
                    number
                } else {
                    format!("{number} {prefix}")
                }
            }
            Unit::Percent => short(100.0 * v),
            _ if self.scale == Scale::Log2 => power_of_two(v),
            _ if v == 1.0 || !wide && (0.9e-3..0.9e5).contains(&v) => short(v),
            _ => {
                let e = (v.log10() + 1e-9).floor();
                let m = v / 10_f64.powf(e);
                let ten = format!("10{}", superscript(e as i32));
                if (m - 1.0).abs() < 1e-6 {
                    ten
                } else {
                    format!("{}·{ten}", short(m))
                }
            }
        }
    }
}

/// The resolved range of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Lower end.
    pub lo: f64,
    /// Upper end.
    pub hi: f64,
    /// Whether positions go by logarithms.
    pub log: bool,
    /// Whether all values are whole numbers without a unit: counts and orders, with no ticks between them.
    pub whole: bool,
}

impl Span {
    /// Position of a value: 0 at the lower end, 1 at the upper one; outside beyond them. Not finite for values that
    /// have no position.
    pub fn share(&self, v: f64) -> f64 {
        if self.log {
            (v / self.lo).ln() / (self.hi / self.lo).ln()
        } else {
            (v - self.lo) / (self.hi - self.lo)
        }
    }

    /// `n` values evenly spaced on the axis, both ends included.
    pub fn samples(&self, n: usize) -> Vec<f64> {
        (0..n)
            .map(|i| {
                let s = i as f64 / (n.max(2) - 1) as f64;
                if self.log {
                    self.lo * (self.hi / self.lo).powf(s)
                } else {
                    self.lo + s * (self.hi - self.lo)
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, lo: f64, hi: f64, pixels: f64) -> Vec<String> {
        let span = axis.resolve([lo, hi].into_iter());
        axis.ticks(&span, pixels, true)
            .into_iter()
            .map(|t| t.1)
            .collect()
    }

    #[test]
    fn decades_and_powers_of_two() {
        let rate = Axis::new("performance", Unit::si("flop/s"), Scale::Log);
        assert_eq!(
            labels(&rate, 1e9, 5e13, 400.0),
            ["1 G", "10 G", "100 G", "1 T", "10 T"]
        );
        let n = Axis::new("n", Unit::None, Scale::Log2);
        assert_eq!(
            labels(&n, 256.0, 4096.0, 400.0),
            ["256", "512", "1024", "2048", "4096"]
        );
        let i = Axis::new("intensity", Unit::plain("flop/B"), Scale::Log2);
        assert_eq!(labels(&i, 0.0625, 500.0, 300.0)[..3], ["1/16", "1/4", "1"]);
        let q = Axis::new("counts", Unit::None, Scale::Log);
        assert_eq!(labels(&q, 1e-7, 1.0, 120.0), ["10⁻⁶", "10⁻³", "1"]);
        assert_eq!(
            labels(&q.clone().at_decades().over(2.0, 300.0), 2.0, 300.0, 400.0),
            ["10", "100"]
        );
        assert!(labels(&q.at_decades().over(2.0, 30.0), 2.0, 30.0, 400.0).len() > 2);
    }

    #[test]
    fn narrow_ranges_have_round_ticks() {
        let r = Axis::new("t", Unit::si("s"), Scale::Log);
        assert!(labels(&r, 1.01e-3, 1.02e-3, 400.0).len() >= 2);
        let l = Axis::new("t", Unit::si("s"), Scale::Linear);
        assert_eq!(labels(&l, 1e-3, 5e-3, 400.0), ["1", "2", "3", "4", "5"]);
        let span = l.resolve([1e-3, 5e-3].into_iter());
        assert_eq!(l.titled(&span), (1e-3, "t, ms".to_owned()));
        let x = Axis::new("x", Unit::None, Scale::Linear);
        assert_eq!(
            labels(&x.clone().over(0.0, 1.0), 0.0, 1.0, 300.0)[..2],
            ["0.00", "0.25"]
        );
        assert_eq!(x.titled(&x.resolve([1e9].into_iter())).1, "x, 10⁹");
        // Less than a factor of two on a logarithmic axis.
        let ratio = Axis::new("over the best", Unit::None, Scale::Log);
        let bar = ratio.over(1.0, 1.25);
        assert_eq!(
            labels(&bar, 1.0, 1.25, 300.0),
            ["1.00", "1.04", "1.08", "1.12", "1.16", "1.20", "1.24"]
        );
        let t = Axis::new("t", Unit::si("s"), Scale::Log).over(5.2e-3, 5.8e-3);
        assert_eq!(
            labels(&t, 5.2e-3, 5.8e-3, 200.0),
            ["5.2 m", "5.4 m", "5.6 m", "5.8 m"]
        );
    }

    #[test]
    fn no_data_one_value_and_twelve_decades() {
        for scale in [Scale::Linear, Scale::Log, Scale::Log2] {
            let a = Axis::new("a", Unit::si("J"), scale.clone());
            for values in [
                vec![],
                vec![f64::NAN, 0.0],
                vec![3.0],
                vec![1e-6, 1e6],
                vec![1e300],
            ] {
                let span = a.resolve(values.iter().copied());
                assert!(span.hi > span.lo, "{scale:?} {values:?}");
                let ticks = a.ticks(&span, 300.0, true);
                assert!(!ticks.is_empty(), "{scale:?} {values:?} {span:?}");
                let distinct: std::collections::BTreeSet<_> = ticks.iter().map(|t| &t.1).collect();
                assert_eq!(distinct.len(), ticks.len(), "{ticks:?}");
                assert!(
                    ticks
                        .iter()
                        .all(|t| (-1e-6..=1.000_001).contains(&span.share(t.0)))
                );
            }
        }
    }
}
