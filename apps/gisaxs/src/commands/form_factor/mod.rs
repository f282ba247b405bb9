//! `gisaxs form-factor`.
//!
//! | module | contents |
//! |---|---|
//! | `compute` | F of a shape, how it was computed, and times |
//! | `table` | q from a file, and F as CSV |

mod compute;
mod table;

use super::boards;
use super::files::{beside, outputs, write};
use super::mesh_form_factor::MeshFormFactorArgs;
use super::{stopped, summary, watched};
use crate::form::Shape;
use crate::image::npy;
use crate::mesh_form_factor::QGrid;
use crate::range::Numbers;
use crate::table::fail;
use crate::{Complex64, GisaxsError, Q};
use clap::Args;
use compute::{Computation, Computed, Times, compute};
use greenup_app::ranks::{Boards, RanksArg};
use greenup_app::{AppError, Result};
use greenup_files::outputs::ending;
use greenup_report::provenance::Provenance;
use greenup_report::si::si;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Instant;
use table::{csv, listed};

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gisaxs form-factor apps/gisaxs/examples/icosahedron.toml --grid 0 -2:2:101 0:2:51 -o f.npy\n  printf 'qx,qy,qz\\n0,0.5,0.1\\n' > q.csv; gisaxs form-factor apps/gisaxs/examples/icosahedron.toml --q q.csv -o f.csv"
)]
pub struct FormFactorArgs {
    /// Input file (TOML) with a shape and its dimensions
    shape: PathBuf,
    /// Table of q: columns qx, qy, Re qz, Im qz, 1/nm
    #[arg(long, value_name = "Q.csv", required_unless_present = "grid")]
    q: Option<PathBuf>,
    /// Tensor grid of q instead: qx, qy and qz, each a number, FROM:TO:N or A,B,..., 1/nm
    #[arg(long, num_args = 3, value_names = ["QX", "QY", "QZ"], conflicts_with = "q",
          allow_hyphen_values = true)]
    grid: Option<Vec<Numbers>>,
    /// Im(q_z) of all points, 1/nm; not for a table with a column of its own [default: 0]
    #[arg(long, value_parser = finite, allow_hyphen_values = true)]
    im_qz: Option<f64>,
    /// Output file: csv (q, Re F, Im F, nm³); for a grid also npy (complex, `[qz][qx][qy]`)
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    mesh_form_factor: MeshFormFactorArgs,
    /// Number of times to compute F; the fastest is reported
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Measure time and energy of the kernels on each GPU, repeated (tensor grids)
    #[arg(long)]
    measure: bool,
    #[command(flatten)]
    ranks: RanksArg,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

fn finite(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| x.is_finite());
    number.ok_or_else(|| format!("\"{text}\" is not a finite number"))
}

/// Maximum number of points of one run.
const MAX: usize = 1 << 30;

