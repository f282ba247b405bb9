//! Roofline, arch line and power line side by side over intensity.

use super::parts::{Interval, Line, Panel, Point};
use crate::chart::{
    Axis, Chart, Ink, Layer, Mark, Scale, Series, Sign, Tag, Unit, What, axis, axis::Span,
};
use crate::si::{percent, si, three};
use greenup_model::EnergyRoofline;

/// The whole figure.
#[derive(Clone, Debug)]
pub struct RooflineFigure {
    /// Title.
    pub title: String,
    /// One line a machine.
    pub lines: Vec<Line>,
    /// Measured points.
    pub points: Vec<Point>,
    /// Range of intensity, flop/B.
    pub intensity: (f64, f64),
    /// Whether points get their names as labels.
    pub label_points: bool,
}

/// Points of a curve.
const SAMPLES: usize = 121;

impl RooflineFigure {
    /// Panels that have something to show.
    pub fn panels(&self) -> Vec<Panel> {
        let energy = self.lines.iter().any(|l| l.has_energy);
        Panel::ALL
            .into_iter()
            .filter(|p| *p == Panel::Time || energy)
            .collect()
    }

    /// Names of the points that lie above their roof by more than their interval.
    pub fn above_roof(&self) -> Vec<&str> {
        self.points
            .iter()
            .filter(|p| !p.calibration && self.is_above(p))
            .map(|p| p.name.as_str())
            .collect()
    }

    fn is_above(&self, p: &Point) -> bool {
        let line = &self.lines[p.line];
        // The optimistic end of the roof, and 2 % for rounding of published peaks.
        let roof = line.corners.map_or(line.roofline, |c| c.0);
        p.flops_per_s.lo * roof.time_per_flop(p.intensity) > 1.02
    }

    /// The chart: a panel each for time, energy and power, as far as known.
    pub fn chart(&self) -> Chart {
        let n = self.lines.len();
        // Machines, then the series of the calibration's points.
        let mut series: Vec<Series> = (self.lines.iter().enumerate())
            .map(|(k, l)| Series::new(&l.name, Ink::Series(k), Sign::Line))
            .collect();
        series.push(Series::new("microbenchmarks", Ink::Quiet, Sign::Dot));
        series.push(Series::new(
            "without the power cap",
            Ink::Quiet,
            Sign::Dashed,
        ));
        series.push(Series::new("above the roof", Ink::Bad, Sign::Dot));
        // Kernels have the colours of their lines.
        series.extend((self.lines.iter().enumerate()).map(|(k, l)| {
            let name = match &self.lines[..] {
                [_] => "kernels".to_owned(),
                _ => format!("kernels, {}", l.name),
            };
            Series::new(&name, Ink::Series(k), Sign::Dot)
        }));
        Chart {
            title: self.title.clone(),
            series,
            least_width: if self.names_kernels() { 400.0 } else { 270.0 },
            panels: self
                .panels()
                .into_iter()
                .map(|p| self.panel(p, n))
                .collect(),
            ..Chart::default()
        }
    }

    fn names_kernels(&self) -> bool {
        self.label_points && self.points.iter().any(|p| !p.calibration)
    }

