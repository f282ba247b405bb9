//! Heat maps over two parameters, as Figs. 3 and 6 of the X-ray scattering paper.

use super::parameters::{values, varied};
use greenup_report::heat_figure::Heat;
use greenup_report::si::si;
use greenup_space::Value;
use greenup_tune::Sweep;

/// The two parameters of a heat map.
#[derive(Clone, Debug)]
pub struct Axes {
    /// Along the horizontal axis.
    pub x: String,
    /// Along the vertical axis.
    pub y: String,
}

/// Why a heat map cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeatError {
    /// The text does not name two parameters.
    #[error("invalid axes `{0}`: give two parameters, such as h_y,h_z")]
    Axes(String),
    /// The sweep lacks a parameter.
    #[error("the sweep has no parameter `{name}`; it has {known}")]
    Parameter {
        /// Name of the missing parameter.
        name: String,
        /// Parameters of the sweep.
        known: String,
    },
    /// All configs have the same value.
    #[error(
        "`{name}` has one value, {value}, in the sweep: choose a parameter that varies: {varying}"
    )]
    OneValue {
        /// The parameter.
        name: String,
        /// Its value.
        value: String,
        /// Parameters with several values.
        varying: String,
    },
    /// No trial succeeded.
    #[error("nothing was measured")]
    Empty,
}

impl std::str::FromStr for Axes {
    type Err = HeatError;

    fn from_str(text: &str) -> Result<Self, HeatError> {
        match text.split_once(',') {
            Some((x, y)) if !x.is_empty() && !y.is_empty() && x != y => Ok(Self {
                x: x.trim().to_owned(),
                y: y.trim().to_owned(),
            }),
            _ => Err(HeatError::Axes(text.to_owned())),
        }
    }
}

/// The minimum time for each pair of values of two parameters, over all values of the others.
///
/// # Errors
/// The sweep lacks a parameter, or no trial succeeded.
pub fn heat(sweep: &Sweep, axes: &Axes) -> Result<Heat, HeatError> {
    let names = &sweep.facts.parameters;
    let place = |name: &str| {
        names
            .iter()
            .position(|n| n == name)
            .ok_or_else(|| HeatError::Parameter {
                name: name.to_owned(),
                known: names.join(", "),
            })
    };
    let (x, y) = (place(&axes.x)?, place(&axes.y)?);
    let (xs, ys) = (values(sweep, x), values(sweep, y));
    for (name, all) in [(&axes.x, &xs), (&axes.y, &ys)] {
        if let [value] = all.as_slice() {
            let varying = varied(sweep).into_iter().map(|(p, _)| names[p].as_str());
            return Err(HeatError::OneValue {
                name: name.clone(),
                value: value.to_string(),
                varying: varying.collect::<Vec<_>>().join(", "),
            });
        }
    }
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
        .ok_or(HeatError::Empty)?;
    let text = |all: &[Value]| all.iter().map(Value::to_string).collect();
    Ok(Heat {
        title: format!(
            "{}: time over the best of {}",
            sweep.facts.name,
            si(best, "s")
        ),
        ratios: times
            .iter()
            .map(|row| row.iter().map(|t| t.map(|t| t / best)).collect())
            .collect(),
        quantity: "time over the best".into(),
        x: (axes.x.clone(), text(&xs)),
        y: (axes.y.clone(), text(&ys)),
    })
}
