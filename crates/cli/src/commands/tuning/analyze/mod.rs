//! `greenup analyze`.

mod predict;
mod terminal;

use super::best::failures;
use crate::args::AnalyzeArgs;
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_files::ours;
use greenup_report::chart::{Chart, FileStyle};
use greenup_report::page::Page;
use greenup_report::provenance::Provenance;
use greenup_setting::shell;
use greenup_study::pages::sweep::winners::Winners;
use greenup_study::pages::sweep::{self, course, figures, heat, parameters, plane};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, AnalysisError, analyze};
use greenup_tune::sweep::{to_csv, to_t4};
use greenup_tune::trial::scaling::Scaling;
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

pub fn run(args: &AnalyzeArgs) -> Result {
    let mut from = Provenance::of_process().seeded(Some(args.seed));
    let start = Instant::now();
    let predict = predict::output(args)?;
    let mut sweep = search::recorded(&args.sweep)?;
    sweep.facts.flops = args.flops.or_else(|| sweep.flops());
    let a = analyze(&sweep, args.sample, args.seed).map_err(|m| {
        AppError::new(format!("{}: {m}", args.sweep.display())).hint(match m {
            AnalysisError::NothingMeasured => failures(&args.sweep, &sweep),
            AnalysisError::NoTimes => {
                "`greenup best --objective metric:NAME` names the best config".into()
            }
        })
    })?;
    // The analysis names the fastest and the one of least energy, whatever the bound of the sweep.
    if let Some(unmet) = (sweep.own_objective().ok()).and_then(|o| sweep.unmet(o)) {
        print::warn(unmet.to_string());
    }
    from.took("analysis", start.elapsed().as_secs_f64());
    let json = json(&a, &sweep, &from)?;
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
        let sizes = sizes(&args.sweep)?;
        let source = shell::joined([args.sweep.display().to_string()]);
        let mut page = sweep::page(&a, &sweep, &source, sizes.as_ref(), &maps);
        page.provenance = from.facts();
        ours::check(dir, TEXTS)?;
        let files = Files {
            dir,
            look: args.look.look(),
        };
        files.figures((&a, &sweep, sizes.as_ref()), &maps)?;
        files.texts(&sweep, &json, &page)?;
    }
    if let Some(to) = &predict {
        predict::write(args, &a, &sweep, &from, to)?;
    }
    if args.json {
        return print::json(&json);
    }
    terminal::print(&a, &sweep);
    Ok(())
}

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

/// The analysis with where it comes from.
fn json(a: &Analysis, sweep: &Sweep, from: &Provenance) -> Result<Value> {
    let mut all = serde_json::to_value(a)?;
    if let Value::Object(keys) = &mut all {
        keys.insert("provenance".into(), serde_json::to_value(from)?);
        if let Some(b) = sweep.against_baseline() {
            keys.insert("baseline".into(), serde_json::to_value(b)?);
        }
        if let Some(g) = sweep.gain() {
            keys.insert("gain".into(), serde_json::to_value(g)?);
        }
    }
    Ok(all)
}

/// Texts of an analysis.
const TEXTS: [&str; 4] = [
    "analysis.json",
    "results-t4.json",
    "trials.csv",
    "report.html",
];

/// The output folder.
struct Files<'a> {
    dir: &'a Path,
    look: FileStyle,
}

impl Files<'_> {
    fn both(&self, name: &str, chart: &Chart) -> Result {
        for ending in ["svg", "png"] {
            let path = self.dir.join(format!("{name}.{ending}"));
            let mut chart = chart.clone();
            if chart.origin.is_empty() {
                chart.origin = Provenance::of_process().pairs();
            }
            ours::write(&path, chart.file(ending, &self.look)?)?;
            print::note(format!("wrote {}", path.display()));
        }
        Ok(())
    }

    fn figures(
        &self,
        (a, sweep, sizes): (&Analysis, &Sweep, Option<&Scaling>),
        maps: &[(String, Chart)],
    ) -> Result {
        for (name, chart) in maps {
            self.both(name, chart)?;
        }
        if let Some(s) = plane::found(&Winners::of(a, sweep)) {
            self.both("plane", &s.chart())?;
        }
        self.both("search", &course::chart(a, sweep))?;
        let by_time = parameters::parallel(a, sweep, "time", |r| Some(r.time_s));
        self.both("parallel", &by_time)?;
        let unit = ("performance", a.unit, usize::MAX);
        let boxes = parameters::distributions(a, sweep, unit, |r| Some(r.performance));
        self.both("boxes", &boxes)?;
        if let Some(s) = sizes {
            self.both("scaling", &figures::scaling(a, s))?;
        }
        Ok(())
    }

    fn texts(&self, sweep: &Sweep, json: &Value, page: &Page) -> Result {
        ours::write(
            self.dir.join("analysis.json"),
            serde_json::to_string_pretty(json)?.as_bytes(),
        )?;
        ours::write(self.dir.join("results-t4.json"), to_t4(sweep)?)?;
        let mut csv = Vec::new();
        to_csv(sweep, &mut csv)?;
        ours::write(self.dir.join("trials.csv"), csv)?;
        let path = self.dir.join("report.html");
        ours::write(&path, page.render()?)?;
        print::note(format!("wrote {}", path.display()));
        Ok(())
    }
}