    fn panel(&self, kind: Panel, n: usize) -> crate::chart::Panel {
        let x = Axis::new("intensity", Unit::plain("flop/B"), Scale::Log2)
            .over(self.intensity.0, self.intensity.1);
        let (quantity, unit) = kind.axis();
        let mut panel = crate::chart::Panel::new(
            kind.title(),
            x.clone(),
            match kind {
                Panel::Power => Axis::new(quantity, Unit::si(unit), Scale::Linear).from_zero(),
                _ => Axis::new(quantity, Unit::si(unit), Scale::Log),
            },
        );
        panel.height = crate::chart::Height::Ratio(0.72);
        // Names of kernels need the full width of a page.
        panel.alone = kind == Panel::Time && self.names_kernels();
        let span = x.resolve(std::iter::empty());
        let samples = span.samples(SAMPLES);
        let shown: Vec<(usize, &Line)> = (self.lines.iter().enumerate())
            .filter(|(_, l)| l.has_energy || kind == Panel::Time)
            .collect();
        for &(k, line) in &shown {
            self.line(&mut panel, kind, (k, line), &samples, n);
        }
        if let [(k, line)] = shown[..] {
            balances(&mut panel, kind, (k, line), &span);
        } else {
            for &(k, line) in &shown {
                knee(&mut panel, kind, (k, line), &span);
            }
        }
        self.points(&mut panel, kind, n);
        if kind == Panel::Time {
            for &(k, line) in &shown {
                levels(&mut panel, (k, line), &span);
            }
        }
        panel
    }

    fn line(
        &self,
        panel: &mut crate::chart::Panel,
        kind: Panel,
        (k, line): (usize, &Line),
        samples: &[f64],
        n: usize,
    ) {
        let curve = |r: &EnergyRoofline| -> Vec<(f64, f64)> {
            samples.iter().map(|&i| (i, kind.value(r, i))).collect()
        };
        if let Some((low, high)) = &line.corners {
            // Power is no monotone function of the constants: its band spans both ends.
            let points = (curve(low).iter().zip(&curve(high)))
                .map(|(a, b)| (a.0, a.1.min(b.1), a.1.max(b.1)))
                .collect();
            panel.push(Layer::of(k, What::Band { points }));
        }
        if line.roofline.dpi.is_some() && !line.roofline.never_throttles() {
            let uncapped = EnergyRoofline {
                dpi: None,
                ..line.roofline
            };
            let dashed = Layer::dashed(n + 1, curve(&uncapped), 1.4, "5 3", "");
            panel.push(dashed.inked(Ink::Series(k)));
        }
        let mut tip = format!(
            "{}: balance {} flop/B",
            line.name,
            three(line.roofline.time_balance())
        );
        if line.has_energy {
            tip.push_str(&format!(
                ", energy balance {} flop/B, constant power {}",
                three(line.roofline.energy_balance()),
                si(line.roofline.pi0, "W")
            ));
        }
        panel.push(Layer::dashed(k, curve(&line.roofline), 2.4, "", tip));
    }

    fn points(&self, panel: &mut crate::chart::Panel, kind: Panel, n: usize) {
        let (quantity, unit) = kind.axis();
        let value = |p: &Point| -> Option<Interval> {
            match kind {
                Panel::Time => Some(p.flops_per_s),
                Panel::Energy => p.flops_per_j,
                Panel::Power => p.power_w,
            }
        };
        let mark = |p: &Point, v: Interval| Mark {
            x: p.intensity,
            y: v.value,
            interval: Some((v.lo, v.hi)),
            tip: format!(
                "{}: {quantity} {} [{} … {}] at {} flop/B",
                p.name,
                si(v.value, unit),
                si(v.lo, unit),
                si(v.hi, unit),
                three(p.intensity)
            ),
        };
        let inside =
            |p: &&Point| p.intensity >= self.intensity.0 && p.intensity <= self.intensity.1;
        let small: Vec<Mark> = (self.points.iter().filter(|p| p.calibration).filter(inside))
            .filter_map(|p| Some(mark(p, value(p)?)))
            .collect();
        panel.push(Layer::points(n, small, 4.5));
        for (k, _) in self.lines.iter().enumerate() {
            let (mut fine, mut above) = (Vec::new(), Vec::new());
            let all = self.points.iter().filter(|p| p.line == k && !p.calibration);
            for p in all.filter(inside) {
                let Some(v) = value(p) else { continue };
                let high = kind == Panel::Time && self.is_above(p);
                if high { &mut above } else { &mut fine }.push(mark(p, v));
                if kind == Panel::Time {
                    ceiling(panel, p, k);
                }
                if self.label_points {
                    panel.tags.push(Tag {
                        text: label(p, kind),
                        at: vec![(p.intensity, v.value)],
                        ink: if high { Ink::Bad } else { Ink::Text },
                        bold: true,
                    });
                }
            }
            panel.push(Layer::points(n + 3 + k, fine, 9.0));
            panel.push(Layer::points(n + 2, above, 10.0));
        }
    }
}

