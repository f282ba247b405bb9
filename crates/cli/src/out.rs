//! Standard output and standard error; the only place that prints.

use crate::error::{CliError, Result};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use greenup_app::output::Output;
use greenup_files::Outputs;
use owo_colors::{OwoColorize as _, Stream};
use serde::Serialize;
use std::fmt::Display;
use std::io::Write as _;
use std::path::Path;

pub use greenup_app::stdout::line;

/// Checks the name of a figure before any work.
pub fn figure(outputs: &mut Outputs, path: Option<&Path>, json: bool) -> Result<Option<Output>> {
    output(outputs, path, &crate::picture::ENDINGS, json)
}

/// Checks the name of an output before any work; `-` is standard output, where no JSON goes then.
pub fn output(
    outputs: &mut Outputs,
    path: Option<&Path>,
    endings: &[&str],
    json: bool,
) -> Result<Option<Output>> {
    let Some(path) = path else { return Ok(None) };
    let to = Output::new(outputs, path, endings)?;
    if json && to.is_stdout() {
        return Err(CliError::new("`-` and --json both go to standard output").hint("name a file"));
    }
    Ok(Some(to))
}

/// Says where an output went.
pub fn wrote(output: &Output) {
    if let Output::File(path, _) = output {
        note(format!("wrote {}", path.display()));
    }
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
pub fn json(value: &impl Serialize) -> Result {
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
