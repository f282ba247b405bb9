//! `gisaxs fit`.

use super::device;
use super::files::{beside, named, write};
use super::{stopped, summary, watched};
use clap::Args;
use greenup_app::Result;
use greenup_app::args::DeviceArg;
use greenup_app::print::note;
use greenup_files::Outputs;
use greenup_files::outputs::ending;
use greenup_gisaxs::GisaxsError;
use greenup_gisaxs::fit::{FitInput, Fitted, Target, fit as search};
use greenup_gisaxs::image::{About, Curve, brightest, curves, page};
use greenup_gisaxs::mesh_form_factor::Watch;
use greenup_gisaxs::table::fail;
use greenup_report::chart::FileStyle;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

#[derive(Args)]
pub struct FitArgs {
    /// Input file (TOML) that names the sample, the data and the free parameters
    input: PathBuf,
    /// Figure of data and model (svg, png), or an HTML page with the fitted image (html)
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Formats of the figure.
const ENDINGS: [&str; 3] = ["svg", "png", "html"];

pub fn fit(args: &FitArgs) -> Result {
    let settings = FitInput::read(&args.input)?;
    let dir = beside(&args.input);
    let mut out = Outputs::new();
    let sample = dir.join(&settings.sample);
    out.input(&args.input).input(dir.join(&settings.data));
    if let Some(mask) = &settings.mask {
        out.input(dir.join(mask));
    }
    for file in named(&sample) {
        out.input(file);
    }
    out.input(sample);
    let ending = match &args.out {
        None => None,
        Some(path) => {
            out.file(path, &ENDINGS)?;
            Some(ending(path, &ENDINGS)?)
        }
    };
    let mut target = settings.target(dir)?;
    if let Some(cut) = target.cut {
        let detector = target.sample.scene(&target.dir)?.detector;
        cut.check(&detector)?;
    }
    target.on = device::service(args.device)?;
    let start = Instant::now();
    let lines = Mutex::new(Vec::new());
    let found = watched(settings.starts as u64, "starts", |watch| {
        let report = |line: &str| {
            if let Ok(mut l) = lines.lock() {
                l.push(line.to_owned());
            }
        };
        search(&settings, &target, &report, watch)
    })?
    .ok_or_else(stopped)?;
    let seconds = start.elapsed().as_secs_f64();
    let names: Vec<&str> = target.free.iter().map(|f| f.path.as_str()).collect();
    if let Some(path) = &args.out {
        figure(&target, &found, path, ending.as_deref())?;
    }
    let value = json!({
        "parameters": names.iter().zip(&found.values).zip(&found.errors)
            .map(|((n, v), e)| json!({"path": n, "value": v, "error": e})).collect::<Vec<_>>(),
        "chi2": found.chi2, "points": found.points, "models": found.models, "seconds": seconds,
        "correlations": found.correlations, "termination": found.termination, "at_bounds": found.at_bounds,
        "file": args.out,
    });
    let mut text = format!(
        "χ² {:.4} per degree of freedom, {} points, {} models in {seconds:.1} s\n",
        found.chi2, found.points, found.models
    );
    for ((name, v), e) in names.iter().zip(&found.values).zip(&found.errors) {
        let digits = if *e > 0.0 && e.is_finite() {
            (1.0 - e.log10().floor()).clamp(0.0, 15.0) as usize
        } else {
            6
        };
        text.push_str(&format!("{name:<34} {v:.digits$} ± {e:.digits$}\n"));
    }
    for name in &found.at_bounds {
        text.push_str(&format!("warning: {name} is at one of its bounds\n"));
    }
    if let Some(path) = &args.out {
        text.push_str(&format!("{}\n", path.display()));
    }
    if !args.json
        && settings.starts > 1
        && let Ok(l) = lines.lock()
    {
        for line in l.iter() {
            note(line);
        }
    }
    summary(args.json, &value, text.trim_end());
    Ok(())
}

fn figure(target: &Target, found: &Fitted, path: &std::path::Path, ending: Option<&str>) -> Result {
    let quiet = |_: u64| {};
    let stop = std::sync::atomic::AtomicBool::new(false);
    let watch = Watch {
        progress: &quiet,
        stop: &stop,
    };
    let model = target.model(&found.values, &watch)?.ok_or_else(stopped)?;
    let scene = target.sample(&found.values)?.scene(&target.dir)?;
    let detector = &scene.detector;
    let data: Vec<f64> = target.values.iter().map(|v| v.max(0.0)).collect();
    let wrong = |e: GisaxsError| fail(path, e.to_string());
    let pairs: Vec<[Curve; 2]> = match target.cut {
        Some(cut) => {
            // Data and model are cuts already; any image gives the positions.
            let blank = vec![0.0; detector.rows() * detector.columns()];
            let positions = cut.of(&blank, detector).map_err(wrong)?;
            let with = |name: &str, values: &[f64]| Curve {
                name: name.into(),
                axis: positions.axis,
                points: positions
                    .points
                    .iter()
                    .zip(values)
                    .map(|(p, v)| (p.0, *v))
                    .collect(),
            };
            vec![[with("data", &data), with("model", &model)]]
        }
        None => brightest(&data, detector)
            .into_iter()
            .map(|cut| {
                let named = |name: &str, image: &[f64]| {
                    cut.of(image, detector).map(|c| Curve {
                        name: format!("{name}, {}", c.name),
                        ..c
                    })
                };
                Ok([
                    named("data", &data).map_err(wrong)?,
                    named("model", &model).map_err(wrong)?,
                ])
            })
            .collect::<Result<_>>()?,
    };
    match ending {
        Some("html") => {
            let facts = target
                .free
                .iter()
                .zip(&found.values)
                .zip(&found.errors)
                .map(|((f, v), e)| (f.path.clone(), format!("{v:.6} ± {e:.2e}")))
                .chain([("χ²".to_owned(), format!("{:.4}", found.chi2))])
                .collect();
            let about = About {
                title: "fit".into(),
                facts,
                figures: pairs.iter().map(|p| curves(p, 0, true)).collect(),
                ..About::default()
            };
            let image = if target.cut.is_some() {
                scene.image(&watch)?.ok_or_else(stopped)?
            } else {
                model
            };
            write(path, page(&image, detector, &about).map_err(wrong)?)
        }
        _ => {
            let chart = pairs
                .first()
                .map(|p| curves(p, 0, true))
                .unwrap_or_default();
            let bytes = chart
                .file(ending.unwrap_or("svg"), &FileStyle::default())
                .map_err(|e| fail(path, e.to_string()))?;
            write(path, bytes)
        }
    }
}
