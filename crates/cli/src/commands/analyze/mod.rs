//! `greenup analyze`.

mod figures;
mod heat;
mod page;
mod terminal;

pub use heat::Axes;

use crate::args::AnalyzeArgs;
use crate::commands::machines::picture;
use crate::error::{CliError, Result};
use crate::{error, out, search};
use greenup_report::si::{percent, si, three};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Learnt, Model, Row, analyze};
use greenup_tune::run::scaling::Scaling;
use greenup_tune::sweep::to_t4;
use std::path::Path;

pub fn run(args: &AnalyzeArgs) -> Result {
    let mut sweep = search::recorded(&args.sweep)?;
    sweep.facts.flops = args.flops.or_else(|| sweep.flops());
    let a = analyze(&sweep, args.sample, args.seed).map_err(|m| {
        CliError::new(format!("{}: {m}", args.sweep.display()))
            .hint("every failure and its message stand in trials.csv of the sweep")
    })?;
    if let Some(dir) = &args.out {
        let maps = args
            .heat
            .iter()
            .map(|axes| {
                Ok((
                    format!("heat-{}-{}", axes.x, axes.y),
                    heat::heat(&sweep, axes)?.svg(),
                ))
            })
            .collect::<Result<Vec<_>>>()?;
        write(&a, &sweep, sizes(&args.sweep)?.as_ref(), &maps, dir)?;
    }
    if args.json {
        return out::json(&a);
    }
    terminal::print(&a, &sweep);
    Ok(())
}

/// What `greenup scale` left beside the sweep.
fn sizes(sweep: &Path) -> Result<Option<Scaling>> {
    let path = sweep.join(Scaling::FILE);
    if !path.is_file() {
        return Ok(None);
    }
    serde_json::from_str(&error::read(&path)?)
        .map(Some)
        .map_err(|e| {
            CliError::new(format!("{}: {e}", path.display()))
                .hint("measure it again with `greenup scale`")
        })
}

fn config(sweep: &Sweep, r: &Row) -> String {
    let values = &sweep.trials[r.trial].config;
    out::named(sweep.facts.parameters.iter().zip(values))
}

fn rate(a: &Analysis, r: &Row) -> String {
    si(r.performance, a.unit)
}

fn efficiency(a: &Analysis, r: &Row) -> Option<String> {
    Some(si(r.efficiency?, a.unit.trim_end_matches("/s")) + "/J")
}

fn model(m: Model) -> &'static str {
    match m {
        Model::Forest => "forest",
        Model::GaussianProcess => "Gaussian process",
        Model::Both => "forest and Gaussian process",
    }
}

fn learnt(what: &str, l: &Learnt) -> String {
    format!(
        "{what} of all configs from a sample of {}: mean error {} on the {} others (median {}, {}); best of the sample and its {} favourites: {} of the optimum",
        l.sample,
        percent(l.mean_error),
        l.held_out,
        percent(l.median_error),
        model(l.model),
        l.tried,
        percent(l.best_fraction)
    )
}

fn alpha(a: Option<(f64, f64)>) -> String {
    a.map_or_else(
        || "none".to_owned(),
        |(lo, hi)| format!("{} … {}", three(lo), three(hi)),
    )
}

/// The findings of sections 3.2 to 3.4 in sentences.
fn headline(a: &Analysis) -> Vec<String> {
    let mut out = Vec::new();
    let f = &a.rows[a.fastest];
    let Some(g) = a.greenest.map(|g| &a.rows[g]) else {
        return out;
    };
    let (Some(ef), Some(eg)) = (f.energy_j, g.energy_j) else {
        return out;
    };
    if a.greenest == Some(a.fastest) {
        out.push("the fastest is the greenest too: no config is better in either".into());
        return out;
    }
    out.push(format!(
        "the greenest takes {} less energy and {} more time than the fastest",
        percent(1.0 - eg / ef),
        percent(g.time_s / f.time_s - 1.0)
    ));
    if let Some(q) = &a.quadrants {
        let n = a.rows.len() as f64;
        out.push(format!(
            "{} configs ({}) are faster than the greenest, {} ({}) greener than the fastest, {} both",
            q.right,
            percent(q.right as f64 / n),
            q.above,
            percent(q.above as f64 / n),
            q.both
        ));
    }
    if let Some(s) = &a.spread_at_performance {
        out.push(format!(
            "as fast as the greenest, energy may be up to {} higher (hull)",
            percent(s.high / s.low - 1.0)
        ));
    }
    if let Some(s) = &a.spread_at_efficiency {
        out.push(format!(
            "as green as the fastest, a run may take up to {} longer (hull)",
            percent(s.high / s.low - 1.0)
        ));
    }
    out
}

fn write(
    a: &Analysis,
    sweep: &Sweep,
    sizes: Option<&Scaling>,
    maps: &[(String, String)],
    dir: &Path,
) -> Result {
    for (name, svg) in maps {
        picture(&dir.join(format!("{name}.svg")), svg)?;
        picture(&dir.join(format!("{name}.png")), svg)?;
    }
    if let Some(s) = figures::scatter(a, sweep) {
        picture(&dir.join("plane.svg"), &s.svg(900.0, 620.0))?;
        picture(&dir.join("plane.png"), &s.svg(900.0, 620.0))?;
    }
    if let Some(s) = sizes {
        let svg = figures::scaling(a, s);
        picture(&dir.join("scaling.svg"), &svg)?;
        picture(&dir.join("scaling.png"), &svg)?;
    }
    error::write(
        &dir.join("analysis.json"),
        serde_json::to_string_pretty(a)?.as_bytes(),
    )?;
    error::write(&dir.join("results-t4.json"), to_t4(sweep).text.as_bytes())?;
    search::csv(sweep, &dir.join("trials.csv"))?;
    let page = page::page(a, sweep, sizes, maps).render()?;
    let path = dir.join("report.html");
    error::write(&path, page.as_bytes())?;
    out::note(format!("wrote {}", path.display()));
    Ok(())
}
