//! The dimensionless map of machines: balance against power, efficiency as size.

use crate::axis::{Area, frame};
use crate::svg::{Anchor, FAINT, INK, QUIET, Svg, colour, escape};
use greenup_model::map::Place;

/// Draws named places; log₂ coordinates on linear axes.
pub fn map(title: &str, places: &[(String, Place)]) -> String {
    const WIDTH: f64 = 760.0;
    const HEIGHT: f64 = 520.0;
    let area = Area {
        left: 64.0,
        top: 44.0,
        width: WIDTH - 84.0,
        height: HEIGHT - 96.0,
    };
    let range = |f: &dyn Fn(&Place) -> f64| {
        let (mut lo, mut hi) = (-0.5_f64, 0.5_f64);
        for (_, p) in places {
            lo = lo.min(f(p) - 0.4);
            hi = hi.max(f(p) + 0.4);
        }
        (lo, hi)
    };
    let (x0, x1) = range(&|p| p.balance);
    let (y0, y1) = range(&|p| p.power);
    let at = |p: &Place| {
        (
            area.left + area.width * (p.balance - x0) / (x1 - x0),
            area.bottom() - area.height * (p.power - y0) / (y1 - y0),
        )
    };
    let mut svg = Svg::new();
    svg.text(
        (14.0, 24.0),
        Anchor::Start,
        "font-size=\"15\" font-weight=\"bold\"",
        title,
    );
    let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
    for k in x0.ceil() as i32..=x1.floor() as i32 {
        let x = area.left + area.width * (f64::from(k) - x0) / (x1 - x0);
        let stroke = if k == 0 { QUIET } else { FAINT };
        svg.line(
            (x, area.top),
            (x, area.bottom()),
            &format!("stroke=\"{stroke}\""),
        );
        svg.text(
            (x, area.bottom() + 15.0),
            Anchor::Middle,
            &small,
            &k.to_string(),
        );
    }
    // Half octaves: the cap spans less than the balance.
    for k in (2.0 * y0).ceil() as i32..=(2.0 * y1).floor() as i32 {
        let v = 0.5 * f64::from(k);
        let y = area.bottom() - area.height * (v - y0) / (y1 - y0);
        let stroke = if k == 0 { QUIET } else { FAINT };
        svg.line(
            (area.left, y),
            (area.right(), y),
            &format!("stroke=\"{stroke}\""),
        );
        svg.text(
            (area.left - 6.0, y + 4.0),
            Anchor::End,
            &small,
            &v.to_string(),
        );
    }
    frame(
        &mut svg,
        area,
        (
            "balance: log₂ Bε/Bτ (right: energy wants more reuse than time)",
            "power: log₂ Δπ/(πflop + πmem)",
        ),
    );
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for (k, (name, p)) in places.iter().enumerate() {
        let (x, y) = at(p);
        // Area in proportion to η: the share of a flop's energy that is not constant power.
        let r = 3.0 + 11.0 * (0.5 * p.efficiency).exp2();
        svg.element(
            "circle",
            &format!(
                "cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{r:.1}\" fill=\"{}\" fill-opacity=\"0.6\" stroke=\"{INK}\" data-tip=\"{}\"",
                colour(k),
                escape(&format!("{name}: efficiency {:.2}", p.efficiency.exp2()))
            ),
        );
        // Step labels apart that would lie on each other.
        let mut label = (x + r + 4.0, y + 4.0);
        let right = label.0 + 6.5 * name.len() as f64 > area.right();
        if right {
            label.0 = x - r - 4.0;
        }
        while taken
            .iter()
            .any(|t| (t.0 - label.0).abs() < 90.0 && (t.1 - label.1).abs() < 12.0)
        {
            label.1 += 12.0;
        }
        taken.push(label);
        let anchor = if right { Anchor::End } else { Anchor::Start };
        svg.text(label, anchor, "font-size=\"11\"", name);
    }
    svg.text(
        (area.right(), area.top - 8.0),
        Anchor::End,
        &small,
        "disc area: efficiency (share of a flop's energy that is not constant power)",
    );
    svg.document(WIDTH, HEIGHT, title)
}
