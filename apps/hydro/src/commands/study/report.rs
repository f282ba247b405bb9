//! `hydro report`: the page or a figure of a recorded study.

use super::{figures, page, power, record};
use clap::{Args, ValueEnum};
use greenup_app::args::FigureArgs;
use greenup_app::output::{FIGURES, Output};
use greenup_app::{AppError, Result};
use greenup_files::{Outputs, ours};
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(
    after_help = "Example:\n  hydro study --intervals 8 --orders 2 --window 300ms -o study.json; hydro report study.json --figure costs -o costs.svg"
)]
pub struct ReportArgs {
    /// File that `hydro study --out` wrote; traces of power are read from the .csv file of the same name
    #[arg(value_name = "STUDY.json")]
    study: PathBuf,
    /// HTML page or figure [default: the name of the study with .html]
    #[arg(short, long, value_name = "FILE.html|.svg|.png|.pdf")]
    out: Option<PathBuf>,
    /// What a figure shows [default: power, if it was recorded]
    #[arg(long, value_enum)]
    figure: Option<Which>,
    #[command(flatten)]
    look: FigureArgs,
}

/// Figures of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Which {
    /// Time, energy and power of a step, by order and assembly
    Costs,
    /// Power over time
    Power,
}

pub fn report(args: &ReportArgs) -> Result {
    let path = (args.out.clone()).unwrap_or_else(|| args.study.with_extension("html"));
    let mut outputs = Outputs::new();
    outputs.input(&args.study);
    outputs.input(args.study.with_extension("csv"));
    let endings = ["html", FIGURES[0], FIGURES[1], FIGURES[2]];
    let out = Output::file(&mut outputs, &path, &endings)?;
    let study = record::read(&args.study)?;
    if study.rows.is_empty() {
        return Err(
            AppError::new(format!("{}: the study has no rows", args.study.display()))
                .hint("it was stopped before its first case: run `hydro study` again"),
        );
    }
    if out.has_ending("html") {
        let page = page::page(&study)?;
        let folder = args.study.parent().unwrap_or(Path::new(""));
        // The page of a recorded study, which goes on only where it knows its files.
        if args.out.is_none() && folder.join(ours::LIST).exists() {
            ours::write(&path, page)?;
        } else {
            out.write(page.as_bytes())?;
        }
        out.print_name();
        return Ok(());
    }
    let power = || power::power(&study.rows);
    let costs = || figures::costs(&study.rows);
    let chart = match args.figure {
        Some(Which::Power) => power(),
        Some(Which::Costs) => costs(),
        None => power().or_else(costs),
    };
    let Some(mut chart) = chart else {
        return Err(
            AppError::new(format!("{}: nothing to draw", args.study.display()))
                .hint("power is recorded where there is a sensor; --figure costs draws the rows"),
        );
    };
    chart.origin = (study.provenance.iter())
        .map(|f| (f.name.clone(), f.value.clone()))
        .collect();
    out.write_chart(&chart, &args.look.look())
}
