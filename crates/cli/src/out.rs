//! Standard output and standard error; the only place that prints.

use crate::error::CliError;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use owo_colors::{OwoColorize as _, Stream};
use serde::Serialize;
use std::fmt::Display;
use std::io::Write as _;

/// A line of data.
pub fn line(text: impl AsRef<str>) {
    // A closed pipe (`greenup machines | head`) is no error.
    let _ = writeln!(std::io::stdout(), "{}", text.as_ref());
}

/// A line for people, to standard error.
pub fn note(text: impl AsRef<str>) {
    let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
}

pub fn warn(text: impl AsRef<str>) {
    let head = "warning:".if_supports_color(Stream::Stderr, |t| t.yellow());
    let _ = writeln!(std::io::stderr(), "{head} {}", text.as_ref());
}

pub fn error(e: &CliError) {
    let mut err = std::io::stderr();
    let head = "error:".if_supports_color(Stream::Stderr, |t| t.red());
    let _ = writeln!(err, "{head} {}", e.message);
    if let Some(hint) = &e.hint {
        let head = "hint:".if_supports_color(Stream::Stderr, |t| t.cyan());
        let _ = writeln!(err, "\n{head} {hint}");
    }
}

/// `name=value` of each, as configs are shown.
pub fn named<N: Display, V: Display>(pairs: impl IntoIterator<Item = (N, V)>) -> String {
    pairs
        .into_iter()
        .map(|(n, v)| format!("{n}={v}"))
        .collect::<Vec<_>>()
        .join(" ")
}

/// One JSON document.
pub fn json(value: &impl Serialize) -> crate::error::Result {
    line(serde_json::to_string_pretty(value)?);
    Ok(())
}

pub fn bold(text: &str) -> String {
    text.if_supports_color(Stream::Stdout, |t| t.bold())
        .to_string()
}

/// A table whose first column is text and whose others are numbers.
pub fn table(header: &[&str], rows: Vec<Vec<String>>) {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in table.lines() {
        line(row.trim_end());
    }
}

/// A count with its digits in groups of three.
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
