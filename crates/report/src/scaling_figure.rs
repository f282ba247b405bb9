//! Performance and efficiency of selected configs over problem size.

use crate::axis::{Area, Linear, LogRange, draw_log_x, frame};
use crate::si::si;
use crate::svg::{Anchor, FAINT, QUIET, Svg, colour, escape};

/// One config: (size, median, low, high), by rising size.
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

/// Panels above each other, one legend below.
pub fn scaling(title: &str, x_label: &str, panels: &[Panel]) -> String {
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
        panel(&mut svg, area, p, x_label);
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

fn panel(svg: &mut Svg, area: Area, p: &Panel, x_label: &str) {
    let all = || p.series.iter().flat_map(|s| &s.points);
    let Some(xr) = LogRange::around(all().map(|q| q.0)) else {
        return;
    };
    // From zero: heights are speeds, to be compared by eye.
    let yr = Linear::around(all().map(|q| q.3).chain([0.0]));
    let y = |v: f64| area.bottom() - area.height * yr.share(v);
    let grid = format!("stroke=\"{FAINT}\"");
    let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
    draw_log_x(svg, area, xr);
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
        let line: Vec<(f64, f64)> = s.points.iter().map(|q| (xr.x(area, q.0), y(q.1))).collect();
        svg.polyline(&line, &style);
        for (q, at) in s.points.iter().zip(&line) {
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
    }
}
