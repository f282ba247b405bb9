//! Horizontal bars: measured against predicted, each split into what costs.

use crate::si::{percent, si};
use crate::svg::{Anchor, FAINT, INK, QUIET, Svg, colour, escape};

/// A piece of a bar.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: String,
    pub value: f64,
}

/// One kernel: what was measured, and what the model says.
#[derive(Clone, Debug)]
pub struct Pair {
    pub name: String,
    /// Value and interval.
    pub measured: (f64, f64, f64),
    pub predicted: (f64, f64, f64),
    /// Parts of the predicted value that add up to it; empty for one bar.
    pub parts: Vec<Part>,
}

/// Measured against predicted, each kernel on its own scale (predicted = 1).
pub fn bars(title: &str, unit: &str, pairs: &[Pair]) -> String {
    const WIDTH: f64 = 460.0;
    const LEFT: f64 = 74.0;
    const ROW: f64 = 58.0;
    let full = pairs
        .iter()
        .flat_map(|p| [p.measured.2 / p.predicted.0, p.predicted.2 / p.predicted.0])
        .fold(1.9, f64::max)
        .min(4.0);
    let x = |ratio: f64| LEFT + (WIDTH - LEFT - 16.0) * (ratio.min(full) / full);
    let height = 54.0 + ROW * pairs.len() as f64;
    let mut svg = Svg::new();
    svg.text(
        (10.0, 20.0),
        Anchor::Start,
        "font-size=\"14\" font-weight=\"bold\"",
        title,
    );
    svg.line(
        (x(1.0), 30.0),
        (x(1.0), height - 20.0),
        &format!("stroke=\"{INK}\" stroke-dasharray=\"4 3\""),
    );
    svg.text(
        (x(1.0), height - 6.0),
        Anchor::Middle,
        &format!("font-size=\"11\" fill=\"{QUIET}\""),
        "predicted",
    );
    for (k, p) in pairs.iter().enumerate() {
        let y = 36.0 + ROW * k as f64;
        svg.text((LEFT - 8.0, y + 24.0), Anchor::End, "", &p.name);
        let m = p.measured.0 / p.predicted.0;
        svg.rect(
            LEFT,
            y,
            x(m) - LEFT,
            18.0,
            &format!(
                "fill=\"{}\" data-tip=\"{}\"",
                colour(0),
                escape(&format!(
                    "measured {} [{} … {}]",
                    si(p.measured.0, unit),
                    si(p.measured.1, unit),
                    si(p.measured.2, unit)
                ))
            ),
        );
        let text = format!("{} = {}", si(p.measured.0, unit), percent(m));
        let (lo, hi) = (
            x(p.measured.1 / p.predicted.0),
            x(p.measured.2 / p.predicted.0),
        );
        svg.line(
            (lo, y + 9.0),
            (hi, y + 9.0),
            &format!("stroke=\"{INK}\" stroke-width=\"2\""),
        );
        // Inside the bar where it fits, else after it.
        let inside = x(m) - LEFT > 6.3 * text.len() as f64;
        let (at, fill) = if inside {
            (LEFT, "#ffffff")
        } else {
            (x(m).max(hi), INK)
        };
        svg.text(
            (at + 6.0, y + 13.5),
            Anchor::Start,
            &format!("font-size=\"11\" fill=\"{fill}\""),
            &text,
        );
        let mut from = LEFT;
        let parts = if p.parts.is_empty() {
            vec![Part {
                name: "predicted".into(),
                value: p.predicted.0,
            }]
        } else {
            p.parts.clone()
        };
        for (i, part) in parts.iter().enumerate() {
            let w = x(part.value / p.predicted.0) - LEFT;
            svg.rect(
                from,
                y + 21.0,
                w,
                18.0,
                &format!(
                    "fill=\"{}\" fill-opacity=\"0.45\" stroke=\"#ffffff\" data-tip=\"{}\"",
                    colour(i + 1),
                    escape(&format!("{}: {}", part.name, si(part.value, unit)))
                ),
            );
            if w > 7.0 * part.name.len() as f64 {
                svg.text(
                    (from + 5.0, y + 34.5),
                    Anchor::Start,
                    "font-size=\"11\"",
                    &part.name,
                );
            }
            from += w;
        }
        svg.line(
            (10.0, y + 46.0),
            (WIDTH - 10.0, y + 46.0),
            &format!("stroke=\"{FAINT}\""),
        );
    }
    svg.document(WIDTH, height, title)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_bar_a_kernel() {
        let pair = super::Pair {
            name: "triad".into(),
            measured: (1.1, 1.0, 1.2),
            predicted: (1.0, 0.9, 1.1),
            parts: vec![],
        };
        let svg = super::bars("Time", "s", &[pair]);
        assert!(svg.contains("1.10 s = 110.0 %") && !svg.contains("NaN"));
    }
}
