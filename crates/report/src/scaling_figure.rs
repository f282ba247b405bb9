//! Values of several series over problem size, or over time.

use crate::axis::{Area, Linear, LogRange, draw_log_x, frame, three_trimmed};
use crate::si::si;
use crate::svg::{Anchor, FAINT, QUIET, Svg, colour, escape};

/// Above so many points a series is a line without marks.
const MARKED: usize = 60;

/// One config or quantity: (size or time, median, low, high), by rising size.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64, f64, f64)>,
}

/// A panel: what is drawn, and in which unit.
#[derive(Clone, Debug)]
pub struct Panel {
    pub label: String,
    pub unit: String,
    pub series: Vec<Series>,
}

/// What runs across a panel.
#[derive(Clone, Copy)]
enum Across {
    Size(LogRange),
    Time(Linear),
}

impl Across {
    fn x(self, area: Area, v: f64) -> f64 {
        match self {
            Self::Size(r) => r.x(area, v),
            Self::Time(r) => area.left + area.width * r.share(v),
        }
    }

    fn draw(self, svg: &mut Svg, area: Area) {
        let r = match self {
            Self::Size(r) => return draw_log_x(svg, area, r),
            Self::Time(r) => r,
        };
        let (grid, small) = (
            format!("stroke=\"{FAINT}\""),
            format!("font-size=\"11\" fill=\"{QUIET}\""),
        );
        for v in r.ticks() {
            let x = self.x(area, v);
            svg.line((x, area.top), (x, area.bottom()), &grid);
            svg.text(
                (x, area.bottom() + 15.0),
                Anchor::Middle,
                &small,
                &three_trimmed(v),
            );
        }
    }
}

/// Panels over problem size, above each other, one legend below.
pub fn scaling(title: &str, x_label: &str, panels: &[Panel]) -> String {
    figure(title, x_label, panels, &|p| {
        LogRange::around(p.series.iter().flat_map(|s| &s.points).map(|q| q.0)).map(Across::Size)
    })
}

/// Panels over time, s or another unit.
pub fn over_time(title: &str, x_label: &str, panels: &[Panel]) -> String {
    figure(title, x_label, panels, &|p| {
        let all = p.series.iter().flat_map(|s| &s.points).map(|q| q.0);
        Some(Across::Time(Linear::around(all.chain([0.0]))))
    })
}

fn figure(
    title: &str,
    x_label: &str,
    panels: &[Panel],
    across: &dyn Fn(&Panel) -> Option<Across>,
) -> String {
    const WIDTH: f64 = 720.0;
    const PANEL: f64 = 260.0;
    const TOP: f64 = 56.0;
    let names: Vec<&str> = panels
        .first()
        .map(|p| p.series.iter().map(|s| s.name.as_str()).collect())
        .unwrap_or_default();
    let rows = panels.len() as f64;
    let height = TOP + rows * (PANEL + 50.0) + 18.0 * names.len() as f64 + 16.0;
    let mut svg = Svg::new();
    svg.text(
        (12.0, 24.0),
        Anchor::Start,
        "font-size=\"15\" font-weight=\"bold\"",
        title,
    );
    for (i, p) in panels.iter().enumerate() {
        let area = Area {
            left: 96.0,
            top: TOP + i as f64 * (PANEL + 50.0),
            width: WIDTH - 116.0,
            height: PANEL,
        };
        if let Some(across) = across(p) {
            panel(&mut svg, area, p, x_label, across);
        }
    }
    for (i, name) in names.iter().enumerate() {
        let y = TOP + rows * (PANEL + 50.0) + 18.0 * i as f64 + 4.0;
        svg.line(
            (16.0, y - 4.0),
            (38.0, y - 4.0),
            &format!("stroke=\"{}\" stroke-width=\"2.2\"", colour(i)),
        );
        svg.text((44.0, y), Anchor::Start, "font-size=\"12\"", name);
    }
    svg.document(WIDTH, height, title)
}

fn panel(svg: &mut Svg, area: Area, p: &Panel, x_label: &str, across: Across) {
    // From zero: heights are to be compared by eye.
    let yr = Linear::around(
        p.series
            .iter()
            .flat_map(|s| &s.points)
            .map(|q| q.3)
            .chain([0.0]),
    );
    let y = |v: f64| area.bottom() - area.height * yr.share(v);
    let grid = format!("stroke=\"{FAINT}\"");
    let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
    across.draw(svg, area);
    for v in yr.ticks() {
        svg.line((area.left, y(v)), (area.right(), y(v)), &grid);
        svg.text(
            (area.left - 6.0, y(v) + 4.0),
            Anchor::End,
            &small,
            &si(v, &p.unit),
        );
    }
    frame(svg, area, (x_label, ""));
    svg.text(
        (area.left, area.top - 6.0),
        Anchor::Start,
        "font-size=\"12\"",
        &p.label,
    );
    for (i, s) in p.series.iter().enumerate() {
        let style = format!("stroke=\"{}\" stroke-width=\"1.8\"", colour(i));
        let line: Vec<(f64, f64)> = s
            .points
            .iter()
            .map(|q| (across.x(area, q.0), y(q.1)))
            .collect();
        svg.polyline(&line, &style);
        // Traces of many points are lines.
        let marked = if s.points.len() > MARKED {
            0
        } else {
            s.points.len()
        };
        for (q, at) in s.points.iter().zip(&line).take(marked) {
            svg.line((at.0, y(q.2)), (at.0, y(q.3)), &style);
            svg.element(
                "circle",
                &format!(
                    "cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{}\" data-tip=\"{}\"",
                    at.0,
                    at.1,
                    colour(i),
                    escape(&format!("{} | {} | {}", s.name, q.0, si(q.1, &p.unit)))
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_drawn() {
        let series = |name: &str, k: f64| Series {
            name: name.into(),
            points: [256.0, 512.0, 1024.0]
                .map(|x| (x, k * x, 0.9 * k * x, 1.1 * k * x))
                .to_vec(),
        };
        let panel = |unit: &str| Panel {
            label: "performance".into(),
            unit: unit.into(),
            series: vec![series("a", 1.0), series("b <", 2.0)],
        };
        let text = scaling("t", "n", &[panel("flop/s"), panel("flop/J")]);
        assert_eq!(text.matches("<circle").count(), 12);
        assert!(text.contains("b &lt;") && text.contains(">512<"));
        let text = over_time("t", "time", &[panel("J")]);
        assert_eq!(text.matches("<circle").count(), 6);
        assert!(text.contains(">1000<") && !text.contains(">512<"));
    }
}
