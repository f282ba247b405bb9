//! `gisaxs fit`.

use super::files::{beside, named, write};
use super::image::ImageArgs;
use super::{stopped, summary, unused, watched};
use crate::GisaxsError;
use crate::fit::report::{Report, Sources, json, page, with_error};
use crate::fit::{FitInput, Fitted, Target, fit as search};
use crate::image::Cut;
use crate::mesh_form_factor::Watch;
use crate::session;
use crate::table::fail;
use clap::Args;
use greenup_app::Result;
use greenup_app::args::{DeviceSetArg, PinArg, ThreadsArg};
use greenup_app::print::{self, note};
use greenup_app::ranks::RanksArg;
use greenup_files::Outputs;
use greenup_files::outputs::ending;
use greenup_report::provenance::Provenance;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

#[derive(Args)]
#[command(after_help = "Example:\n  gisaxs fit apps/gisaxs/examples/fit.toml -o fit.html")]
pub struct FitArgs {
    /// Input file (TOML) that names the sample, the data and the free parameters
    input: PathBuf,
    /// Figure of data, model, residual and cuts (svg, png, pdf), or an HTML page with all of the fit (html)
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Cut to draw through the image: alpha=0.3 or phi=0.1, degrees, or up=2.5 or across=1, mm of a flat detector, :0.02 for
    /// its half-width (repeatable) [default: both through the brightest pixel]
    #[arg(long, value_name = "CUT")]
    cut: Vec<Cut>,
    #[command(flatten)]
    image: ImageArgs,
    #[command(flatten)]
    device: DeviceSetArg,
    #[command(flatten)]
    threads: ThreadsArg,
    #[command(flatten)]
    pin: PinArg,
    #[command(flatten)]
    ranks: RanksArg,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Formats of the figure.
const ENDINGS: [&str; 4] = ["svg", "png", "pdf", "html"];

pub fn fit(args: &FitArgs) -> Result {
    let settings = FitInput::read(&args.input)?;
    let mut provenance = Provenance::of_process().seeded(Some(settings.seed));
    let team = args.ranks.team(1)?;
    team.start_threads(args.threads)?;
    args.pin.start(team.local())?;
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
    out.input(&sample);
    let ending = match &args.out {
        None => None,
        Some(path) => {
            if team.has_first() {
                out.file(path, &ENDINGS)?;
            }
            Some(ending(path, &ENDINGS)?)
        }
    };
    ImageArgs::check(ending.as_deref())?;
    if args.out.is_none() {
        unused(&["--cut"], "without --out nothing is drawn")?;
    }
    if settings.cut.is_some() {
        unused(&["--cut"], "the data are a cut themselves, which is drawn")?;
    }
    let mut target = settings.target(dir)?;
    let scene = target.sample.scene(&target.dir)?;
    if team.has_first() {
        if let Some(text) = target.left_out.text(target.values.len()) {
            note(text);
        }
        let warnings = target.sample.warnings();
        warnings.iter().chain(&scene.notes).for_each(print::warn);
        if let Some(text) = target.left_out.warning() {
            print::warn(text);
        }
    }
    for cut in target.cut.iter().chain(&args.cut) {
        cut.of_beam(&scene).check(&scene.detector)?;
    }
    target.on = session::accelerator(&args.device.device, team.local())?;
    let start = Instant::now();
    let lines = Mutex::new(Vec::new());
    let found = watched(settings.starts as u64, "starts", |watch| {
        let report = |line: &str| {
            if let Ok(mut l) = lines.lock() {
                l.push(line.to_owned());
            }
        };
        team.run(|ranks| Ok(search(&settings, &target, &**ranks, &report, watch)?))
    })?;
    if !team.has_first() {
        return Ok(());
    }
    let found = found.ok_or_else(stopped)?;
    let seconds = start.elapsed().as_secs_f64();
    provenance.took("search", seconds);
    if let (Some(path), Some(ending)) = (&args.out, &ending) {
        let named = |p: &Path, text: &str| (p.display().to_string(), text.to_owned());
        let texts = vec![
            named(&args.input, &settings.source),
            named(&sample, target.sample.source()),
        ];
        let sources = Sources {
            path: &args.input,
            input: &settings,
            texts,
            command: provenance.command.clone(),
            seconds,
            provenance: provenance.pairs(),
        };
        draw(args, (&target, &found), &sources, (path, ending))?;
    }
    let mut value = json(&target, &found);
    let mut warnings = target.sample.warnings();
    warnings.extend(found.warnings(&target));
    value["warnings"] = warnings.into();
    value["seconds"] = seconds.into();
    value["ranks"] = team.size().into();
    value["notes"] = scene.notes.into();
    value["file"] = args.out.as_ref().map(print::lossy).into();
    value["provenance"] = serde_json::json!(provenance);
    if !args.json
        && settings.starts > 1
        && let Ok(l) = lines.lock()
    {
        for line in l.iter() {
            note(line);
        }
    }
    summary(
        args.json,
        &value,
        text(args, &target, &found, seconds).trim_end(),
    );
    Ok(())
}

/// The result in words.
fn text(args: &FitArgs, target: &Target, found: &Fitted, seconds: f64) -> String {
    let mut text = format!(
        "χ² {:.4} per degree of freedom, {} points, {} models in {seconds:.1} s\n",
        found.chi2, found.points, found.models
    );
    for ((f, v), e) in target.free.iter().zip(&found.values).zip(&found.errors) {
        let (value, error) = with_error(*v, *e);
        text.push_str(&format!("{:<34} {value} ± {error}\n", f.path));
    }
    for warning in found.warnings(target) {
        text.push_str(&format!("warning: {warning}\n"));
    }
    for name in &found.at_bounds {
        text.push_str(&format!("warning: {name} is at one of its bounds\n"));
    }
    if let Some(path) = &args.out {
        text.push_str(&format!("{}\n", path.display()));
    }
    text
}

/// Writes the figure or the page.
fn draw(
    args: &FitArgs,
    (target, found): (&Target, &Fitted),
    sources: &Sources,
    (path, ending): (&Path, &str),
) -> Result {
    let quiet = |_: u64| {};
    let stop = std::sync::atomic::AtomicBool::new(false);
    let watch = Watch {
        progress: &quiet,
        stop: &stop,
    };
    let image = &args.image;
    let how = (args.cut.as_slice(), image.axes, image.range());
    let report = Report::new(target, found, how, &watch)?.ok_or_else(stopped)?;
    let wrong = |e: GisaxsError| fail(path, e.to_string());
    if ending == "html" {
        return write(path, page(&report, sources).map_err(wrong)?);
    }
    let mut chart = report.chart().map_err(wrong)?;
    chart.origin = sources.provenance.clone();
    let bytes = chart
        .file(ending, &image.figure.look())
        .map_err(|e| fail(path, e.to_string()))?;
    write(path, bytes)
}
