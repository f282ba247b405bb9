//! `greenup analyze`.

mod terminal;

use crate::args::AnalyzeArgs;
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::output::write_chart;
use greenup_app::print;
use greenup_app::renamed::with_old_keys;
use greenup_report::chart::{Chart, FileStyle};
use greenup_study::pages::sweep::{self, figures, heat};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, analyze};
use greenup_tune::sweep::{to_t4, write_csv};
use greenup_tune::trial::scaling::Scaling;
use std::path::Path;

pub fn run(args: &AnalyzeArgs) -> Result {
    let mut sweep = search::recorded(&args.sweep)?;
    sweep.facts.flops = args.flops.or_else(|| sweep.flops());
    let a = analyze(&sweep, args.sample, args.seed).map_err(|m| {
        AppError::new(format!("{}: {m}", args.sweep.display()))
            .hint("trials.jsonl in the sweep lists every failure with its message")
    })?;
    if let Some(dir) = &args.out {
        let maps = args
            .heat
            .iter()
            .map(|axes| {
                Ok((
                    format!("heat-{}-{}", axes.x, axes.y),
                    heat::heat(&sweep, axes)?.chart(),
                ))
            })
            .collect::<Result<Vec<_>>>()?;
        let look = args.look.look();
        write(
            (&a, &sweep, sizes(&args.sweep)?.as_ref()),
            &maps,
            dir,
            &look,
        )?;
    }
    if args.json {
        return print::json(&with_old_keys(&a, &OLD_KEYS)?);
    }
    terminal::print(&a, &sweep);
    Ok(())
}

/// New and old names of keys of the analysis; the old ones stay for one release.
const OLD_KEYS: [(&str, &str); 1] = [("lowest_energy", "greenest")];

/// What `greenup scale` wrote into the sweep.
fn sizes(sweep: &Path) -> Result<Option<Scaling>> {
    let path = sweep.join(Scaling::FILE);
    if !path.is_file() {
        return Ok(None);
    }
    serde_json::from_str(&greenup_files::read_text(&path)?)
        .map(Some)
        .map_err(|e| {
            AppError::new(format!("{}: {e}", path.display()))
                .hint("measure it again with `greenup scale`")
        })
}

fn write(
    (a, sweep, sizes): (&Analysis, &Sweep, Option<&Scaling>),
    maps: &[(String, Chart)],
    dir: &Path,
    look: &FileStyle,
) -> Result {
    let both = |name: &str, chart: &Chart| -> Result {
        write_chart(&dir.join(format!("{name}.svg")), chart, look)?;
        write_chart(&dir.join(format!("{name}.png")), chart, look)
    };
    for (name, chart) in maps {
        both(name, chart)?;
    }
    if let Some(s) = figures::scatter(a, sweep) {
        both("plane", &s.chart())?;
    }
    if let Some(s) = sizes {
        both("scaling", &figures::scaling(a, s))?;
    }
    greenup_files::write(
        dir.join("analysis.json"),
        serde_json::to_string_pretty(&with_old_keys(a, &OLD_KEYS)?)?.as_bytes(),
    )?;
    greenup_files::write(dir.join("results-t4.json"), to_t4(sweep)?)?;
    write_csv(sweep, &dir.join("trials.csv"))?;
    let page = sweep::page(a, sweep, sizes, maps).render()?;
    let path = dir.join("report.html");
    greenup_files::write(&path, page.as_bytes())?;
    print::note(format!("wrote {}", path.display()));
    Ok(())
}
