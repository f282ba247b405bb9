//! Fitted values with their uncertainties: as text, as a table and as JSON.

use super::Report;
use crate::fit::{Fitted, Free, Target};
use crate::sample::limits::unit;
use greenup_report::table::{Cell, Columns, Table};
use serde_json::{Value, json};

/// A value and its uncertainty, two digits of it; in powers of ten where the value is large or small. An infinite uncertainty
/// is not known.
pub fn with_error(value: f64, error: f64) -> (String, String) {
    if !(error > 0.0 && error.is_finite() && value.is_finite()) {
        let error = if error.is_finite() {
            format!("{error}")
        } else {
            "not known".into()
        };
        return (plain(value), error);
    }
    let last = error.log10().floor() as i32 - 1;
    let size = value.abs().max(error);
    if (1e-4..1e6).contains(&size) {
        let digits = (-last).clamp(0, 15) as usize;
        return (format!("{value:.digits$}"), format!("{error:.digits$}"));
    }
    let power = size.log10().floor() as i32;
    let digits = (power - last).clamp(0, 15) as usize;
    let scaled = |x: f64| format!("{:.digits$}e{power}", x / 10_f64.powi(power));
    (scaled(value), scaled(error))
}

/// A number as in an input file.
fn plain(v: f64) -> String {
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if v == 0.0 || (1e-4..1e6).contains(&v.abs()) {
        let digits = (5.0 - v.abs().max(1e-4).log10().floor()).clamp(0.0, 9.0) as usize;
        return trimmed(&format!("{v:.digits$}"));
    }
    let text = format!("{v:.4e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{}e{power}", trimmed(digits)),
        None => text,
    }
}

/// The result as JSON: `parameters` with path, value, error, start, bounds and unit; matrices in their order.
pub fn json(target: &Target, found: &Fitted) -> Value {
    let parameters: Vec<Value> = target
        .free
        .iter()
        .enumerate()
        .map(|(k, f)| {
            json!({
                "path": f.path, "same": f.same, "unit": unit(&f.path),
                "value": found.values[k], "error": found.errors[k],
                "start": found.start[k], "after_swarm": found.swarm.as_ref().map(|s| s[k]),
                "from": f.from, "to": f.to, "log": f.log,
            })
        })
        .collect();
    json!({
        "parameters": parameters, "chi2": found.chi2, "points": found.points, "left_out": target.left_out,
        "degrees_of_freedom": target.freedom(), "models": found.models, "noise_scale": found.noise_scale,
        "correlations": found.correlations, "covariance": found.covariance,
        "termination": found.termination, "at_bounds": found.at_bounds,
        "convergence": found.convergence, "starts": found.starts, "warnings": found.warnings(target),
    })
}

/// A value with its uncertainty and unit: `5.012 ± 0.021 nm`.
fn stated(value: f64, error: f64, unit: &str) -> String {
    let (value, error) = with_error(value, error);
    format!("{value} ± {error} {unit}").trim_end().to_owned()
}

impl Report<'_> {
    /// Whether a parameter ended at a bound.
    pub(super) fn at_bound(&self, k: usize) -> bool {
        self.found.at_bounds.contains(&self.target.free[k].path)
    }

    /// A parameter's value with its uncertainty, which has no meaning at a bound, and unit.
    pub(super) fn stated(&self, k: usize) -> String {
        let (path, found) = (&self.target.free[k].path, self.found);
        if self.at_bound(k) {
            return format!("{} {}, at a bound", plain(found.values[k]), unit(path));
        }
        stated(found.values[k], found.errors[k], unit(path))
    }

    /// A row a parameter: its value, and where that lies between its bounds.
    pub(super) fn parameters(&self) -> Table {
        let found = self.found;
        let names = self.names();
        let mark = |k: usize| self.at_bound(k).then_some("bad");
        Columns::<(usize, &Free)>::new()
            .cell(
                "parameter",
                "its path in the sample's input file",
                |(k, _)| Cell::text(names[*k].clone()).marked(mark(*k)),
            )
            .cell("value ± σ", "σ: one standard deviation", |(k, _)| {
                Cell::number(found.values[*k], self.stated(*k)).marked(mark(*k))
            })
            .cell(
                "from … to",
                "where the value is between its bounds",
                |(k, f)| {
                    let share = f.share(found.values[*k]);
                    Cell::number(share, format!("{} … {}", plain(f.from), plain(f.to)))
                        .placed(share)
                        .marked(mark(*k))
                },
            )
            .table("", self.target.free.iter().enumerate())
    }

    /// Where the best start began and what it reached.
    pub(super) fn way(&self) -> Table {
        let found = self.found;
        let names = self.names();
        Columns::<(usize, &Free)>::new()
            .text("parameter", "", |(k, _)| names[*k].clone())
            .shown(
                "start",
                "where the best start began; with a swarm the best of its first positions",
                plain,
                |(k, _)| found.start[*k],
            )
            .shown(
                "after the swarm",
                "where Levenberg–Marquardt began",
                plain,
                |(k, _)| found.swarm.as_ref().map(|s| s[*k]),
            )
            .where_known()
            .text("unit", "", |(_, f)| unit(&f.path).to_owned())
            .table("", self.target.free.iter().enumerate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_digits_that_their_errors_leave() {
        let text = |v, e| {
            let (a, b) = with_error(v, e);
            format!("{a} ± {b}")
        };
        assert_eq!(text(5.01234, 0.0213), "5.012 ± 0.021");
        assert_eq!(text(120.4, 15.0), "120 ± 15");
        assert_eq!(text(2.99874e8, 1.13e5), "2.9987e8 ± 0.0011e8");
        assert_eq!(text(2.5e-6, 1.0e-8), "2.500e-6 ± 0.010e-6");
        assert_eq!(text(1.0, f64::INFINITY), "1 ± not known");
        assert_eq!(
            (plain(2.0), plain(0.0025), plain(1e10)),
            ("2".into(), "0.0025".into(), "1e10".into())
        );
    }
}
