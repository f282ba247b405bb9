//! `gisaxs`: X-ray scattering at grazing incidence from a page that describes the sample.

use clap::{Parser, Subcommand};
use greenup_gisaxs::form::Shape;
use greenup_gisaxs::image::Format;
use greenup_gisaxs::sample::Sample;
use greenup_gisaxs::{Complex64, FormFactor, GisaxsError, Q, stack};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde_json::json;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

#[derive(Parser)]
#[command(version, about = "X-ray scattering at grazing incidence", after_help = EXAMPLES)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  gisaxs simulate apps/gisaxs/examples/boxes.toml -o boxes.png
  gisaxs reflectivity apps/gisaxs/examples/film.toml --angles angles.csv -o r.csv
  gisaxs form-factor apps/gisaxs/examples/icosahedron.toml --q q.csv -o f.csv";

#[derive(Subcommand)]
enum Command {
    /// The detector's image of a sample
    Simulate {
        /// Page that describes beam, detector, layers and particles
        sample: PathBuf,
        /// Image: csv or npy (first row the lowest angle), or png (logarithmic)
        #[arg(short, long, value_name = "FILE")]
        out: PathBuf,
        /// Print a summary as JSON
        #[arg(long)]
        json: bool,
    },
    /// F(q) of a shape at given q
    FormFactor {
        /// Page with a shape and its measures
        shape: PathBuf,
        /// Columns qx, qy, qz_re, qz_im, 1/nm
        #[arg(long, value_name = "Q.csv")]
        q: PathBuf,
        /// The same with F_re and F_im, nm³
        #[arg(short, long, value_name = "FILE")]
        out: PathBuf,
        /// Print a summary as JSON
        #[arg(long)]
        json: bool,
    },
    /// The share of the beam that the layers of a sample reflect
    Reflectivity {
        /// Page with beam and layers
        sample: PathBuf,
        /// First column: glancing angles, degrees
        #[arg(long, value_name = "A.csv")]
        angles: PathBuf,
        /// Angles and reflectivities
        #[arg(short, long, value_name = "FILE")]
        out: PathBuf,
        /// Print a summary as JSON
        #[arg(long)]
        json: bool,
    },
}

type Result<T> = std::result::Result<T, GisaxsError>;

fn fail(path: &Path, message: impl std::fmt::Display) -> GisaxsError {
    GisaxsError::File {
        path: path.display().to_string(),
        message: message.to_string(),
    }
}

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Simulate { sample, out, json } => simulate(&sample, &out, json),
        Command::FormFactor {
            shape,
            q,
            out,
            json,
        } => form_factor(&shape, &q, &out, json),
        Command::Reflectivity {
            sample,
            angles,
            out,
            json,
        } => reflectivity(&sample, &angles, &out, json),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            say(&mut std::io::stderr(), &format!("error: {e}"));
            ExitCode::FAILURE
        }
    }
}

fn say(to: &mut dyn std::io::Write, line: &str) {
    let _ = writeln!(to, "{line}");
}

fn summary(json: bool, value: &serde_json::Value, words: &str) {
    let text = if json {
        value.to_string()
    } else {
        words.to_owned()
    };
    say(&mut std::io::stdout(), &text);
}

