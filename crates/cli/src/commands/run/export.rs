//! Results as JSON, CSV and Markdown.

use super::columns::columns;
use crate::args::RunArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::print;
use greenup_files::Outputs;
use greenup_meter::comparison::InterleavedResult;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Csv,
    Markdown,
}

pub struct Export {
    format: Format,
    pub to: Output,
}

/// What is exported where, checked before anything runs.
pub fn exports(args: &RunArgs, outputs: &mut Outputs) -> Result<Vec<Export>> {
    (args.exports().iter())
        .map(|text| {
            let (format, file) = match text.split_once(':') {
                Some((f, file)) => (f, file),
                None => (text.as_str(), "-"),
            };
            let (format, ending) = match format {
                "json" => (Format::Json, "json"),
                "csv" => (Format::Csv, "csv"),
                "md" => (Format::Markdown, "md"),
                _ => {
                    return Err(AppError::new(format!("invalid export format `{format}`"))
                        .hint("use json, csv or md, each also as FORMAT:FILE"));
                }
            };
            Ok(Export {
                format,
                to: match file {
                    // Several may be printed, one after the other.
                    "-" => Output::Stdout,
                    file => Output::file(outputs, Path::new(file), &[ending])?,
                },
            })
        })
        .collect()
}

/// Writes or prints the exports.
pub fn write(exports: &[Export], all: &InterleavedResult) -> Result {
    let rows = || all.results.iter().enumerate();
    for e in exports {
        let text = match e.format {
            Format::Json => serde_json::to_string_pretty(all)?,
            Format::Csv => columns(all).csv(rows()),
            Format::Markdown => columns(all).table("", rows()).markdown(),
        };
        match &e.to {
            Output::Stdout => print::data(text.trim_end()),
            file => {
                file.write(text.as_bytes())?;
                file.print_name();
            }
        }
    }
    Ok(())
}
