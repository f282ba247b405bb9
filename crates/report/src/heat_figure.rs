//! A heat map: a value over two parameters.

use crate::axis::Area;
use crate::svg::{Anchor, FAINT, QUIET, Svg};

/// From dark blue over green to yellow, lightness rising throughout; 0 to 1.
pub fn shade(level: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 6] = [
        [13.0, 8.0, 40.0],
        [48.0, 38.0, 120.0],
        [38.0, 104.0, 142.0],
        [40.0, 160.0, 130.0],
        [140.0, 205.0, 75.0],
        [253.0, 231.0, 37.0],
    ];
    let at = level.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let i = (at as usize).min(STOPS.len() - 2);
    std::array::from_fn(|k| {
        (STOPS[i][k] + (STOPS[i + 1][k] - STOPS[i][k]) * (at - i as f64)).round() as u8
    })
}

/// Values over two parameters; `None` where nothing was measured.
pub struct Heat {
    pub title: String,
    /// Names of the parameters, and their values in rising order.
    pub x: (String, Vec<String>),
    pub y: (String, Vec<String>),
    /// Shares of the best, rows of y: 1 is the best.
    pub shares: Vec<Vec<Option<f64>>>,
    /// What a cell says.
    pub words: Vec<Vec<String>>,
}

impl Heat {
    /// Yellow is the best; what is half as good or worse is dark.
    pub fn svg(&self) -> String {
        let (columns, rows) = (self.x.1.len().max(1), self.y.1.len().max(1));
        let (wide, high) = (
            (620.0 / columns as f64).clamp(28.0, 64.0),
            (420.0 / rows as f64).clamp(20.0, 34.0),
        );
        let area = Area {
            left: 78.0,
            top: 44.0,
            width: wide * columns as f64,
            height: high * rows as f64,
        };
        let mut svg = Svg::new();
        svg.text(
            (14.0, 24.0),
            Anchor::Start,
            "font-size=\"15\" font-weight=\"bold\"",
            &self.title,
        );
        let small = format!("font-size=\"11\" fill=\"{QUIET}\"");
        for (r, (shares, words)) in self.shares.iter().zip(&self.words).enumerate() {
            let y = area.bottom() - high * (r + 1) as f64;
            svg.text(
                (area.left - 8.0, y + 0.5 * high + 4.0),
                Anchor::End,
                &small,
                &self.y.1[r],
            );
            for (c, (share, word)) in shares.iter().zip(words).enumerate() {
                let x = area.left + wide * c as f64;
                let Some(share) = share else {
                    svg.rect(
                        x,
                        y,
                        wide,
                        high,
                        &format!("fill=\"none\" stroke=\"{FAINT}\""),
                    );
                    continue;
                };
                let level = (2.0 * share - 1.0).clamp(0.0, 1.0);
                let [red, green, blue] = shade(level);
                svg.rect(
                    x,
                    y,
                    wide,
                    high,
                    &format!("fill=\"rgb({red},{green},{blue})\""),
                );
                let ink = if level > 0.6 { "#000" } else { "#fff" };
                svg.text(
                    (x + 0.5 * wide, y + 0.5 * high + 4.0),
                    Anchor::Middle,
                    &format!("font-size=\"10\" fill=\"{ink}\""),
                    word,
                );
            }
        }
        for (c, value) in self.x.1.iter().enumerate() {
            let x = area.left + wide * (c as f64 + 0.5);
            svg.text((x, area.bottom() + 15.0), Anchor::Middle, &small, value);
        }
        let middle = area.left + 0.5 * area.width;
        svg.text(
            (middle, area.bottom() + 34.0),
            Anchor::Middle,
            "font-size=\"12\"",
            &self.x.0,
        );
        svg.text(
            (14.0, area.top - 6.0),
            Anchor::Start,
            "font-size=\"12\"",
            &self.y.0,
        );
        svg.document(
            area.right().max(360.0) + 20.0,
            area.bottom() + 48.0,
            &self.title,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_lightest_and_gaps_stay_empty() {
        let sum = |c: [u8; 3]| c.iter().map(|x| u32::from(*x)).sum::<u32>();
        let levels: Vec<u32> = (0..=10).map(|i| sum(shade(f64::from(i) / 10.0))).collect();
        assert!(levels.windows(2).all(|w| w[0] < w[1]), "{levels:?}");
        let heat = Heat {
            title: "t".into(),
            x: ("a".into(), vec!["1".into(), "2".into()]),
            y: ("b".into(), vec!["3".into()]),
            shares: vec![vec![Some(1.0), None]],
            words: vec![vec!["1.0".into(), String::new()]],
        };
        let svg = heat.svg();
        assert!(svg.contains("rgb(253,231,37)") && svg.contains("fill=\"none\" stroke"));
    }
}