fn beside(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

fn simulate(page: &Path, out: &Path, json: bool) -> Result<()> {
    // Before the work: nobody wants to wait for an image that cannot be written.
    let format = Format::of(out)?;
    let scene = Sample::read(page)?.scene(beside(page))?;
    let columns = scene.detector.phi.centres.len();
    let rows = scene.detector.alpha.centres.len();
    let start = Instant::now();
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    // Without a handler Ctrl-C ends the program at once, which loses nothing either.
    let _ = ctrlc::set_handler(move || asked.store(true, Ordering::Relaxed));
    let bar = ProgressBar::new(rows as u64).with_message("rows");
    let Some(pixels) = scene.image(&|| bar.inc(1), &stop) else {
        bar.abandon();
        return Err(GisaxsError::Sample("stopped: nothing was written".into()));
    };
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    format.write(out, &pixels, &scene.detector)?;
    let top = pixels.iter().copied().fold(0.0, f64::max);
    summary(
        json,
        &json!({"rows": rows, "columns": columns, "seconds": seconds, "maximum": top, "file": out}),
        &format!(
            "{columns} × {rows} pixels in {seconds:.3} s, largest {top:.4e}: {}",
            out.display()
        ),
    );
    Ok(())
}

/// Numbers of a CSV file, a row each with its line; a first row of words is the header.
fn numbers(path: &Path, least: usize) -> Result<Vec<(usize, Vec<f64>)>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'#'))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_path(path)
        .map_err(|e| fail(path, e))?;
    let mut out = Vec::new();
    for (n, record) in reader.records().enumerate() {
        let record = record.map_err(|e| fail(path, e))?;
        let line = record.position().map_or(n + 1, |p| p.line() as usize);
        let row: std::result::Result<Vec<f64>, _> =
            record.iter().take(least).map(str::parse::<f64>).collect();
        match row {
            Ok(v) if v.len() == least && v.iter().all(|x| x.is_finite()) => out.push((line, v)),
            Err(_) if n == 0 => {}
            _ => {
                return Err(fail(
                    path,
                    format!("line {line}: {least} finite numbers are expected"),
                ));
            }
        }
    }
    if out.is_empty() {
        return Err(fail(path, "has no numbers"));
    }
    Ok(out)
}

fn form_factor(page: &Path, q: &Path, out: &Path, json: bool) -> Result<()> {
    let text =
        std::fs::read_to_string(page).map_err(|e| fail(page, format!("cannot be read: {e}")))?;
    let shape: Shape = toml::from_str(&text).map_err(|e| fail(page, e.to_string().trim_end()))?;
    let form: Box<dyn FormFactor> = shape.form_factor(beside(page))?;
    let rows = numbers(q, 4)?;
    let start = Instant::now();
    let values: Vec<Complex64> = rows
        .par_iter()
        .map(|(_, v)| {
            let q = Q {
                x: v[0],
                y: v[1],
                z: Complex64::new(v[2], v[3]),
            };
            form.at(&q.vector())
        })
        .collect();
    let seconds = start.elapsed().as_secs_f64();
    let mut text = String::from("qx,qy,qz_re,qz_im,F_re,F_im\n");
    for ((line, v), f) in rows.iter().zip(&values) {
        if !f.is_finite() {
            return Err(fail(
                q,
                format!("line {line}: F is beyond the range of numbers"),
            ));
        }
        let cells = [v[0], v[1], v[2], v[3], f.re, f.im].map(|x| format!("{x:.17e}"));
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    write(out, &text)?;
    summary(
        json,
        &json!({"points": rows.len(), "seconds": seconds, "volume": form.volume(), "file": out}),
        &format!(
            "{} points in {seconds:.3} s, volume {:.6} nm³: {}",
            rows.len(),
            form.volume(),
            out.display()
        ),
    );
    Ok(())
}

fn reflectivity(page: &Path, angles: &Path, out: &Path, json: bool) -> Result<()> {
    let sample = Sample::read(page)?;
    let (layers, k0) = (sample.stack()?, sample.wave_number()?);
    let rows = numbers(angles, 1)?;
    let mut text = String::from("alpha_deg,R\n");
    for (line, v) in &rows {
        if v[0] < 0.0 || v[0] > 90.0 {
            return Err(fail(
                angles,
                format!("line {line}: {}° is not between the horizon and 90°", v[0]),
            ));
        }
        let r = stack::reflectivity(&layers, k0, v[0].to_radians());
        text.push_str(&format!("{:.17e},{r:.17e}\n", v[0]));
    }
    write(out, &text)?;
    summary(
        json,
        &json!({"points": rows.len(), "file": out}),
        &format!("{} angles: {}", rows.len(), out.display()),
    );
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::File::create(path)
        .and_then(|mut f| f.write_all(text.as_bytes()))
        .map_err(|e| fail(path, format!("cannot be written: {e}")))
}
