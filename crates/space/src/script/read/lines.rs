//! The text of a script to lines of tokens, each with its indentation.

use crate::error::{ExprError, Span};
use crate::expr::{Token, tokens};

/// Bytes of a script at most.
const MAX_TEXT: usize = 1 << 18;
/// Tokens of one line at most.
const MAX_TOKENS: usize = 1 << 12;

/// A statement as written, over several lines where brackets are open.
pub struct Line {
    /// Blanks or tabs before it.
    pub indent: usize,
    /// [`Token::End`] is the last.
    pub tokens: Vec<(Token, Span)>,
}

impl Line {
    pub fn span(&self) -> Span {
        self.tokens[0].1
    }

    /// The name that stands first.
    pub fn first(&self) -> &str {
        match &self.tokens[0].0 {
            Token::Name(n) => n,
            Token::Sign(s) => s,
            _ => "",
        }
    }
}

pub fn lines(text: &str) -> Result<Vec<Line>, ExprError> {
    if text.len() > MAX_TEXT {
        let message = format!("longer than {MAX_TEXT} bytes");
        return Err(ExprError::new(message, Span::default()));
    }
    let mut out: Vec<Line> = Vec::new();
    let mut open: Vec<Span> = Vec::new();
    let mut end = 0;
    let mut blank = None;
    for (token, span) in merged(tokens(text)?) {
        let gap = &text[end..span.from];
        if (out.is_empty() || gap.contains('\n')) && open.is_empty() && token != Token::End {
            let indent = indentation(text, span, &mut blank)?;
            close(&mut out, end);
            out.push(Line {
                indent,
                tokens: Vec::new(),
            });
        }
        match token {
            Token::Sign("(" | "[" | "{") => open.push(span),
            Token::Sign(")" | "]" | "}") => {
                open.pop();
            }
            Token::Literal(_) => {
                let written = &text[span.from..span.to];
                let quotes = ["\"\"\"", "'''"];
                if written.contains('\n') && !quotes.iter().any(|q| written.starts_with(q)) {
                    return Err(ExprError::new("this string has no end in its line", span));
                }
            }
            Token::Sign(";") => {
                let message = "`;` separates nothing here: write one statement a line";
                return Err(ExprError::new(message, span));
            }
            _ => {}
        }
        end = span.to;
        if let Some(line) = out.last_mut().filter(|_| token != Token::End) {
            if line.tokens.len() >= MAX_TOKENS {
                let message = format!("a line of more than {MAX_TOKENS} words and signs");
                return Err(ExprError::new(message, span));
            }
            line.tokens.push((token, span));
        }
    }
    if let Some(span) = open.pop() {
        return Err(ExprError::new("this bracket is not closed", span));
    }
    close(&mut out, end);
    Ok(out)
}

/// Ends the last line.
fn close(lines: &mut [Line], at: usize) {
    if let Some(line) = lines.last_mut() {
        let last = line.tokens.last().map_or(at, |(_, s)| s.to);
        line.tokens.push((
            Token::End,
            Span {
                from: last,
                to: last,
            },
        ));
    }
}

/// Blanks or tabs before the first token of a line; a script has one kind of them.
fn indentation(text: &str, span: Span, blank: &mut Option<char>) -> Result<usize, ExprError> {
    let from = text[..span.from].rfind('\n').map_or(0, |at| at + 1);
    let before = &text[from..span.from];
    for c in before.chars().filter(|c| *c != '\r') {
        if *blank.get_or_insert(c) != c {
            return Err(ExprError::new(
                "blanks and tabs are mixed: indent all lines by one of them",
                Span {
                    from,
                    to: span.from,
                },
            ));
        }
    }
    Ok(before.chars().count())
}

/// An operator with a `=` directly after it, as one sign.
const UPDATES: [(&str, &str); 12] = [
    ("+", "+="),
    ("-", "-="),
    ("*", "*="),
    ("/", "/="),
    ("//", "//="),
    ("%", "%="),
    ("**", "**="),
    ("<<", "<<="),
    (">>", ">>="),
    ("&", "&="),
    ("|", "|="),
    ("^", "^="),
];

fn merged(tokens: Vec<(Token, Span)>) -> Vec<(Token, Span)> {
    let mut out: Vec<(Token, Span)> = Vec::with_capacity(tokens.len());
    for (token, span) in tokens {
        if token == Token::Sign("=")
            && let Some((Token::Sign(before), at)) = out.last_mut()
            && at.to == span.from
            && let Some((_, both)) = UPDATES.iter().find(|u| u.0 == *before)
        {
            *before = both;
            at.to = span.to;
            continue;
        }
        out.push((token, span));
    }
    out
}
