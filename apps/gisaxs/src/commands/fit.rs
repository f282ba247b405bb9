//! `gisaxs fit`.

use super::device::DeviceArg;
use super::files::{beside, named, write};
use super::{Result, note, stopped, summary, watched};
use clap::Args;
use greenup_files::Outputs;
use greenup_files::outputs::ending;
use greenup_gisaxs::GisaxsError;
use greenup_gisaxs::fit::{FitPage, Fitted, Target, fit as search};
use greenup_gisaxs::image::{About, Curve, brightest, curves, page};
use greenup_gisaxs::numeric::Watch;
use greenup_gisaxs::table::fail;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

#[derive(Args)]
pub struct FitArgs {
    /// Page that names the sample, the data and the numbers that are free
    page: PathBuf,
    /// A picture of data and model: svg or png; or html with the fitted image
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArg,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Formats of the picture.
const ENDINGS: [&str; 3] = ["svg", "png", "html"];

pub fn fit(args: &FitArgs) -> Result<()> {
    let settings = FitPage::read(&args.page)?;
    let dir = beside(&args.page);
    let mut out = Outputs::new();
    let sample = dir.join(&settings.sample);
    out.input(&args.page).input(dir.join(&settings.data));
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
        cut.check(&detector).map_err(GisaxsError::Sample)?;
    }
    target.on = args.device.service().map_err(GisaxsError::Sample)?;
    let start = Instant::now();
    let lines = Mutex::new(Vec::new());
    let found = watched(settings.starts as u64, "starts", |watch| {
        let heard = |line: &str| {
            if let Ok(mut l) = lines.lock() {
                l.push(line.to_owned());
            }
        };
        search(&settings, &target, &heard, watch)
    })?
    .ok_or_else(stopped)?;
    let seconds = start.elapsed().as_secs_f64();
    let names: Vec<&str> = target.free.iter().map(|f| f.path.as_str()).collect();
    if let Some(path) = &args.out {
        picture(&target, &found, path, ending.as_deref())?;
    }
    let value = json!({
        "parameters": names.iter().zip(&found.values).zip(&found.errors)
            .map(|((n, v), e)| json!({"path": n, "value": v, "error": e})).collect::<Vec<_>>(),
        "chi2": found.chi2, "points": found.points, "models": found.models, "seconds": seconds,
        "correlations": found.correlations, "ended": found.ended, "at_bounds": found.at_bounds,
        "file": args.out,
    });
    let mut words = format!(
        "χ² {:.4} a degree of freedom, {} points, {} models in {seconds:.1} s\n",
        found.chi2, found.points, found.models
    );
    for ((name, v), e) in names.iter().zip(&found.values).zip(&found.errors) {
        let digits = if *e > 0.0 && e.is_finite() {
            (1.0 - e.log10().floor()).clamp(0.0, 15.0) as usize
        } else {
            6
        };
        words.push_str(&format!("{name:<34} {v:.digits$} ± {e:.digits$}\n"));
    }
    for name in &found.at_bounds {
        words.push_str(&format!("warning: {name} ended on one of its bounds\n"));
    }
    if let Some(path) = &args.out {
        words.push_str(&format!("{}\n", path.display()));
    }
    if !args.json
        && settings.starts > 1
        && let Ok(l) = lines.lock()
    {
        for line in l.iter() {
            note(line);
        }
    }
    summary(args.json, &value, words.trim_end());
    Ok(())
}

fn picture(
    target: &Target,
    found: &Fitted,
    path: &std::path::Path,
    ending: Option<&str>,
) -> Result<()> {
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
    let wrong = |m: String| fail(path, m);
    let pairs: Vec<[Curve; 2]> = match target.cut {
        Some(cut) => {
            // Both are the cut already; the places come from a cut of any image.
            let blank = vec![0.0; detector.rows() * detector.columns()];
            let places = cut.of(&blank, detector).map_err(wrong)?;
            let with = |name: &str, values: &[f64]| Curve {
                name: name.into(),
                axis: places.axis,
                points: places
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
    let svg = pairs.first().map(|p| curves(p, true)).unwrap_or_default();
    match ending {
        Some("png") => {
            let bytes = greenup_report::png::png(&svg, 2.0).map_err(|e| wrong(e.to_string()))?;
            write(path, bytes)
        }
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
                figures: pairs.iter().map(|p| curves(p, true)).collect(),
                ..About::default()
            };
            let image = if target.cut.is_some() {
                scene.image(&watch)?.ok_or_else(stopped)?
            } else {
                model
            };
            write(path, page(&image, detector, &about).map_err(wrong)?)
        }
        _ => write(path, svg),
    }
}
