//! Predicted energies of many cases, each over its measured one, split into what costs (thesis, figs. 19 to 21).

use crate::svg::{Anchor, INK, QUIET, Svg, colour, escape};

/// Cases of one application.
#[derive(Clone, Debug)]
pub struct Group {
    pub name: String,
    /// Of each case, parts over the measured value, in the order of the names.
    pub cases: Vec<Vec<f64>>,
}

/// A column a case, groups side by side; the line at 1 is what was measured.
pub fn shares(title: &str, names: &[&str], groups: &[Group]) -> String {
    const LEFT: f64 = 52.0;
    const TOP: f64 = 40.0;
    const HEIGHT: f64 = 260.0;
    const GAP: f64 = 18.0;
    let count: usize = groups.iter().map(|g| g.cases.len()).sum();
    let column = (900.0 / count.max(1) as f64).clamp(2.0, 14.0);
    let width = LEFT + column * count as f64 + GAP * groups.len() as f64 + 20.0;
    let width = width.max(480.0);
    let y = |v: f64| TOP + HEIGHT * (1.0 - v.min(1.4) / 1.4);
    let mut svg = Svg::new();
    svg.text(
        (10.0, 20.0),
        Anchor::Start,
        "font-size=\"14\" font-weight=\"bold\"",
        title,
    );
    for v in [0.0, 0.25, 0.5, 0.75, 1.0, 1.25] {
        let style = if v == 1.0 {
            format!("stroke=\"{INK}\"")
        } else {
            "stroke=\"#ddd\"".to_owned()
        };
        svg.line((LEFT, y(v)), (width - 12.0, y(v)), &style);
        svg.text(
            (LEFT - 6.0, y(v) + 4.0),
            Anchor::End,
            &format!("font-size=\"11\" fill=\"{QUIET}\""),
            &format!("{v}"),
        );
    }
    let mut x = LEFT + GAP / 2.0;
    for g in groups {
        let begin = x;
        for case in &g.cases {
            let mut low = 0.0;
            for (i, part) in case.iter().enumerate() {
                svg.rect(
                    x,
                    y(low + part),
                    column - 0.5,
                    y(low) - y(low + part),
                    &format!("fill=\"{}\"", colour(i)),
                );
                low += part;
            }
            x += column;
        }
        svg.text(
            (0.5 * (begin + x), TOP + HEIGHT + 18.0),
            Anchor::Middle,
            "font-size=\"12\"",
            &g.name,
        );
        x += GAP;
    }
    svg.line(
        (LEFT, y(1.0)),
        (width - 12.0, y(1.0)),
        &format!("stroke=\"{INK}\""),
    );
    for (i, name) in names.iter().enumerate() {
        let at = LEFT + 130.0 * i as f64;
        let row = TOP + HEIGHT + 34.0;
        svg.rect(at, row, 12.0, 12.0, &format!("fill=\"{}\"", colour(i)));
        svg.text(
            (at + 18.0, row + 10.0),
            Anchor::Start,
            "font-size=\"12\"",
            &escape(name),
        );
    }
    svg.document(width, TOP + HEIGHT + 60.0, title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_drawn() {
        let g = Group {
            name: "a".into(),
            cases: vec![vec![0.5, 0.4], vec![0.2, 2.0]],
        };
        let svg = shares("t", &["x", "y"], &[g]);
        // Four parts and two of the legend.
        assert!(svg.matches("<rect").count() >= 6);
        assert!(!svg.contains("NaN"));
    }
}