/// The name of a point, in the roofline with its fraction of its roof.
fn label(p: &Point, kind: Panel) -> String {
    match &p.roof {
        Some((share, None)) if kind == Panel::Time => format!("{} {}", p.name, percent(*share)),
        Some((share, Some(of))) if kind == Panel::Time => {
            format!("{} {} of {of}", p.name, percent(*share))
        }
        _ => p.name.clone(),
    }
}

/// A short line at the roof of a point, where none of the lines is its roof.
fn ceiling(panel: &mut crate::chart::Panel, p: &Point, k: usize) {
    let Some((share, Some(of))) = &p.roof else {
        return;
    };
    let roof = p.flops_per_s.value / share;
    if !(roof.is_finite() && roof > 0.0) {
        return;
    }
    let points = vec![(p.intensity / 1.6, roof), (p.intensity * 1.6, roof)];
    let tip = format!("{}: bound by {of}, {}", p.name, si(roof, "flop/s"));
    panel.push(Layer::dashed(k, points, 3.0, "", tip));
}

/// Thin roofs of the caches with their names.
fn levels(panel: &mut crate::chart::Panel, (k, line): (usize, &Line), span: &Span) {
    let peak = 1.0 / line.roofline.tau_flop;
    for level in &line.levels {
        let knee = (level.tau / line.roofline.tau_flop).min(span.hi);
        // Not below the main roof's left end: the panel would grow for nothing.
        let from = span
            .lo
            .max(level.tau * Panel::Time.value(&line.roofline, span.lo));
        if knee <= from {
            continue;
        }
        let at = |share: f64| {
            let i = from * (knee / from).powf(share);
            (i, (i / level.tau).min(peak))
        };
        let tip = format!(
            "{} {}: {}",
            line.name,
            level.name,
            si(1.0 / level.tau, "B/s")
        );
        panel.push(Layer::dashed(k, vec![at(0.0), at(1.0)], 1.2, "4 3", tip));
        panel.tags.push(Tag {
            text: level.name.clone(),
            at: [0.5, 0.35, 0.65, 0.2, 0.8].map(at).to_vec(),
            ink: Ink::Quiet,
            bold: false,
        });
    }
}

/// A ring at the balance of one of several machines.
fn knee(panel: &mut crate::chart::Panel, kind: Panel, (k, line): (usize, &Line), span: &Span) {
    let r = &line.roofline;
    let (i, name) = match kind {
        Panel::Energy => (r.energy_balance(), "energy balance"),
        _ => (r.time_balance(), "time balance"),
    };
    if !(i >= span.lo && i <= span.hi) {
        return;
    }
    let points = vec![Mark {
        x: i,
        y: kind.value(r, i),
        interval: None,
        tip: format!("{}: {name} {} flop/B", line.name, three(i)),
    }];
    panel.push(Layer::of(
        k,
        What::Points {
            points,
            size: 8.0,
            hollow: true,
        },
    ));
}

