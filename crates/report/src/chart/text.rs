//! Widths of text, from the font that draws it.

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use std::sync::OnceLock;

/// Font size of most text, pixels.
pub const NORMAL: f64 = 12.5;
/// Font size of ticks and labels, pixels; no text is smaller.
pub const SMALL: f64 = 11.5;
/// Font size of titles, pixels.
pub const TITLE: f64 = 14.0;
/// Height of a line over its font size.
pub const LINE: f64 = 1.3;
/// Height of a line of small text, pixels.
pub const ROW: f64 = SMALL * LINE;

/// Advances per em of the characters of a font.
struct Advances {
    known: Vec<(char, f64)>,
}

impl Advances {
    fn of(font: &[u8]) -> Self {
        let mut known = Vec::new();
        if let Ok(font) = FontRef::new(font) {
            let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
            for (c, glyph) in font.charmap().mappings() {
                let c = char::from_u32(c).unwrap_or(' ');
                known.push((c, f64::from(metrics.advance_width(glyph).unwrap_or(0.6))));
            }
            known.sort_unstable_by_key(|(c, _)| *c);
        }
        Self { known }
    }

    fn get(&self, c: char) -> f64 {
        match self.known.binary_search_by_key(&c, |(k, _)| *k) {
            Ok(i) => self.known[i].1,
            // Another font draws it; most such characters are wide.
            Err(_) => 1.0,
        }
    }
}

fn advances(bold: bool) -> &'static Advances {
    static FONTS: [OnceLock<Advances>; 2] = [OnceLock::new(), OnceLock::new()];
    FONTS[usize::from(bold)].get_or_init(|| Advances::of(font(bold)))
}

/// The font, as a file.
pub(super) fn font(bold: bool) -> &'static [u8] {
    if bold {
        include_bytes!("../../fonts/NotoSans-Bold-subset.ttf")
    } else {
        include_bytes!("../../fonts/NotoSans-Regular-subset.ttf")
    }
}

/// Width of a line of text, pixels.
pub fn width(text: &str, size: f64, bold: bool) -> f64 {
    let font = advances(bold);
    size * text.chars().map(|c| font.get(c)).sum::<f64>()
}

/// The text, or its start and an ellipsis, no wider than `limit` pixels.
pub fn fit(text: &str, size: f64, bold: bool, limit: f64) -> String {
    if width(text, size, bold) <= limit {
        return text.to_owned();
    }
    let font = advances(bold);
    let mut left = limit - size * font.get('…');
    let mut out = String::new();
    for c in text.chars() {
        left -= size * font.get(c);
        if left < 0.0 {
            break;
        }
        out.push(c);
    }
    let end = out.trim_end().len();
    out.truncate(end);
    out.push('…');
    out
}

/// The text in lines no wider than `limit` pixels; longer words are shortened.
pub fn wrap(text: &str, size: f64, bold: bool, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(last) = lines.last_mut() {
            let longer = format!("{last} {word}");
            if width(&longer, size, bold) <= limit {
                *last = longer;
                continue;
            }
        }
        lines.push(fit(word, size, bold, limit));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_are_wider() {
        assert!(width("WWW", 10.0, false) > 2.0 * width("iii", 10.0, false));
        assert!(width("flop", 10.0, true) > width("flop", 10.0, false));
        assert_eq!(width("", 10.0, false), 0.0);
    }

    #[test]
    fn long_text_is_shortened_or_wrapped() {
        let name = "a name of sixty characters that no legend of a chart can hold";
        let short = fit(name, 12.0, false, 100.0);
        assert!(short.ends_with('…') && width(&short, 12.0, false) <= 100.0);
        assert_eq!(fit("short", 12.0, false, 100.0), "short");
        assert_eq!(fit("short", 12.0, false, 0.0), "…");
        let lines = wrap(name, 12.0, false, 100.0);
        assert!(lines.len() > 2 && lines.iter().all(|l| width(l, 12.0, false) <= 100.0));
        assert_eq!(lines.join(" "), name);
    }
}
