//! Colours by meaning, and what they are in each style.

#[cfg(test)]
mod vision;

/// What a colour stands for; the style decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Ink {
    /// Text and axes.
    #[default]
    Text,
    /// Secondary text and lines.
    Quiet,
    /// Grid lines and empty cells.
    Grid,
    /// The background.
    Paper,
    /// Series `i` of a palette that colour-blind readers can tell apart.
    Series(usize),
    /// A warning: above the roof, wrong.
    Bad,
    /// A grey of middle lightness, for lines over all colours of a scale.
    Middle,
    /// A level of the colour scale, 0 to 1.
    Shade(f64),
    /// Text on a [`Ink::Shade`].
    OnShade(f64),
    /// A level of the diverging scale, 0 to 1; 0.5 is its middle.
    Diverge(f64),
    /// Text on a [`Ink::Diverge`].
    OnDiverge(f64),
}

/// Scales of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Palette {
    /// From dark to light: amounts.
    #[default]
    Rising,
    /// From blue over a light middle to red: what is below and above a reference.
    Diverging,
}

impl Palette {
    /// The colour of a level, 0 to 1.
    pub fn ink(self, level: f64) -> Ink {
        match self {
            Self::Rising => Ink::Shade(level),
            Self::Diverging => Ink::Diverge(level),
        }
    }

    /// The colour of text on a level.
    pub fn on(self, level: f64) -> Ink {
        match self {
            Self::Rising => Ink::OnShade(level),
            Self::Diverging => Ink::OnDiverge(level),
        }
    }

    /// Red, green and blue of a level, for pictures.
    pub fn colour(self, level: f64) -> [u8; 3] {
        match self {
            Self::Rising => shade(level),
            Self::Diverging => diverge(level),
        }
    }
}

/// How figures look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Style {
    /// Colours are variables of an HTML page, which has a light and a dark set.
    Page,
    /// For a white background.
    #[default]
    Light,
    /// For a dark background.
    Dark,
    /// For paper: black text, no background.
    Print,
}

/// Colours of series. Any two differ for the three kinds of colour blindness; the first four differ in grey, and so do
/// the last four, whose marks and lines have another shape.
const LIGHT: [&str; 8] = [
    "#2f6dc9", "#d67000", "#12552f", "#49133b", "#756321", "#089ac7", "#150079", "#444444",
];
/// The same for a dark background.
const DARK: [&str; 8] = [
    "#93b3ff", "#cd703a", "#77feb8", "#ba3f6d", "#ebae47", "#489ac3", "#8c3cee", "#f1e4eb",
];

/// Number of colours of series.
pub const COLOURS: usize = LIGHT.len();

/// Names and values of a page's variables.
pub fn variables(style: Style) -> String {
    let mut all = vec![
        ("text", fixed(Ink::Text, style)),
        ("quiet", fixed(Ink::Quiet, style)),
        ("grid", fixed(Ink::Grid, style)),
        ("paper", fixed(Ink::Paper, style)),
        ("bad", fixed(Ink::Bad, style)),
    ]
    .into_iter()
    .map(|(n, v)| format!("--{n}:{v};"))
    .collect::<String>();
    for i in 0..COLOURS {
        all.push_str(&format!("--c{i}:{};", fixed(Ink::Series(i), style)));
    }
    all
}

impl Ink {
    /// Whether marks are squares and lines dashed: from the fifth series on, whose greys are those of the first four.
    pub(crate) fn has_shape(self) -> bool {
        matches!(self, Self::Series(k) if k % COLOURS >= COLOURS / 2)
    }

    /// The colour as CSS.
    pub fn css(self, style: Style) -> String {
        if style != Style::Page {
            return fixed(self, style);
        }
        match self {
            Self::Text => "var(--text)".into(),
            Self::Quiet => "var(--quiet)".into(),
            Self::Grid => "var(--grid)".into(),
            Self::Paper => "var(--paper)".into(),
            Self::Bad => "var(--bad)".into(),
            Self::Series(i) => format!("var(--c{})", i % COLOURS),
            Self::Middle
            | Self::Shade(_)
            | Self::OnShade(_)
            | Self::Diverge(_)
            | Self::OnDiverge(_) => fixed(self, style),
        }
    }
}

