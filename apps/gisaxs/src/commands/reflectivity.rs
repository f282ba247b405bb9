//! `gisaxs reflectivity`.

use super::files::{beside, outputs, write};
use super::summary;
use crate::range::Numbers;
use crate::sample::Sample;
use crate::scattering::layers;
use crate::table::{Column, DEGREES, Layout, fail};
use clap::Args;
use greenup_app::args::FigureArgs;
use greenup_app::print::{self, lossy};
use greenup_app::{AppError, Result};
use greenup_files::outputs::ending;
use greenup_report::chart::{Axis, Chart, Height, Ink, Layer, Panel, Scale, Series, Sign, Unit};
use greenup_report::provenance::Provenance;
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gisaxs reflectivity apps/gisaxs/examples/film.toml --angles 0:2:401 -o film.csv\n  gisaxs reflectivity apps/gisaxs/examples/film.toml --angles 0:2:401 -o film.svg"
)]
pub struct ReflectivityArgs {
    /// Input file (TOML) with beam and layers
    sample: PathBuf,
    /// Grazing angles: FROM:TO:N in degrees, e.g. 0:2:401, or a table with a column `alpha` (degrees or the unit of the
    /// header; without a header the first column)
    #[arg(long, value_name = "FROM:TO:N|FILE.csv", allow_hyphen_values = true)]
    angles: PathBuf,
    /// Output file: csv with angle (degrees) and reflectivity, or a figure of them (svg, png, pdf)
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    figure: FigureArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

const ANGLES: Layout = Layout {
    columns: &[Column {
        names: &["alpha", "α", "alphai", "angle", "theta", "θ", "incidence"],
        units: DEGREES,
        absent: None,
    }],
    // Of our own output, and of measured curves.
    unused: &[
        "r",
        "reflectivity",
        "intensity",
        "counts",
        "sigma",
        "error",
        "dr",
    ],
    plain: 1,
    more: true,
    gaps: false,
};

/// Endings of outputs.
const ENDINGS: [&str; 4] = ["csv", "svg", "png", "pdf"];

/// Angles, and the line of each in a file.
type Angles = Vec<(Option<usize>, f64)>;

/// The angles: those of a range, or of a table.
fn angles(path: &Path) -> Result<Angles> {
    let text = path.to_str().filter(|t| t.contains(':') && !path.exists());
    let Some(text) = text else {
        let rows = ANGLES.read(path)?;
        return Ok(rows
            .into_iter()
            .map(|(line, v)| (Some(line), v[0]))
            .collect());
    };
    let Numbers(all) = text.parse().map_err(|e| {
        AppError::new(format!("--angles {e}")).hint("name a file, or write FROM:TO:N, e.g. 0:2:401")
    })?;
    Ok(all.into_iter().map(|a| (None, a)).collect())
}

/// R over the angle.
fn chart(curve: &[(f64, f64)]) -> Chart {
    let positive = curve.iter().map(|p| p.1).filter(|r| *r > 0.0);
    let least = positive.fold(1.0, f64::min);
    let x = Axis::new("α", Unit::plain("°"), Scale::Linear);
    let y = Axis::new("reflectivity", Unit::None, Scale::Log).at_decades();
    let mut panel = Panel::new("", x, y.over(0.7 * least, 1.5));
    panel.height = Height::Ratio(0.6);
    panel.push(Layer::line(0, curve.to_vec(), ""));
    Chart {
        title: "Specular reflectivity".into(),
        series: vec![Series::new("", Ink::Series(0), Sign::Line)],
        panels: vec![panel],
        ..Chart::default()
    }
}

pub fn reflectivity(args: &ReflectivityArgs) -> Result {
    let rows = angles(&args.angles)?;
    let mut out = outputs(&args.sample);
    if rows.first().is_some_and(|r| r.0.is_some()) {
        out.input(&args.angles);
    }
    out.file(&args.out, &ENDINGS)?;
    let ending = ending(&args.out, &ENDINGS)?;
    let sample = Sample::read(&args.sample)?;
    let stack = sample.stack(beside(&args.sample))?;
    let notes = layers::notes(&stack);
    notes.iter().for_each(print::warn);
    let k0 = sample.wave_number()?;
    let warnings = sample.warnings();
    warnings.iter().for_each(print::warn);
    let mut curve = Vec::new();
    for (line, angle) in &rows {
        if !(0.0..=90.0).contains(angle) {
            let message = format!("{angle}° is not between 0° and 90°");
            return Err(match line {
                Some(line) => fail(&args.angles, format!("line {line}: {message}")).into(),
                None => AppError::new(format!("--angles: {message}")),
            });
        }
        curve.push((*angle, layers::reflectivity(&stack, k0, angle.to_radians())));
    }
    if ending == "csv" {
        let mut text = String::from("alpha_deg,R\n");
        for (angle, r) in &curve {
            text.push_str(&format!("{angle:.17e},{r:.17e}\n"));
        }
        write(&args.out, text)?;
    } else {
        let mut chart = chart(&curve);
        chart.origin = Provenance::of_process().pairs();
        let bytes = chart.file(&ending, &args.figure.look());
        write(
            &args.out,
            bytes.map_err(|e| fail(&args.out, e.to_string()))?,
        )?;
    }
    summary(
        args.json,
        &json!({"points": rows.len(), "file": lossy(&args.out), "warnings": warnings, "notes": notes, "provenance": Provenance::of_process()}),
        &format!("{} angles: {}", rows.len(), args.out.display()),
    );
    Ok(())
}
