//! Heat maps over two parameters, as Figs 3 and 6 of the X-ray scattering paper.

use crate::error::{CliError, Result};
use greenup_report::heat_figure::Heat;
use greenup_report::si::si;
use greenup_space::Value;
use greenup_tune::Sweep;

/// Two parameters of a sweep, joined by a comma.
#[derive(Clone, Debug)]
pub struct Axes {
    pub x: String,
    pub y: String,
}

impl std::str::FromStr for Axes {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text.split_once(',') {
            Some((x, y)) if !x.is_empty() && !y.is_empty() && x != y => Ok(Self {
                x: x.trim().to_owned(),
                y: y.trim().to_owned(),
            }),
            _ => Err(format!("\"{text}\" names no two parameters: write h_y,h_z")),
        }
    }
}

/// The least time over two parameters, whatever the others are.
pub fn heat(sweep: &Sweep, axes: &Axes) -> Result<Heat> {
    let names = &sweep.facts.parameters;
    let place = |name: &str| {
        names.iter().position(|n| n == name).ok_or_else(|| {
            CliError::new(format!("the sweep has no parameter \"{name}\""))
                .hint(format!("it has {}", names.join(", ")))
        })
    };
    let (x, y) = (place(&axes.x)?, place(&axes.y)?);
    let values = |at: usize| -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        for t in &sweep.trials {
            if !all.contains(&t.config[at]) {
                all.push(t.config[at].clone());
            }
        }
        let key = |v: &Value| v.to_string().parse::<f64>().unwrap_or(f64::NAN);
        all.sort_by(|a, b| key(a).total_cmp(&key(b)));
        all
    };
    let (xs, ys) = (values(x), values(y));
    let times: Vec<Vec<Option<f64>>> = ys
        .iter()
        .map(|v| {
            xs.iter()
                .map(|u| {
                    sweep
                        .measured()
                        .filter(|(t, _)| t.config[x] == *u && t.config[y] == *v)
                        .map(|(_, c)| c.time_s)
                        .min_by(f64::total_cmp)
                })
                .collect()
        })
        .collect();
    let best = times
        .iter()
        .flatten()
        .flatten()
        .copied()
        .min_by(f64::total_cmp)
        .ok_or_else(|| CliError::new("nothing was measured"))?;
    let words = |t: &Option<f64>| t.map_or(String::new(), |t| format!("{:.2}", t / best));
    let text = |all: &[Value]| all.iter().map(Value::to_string).collect();
    Ok(Heat {
        title: format!(
            "{}: time over the best of {}",
            sweep.facts.name,
            si(best, "s")
        ),
        shares: times
            .iter()
            .map(|row| row.iter().map(|t| t.map(|t| best / t)).collect())
            .collect(),
        words: times
            .iter()
            .map(|row| row.iter().map(words).collect())
            .collect(),
        x: (axes.x.clone(), text(&xs)),
        y: (axes.y.clone(), text(&ys)),
    })
}
