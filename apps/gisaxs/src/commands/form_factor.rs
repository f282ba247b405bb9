//! `gisaxs form-factor`.

use super::boards::{self, Boards};
use super::files::{beside, outputs, write};
use super::mesh_form_factor::MeshFormFactorArgs;
use super::{stopped, summary, watched};
use clap::Args;
use greenup_app::provenance::Provenance;
use greenup_app::ranks::RanksArg;
use greenup_app::{AppError, Result};
use greenup_files::outputs::ending;
use greenup_gisaxs::form::Shape;
use greenup_gisaxs::image::npy;
use greenup_gisaxs::mesh_form_factor::{
    MakeMeter, Method, Precision, QGrid, Settings, Watch, each_over, prepare,
};
use greenup_gisaxs::table::{fail, numbers};
use greenup_gisaxs::{Complex64, FormFactor, GisaxsError, Q};
use greenup_ranks::Ranks;
use serde::Serialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

#[derive(Args)]
pub struct FormFactorArgs {
    /// Input file (TOML) with a shape and its dimensions
    shape: PathBuf,
    /// Table of q: columns qx, qy, Re qz, Im qz, 1/nm
    #[arg(long, value_name = "Q.csv", required_unless_present = "grid")]
    q: Option<PathBuf>,
    /// Tensor grid of q instead: qx, qy and qz, each a number or FROM:TO:N, 1/nm
    #[arg(long, num_args = 3, value_names = ["QX", "QY", "QZ"], value_parser = range, conflicts_with = "q",
          allow_hyphen_values = true)]
    grid: Option<Vec<Range>>,
    /// Im(q_z) of all points of the grid, 1/nm
    #[arg(
        long,
        default_value_t = 0.0,
        requires = "grid",
        allow_hyphen_values = true
    )]
    im_qz: f64,
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

#[derive(Clone, Debug)]
pub struct Range(Vec<f64>);

fn range(text: &str) -> std::result::Result<Range, String> {
    let wrong = || format!("\"{text}\" is not a number or FROM:TO:N");
    let parts: Vec<&str> = text.split(':').collect();
    let number = |s: &str| {
        s.parse::<f64>()
            .ok()
            .filter(|x| x.is_finite())
            .ok_or_else(wrong)
    };
    match parts[..] {
        [one] => Ok(Range(vec![number(one)?])),
        [from, to, n] => {
            let (from, to) = (number(from)?, number(to)?);
            let n: usize = n.parse().ok().filter(|n| *n >= 2).ok_or_else(wrong)?;
            let step = (to - from) / (n - 1) as f64;
            Ok(Range((0..n).map(|k| from + step * k as f64).collect()))
        }
        _ => Err(wrong()),
    }
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
        boards,
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
        "{points} points in {:.3} s{}, volume {:.6} nm³, {}: {}{}",
        times.seconds,
        times.text(),
        form.volume(),
        how.text(),
        args.out.display(),
        boards.as_ref().map_or_else(String::new, Boards::text),
    );
    let summarised = Summary {
        computation: how,
        points,
        read_s,
        times,
        boards,
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
                        return Err(AppError::new("the grid has more than 2^30 points"));
                    }
                }
                let z: Vec<Complex64> = z.iter().map(|&z| Complex64::new(z, self.im_qz)).collect();
                Ok((vec![QGrid::grid(x, y, &z)], Vec::new()))
            }
            (None, Some(path)) => listed(path),
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
    file: &'a Path,
    /// Where the result comes from.
    provenance: Provenance,
}

/// How F was computed.
#[derive(Serialize)]
#[serde(untagged)]
enum Computation {
    /// By the formula of the shape.
    Formula {
        /// "formula".
        method: &'static str,
    },
    /// As a sum over the triangles of a mesh.
    Mesh {
        method: Method,
        precision: Precision,
        triangles: usize,
        /// Number of nodes on the surface; 0 for the analytic transform.
        nodes: usize,
        /// Largest |F − F_exact| / V, estimated (for the nonuniform FFT a bound).
        error: f64,
        /// What `error` is.
        error_of: &'static str,
        /// Time predicted by the cost model, s.
        expected_s: Option<f64>,
    },
}

impl Computation {
    fn text(&self) -> String {
        match self {
            Self::Formula { .. } => "analytic formula".to_owned(),
            Self::Mesh {
                method,
                triangles,
                nodes,
                error,
                ..
            } => {
                let nodes = match nodes {
                    0 => String::new(),
                    n => format!(", {n} nodes"),
                };
                // A bound for the nonuniform FFT, a typical size for sums.
                let sign = if *method == Method::Nufft {
                    '≤'
                } else {
                    '≈'
                };
                format!(
                    "{triangles} triangles, method {}{nodes}, error of F/V {sign} {error:.1e}",
                    method.name()
                )
            }
        }
    }
}

/// What `error` is, in JSON.
const ERROR_OF: &str = "largest |F - F_exact| / V at these q, V = F(0)";

