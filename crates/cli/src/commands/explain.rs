//! `greenup explain`.

use crate::args::ExplainArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::{machine, output, print};
use greenup_files::Outputs;
use greenup_report::provenance::Provenance;
use greenup_report::si::percent;
use greenup_study::applications::{self, ExplainError, explain};
use greenup_study::pages::applications::{figure, page, summary};
use std::time::Instant;

pub fn run(args: &ExplainArgs) -> Result {
    let mut outputs = Outputs::new();
    let machine = machine::input(&args.machine, &mut outputs)?;
    let names: Vec<&str> = if args.apps.is_empty() {
        applications::names().to_vec()
    } else {
        args.apps.iter().map(String::as_str).collect()
    };
    for folder in names
        .iter()
        .flat_map(|name| applications::folders(name, &args.sweeps))
    {
        // No output may replace a file of a sweep.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            outputs.input(entry.path());
        }
    }
    let mut from = Provenance::of_process();
    let start = Instant::now();
    let page_to = output::optional(
        &mut outputs,
        args.out.as_deref(),
        &["html", "htm"],
        args.json,
    )?;
    let figure_to = args
        .figure
        .as_deref()
        .map(|path| Output::file(&mut outputs, path, &output::FIGURES))
        .transpose()?;
    let answer = explain(&names, &args.sweeps, &machine).map_err(|e| {
        let sweep = matches!(e, ExplainError::Sweep(_));
        let e = AppError::from(e);
        if sweep {
            e.hint(format!(
                "APP is {} (with --sweeps, the folder of their sweeps), or the folder of a sweep",
                applications::names().join(", ")
            ))
        } else {
            e
        }
    })?;
    from.took("analysis", start.elapsed().as_secs_f64());
    if let Some(to) = &page_to {
        let mut page = page(&answer);
        page.provenance = from.facts();
        to.write(page.render()?.as_bytes())?;
        to.print_name();
    }
    if let Some(to) = &figure_to {
        to.write_chart(&figure(&answer), &args.look.look())?;
    }
    if args.json {
        return print::json(&answer);
    }
    if page_to.is_some_and(|to| to.is_stdout()) {
        return Ok(());
    }
    print::table(&summary(&answer));
    print::line(format!(
        "energy on {} predicted from counters and measured time: mean error {} over {} cases, {} with each application counted once, largest {}",
        answer.machine,
        percent(answer.mean_error),
        answer.cases,
        percent(answer.mean_of_applications),
        percent(answer.largest_error)
    ));
    Ok(())
}
