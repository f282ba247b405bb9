//! Log₂ and linear axes.

use crate::si::three;
use crate::svg::{Anchor, FAINT, INK, QUIET, Svg};

/// The plotting area of a panel, in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// A range of values on a log₂ axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogRange {
    pub lo: f64,
    pub hi: f64,
}

impl LogRange {
    /// The whole octaves around positive, finite values; `None` without any.
    pub fn around(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (mut lo, mut hi) = (f64::INFINITY, 0.0_f64);
        for v in values.into_iter().filter(|v| v.is_finite() && *v > 0.0) {
            lo = lo.min(v);
            hi = hi.max(v);
        }
        if hi == 0.0 {
            return None;
        }
        let (a, b) = ((lo.log2() - 0.1).floor(), (hi.log2() + 0.1).ceil());
        Some(Self {
            lo: a.exp2(),
            hi: b.max(a + 2.0).exp2(),
        })
    }

    fn share(&self, v: f64) -> f64 {
        (v / self.lo).log2() / (self.hi / self.lo).log2()
    }

    pub fn x(&self, area: Area, v: f64) -> f64 {
        area.left + area.width * self.share(v)
    }

    pub fn y(&self, area: Area, v: f64) -> f64 {
        area.bottom() - area.height * self.share(v)
    }

    /// Powers of two inside, thinned to at most `most`.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let (a, b) = (self.lo.log2().round() as i32, self.hi.log2().round() as i32);
        let step = ((b - a) as usize).div_ceil(most.max(1)).max(1) as i32;
        (a..=b)
            .filter(|k| k.rem_euclid(step) == 0)
            .map(|k| f64::from(k).exp2())
            .collect()
    }

    /// `n` values evenly spaced on the axis, both ends included.
    pub fn samples(&self, n: usize) -> Vec<f64> {
        let octaves = (self.hi / self.lo).log2();
        (0..n)
            .map(|i| self.lo * (octaves * i as f64 / (n - 1) as f64).exp2())
            .collect()
    }
}

/// A range on a linear axis, with round ticks.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    pub lo: f64,
    pub hi: f64,
    step: f64,
}

impl Linear {
    /// Whole steps around the finite values.
    pub fn around(values: impl Iterator<Item = f64>) -> Self {
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.filter(|v| v.is_finite()) {
            lo = lo.min(v);
            hi = hi.max(v);
        }
        if lo > hi {
            (lo, hi) = (0.0, 1.0);
        }
        let span = if hi > lo { hi - lo } else { hi.abs().max(1.0) };
        let raw = span / 5.0;
        let power = 10_f64.powf(raw.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|m| m * power)
            .find(|s| *s >= raw)
            .unwrap_or(raw);
        Self {
            lo: (lo / step).floor() * step,
            hi: ((hi + 0.02 * span) / step).ceil() * step,
            step,
        }
    }

    /// 0 at the low end, 1 at the high one.
    pub fn share(&self, v: f64) -> f64 {
        (v - self.lo) / (self.hi - self.lo)
    }

    pub fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        let n = ((self.hi - self.lo) / self.step).round() as usize;
        (0..=n).map(|i| self.lo + i as f64 * self.step)
    }
}

/// A power of two as engineers write it: `1/8`, `4`, `1k`.
pub fn power_of_two(v: f64) -> String {
    if (1.0 / 1024.0..1.0).contains(&v) {
        format!("1/{:.0}", 1.0 / v)
    } else if v < 1024.0 {
        three_trimmed(v)
    } else if v < 1_048_576.0 {
        format!("{:.0}k", v / 1024.0)
    } else {
        format!("{:.0}M", v / 1_048_576.0)
    }
}

/// Three digits without trailing zeros.
pub fn three_trimmed(v: f64) -> String {
    let s = three(v);
    if s.contains('.') && !s.contains('e') {
        s.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        s
    }
}

/// Draws grid and labels of a horizontal log₂ axis.
pub fn draw_log_x(svg: &mut Svg, area: Area, x: LogRange) {
    let grid = format!("stroke=\"{FAINT}\" stroke-width=\"1\"");
    let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
    for v in x.ticks((area.width / 34.0) as usize) {
        let px = x.x(area, v);
        svg.line((px, area.top), (px, area.bottom()), &grid);
        svg.text(
            (px, area.bottom() + 15.0),
            Anchor::Middle,
            &small,
            &power_of_two(v),
        );
    }
}

/// Draws frame, grid and labels of a panel with two log₂ axes.
pub fn draw_log_axes(svg: &mut Svg, area: Area, x: LogRange, y: LogRange, labels: (&str, &str)) {
    let grid = format!("stroke=\"{FAINT}\" stroke-width=\"1\"");
    let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
    draw_log_x(svg, area, x);
    for v in y.ticks((area.height / 26.0) as usize) {
        let py = y.y(area, v);
        svg.line((area.left, py), (area.right(), py), &grid);
        svg.text(
            (area.left - 6.0, py + 4.0),
            Anchor::End,
            &small,
            &power_of_two(v),
        );
    }
    frame(svg, area, labels);
}

/// Frame and axis titles.
pub fn frame(svg: &mut Svg, area: Area, labels: (&str, &str)) {
    svg.rect(
        area.left,
        area.top,
        area.width,
        area.height,
        &format!("fill=\"none\" stroke=\"{INK}\" stroke-width=\"1\""),
    );
    svg.text(
        (area.left + 0.5 * area.width, area.bottom() + 33.0),
        Anchor::Middle,
        "",
        labels.0,
    );
    let (x, y) = (area.left - 40.0, area.top + 0.5 * area.height);
    svg.text(
        (x, y),
        Anchor::Middle,
        &format!("transform=\"rotate(-90 {x:.1} {y:.1})\""),
        labels.1,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_labels() {
        let r = LogRange::around([0.3, 7.0, f64::NAN, 0.0]).unwrap();
        assert_eq!(r, LogRange { lo: 0.25, hi: 8.0 });
        assert_eq!(r.ticks(10).len(), 6);
        assert_eq!(LogRange::around([0.0]), None);
        assert_eq!(power_of_two(0.125), "1/8");
        assert_eq!(power_of_two(2048.0), "2k");
        let s = r.samples(3);
        assert!((s[0] - 0.25).abs() < 1e-12 && (s[2] - 8.0).abs() < 1e-12);
    }
}