/// Times of the computation; of several ranks those of the slowest.
#[derive(Clone, Debug, Serialize)]
struct Times {
    /// Of the preparation and the first evaluation, s.
    seconds: f64,
    /// Of the preparation: nodes on the surface, tables, and for the nonuniform FFT spreading, s.
    prepare_s: f64,
    /// Of the fastest evaluation, with transfers, and with gathering from all ranks, s.
    evaluation_s: f64,
    /// Of the kernels on the slowest GPU in the preparation and the fastest evaluation, without transfers, s.
    kernel_s: Option<f64>,
    /// The same for each GPU of all ranks, s.
    kernels_s: Vec<f64>,
}

impl Times {
    fn text(&self) -> String {
        self.kernel_s
            .map_or_else(String::new, |s| format!(" ({s:.4} s on the slowest GPU)"))
    }
}

/// What a command computed.
struct Computed {
    values: Vec<Vec<Complex64>>,
    how: Computation,
    times: Times,
    boards: Option<Boards>,
}

/// F of each grid on the first rank, and how it was computed; `None` if the user stopped it.
fn compute(
    form: &dyn FormFactor,
    grids: &[QGrid],
    settings: &Settings,
    (repeat, meter): (u32, Option<&Arc<MakeMeter>>),
    (ranks, watch): (&dyn Ranks, &Watch),
) -> Result<Option<Computed>> {
    let start = Instant::now();
    let Some(solid) = form.polyhedron() else {
        if meter.is_some() {
            return Err(AppError::new(
                "--measure measures meshes on GPUs; this shape has a formula",
            ));
        }
        let Some(values) = each_over(form, grids, ranks, watch) else {
            return Ok(None);
        };
        let seconds = boards::longest(ranks, start.elapsed().as_secs_f64());
        return Ok(Some(Computed {
            values,
            how: Computation::Formula { method: "formula" },
            times: Times {
                seconds,
                prepare_s: 0.0,
                evaluation_s: seconds,
                kernel_s: None,
                kernels_s: Vec::new(),
            },
            boards: None,
        }));
    };
    let ready = prepare(solid, grids, settings, ranks)?;
    let prepared_s = ready.take_device_s();
    let how = Computation::Mesh {
        method: ready.method,
        precision: ready.precision,
        triangles: solid.triangles(),
        nodes: ready.nodes,
        error: ready.error,
        error_of: ERROR_OF,
        expected_s: ready.cost_s,
    };
    let prepare_s = boards::longest(ranks, start.elapsed().as_secs_f64());
    let (mut best, mut values, mut seconds) = (f64::INFINITY, Vec::new(), None);
    let mut kernels_s = Vec::new();
    for _ in 0..repeat {
        ranks.barrier();
        let begin = Instant::now();
        let Some(v) = ready.over(grids, ranks, watch)? else {
            return Ok(None);
        };
        values = v;
        let s = boards::longest(ranks, begin.elapsed().as_secs_f64());
        seconds.get_or_insert(prepare_s + s);
        let on_device = ready.take_device_s();
        if s < best {
            (best, kernels_s) = (s, on_device);
        }
    }
    for (s, spread) in kernels_s.iter_mut().zip(&prepared_s) {
        *s += spread;
    }
    let kernels_s = boards::of_all(ranks, &kernels_s);
    let boards = match meter {
        None => None,
        Some(meter) => {
            ranks.barrier();
            Boards::new(ranks, &ready.measure(grids, ranks, meter)?)
        }
    };
    Ok(Some(Computed {
        values,
        how,
        times: Times {
            seconds: seconds.unwrap_or(0.0),
            prepare_s,
            evaluation_s: best,
            kernel_s: kernels_s.iter().copied().reduce(f64::max),
            kernels_s,
        },
        boards,
    }))
}

/// The q of a file, runs with the same q_z together, and the line of each q.
fn listed(path: &Path) -> Result<(Vec<QGrid>, Vec<usize>)> {
    let rows = numbers(path, 4)?;
    let mut out: Vec<(Vec<[f64; 2]>, Complex64)> = Vec::new();
    for (_, v) in &rows {
        let z = Complex64::new(v[2], v[3]);
        match out.last_mut() {
            Some((xy, last)) if *last == z => xy.push([v[0], v[1]]),
            _ => out.push((vec![[v[0], v[1]]], z)),
        }
    }
    let grids = out
        .into_iter()
        .map(|(xy, z)| QGrid {
            xy: xy.into(),
            z: vec![z],
        })
        .collect();
    Ok((grids, rows.into_iter().map(|r| r.0).collect()))
}

fn csv(grids: &[QGrid], values: &[Vec<Complex64>]) -> String {
    let mut text = String::from("qx,qy,qz_re,qz_im,F_re,F_im\n");
    for (s, v) in grids.iter().zip(values) {
        for (n, f) in v.iter().enumerate() {
            let Q { x, y, z } = s.q(n);
            let cells = [x, y, z.re, z.im, f.re, f.im].map(|x| format!("{x:.17e}"));
            text.push_str(&cells.join(","));
            text.push('\n');
        }
    }
    text
}
