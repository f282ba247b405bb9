//! Predicted times of all configs, as a table or a figure.

use crate::args::AnalyzeArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::{self, Output};
use greenup_files::Outputs;
use greenup_report::provenance::Provenance;
use greenup_report::table::Columns;
use greenup_study::pages::sweep::predicted::{chart, times};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Prediction};
use greenup_tune::sweep::Folder;

/// Checks the output before any work: it replaces no file of the sweep.
pub fn output(args: &AnalyzeArgs) -> Result<Option<Output>> {
    let mut outputs = Outputs::new();
    for input in Folder::inputs(&args.sweep) {
        outputs.input(input);
    }
    let endings = ["csv", "svg", "png", "pdf"];
    let Some(path) = &args.predict else {
        return Ok(None);
    };
    output::Output::file(&mut outputs, path, &endings)
        .map(Some)
        .map_err(Into::into)
}

/// Learns and writes.
pub fn write(
    args: &AnalyzeArgs,
    a: &Analysis,
    sweep: &Sweep,
    from: &Provenance,
    to: &Output,
) -> Result {
    let Some((learnt, each)) = times(a, sweep, args.sample, args.seed) else {
        return Err(AppError::new(format!(
            "too few measured configs to predict others: {}",
            a.rows.len()
        ))
        .hint("a model needs a sample of at least 10 configs and as many others"));
    };
    if !to.has_ending("csv") {
        let mut figure = chart(&[(a.name.clone(), learnt, each)]);
        figure.origin = from.pairs();
        return to.write_chart(&figure, &args.look.look());
    }
    let columns = Columns::<Prediction>::new()
        .and_each(a.parameters.iter().enumerate(), |all, (i, name)| {
            all.text(name, "", move |p| {
                sweep.trials[p.trial].config[i].to_string()
            })
        })
        .exact("measured_s", |p| p.measured)
        .exact("predicted_s", |p| p.predicted)
        .text("in_sample", "", |p| p.in_sample.to_string());
    to.write(columns.csv(each).as_bytes())?;
    to.print_name();
    Ok(())
}