/// Upright lines at the balances; only with one machine, where they can be read.
fn balances(panel: &mut crate::chart::Panel, kind: Panel, (k, line): (usize, &Line), span: &Span) {
    let r = &line.roofline;
    let mut marks: Vec<(f64, String)> = Vec::new();
    match kind {
        Panel::Time => marks.push((
            r.time_balance(),
            format!("Bτ = {}", axis::short(r.time_balance())),
        )),
        Panel::Energy => {
            if r.eps_flop > 0.0 {
                marks.push((
                    r.energy_balance(),
                    format!("Bε = {}", axis::short(r.energy_balance())),
                ));
            }
            let half = r.half_efficiency_intensity();
            marks.push((half, format!("half at {}", axis::short(half))));
        }
        Panel::Power => {}
    }
    let curve_at = |i: f64| kind.value(r, i);
    if kind != Panel::Energy && line.has_energy && !r.never_throttles() {
        let (lo, hi) = (
            r.balance_minus().clamp(span.lo, span.hi),
            r.balance_plus().clamp(span.lo, span.hi),
        );
        panel
            .layers
            .insert(0, Layer::of(k, What::Range { x: (lo, hi) }));
        let middle = (lo * hi).sqrt();
        panel.tags.push(Tag {
            text: "power cap".into(),
            at: [0.3, 0.5, 0.2, 0.9]
                .map(|f| (middle, f * curve_at(middle)))
                .to_vec(),
            ink: Ink::Quiet,
            bold: false,
        });
    }
    for (i, text) in marks {
        if i < span.lo || i > span.hi {
            continue;
        }
        let rule = What::Rule {
            x: Some(i),
            y: None,
            dash: "2 3",
        };
        panel.push(Layer::of(k, rule).inked(Ink::Quiet));
        let low = curve_at(span.lo).min(curve_at(i));
        panel.tags.push(Tag {
            text,
            at: [0.1, 0.25, 0.5]
                .map(|s| (i, low * (curve_at(i) / low).powf(s)))
                .to_vec(),
            ink: Ink::Text,
            bold: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Style;
    use greenup_model::{Op, shipped};

    fn figure(names: &[&str]) -> RooflineFigure {
        RooflineFigure {
            title: "t".into(),
            lines: names
                .iter()
                .map(|n| Line::of(&shipped::find(n).unwrap().unwrap(), Op::F32).unwrap())
                .collect(),
            points: vec![],
            intensity: (0.125, 512.0),
            label_points: true,
        }
    }

    fn point(name: &str, intensity: f64, v: f64) -> Point {
        Point {
            name: name.into(),
            line: 0,
            intensity,
            flops_per_s: Interval {
                value: v,
                lo: v,
                hi: v,
            },
            flops_per_j: None,
            power_w: None,
            calibration: false,
            roof: None,
        }
    }

    #[test]
    fn three_panels_and_flagged_points() {
        let mut f = figure(&["gtx-titan"]);
        f.points = vec![point("fine", 1.0, 200e9), point("too <fast>", 1.0, 400e9)];
        assert_eq!(f.above_roof(), ["too <fast>"]);
        let svg = f.chart().svg(Style::Light, 1200.0);
        for want in [
            "Roofline",
            "Arch line",
            "Power line",
            "power cap",
            "too &lt;fast&gt;",
        ] {
            assert!(svg.contains(want), "{want}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn a_machine_without_energy_has_one_panel() {
        let mut f = figure(&["gtx-580", "apu-gpu"]);
        assert_eq!(f.panels().len(), 3);
        f.lines.iter_mut().for_each(|l| l.has_energy = false);
        assert_eq!(f.panels(), [Panel::Time]);
        assert!(!f.chart().svg(Style::Light, 800.0).contains("NaN"));
    }

    /// At every width, with points beside and on each other.
    #[test]
    fn no_two_texts_meet() {
        for (t, s) in [
            (9.08e9, 4.56e9),
            (9.0e9, 1.0e10),
            (9.0e9, 9.0e9),
            (9.0e9, 1.6e10),
        ] {
            let mut f = figure(&["gtx-titan"]);
            f.intensity = (1.0 / 16.0, 512.0);
            f.points = vec![
                point("triad", 1.0 / 12.0, t),
                point("dgemm", 96.0, 2e11),
                point("spmv", 0.134_441, s),
                point("another at the same position", 0.134_441, s),
            ];
            for width in crate::chart::PAGE_WIDTHS {
                crate::chart::assert_clear(&f.chart(), f64::from(width));
            }
        }
    }
}
