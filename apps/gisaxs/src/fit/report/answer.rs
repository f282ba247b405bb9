//! The result in sentences: whether the fit converged, how sure it is, what to do next.

use super::{Report, chi2, correlations};
use crate::fit::Noise;
use crate::fit::result::UNEXPLAINED;
use crate::image::figure::UNIT;
use greenup_report::page::Answer;
use greenup_report::si::{percent, three};

/// So many parameters are all in the answer.
const FEW: usize = 4;

/// Correlation from which the data hardly tell two parameters apart.
const ALIKE: f64 = 0.95;
/// χ² per degree of freedom of counts from which the model misses more than noise.
const MISSED: f64 = 1.5;

impl Report<'_> {
    fn converged(&self) -> bool {
        self.found.termination.starts_with("converged")
    }

    /// How well the model meets the data. Of data whose error is estimated from their scatter, χ² says nothing.
    pub(super) fn agreement(&self) -> String {
        let scale = self.found.noise_scale;
        match self.target.noise {
            Noise::Poisson => format!("χ²/ν {}", chi2(self.found.chi2)),
            Noise::Relative => format!("data scatter by {} around the model", percent(scale)),
            Noise::Uniform => format!("data scatter by {} {UNIT} around the model", three(scale)),
        }
    }

    /// The answer at the top of the page. `input` is the name of the fit's input file.
    pub(super) fn answer(&self, input: &str) -> Answer {
        let names = self.names();
        let code = |k: usize| format!("`{}`", names[k]);
        let state = if self.converged() {
            "Converged"
        } else {
            "Not converged"
        };
        let strongest = self.strongest();
        let most = match strongest {
            None if names.len() == 1 => format!("; {} = {}", code(0), self.stated(0)),
            _ => String::new(),
        };
        let mut says = vec![format!("{state}, {}{most}.", self.agreement())];
        if (2..=FEW).contains(&names.len()) {
            let all = (0..names.len()).map(|k| format!("{} {}", code(k), self.stated(k)));
            says.push(format!("{}.", all.collect::<Vec<_>>().join("; ")));
        }
        let list = |which: &dyn Fn(usize) -> bool| {
            let all: Vec<String> = (0..names.len()).filter(|k| which(*k)).map(code).collect();
            (!all.is_empty()).then(|| (all.join(", "), all.len() > 1))
        };
        let bound = list(&|k| self.at_bound(k));
        let lost = list(&|k| !self.found.errors[k].is_finite());
        let counts = self.target.noise == Noise::Poisson;
        let missed = counts && self.found.chi2 > MISSED;
        let mut sure = Vec::new();
        if let Some((names, many)) = &bound {
            let (end, their) = if *many {
                ("end at bounds", "their uncertainties have")
            } else {
                ("ends at a bound", "its uncertainty has")
            };
            sure.push(format!("{names} {end}: {their} no meaning."));
        }
        if let Some((names, _)) = &lost {
            sure.push(format!(
                "The data do not determine {names}: no effect, or that of another parameter."
            ));
        }
        if missed {
            sure.push(format!(
                "Counting noise gives χ²/ν 1: the model {}. Uncertainties are those of the counts times √(χ²/ν).",
                if self.found.chi2 > UNEXPLAINED {
                    "does not explain the data"
                } else {
                    "misses more than noise"
                }
            ));
        } else {
            let noise = match counts {
                true => "of the counting noise",
                false => "of the scatter around the model",
            };
            sure.push(format!(
                "Uncertainties are standard errors {noise}: errors of the model itself are not in them."
            ));
        }
        if let Some((a, b, r)) = strongest {
            sure.push(format!(
                "{} and {} correlate at {}, which their uncertainties include.",
                code(a),
                code(b),
                correlations::shown(r)
            ));
        }
        // A bound that is in the way is the reason of all else.
        let next = if let Some((names, _)) = &bound {
            format!("Wider bounds of {names} in `{input}`, where the sample allows them.")
        } else if !self.converged() {
            format!("More `starts` in `{input}`, or initial values nearer to the solution.")
        } else if let Some((names, many)) = &lost {
            if *many {
                format!("Fix some of {names}, so that the data determine the others.")
            } else {
                format!("A fixed value of {names}.")
            }
        } else if missed {
            "See below where the residuals are not noise; something is missing there.".into()
        } else if let Some((a, b, _)) = strongest.filter(|s| s.2.abs() > ALIKE) {
            format!(
                "Fix {} or {}, or add data that tell them apart.",
                code(a),
                code(b)
            )
        } else {
            "See that the residuals below are noise; then copy the sample with the fitted values from the end of this page, for `gisaxs simulate` at other angles."
                .into()
        };
        Answer {
            says,
            sure,
            next: vec![next],
        }
    }
}