fn fixed(ink: Ink, style: Style) -> String {
    let dark = style == Style::Dark;
    let pick = |light: &str, night: &str| if dark { night } else { light }.to_owned();
    match ink {
        Ink::Text if style == Style::Print => "#000000".into(),
        Ink::Text => pick("#1d2733", "#e8edf2"),
        Ink::Quiet if style == Style::Print => "#333333".into(),
        Ink::Quiet => pick("#566270", "#a9b5c1"),
        Ink::Grid => pick("#dde2e7", "#36424e"),
        Ink::Paper => pick("#ffffff", "#161d24"),
        Ink::Bad => pick("#b00020", "#ff7b86"),
        Ink::Series(i) => pick(LIGHT[i % COLOURS], DARK[i % COLOURS]),
        Ink::Middle => "#808080".into(),
        Ink::Shade(level) => hex(shade(level)),
        Ink::Diverge(level) => hex(diverge(level)),
        Ink::OnShade(level) if level > 0.55 => "#000000".into(),
        Ink::OnDiverge(level) if (0.175..=0.852).contains(&level) => "#000000".into(),
        Ink::OnShade(_) | Ink::OnDiverge(_) => "#ffffff".into(),
    }
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// A colour scale from dark blue over green to yellow, its lightness rising throughout; 0 to 1, NaN is the lowest.
pub fn shade(level: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 6] = [
        [13.0, 8.0, 40.0],
        [48.0, 38.0, 120.0],
        [38.0, 104.0, 142.0],
        [40.0, 160.0, 130.0],
        [140.0, 205.0, 75.0],
        [253.0, 231.0, 37.0],
    ];
    between(&STOPS, if level.is_nan() { 0.0 } else { level })
}

/// A diverging colour scale from dark blue over a light grey in the middle to dark red, which colour-blind readers can
/// tell apart; 0 to 1, NaN is the middle.
pub fn diverge(level: f64) -> [u8; 3] {
    const STOPS: [[f64; 3]; 7] = [
        [5.0, 48.0, 110.0],
        [47.0, 116.0, 186.0],
        [150.0, 196.0, 224.0],
        [245.0, 245.0, 243.0],
        [247.0, 180.0, 140.0],
        [208.0, 88.0, 60.0],
        [112.0, 6.0, 28.0],
    ];
    between(&STOPS, if level.is_nan() { 0.5 } else { level })
}

/// The colour at a level between evenly spaced stops.
fn between(stops: &[[f64; 3]], level: f64) -> [u8; 3] {
    let at = level.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let i = (at as usize).min(stops.len() - 2);
    std::array::from_fn(|k| {
        (stops[i][k] + (stops[i + 1][k] - stops[i][k]) * (at - i as f64)).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(hex: &str) -> f64 {
        let part = |i: usize| {
            let v = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
            if v <= 0.03928 {
                v / 12.92
            } else {
                ((v + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    /// WCAG: 3 for graphics, 4.5 for text.
    #[test]
    fn colours_stand_out_from_the_background() {
        for style in [Style::Light, Style::Dark, Style::Print] {
            let paper = luminance(&fixed(Ink::Paper, style));
            let contrast = |ink: Ink| {
                let l = luminance(&fixed(ink, style));
                (l.max(paper) + 0.05) / (l.min(paper) + 0.05)
            };
            for i in 0..COLOURS {
                assert!(contrast(Ink::Series(i)) > 3.0, "{style:?} {i}");
            }
            for ink in [Ink::Text, Ink::Quiet, Ink::Bad] {
                assert!(contrast(ink) > 4.5, "{style:?} {ink:?}");
            }
        }
    }

    #[test]
    fn lightness_of_the_scale_rises() {
        let sum = |c: [u8; 3]| c.iter().map(|x| u32::from(*x)).sum::<u32>();
        let levels: Vec<u32> = (0..=10).map(|i| sum(shade(f64::from(i) / 10.0))).collect();
        assert!(levels.windows(2).all(|w| w[0] < w[1]), "{levels:?}");
        assert_eq!(shade(f64::NAN), shade(0.0));
    }

    #[test]
    fn the_diverging_scale_is_lightest_in_its_middle() {
        let at = |k: i32| luminance(&hex(diverge(f64::from(k) / 20.0)));
        assert!((0..10).all(|k| at(k) < at(k + 1) && at(20 - k) < at(19 - k)));
        assert_eq!(diverge(f64::NAN), diverge(0.5));
        assert_eq!(diverge(-1.0), diverge(0.0));
        for k in 0..=20 {
            let level = f64::from(k) / 20.0;
            let text = luminance(&fixed(Palette::Diverging.on(level), Style::Light));
            let (hi, lo) = (text.max(at(k)), text.min(at(k)));
            assert!((hi + 0.05) / (lo + 0.05) > 4.5, "{level}");
        }
    }
}
