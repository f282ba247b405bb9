//! Sets of ticks, fine to coarse.

use super::number::{decimals, short};
use super::{Axis, Scale, Span, Unit};

impl Axis {
    /// Sets of ticks of a logarithmic axis, fine to coarse.
    pub(super) fn log_ticks(&self, span: &Span) -> Vec<Vec<(f64, String)>> {
        // One notation for all ticks.
        let wide = span.lo < 0.9e-3 || span.hi > 1.1e5;
        let inside = |v: &f64| *v >= span.lo * (1.0 - 1e-9) && *v <= span.hi * (1.0 + 1e-9);
        let labelled = |all: Vec<f64>| -> Vec<(f64, String)> {
            all.into_iter()
                .filter(inside)
                .map(|v| (v, self.label(v, wide)))
                .collect()
        };
        let base: f64 = if self.scale == Scale::Log2 { 2.0 } else { 10.0 };
        let power = |k: i32| base.powi(k);
        let (a, b) = (
            (span.lo.ln() / base.ln()).floor() as i32,
            (span.hi.ln() / base.ln()).ceil() as i32,
        );
        let mut sets = Vec::new();
        if b - a <= 4 {
            let parts: &[&[f64]] = if self.scale == Scale::Log2 {
                &[]
            } else {
                &[
                    &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
                    &[1.0, 2.0, 5.0],
                    &[1.0, 3.0],
                ]
            };
            for p in parts {
                sets.push(labelled(
                    (a..b)
                        .flat_map(|k| p.iter().map(move |m| m * power(k)))
                        .collect(),
                ));
            }
        }
        for step in 1..=(b - a).max(1) {
            sets.push(labelled(
                (a..=b)
                    .filter(|k| k.rem_euclid(step) == 0)
                    .map(power)
                    .collect(),
            ));
        }
        // Coarse decades before crowded fine ticks: sets are tried in order, so put the plain powers first if enough.
        sets.sort_by_key(|s| usize::from(s.len() > 9));
        let whole = |v: f64| (v.log10() - v.log10().round()).abs() < 1e-9;
        let plain = |s: &Vec<(f64, String)>| s.len() > 1 && s.iter().all(|t| whole(t.0));
        if self.decades && sets.iter().any(plain) {
            sets.retain(plain);
        }
        if self.scale == Scale::Log && sets.iter().all(|s| s.len() < 2) {
            sets.extend(self.even_ticks(span, wide));
        }
        sets
    }

    /// Even steps on a logarithmic axis within less than a factor of two.
    fn even_ticks(&self, span: &Span, wide: bool) -> Vec<Vec<(f64, String)>> {
        let mut sets = self.linear_ticks(span);
        if matches!(self.unit, Unit::Si(_)) {
            for (v, label) in sets.iter_mut().flatten() {
                *label = self.label(*v, wide);
            }
        }
        sets.retain(|s| s.windows(2).all(|w| w[0].1 != w[1].1));
        sets
    }

    /// Sets of ticks of a linear axis, fine to coarse.
    pub(super) fn linear_ticks(&self, span: &Span) -> Vec<Vec<(f64, String)>> {
        let (factor, _) = self.titled(span);
        let (lo, hi) = (span.lo / factor, span.hi / factor);
        let range = (hi - lo).abs();
        if !(range > 0.0 && range.is_finite()) {
            return vec![vec![(span.lo, short(lo))]];
        }
        let top = 10_f64.powf(range.log10().ceil());
        [10.0, 20.0, 25.0, 50.0, 100.0, 200.0]
            .iter()
            .rev()
            .map(|parts| top / parts)
            .chain([0.2 * top, 0.25 * top, 0.5 * top, top])
            .filter(|step| !span.whole || step.fract() == 0.0)
            .filter_map(|step| {
                let (a, b) = ((lo / step - 1e-9).ceil(), (hi / step + 1e-9).floor());
                // Beyond the precision of the values no step is found.
                if b < a || b - a > 60.0 || a.abs() > 1e9 {
                    return None;
                }
                let digits = decimals(step);
                Some(
                    (0..=(b - a) as usize)
                        .map(|i| {
                            let v = (a + i as f64) * step;
                            let v = if v.abs() < 1e-9 * step { 0.0 } else { v };
                            (v * factor, format!("{v:.digits$}"))
                        })
                        .collect(),
                )
            })
            .filter(|t: &Vec<(f64, String)>| t.len() <= 11)
            .collect()
    }
}
