//! `gisaxs reflectivity`.

use super::files::{beside, outputs, write};
use super::summary;
use crate::sample::Sample;
use crate::scattering::layers;
use crate::table::{Column, DEGREES, Layout, fail};
use clap::Args;
use greenup_app::Result;
use greenup_app::print::{self, lossy};
use greenup_report::provenance::Provenance;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub struct ReflectivityArgs {
    /// Input file (TOML) with beam and layers
    sample: PathBuf,
    /// Table of grazing angles: a column `alpha`, degrees or the unit of the header, or without a header the first
    #[arg(long, value_name = "A.csv")]
    angles: PathBuf,
    /// Output file: csv with angle (degrees) and reflectivity
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
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
    more: true,
    gaps: false,
};

pub fn reflectivity(args: &ReflectivityArgs) -> Result {
    outputs(&args.sample)
        .input(&args.angles)
        .file(&args.out, &["csv"])?;
    let sample = Sample::read(&args.sample)?;
    let stack = sample.stack(beside(&args.sample))?;
    let notes = layers::notes(&stack);
    notes.iter().for_each(print::warn);
    let k0 = sample.wave_number()?;
    let warnings = sample.warnings();
    warnings.iter().for_each(print::warn);
    let rows = ANGLES.read(&args.angles)?;
    let mut text = String::from("alpha_deg,R\n");
    for (line, v) in &rows {
        if v[0] < 0.0 || v[0] > 90.0 {
            let message = format!("line {line}: {}° is not between 0° and 90°", v[0]);
            return Err(fail(&args.angles, message).into());
        }
        let r = layers::reflectivity(&stack, k0, v[0].to_radians());
        text.push_str(&format!("{:.17e},{r:.17e}\n", v[0]));
    }
    write(&args.out, text)?;
    summary(
        args.json,
        &json!({"points": rows.len(), "file": lossy(&args.out), "warnings": warnings, "notes": notes, "provenance": Provenance::of_process()}),
        &format!("{} angles: {}", rows.len(), args.out.display()),
    );
    Ok(())
}
