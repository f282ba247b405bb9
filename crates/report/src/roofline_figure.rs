//! Roofline, arch line and power line side by side over intensity, log₂ axes.

use crate::axis::{Area, LogRange, draw_log_axes};
use crate::roofline_marks::{draw_levels, label_points, mark_balances, mark_knee};
use crate::roofline_parts::{Interval, Line, Panel, Point};
use crate::si::{si, three};
use crate::svg::{Anchor, INK, Svg, colour, escape};
use greenup_model::EnergyRoofline;

/// The whole figure.
#[derive(Clone, Debug)]
pub struct RooflineFigure {
    pub title: String,
    pub lines: Vec<Line>,
    pub points: Vec<Point>,
    pub intensity: (f64, f64),
    /// Whether points get their names as labels.
    pub label_points: bool,
}

pub const PANEL_WIDTH: f64 = 400.0;
pub const PANEL_HEIGHT: f64 = 360.0;

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
            .filter(|p| self.is_above(p))
            .map(|p| p.name.as_str())
            .collect()
    }

    fn is_above(&self, p: &Point) -> bool {
        let line = &self.lines[p.line];
        // The optimistic end of the roof, and 2 % for rounding of published peaks.
        let roof = line.corners.map_or(line.roofline, |c| c.0);
        p.flops_per_s.lo * roof.time_per_flop(p.intensity) > 1.02
    }

    /// All panels side by side, with title and legend.
    pub fn svg(&self) -> String {
        let panels = self.panels();
        let width = PANEL_WIDTH * panels.len() as f64 + 20.0;
        let columns = ((width - 30.0) / 190.0).floor().max(1.0) as usize;
        let legend_rows = self.lines.len().div_ceil(columns) as f64;
        let height = 34.0 + 20.0 * legend_rows + PANEL_HEIGHT + 6.0;
        let mut svg = Svg::new();
        svg.text(
            (16.0, 22.0),
            Anchor::Start,
            "font-size=\"16\" font-weight=\"bold\"",
            &self.title,
        );
        for (i, line) in self.lines.iter().enumerate() {
            let x = 18.0 + 190.0 * (i % columns) as f64;
            let y = 42.0 + 20.0 * (i / columns) as f64;
            svg.line(
                (x, y - 4.0),
                (x + 22.0, y - 4.0),
                &format!("stroke=\"{}\" stroke-width=\"3\"", colour(i)),
            );
            svg.text((x + 28.0, y), Anchor::Start, "", &line.name);
        }
        for (k, panel) in panels.iter().enumerate() {
            let x = 10.0 + PANEL_WIDTH * k as f64;
            svg.group(
                &format!("transform=\"translate({x} {})\"", 34.0 + 20.0 * legend_rows),
                &self.panel(*panel),
            );
        }
        svg.document(width, height, &self.title)
    }

    /// One panel as a document of its own.
    pub fn panel_svg(&self, panel: Panel) -> String {
        self.panel(panel)
            .document(PANEL_WIDTH, PANEL_HEIGHT, panel.title())
    }

    fn panel(&self, panel: Panel) -> Svg {
        let area = Area {
            left: 58.0,
            top: 30.0,
            width: PANEL_WIDTH - 74.0,
            height: PANEL_HEIGHT - 74.0,
        };
        let x = LogRange {
            lo: self.intensity.0,
            hi: self.intensity.1,
        };
        let samples = x.samples(257);
        let curve = |r: &EnergyRoofline| -> Vec<f64> {
            samples.iter().map(|&i| panel.value(r, i)).collect()
        };
        let shown: Vec<(usize, &Line)> = self
            .lines
            .iter()
            .enumerate()
            .filter(|(_, l)| l.has_energy || panel == Panel::Time)
            .collect();
        let points: Vec<(&Point, Interval)> = self
            .points
            .iter()
            .filter_map(|p| {
                let v = match panel {
                    Panel::Time => Some(p.flops_per_s),
                    Panel::Energy => p.flops_per_j,
                    Panel::Power => p.power_w,
                }?;
                let k = panel.scale();
                let v = Interval {
                    value: v.value * k,
                    lo: v.lo * k,
                    hi: v.hi * k,
                };
                Some((p, v))
            })
            .collect();
        let all = shown
            .iter()
            .flat_map(|(_, l)| curve(&l.roofline))
            .chain(points.iter().flat_map(|(_, v)| [v.lo, v.hi]));
        let y = LogRange::around(all).unwrap_or(LogRange { lo: 1.0, hi: 4.0 });
        let at = |i: f64, v: f64| (x.x(area, i), y.y(area, v.clamp(y.lo, y.hi)));

        let mut svg = Svg::new();
        svg.text(
            (area.left, 20.0),
            Anchor::Start,
            "font-weight=\"bold\" font-size=\"13\"",
            panel.title(),
        );
        draw_log_axes(&mut svg, area, x, y, ("intensity, flop/B", panel.label()));
        let place = |values: &[f64]| -> Vec<(f64, f64)> {
            samples
                .iter()
                .zip(values)
                .map(|(&i, &v)| at(i, v))
                .collect()
        };
        for (k, line) in &shown {
            let c = colour(*k);
            let mut g = Svg::new();
            if let Some((low, high)) = &line.corners {
                // Power is no monotone function of the constants: its band spans both ends.
                let (a, b) = (curve(low), curve(high));
                let up: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a.max(*b)).collect();
                let down: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a.min(*b)).collect();
                g.band(
                    &place(&up),
                    &place(&down),
                    &format!("fill=\"{c}\" fill-opacity=\"0.15\" stroke=\"none\""),
                );
            }
            if panel == Panel::Time {
                draw_levels(&mut g, line, c, area, x, y);
            }
            if line.roofline.dpi.is_some() && !line.roofline.never_throttles() {
                let uncapped = EnergyRoofline {
                    dpi: None,
                    ..line.roofline
                };
                g.polyline(
                    &place(&curve(&uncapped)),
                    &format!("stroke=\"{c}\" stroke-width=\"1.2\" stroke-dasharray=\"2 3\""),
                );
            }
            let tip = format!(
                "{}: balance {} flop/B{}",
                line.name,
                three(line.roofline.time_balance()),
                if line.has_energy {
                    format!(
                        ", energy balance {} flop/B, constant power {}",
                        three(line.roofline.energy_balance()),
                        si(line.roofline.pi0, "W")
                    )
                } else {
                    String::new()
                }
            );
            g.polyline(
                &place(&curve(&line.roofline)),
                &format!(
                    "stroke=\"{c}\" stroke-width=\"2.2\" stroke-linejoin=\"round\" data-tip=\"{}\"",
                    escape(&tip)
                ),
            );
            if shown.len() > 1 {
                mark_knee(&mut g, panel, line, c, x, &at);
            }
            svg.group(&format!("class=\"series s{k}\""), &g);
        }
        if let [(k, line)] = shown[..] {
            mark_balances(&mut svg, panel, line, colour(k), area, x);
        }
        for (p, v) in &points {
            self.draw_point(
                &mut svg,
                p,
                *v,
                panel,
                area,
                at(p.intensity, v.value),
                (at(p.intensity, v.lo).1, at(p.intensity, v.hi).1),
            );
        }
        if self.label_points {
            let named: Vec<(&str, (f64, f64))> = points
                .iter()
                .map(|(p, v)| (p.name.as_str(), at(p.intensity, v.value)))
                .collect();
            label_points(&mut svg, area, &named);
        }
        svg
    }

    #[allow(clippy::too_many_arguments)]
    fn draw_point(
        &self,
        svg: &mut Svg,
        p: &Point,
        v: Interval,
        panel: Panel,
        area: Area,
        (px, py): (f64, f64),
        bar: (f64, f64),
    ) {
        if px < area.left || px > area.right() {
            return;
        }
        let above = panel == Panel::Time && self.is_above(p);
        let c = if above { "#c00000" } else { colour(p.line) };
        let mut g = Svg::new();
        g.line(
            (px, bar.0),
            (px, bar.1),
            &format!("stroke=\"{INK}\" stroke-width=\"1.2\""),
        );
        let tip = format!(
            "{}: {} {} [{} … {}] at {} flop/B{}",
            p.name,
            three(v.value),
            panel.label(),
            three(v.lo),
            three(v.hi),
            three(p.intensity),
            if above { ", above the roof" } else { "" }
        );
        g.element(
            "circle",
            &format!(
                "cx=\"{px:.2}\" cy=\"{py:.2}\" r=\"4\" fill=\"{c}\" stroke=\"#ffffff\" \
                 stroke-width=\"1\" tabindex=\"0\" data-tip=\"{}\"",
                escape(&tip)
            ),
        );
        if above {
            g.element(
                "circle",
                &format!("cx=\"{px:.2}\" cy=\"{py:.2}\" r=\"8\" fill=\"none\" stroke=\"{c}\" stroke-width=\"1.5\""),
            );
        }
        svg.group(&format!("class=\"series s{}\"", p.line), &g);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    #[test]
    fn three_panels_and_flagged_points() {
        let mut f = figure(&["gtx-titan"]);
        let at = |v: f64| Interval {
            value: v,
            lo: v,
            hi: v,
        };
        let point = |name: &str, v: f64| Point {
            name: name.into(),
            line: 0,
            intensity: 1.0,
            flops_per_s: at(v),
            flops_per_j: None,
            power_w: None,
        };
        f.points = vec![point("fine", 200e9), point("too <fast>", 400e9)];
        assert_eq!(f.above_roof(), ["too <fast>"]);
        let svg = f.svg();
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
        assert!(!f.svg().contains("NaN"));
    }

    /// Numbers of an attribute in the order of the elements.
    fn numbers(svg: &str, element: &str, name: &str) -> Vec<f64> {
        let name = format!(" {name}=\"");
        svg.split(element)
            .skip(1)
            .map(|e| {
                let rest = &e[e.find(&name).unwrap() + name.len()..];
                rest[..rest.find('"').unwrap()].parse().unwrap()
            })
            .collect()
    }

    /// Dots of a panel by their names, and the text of each name with its place.
    #[test]
    fn names_stand_at_their_own_points() {
        let at = |v: f64| Interval {
            value: v,
            lo: v,
            hi: v,
        };
        let point = |name: &str, intensity: f64, v: f64| Point {
            name: name.into(),
            line: 0,
            intensity,
            flops_per_s: at(v),
            flops_per_j: None,
            power_w: None,
        };
        let (triad, spmv) = (1.0 / 12.0, 0.134_441);
        // Rates of the two kernels on hosts where one, the other, or neither is ahead.
        for (t, s) in [
            (9.08e9, 4.56e9),
            (9.0e9, 1.0e10),
            (9.0e9, 1.2e10),
            (9.0e9, 9.0e9),
            (9.0e9, 1.6e10),
            (9.0e9, 7.0e9),
        ] {
            let mut f = figure(&["gtx-titan"]);
            f.intensity = (1.0 / 16.0, 512.0);
            f.points = vec![
                point("triad", triad, t),
                point("dgemm", 96.0, 2e11),
                point("spmv", spmv, s),
            ];
            let svg = f.panel_svg(Panel::Time);
            let dots: Vec<(f64, f64)> = numbers(&svg, "<circle", "cx")
                .into_iter()
                .zip(numbers(&svg, "<circle", "cy"))
                .collect();
            assert_eq!(dots.len(), 3);
            let names = ["triad", "dgemm", "spmv"];
            for (i, name) in names.iter().enumerate() {
                let end = svg.find(&format!(">{name}</text>")).unwrap();
                let text = &svg[svg[..end].rfind("<text").unwrap()..end];
                let x = numbers(text, "<text", "x")[0];
                let y = numbers(text, "<text", "y")[0] - 4.0;
                let right = x + 6.4 * name.len() as f64;
                let distance = |(px, py): (f64, f64)| (px.clamp(x, right) - px).hypot(y - py);
                let nearest = (0..3)
                    .min_by(|a, b| distance(dots[*a]).total_cmp(&distance(dots[*b])))
                    .unwrap();
                // Where there is no such place, a line leads from the point to its name.
                let (px, py) = dots[i];
                let tie = format!("<line x1=\"{px:.2}\" y1=\"{py:.2}\" x2=\"");
                let tied = svg
                    .lines()
                    .any(|l| l.starts_with(&tie) && l.contains("class=\"tie\""));
                assert!(nearest == i || tied, "{name}: {t:e} {s:e}\n{svg}");
            }
        }
    }

    #[test]
    fn names_in_a_crowd_are_tied_to_their_points() {
        let mut f = figure(&["gtx-titan"]);
        let v = Interval {
            value: 1e11,
            lo: 1e11,
            hi: 1e11,
        };
        f.points = (0..5)
            .map(|k| Point {
                name: format!("kernel {k}"),
                line: 0,
                intensity: 1.0 + 0.01 * f64::from(k),
                flops_per_s: v,
                flops_per_j: None,
                power_w: None,
            })
            .collect();
        let svg = f.panel_svg(Panel::Time);
        assert!(svg.matches("class=\"tie\"").count() >= 3, "{svg}");
        for k in 0..5 {
            assert!(svg.contains(&format!(">kernel {k}</text>")));
        }
    }
}
