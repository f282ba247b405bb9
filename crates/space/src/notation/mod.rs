//! How a space is written down: our own notation, the community's T1 problems, and the neutral
//! files of published spaces.

mod definition;
mod json;
mod own;

pub use definition::{Definition, Facts, FilterText, ParameterText, Strength, ValuesText};
pub use own::{SPACE_TABLES, evaluated, with_facts};

use crate::error::SpaceError;

impl Definition {
    /// Reads any of the formats, told apart by their content: JSON (T1 or neutral) or TOML (ours).
    ///
    /// # Errors
    /// What is wrong in the file, with its line where known.
    pub fn read(text: &str, facts: &Facts) -> Result<Self, SpaceError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let result = if crate::json::without_mark(text)
            .trim_start()
            .starts_with('{')
        {
            json::read(text)
        } else {
            own::read(text, facts).map_err(|e| json::not_an_object(text).unwrap_or(e))
        };
        result.map_err(|e| with_line(e, text))
    }

    /// Reads our own notation from a table that may hold other tables, as a problem file does.
    ///
    /// # Errors
    /// As [`Definition::read`].
    pub fn from_table(table: &toml::Table, facts: &Facts) -> Result<Self, SpaceError> {
        own::from_table(table, facts)
    }
}

/// Names the line of the expression at fault.
pub fn with_line(mut e: SpaceError, text: &str) -> SpaceError {
    if let Some(expression) = e.expression.take().filter(|x| !x.is_empty())
        && let Some(at) = text.find(&expression)
    {
        let line = 1 + text[..at].bytes().filter(|b| *b == b'\n').count();
        e.message = format!("line {line}: {}", e.message);
    }
    e
}
