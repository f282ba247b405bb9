//! `gisaxs form-factor`.

use super::files::{beside, outputs, write};
use super::numeric::NumericArgs;
use super::{Result, stopped, summary, watched};
use clap::Args;
use greenup_files::outputs::ending;
use greenup_gisaxs::form::Shape;
use greenup_gisaxs::image::npy;
use greenup_gisaxs::numeric::{Settings, Sheet, Watch, each, prepare};
use greenup_gisaxs::table::{fail, numbers};
use greenup_gisaxs::{Complex64, FormFactor, GisaxsError, Q};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Args)]
pub struct FormFactorArgs {
    /// Page with a shape and its measures
    shape: PathBuf,
    /// Columns qx, qy, qz_re, qz_im, 1/nm
    #[arg(long, value_name = "Q.csv", required_unless_present = "grid")]
    q: Option<PathBuf>,
    /// A tensor grid instead: q_x, q_y and q_z, each one number or FROM:TO:N
    #[arg(long, num_args = 3, value_names = ["QX", "QY", "QZ"], value_parser = range, conflicts_with = "q",
          allow_hyphen_values = true)]
    grid: Option<Vec<Range>>,
    /// Im q_z all over the grid, 1/nm
    #[arg(
        long,
        default_value_t = 0.0,
        requires = "grid",
        allow_hyphen_values = true
    )]
    damping: f64,
    /// The same with F_re and F_im, nm³, as csv; of a grid also npy, complex numbers [qz][qx][qy]
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    numeric: NumericArgs,
    /// Print a summary as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Debug)]
pub struct Range(Vec<f64>);

