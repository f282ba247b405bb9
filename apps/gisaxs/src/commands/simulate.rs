//! `gisaxs simulate`.

use super::files::{beside, outputs, write};
use super::image::ImageArgs;
use super::mesh_form_factor::MeshFormFactorArgs;
use super::{stopped, summary, watched};
use crate::detector::counting_noise;
use crate::image::{About, Cut, Format, coordinates};
use crate::sample::Sample;
use crate::scattering::dwba::Scene;
use clap::Args;
use greenup_app::Result;
use greenup_app::print::{self, lossy};
use greenup_app::ranks::RanksArg;
use greenup_report::provenance::Provenance;
use greenup_report::si::si;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use toml::Value;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gisaxs simulate apps/gisaxs/examples/lattice.toml -o lattice.html --cut alpha=0.3\n  gisaxs simulate apps/gisaxs/examples/boxes.toml --set detector.phi.n=64 -o boxes.npz\n  gisaxs simulate apps/gisaxs/examples/paracrystal.toml --counts 1 -o apps/gisaxs/examples/measured.npy   # read by `gisaxs fit`"
)]
pub struct SimulateArgs {
    /// Input file (TOML) with beam, detector, layers and particles
    sample: PathBuf,
    /// Image: csv, npy or tif (intensities), npz (with q and angles of every pixel), svg, png or pdf (a figure with logarithmic colours), or html (an HTML page)
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Write a cut through the image to NAME.cutN.csv: qz=0.5 (along q_y) or qy=0.1 (along q_z), 1/nm; alpha=0.3 or phi=0.1,
    /// degrees; up=2.5 or across=1, mm of a flat detector; also with a unit, alpha=5mrad; qz=0.5:0.02 averages over ±0.02
    /// (repeatable)
    #[arg(long, value_name = "CUT")]
    cut: Vec<Cut>,
    /// Also write q (1/nm) and angles (degrees) of every pixel with its intensity: a csv table or npz arrays
    #[arg(long, value_name = "FILE.csv|.npz")]
    coordinates: Option<PathBuf>,
    /// Override a value of the input file, e.g. particles.0.form.radius=5, detector.phi.n=64 or mode=born (repeatable)
    #[arg(long, value_name = "PATH=VALUE", value_parser = setting)]
    set: Vec<(String, Value)>,
    /// Simulate counting noise: Poisson counts with this seed instead of mean intensities
    #[arg(long, value_name = "SEED")]
    counts: Option<u64>,
    #[command(flatten)]
    image: ImageArgs,
    #[command(flatten)]
    mesh_form_factor: MeshFormFactorArgs,
    #[command(flatten)]
    ranks: RanksArg,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// A value is TOML; what is none is a string without quotes.
fn setting(text: &str) -> std::result::Result<(String, Value), String> {
    let (path, value) = text
        .split_once('=')
        .map(|(path, value)| (path.trim(), value.trim()))
        .filter(|(path, value)| !path.is_empty() && !value.is_empty())
        .ok_or_else(|| format!("\"{text}\" is not PATH=VALUE"))?;
    let read = toml::from_str::<toml::Table>(&format!("x = {value}"));
    let value = (read.ok())
        .filter(|t| t.len() == 1)
        .and_then(|mut t| t.remove("x"))
        .or_else(|| value.parse().ok().map(Value::Float))
        .unwrap_or_else(|| Value::String(value.to_owned()));
    Ok((path.to_owned(), value))
}

/// A cut as CSV: positions in the unit of the detector and as q, and intensities.
fn cut_table(
    cut: &Cut,
    pixels: &[f64],
    scene: &Scene,
    provenance: &[(String, String)],
) -> Result<String> {
    let curve = cut.of(pixels, &scene.detector)?;
    let (name, unit) = cut.axis(&scene.detector);
    let mut text = format!("# {name} = {} {unit}\n", cut.at);
    for (name, value) in provenance {
        text.push_str(&format!("# {name}: {}\n", value.replace('\n', " ")));
    }
    let q = if cut.across { "qy" } else { "qz" };
    text.push_str(&format!(
        "{},intensity,{q}_1/nm\n",
        curve.axis.replace(", ", "_")
    ));
    let along = coordinates::along(cut, scene);
    for ((x, y), q) in curve.points.iter().zip(along) {
        text.push_str(&format!("{x:.9e},{y:.17e},{q:.9e}\n"));
    }
    Ok(text)
}

pub fn simulate(args: &SimulateArgs) -> Result {
    let mut provenance = Provenance::of_process().seeded(args.counts);
    // Before the work, so that an image that cannot be written costs no time.
    let team = args.ranks.team(1)?;
    let mut out = outputs(&args.sample);
    if team.has_first() {
        out.file(&args.out, &[])?;
    }
    let format = Format::of(&args.out)?;
    if let Some(path) = args.coordinates.as_ref().filter(|_| team.has_first()) {
        out.file(path, coordinates::ENDINGS)?;
    }
    let ending = args
        .out
        .extension()
        .map(|e| e.to_string_lossy().to_lowercase());
    ImageArgs::check(Some(&ending.unwrap_or_default()))?;
    let cuts: Vec<PathBuf> = (0..args.cut.len())
        .map(|n| args.out.with_extension(format!("cut{n}.csv")))
        .collect();
    for path in cuts.iter().filter(|_| team.has_first()) {
        out.file(path, &[])?;
    }
    let sample = Sample::read(&args.sample)?.with_values(&args.set)?;
    // Starts the threads, which reading a mesh uses.
    let numeric = args.mesh_form_factor.settings(&team)?;
    let warnings = sample.warnings();
    if team.has_first() {
        warnings.iter().for_each(print::warn);
    }
    let particles = sample.particle_counts();
    if team.has_first() {
        particles.iter().for_each(print::note);
    }
    let mut scene = sample.scene(beside(&args.sample))?;
    let of_beam: Vec<Cut> = args.cut.iter().map(|c| c.of_beam(&scene)).collect();
    for cut in &of_beam {
        cut.check(&scene.detector)?;
    }
    let mut members = scene.populations.iter().flat_map(|p| &p.members);
    let solid = members.any(|m| m.1.parts.iter().any(|p| p.form.polyhedron().is_some()));
    MeshFormFactorArgs::check(solid)?;
    if team.has_first() {
        scene.notes.iter().for_each(print::warn);
    }
    scene.numeric = numeric;
    let (rows, columns) = (scene.detector.rows(), scene.detector.columns());
    let start = Instant::now();
    let mut pixels = watched(scene.steps(), "pixels", |watch| {
        team.run(|ranks| Ok(scene.image_over(&**ranks, watch)?))
    })?
    .ok_or_else(stopped)?;
    if !team.has_first() {
        return Ok(());
    }
    let seconds = start.elapsed().as_secs_f64();
    if let Some(seed) = args.counts {
        counting_noise::counts(&mut pixels, seed);
    }
    let top = pixels.iter().copied().fold(0.0, f64::max);
    provenance.took("image", seconds);
    let about = About {
        title: args
            .sample
            .file_stem()
            .map_or("image".into(), |s| s.to_string_lossy().into_owned()),
        facts: vec![
            ("pixels".into(), format!("{columns} × {rows}")),
            ("maximum".into(), format!("{top:.4e} photons per pixel")),
            (
                "sum".into(),
                format!("{:.4e} photons", pixels.iter().sum::<f64>()),
            ),
            ("computed in".into(), si(seconds, "s")),
        ],
        input: (
            args.sample.display().to_string(),
            sample.source().to_owned(),
        ),
        cuts: of_beam.clone(),
        counted: args.counts.is_some(),
        axes: args.image.axes,
        range: args.image.range(),
        provenance: provenance.pairs(),
    };
    let mut files = vec![args.out.clone()];
    for (path, cut) in cuts.into_iter().zip(&of_beam) {
        write(&path, cut_table(cut, &pixels, &scene, &about.provenance)?)?;
        files.push(path);
    }
    if let Some(path) = &args.coordinates {
        coordinates::write(path, &pixels, &scene)?;
        files.push(path.clone());
    }
    let look = args.image.figure.look();
    format.write(&args.out, &pixels, &scene, (&about, &look))?;
    let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    summary(
        args.json,
        &json!({"rows": rows, "columns": columns, "seconds": seconds, "maximum": top, "file": lossy(&args.out), "files": names,
            "ranks": team.size(), "averages": particles, "warnings": warnings, "notes": scene.notes, "provenance": provenance}),
        &format!(
            "{columns} × {rows} pixels in {}, maximum {top:.4e} photons per pixel: {}",
            si(seconds, "s"),
            names.join(", ")
        ),
    );
    Ok(())
}
