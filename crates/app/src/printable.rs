//! Text without what a terminal obeys.

use std::borrow::Cow;

/// Before and after text in bold: of the private area of Unicode, so that only [`bold`](crate::print::bold) makes escapes.
pub(crate) const BOLD: [char; 2] = ['\u{f8b00}', '\u{f8b01}'];

/// Text without what a terminal obeys: control characters other than line breaks and tabs become visible, as JSON writes them
/// (`\\u001b`), so that JSON means what it meant. Names of kernels, regions and devices, and what commands print, come from
/// outside.
pub fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || is_hidden(c);
    if !text.contains(|c: char| obeyed(c) || BOLD.contains(&c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| obeyed(c) || BOLD.contains(&c)) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let mut chars = after.chars();
        match chars.next() {
            // Ends of lines as other systems write them.
            Some('\r') if chars.as_str().starts_with('\n') => {}
            Some(c) if c == BOLD[0] => out.push_str("\u{1b}[1m"),
            Some(c) if c == BOLD[1] => out.push_str("\u{1b}[0m"),
            Some(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Characters that change the order in which others are shown.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_terminal_obeys_what_is_printed() {
        assert_eq!(printable("a\tb\r\nc λ"), "a\tb\nc λ");
        assert!(matches!(printable("plain"), Cow::Borrowed(_)));
        let evil = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\rover\u{8}\u{202e}txt";
        let shown = printable(evil);
        assert!(
            !shown.contains(|c: char| c.is_control() || is_hidden(c)),
            "{shown}"
        );
        assert!(shown.starts_with("\\u001b]0;title\\u0007"), "{shown}");
        assert_eq!(
            printable(&format!("{}b{}", BOLD[0], BOLD[1])),
            "\u{1b}[1mb\u{1b}[0m"
        );
        let json = serde_json::to_string(&[evil, "é\n"]).unwrap();
        let back: Vec<String> = serde_json::from_str(&printable(&json)).unwrap();
        assert_eq!(back, [evil, "é\n"]);
    }
}