pub fn form_factor(args: &FormFactorArgs) -> Result {
    let mut provenance = Provenance::of_process();
    let team = args.ranks.team(1)?;
    let input = &args.shape;
    let endings: &[&str] = match args.grid {
        Some(_) => &["csv", "npy"],
        None => &["csv"],
    };
    let mut out = outputs(input);
    if let Some(q) = &args.q {
        out.input(q);
    }
    if team.has_first() {
        out.file(&args.out, endings)?;
    }
    let as_npy = ending(&args.out, endings)? == "npy";
    let settings = args.mesh_form_factor.settings_of_ranks(&team)?;
    if args.measure && settings[0].on.is_none() {
        return Err(AppError::new("--measure measures GPUs").hint("add --device cuda"));
    }
    let text = greenup_files::read_text(input)?;
    let shape: Shape = toml::from_str(&text).map_err(|e| fail(input, e.to_string().trim_end()))?;
    let reading = Instant::now();
    let form = shape.form_factor(beside(input))?;
    MeshFormFactorArgs::check(form.polyhedron().is_some())?;
    let read_s = reading.elapsed().as_secs_f64();
    let (grids, lines) = args.grids()?;
    let points: usize = grids.iter().map(QGrid::len).sum();
    let work = points as u64 * u64::from(args.repeat);
    let computed = watched(work, "q", |watch| {
        let meter = args.measure.then(boards::meters);
        let how = (args.repeat, meter.as_ref());
        team.run(|ranks| {
            let own = &settings[ranks.rank() % settings.len()];
            compute(form.as_ref(), &grids, own, how, (&**ranks, watch))
        })
    })?;
    let Computed {
        values,
        how,
        times,
        boards: measured,
    } = computed.ok_or_else(stopped)?;
    if !team.has_first() {
        return Ok(());
    }
    provenance.took("form factor", times.seconds);
    let bad = values.iter().flatten().position(|f| !f.is_finite());
    if let Some(n) = bad {
        let message = "F is beyond the range of numbers";
        return Err(AppError::from(match (&args.q, lines.get(n)) {
            (Some(file), Some(line)) => fail(file, format!("line {line}: {message}")),
            _ => {
                let Q { x, y, z } = grids[0].q(n);
                GisaxsError::Invalid(format!("q = ({x}, {y}, {z}): {message}"))
            }
        }));
    }
    if as_npy {
        let axes = args
            .grid
            .as_ref()
            .map_or([0; 3], |a| [a[2].0.len(), a[0].0.len(), a[1].0.len()]);
        let numbers = values[0].iter().flat_map(|f| [f.re, f.im]);
        write(&args.out, npy("c16", &axes, numbers))?;
    } else {
        write(&args.out, csv(&grids, &values))?;
    }
    let text = format!(
        "{points} points in {}{}, volume {:.6} nm³, {}: {}{}",
        si(times.seconds, "s"),
        times.text(),
        form.volume(),
        how.text(),
        args.out.display(),
        measured.as_ref().map_or_else(String::new, boards::text),
    );
    let summarised = Summary {
        computation: how,
        points,
        read_s,
        times,
        boards: measured,
        ranks: team.size(),
        volume: form.volume(),
        file: &args.out,
        provenance,
    };
    summary(args.json, &json!(summarised), &text);
    Ok(())
}

impl FormFactorArgs {
    /// The q, and the line of each in the file.
    fn grids(&self) -> Result<(Vec<QGrid>, Vec<usize>)> {
        match (&self.grid, &self.q) {
            (Some(axes), _) => {
                let [x, y, z] = [&axes[0].0, &axes[1].0, &axes[2].0];
                match x
                    .len()
                    .checked_mul(y.len())
                    .and_then(|n| n.checked_mul(z.len()))
                {
                    Some(n) if n <= MAX => {}
                    _ => {
                        return Err(AppError::new(
                            "the grid has more than 2^30 points: use fewer values of qx, qy or qz",
                        ));
                    }
                }
                let im_qz = self.im_qz.unwrap_or(0.0);
                let z: Vec<Complex64> = z.iter().map(|&z| Complex64::new(z, im_qz)).collect();
                Ok((vec![QGrid::grid(x, y, &z)], Vec::new()))
            }
            (None, Some(path)) => listed(path, self.im_qz),
            (None, None) => unreachable!("clap asks for one of them"),
        }
    }
}

/// The result of the command, as JSON.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(flatten)]
    computation: Computation,
    /// Number of q.
    points: usize,
    /// Of reading and checking the shape, s.
    read_s: f64,
    #[serde(flatten)]
    times: Times,
    /// Repeated on each GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    boards: Option<Boards>,
    /// Number of ranks.
    ranks: usize,
    /// Of the shape, nm³.
    volume: f64,
    /// The output.
    #[serde(serialize_with = "greenup_app::print::as_lossy")]
    file: &'a Path,
    /// Where the result comes from.
    provenance: Provenance,
}
