//! Configs, large numbers, and names and lines that fit a width.

use std::fmt::Display;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// `name=value` of each pair, as configs are shown.
pub fn named<N: Display, V: Display>(pairs: impl IntoIterator<Item = (N, V)>) -> String {
    pairs
        .into_iter()
        .map(|(n, v)| format!("{n}={v}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// An integer with its digits in groups of three.
pub fn grouped(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A text with `…` in place of its middle where it is wider.
pub fn middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (head, tail) = (width / 2, (width - 1) / 2);
    let part = |chars: &mut dyn Iterator<Item = char>, most: usize| -> Vec<char> {
        let mut wide = 0;
        let fits = chars.take_while(|c| {
            wide += c.width().unwrap_or(0);
            wide <= most
        });
        fits.collect()
    };
    let start: String = part(&mut text.chars(), head).into_iter().collect();
    let end: String = part(&mut text.chars().rev(), tail)
        .into_iter()
        .rev()
        .collect();
    format!("{start}…{end}")
}

/// A line as lines of at most `width`, broken at blanks outside of numbers with their units; those after the first are indented
/// by two more. What has no blank stays whole.
pub fn wrapped(line: &str, width: usize) -> Vec<String> {
    if line.width() <= width {
        return vec![line.to_owned()];
    }
    let indent = line.len() - line.trim_start().len();
    let mut out = Vec::new();
    let mut now = line[..indent].to_owned();
    let mut is_empty = true;
    for word in words(&line[indent..]) {
        if !is_empty && now.trim_end().width() + 1 + word.trim_end().width() > width {
            out.push(now.trim_end().to_owned());
            now = " ".repeat(indent + 2);
        }
        now += word;
        is_empty = false;
    }
    out.push(now.trim_end().to_owned());
    out
}

/// Words with the blanks after them; a number and what follows it, such as its unit, is one.
fn words(text: &str) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    let mut from = 0;
    for piece in text.split_inclusive(' ') {
        let start = from;
        from += piece.len();
        let follows = piece == " " || is_unit(piece) && out.last().is_some_and(|w| is_number(w));
        match out.last_mut() {
            Some(last) if follows => *last = &text[start - last.len()..from],
            _ => out.push(piece),
        }
    }
    out
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['(', '[', '×', '+', '-', '−', '±', '≤', '≥']);
    let digits = digits.strip_suffix(' ').unwrap_or(digits);
    digits.ends_with(|c: char| c.is_ascii_digit())
        && digits
            .chars()
            .all(|c| c.is_ascii_digit() || ".,e-+".contains(c))
}

/// Whether a word may be the unit of a number before it.
fn is_unit(word: &str) -> bool {
    !word.starts_with(['(', '[', '…']) && word.trim_end().chars().count() <= 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_both_ends() {
        assert_eq!(middle("語語語語語", 6), "語…語");
        assert_eq!(middle("abc", 3), "abc");
    }

    #[test]
    fn lines_break_outside_of_numbers() {
        let text = "  took 12.5 ms and ×1.06 (3 % less) a/very/long/path/without/blanks";
        let want = [
            "  took",
            "    12.5 ms",
            "    and",
            "    ×1.06",
            "    (3 %",
            "    less)",
            "    a/very/long/path/without/blanks",
        ];
        assert_eq!(wrapped(text, 12), want);
        assert_eq!(wrapped("a  b", 80), ["a  b"]);
    }
}
