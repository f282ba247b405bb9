//! Errors of a space, with the expression and a hint for its author.

use std::fmt;

/// Where in an expression something is wrong: bytes `from..to`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub from: usize,
    /// Byte after the last.
    pub to: usize,
}

/// A syntax or evaluation error inside one expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExprError {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes of the expression.
    pub span: Span,
}

impl ExprError {
    /// An error at `span`.
    pub fn new(message: impl Into<String>, span: Span) -> Self {
        Self {
            message: message.into(),
            span,
        }
    }

    /// The error with the expression and a mark under the place.
    pub fn within(&self, what: &str, text: &str) -> SpaceError {
        let mut message = format!("{what}: {}", self.message);
        if !text.is_empty() && text.len() <= 400 && !text.contains('\n') {
            let from = text.floor_char_boundary(self.span.from.min(text.len()));
            let to = text.ceil_char_boundary(self.span.to.clamp(from, text.len()));
            let before = text[..from].chars().count();
            let width = text[from..to].chars().count().max(1);
            message.push_str(&format!(
                "\n    {text}\n    {}{}",
                " ".repeat(before),
                "^".repeat(width)
            ));
        }
        SpaceError {
            message,
            hint: None,
            expression: Some(text.to_owned()),
        }
    }
}

/// A space that cannot be read, built or counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceError {
    /// What is wrong, with the expression if there is one.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
    /// The expression at fault, so that a reader of files can name its line.
    pub expression: Option<String>,
}

impl SpaceError {
    /// An error without hint and expression.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            expression: None,
        }
    }

    /// The error with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for SpaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SpaceError {}

/// The name among `known` that `name` was probably meant to be.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|k| (edit_distance(name, k), k))
        .filter(|&(d, k)| d <= 1 + k.len().min(name.len()) / 4)
        .min_by_key(|&(d, _)| d)
        .map(|(_, k)| k)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let change = diagonal + usize::from(!ca.eq_ignore_ascii_case(&cb));
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