fn range(text: &str) -> std::result::Result<Range, String> {
    let wrong = || format!("\"{text}\" is neither a number nor FROM:TO:N");
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

/// Most points of one call.
const MOST: usize = 1 << 30;

pub fn form_factor(args: &FormFactorArgs) -> Result<()> {
    let page = &args.shape;
    let endings: &[&str] = match args.grid {
        Some(_) => &["csv", "npy"],
        None => &["csv"],
    };
    let mut out = outputs(page);
    if let Some(q) = &args.q {
        out.input(q);
    }
    out.file(&args.out, endings)?;
    let as_npy = ending(&args.out, endings)? == "npy";
    let text = greenup_files::read_text(page)?;
    let shape: Shape = toml::from_str(&text).map_err(|e| fail(page, e.to_string().trim_end()))?;
    let form = shape.form_factor(beside(page))?;
    let settings = args.numeric.settings().map_err(GisaxsError::Sample)?;
    let (sheets, lines) = match (&args.grid, &args.q) {
        (Some(axes), _) => {
            let [x, y, z] = [&axes[0].0, &axes[1].0, &axes[2].0];
            match x
                .len()
                .checked_mul(y.len())
                .and_then(|n| n.checked_mul(z.len()))
            {
                Some(n) if n <= MOST => {}
                _ => {
                    return Err(GisaxsError::Sample(
                        "the grid has more than 2^30 points".into(),
                    ));
                }
            }
            let z: Vec<Complex64> = z.iter().map(|&z| Complex64::new(z, args.damping)).collect();
            (vec![Sheet::grid(x, y, &z)], Vec::new())
        }
        (None, Some(path)) => listed(path)?,
        (None, None) => unreachable!("clap asks for one of them"),
    };
    let points: usize = sheets.iter().map(Sheet::len).sum();
    let start = Instant::now();
    let (values, mut facts) = watched(points as u64, "q", |watch| {
        compute(form.as_ref(), &sheets, &settings, watch)
    })?;
    let values = values.ok_or_else(stopped)?;
    let seconds = start.elapsed().as_secs_f64();
    let bad = values.iter().flatten().position(|f| !f.is_finite());
    if let Some(n) = bad {
        let message = "F is beyond the range of numbers";
        return Err(match (&args.q, lines.get(n)) {
            (Some(file), Some(line)) => fail(file, format!("line {line}: {message}")),
            _ => {
                let Q { x, y, z } = sheets[0].q(n);
                GisaxsError::Sample(format!("q = ({x}, {y}, {z}): {message}"))
            }
        });
    }
    if as_npy {
        let axes = args
            .grid
            .as_ref()
            .map_or([0; 3], |a| [a[2].0.len(), a[0].0.len(), a[1].0.len()]);
        let numbers = values[0].iter().flat_map(|f| [f.re, f.im]);
        write(&args.out, npy("c16", &axes, numbers))?;
    } else {
        write(&args.out, csv(&sheets, &values))?;
    }
    let words = format!(
        "{points} points in {seconds:.3} s, volume {:.6} nm³{}: {}",
        form.volume(),
        facts["words"].as_str().unwrap_or_default(),
        args.out.display()
    );
    if let Value::Object(map) = &mut facts {
        map.remove("words");
        map.extend([
            ("points".to_owned(), json!(points)),
            ("seconds".to_owned(), json!(seconds)),
            ("volume".to_owned(), json!(form.volume())),
            ("file".to_owned(), json!(args.out)),
        ]);
    }
    summary(args.json, &facts, &words);
    Ok(())
}

/// What the error is of, in JSON.
const ERROR_OF: &str = "largest |F - F_exact| / V at these q, V = F(0)";

/// F of each sheet, and how it was computed.
fn compute(
    form: &dyn FormFactor,
    sheets: &[Sheet],
    settings: &Settings,
    watch: &Watch,
) -> Result<(Option<Vec<Vec<Complex64>>>, Value)> {
    let Some(solid) = form.polyhedron() else {
        return Ok((
            each(form, sheets, watch),
            json!({"way": "formula", "words": ", by its formula"}),
        ));
    };
    let ready = prepare(solid, sheets, settings).map_err(GisaxsError::Sample)?;
    let name = json!(ready.way);
    let words = format!(
        ", {} triangles, {} way{}, error of F/V at most {:.1e}",
        solid.triangles(),
        name.as_str().unwrap_or_default(),
        match ready.nodes {
            0 => String::new(),
            n => format!(" by {n} points"),
        },
        ready.error
    );
    let facts = json!({
        "way": name, "precision": ready.precision, "triangles": solid.triangles(), "nodes": ready.nodes,
        "error": ready.error, "error_of": ERROR_OF, "expected_s": ready.cost_s, "words": words,
    });
    let values = ready.sheets(sheets, watch).map_err(GisaxsError::Sample)?;
    Ok((values, facts))
}

/// The q of a file, runs with the same q_z together, and the line of each q.
fn listed(path: &Path) -> Result<(Vec<Sheet>, Vec<usize>)> {
    let rows = numbers(path, 4)?;
    let mut out: Vec<(Vec<[f64; 2]>, Complex64)> = Vec::new();
    for (_, v) in &rows {
        let z = Complex64::new(v[2], v[3]);
        match out.last_mut() {
            Some((xy, last)) if *last == z => xy.push([v[0], v[1]]),
            _ => out.push((vec![[v[0], v[1]]], z)),
        }
    }
    let sheets = out
        .into_iter()
        .map(|(xy, z)| Sheet {
            xy: xy.into(),
            z: vec![z],
        })
        .collect();
    Ok((sheets, rows.into_iter().map(|r| r.0).collect()))
}

fn csv(sheets: &[Sheet], values: &[Vec<Complex64>]) -> String {
    let mut text = String::from("qx,qy,qz_re,qz_im,F_re,F_im\n");
    for (s, v) in sheets.iter().zip(values) {
        for (n, f) in v.iter().enumerate() {
            let Q { x, y, z } = s.q(n);
            let cells = [x, y, z.re, z.im, f.re, f.im].map(|x| format!("{x:.17e}"));
            text.push_str(&cells.join(","));
            text.push('\n');
        }
    }
    text
}
