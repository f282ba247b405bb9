//! `gisaxs simulate`.

use super::files::{beside, outputs, write};
use super::numeric::NumericArgs;
use super::{Result, stopped, summary, watched};
use clap::Args;
use greenup_gisaxs::image::{About, Cut, Format};
use greenup_gisaxs::sample::Sample;
use greenup_gisaxs::{GisaxsError, photons};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
pub struct SimulateArgs {
    /// Page that describes beam, detector, layers and particles
    sample: PathBuf,
    /// Image: csv, npy or tif (numbers), png (logarithmic), or html (a page)
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Write a cut through the image beside it: alpha=0.3 along the azimuth, phi=0.1 upward, with :0.02
    /// behind for half a width; again for more
    #[arg(long, value_name = "CUT")]
    cut: Vec<Cut>,
    /// Another number at a path of the page: particles.0.form.radius=5; again for more
    #[arg(long, value_name = "PATH=NUMBER", value_parser = setting)]
    set: Vec<(String, f64)>,
    /// Photons as a detector counts them (Poisson), from this seed, in place of the mean intensity
    #[arg(long, value_name = "SEED")]
    counts: Option<u64>,
    #[command(flatten)]
    numeric: NumericArgs,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

fn setting(text: &str) -> std::result::Result<(String, f64), String> {
    text.split_once('=')
        .and_then(|(path, value)| Some((path.trim().to_owned(), value.trim().parse().ok()?)))
        .ok_or_else(|| format!("\"{text}\" is no PATH=NUMBER"))
}

pub fn simulate(args: &SimulateArgs) -> Result<()> {
    // Before the work: nobody wants to wait for an image that cannot be written.
    let mut out = outputs(&args.sample);
    out.file(&args.out, &[])?;
    let format = Format::of(&args.out)?;
    let cuts: Vec<PathBuf> = (0..args.cut.len())
        .map(|n| args.out.with_extension(format!("cut{n}.csv")))
        .collect();
    for path in &cuts {
        out.file(path, &[])?;
    }
    let sample = Sample::read(&args.sample)?.with(&args.set)?;
    let mut scene = sample.scene(beside(&args.sample))?;
    for cut in &args.cut {
        cut.check(&scene.detector).map_err(GisaxsError::Sample)?;
    }
    scene.numeric = args.numeric.settings().map_err(GisaxsError::Sample)?;
    let (rows, columns) = (scene.detector.rows(), scene.detector.columns());
    let start = Instant::now();
    let mut pixels =
        watched(scene.steps(), "pixels", |watch| scene.image(watch))?.ok_or_else(stopped)?;
    let seconds = start.elapsed().as_secs_f64();
    if let Some(seed) = args.counts {
        photons::counts(&mut pixels, seed);
    }
    let top = pixels.iter().copied().fold(0.0, f64::max);
    let about = About {
        title: args
            .sample
            .file_stem()
            .map_or("image".into(), |s| s.to_string_lossy().into_owned()),
        facts: vec![
            ("pixels".into(), format!("{columns} × {rows}")),
            ("largest".into(), format!("{top:.4e}")),
            ("computed in".into(), format!("{seconds:.3} s")),
        ],
        text: greenup_files::read_text(&args.sample).unwrap_or_default(),
        cuts: args.cut.clone(),
        ..About::default()
    };
    let mut files = vec![args.out.clone()];
    for (path, cut) in cuts.into_iter().zip(&args.cut) {
        let curve = cut
            .of(&pixels, &scene.detector)
            .map_err(GisaxsError::Sample)?;
        let mut text = format!(
            "# {}\n{},intensity\n",
            curve.name,
            curve.axis.replace(", ", "_")
        );
        for (x, y) in &curve.points {
            text.push_str(&format!("{x:.9e},{y:.17e}\n"));
        }
        write(&path, text)?;
        files.push(path);
    }
    format.write(&args.out, &pixels, &scene.detector, &about)?;
    let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    summary(
        args.json,
        &json!({"rows": rows, "columns": columns, "seconds": seconds, "maximum": top, "file": args.out, "files": files}),
        &format!(
            "{columns} × {rows} pixels in {seconds:.3} s, largest {top:.4e}: {}",
            names.join(", ")
        ),
    );
    Ok(())
}
