//! Points per leaf that balance a GPU and the host's cores.

use crate::commands::{check_interrupt, time};
use crate::hybrid::{Trial, balance};
use crate::plan::Plan;
use crate::precision::Real;
use crate::session::engines::hybrid;
use greenup_app::{AppError, Result, print};
use serde::Serialize;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

/// How points per leaf were balanced.
#[derive(Debug, Serialize)]
pub struct Balance {
    /// Time of the search, s.
    pub time_s: f64,
    /// All evaluations of the search.
    pub trials: Vec<Trial>,
}

impl Balance {
    /// A line for each evaluation.
    pub fn text(&self) -> String {
        let mut out = format!("balancing         {:>9}\n", time(self.time_s));
        for t in &self.trials {
            let _ = writeln!(out, "  {}", line(t));
        }
        out
    }
}

fn line(t: &Trial) -> String {
    let mut out = format!(
        "ncrit {:>5}: cores {}, GPU {}",
        t.ncrit,
        time(t.measured.cpu_s),
        time(t.measured.gpu_s)
    );
    if let Some(p) = t.predicted {
        let _ = write!(out, " (predicted {}, {})", time(p.cpu_s), time(p.gpu_s));
    }
    let _ = write!(out, ", evaluation {}", time(t.evaluation_s));
    out
}

/// The plan with which an evaluation on both was fastest.
pub fn balanced<R: Real>(
    first: Plan<R>,
    charges: &[f64],
    gpu: usize,
    kernels: &str,
) -> Result<(Arc<Plan<R>>, Balance)> {
    let start = Instant::now();
    let (plan, trials) = balance(
        first,
        charges,
        |plan| hybrid(plan, gpu, kernels),
        |trial| {
            print::note(format!("balancing: {}", line(trial)));
            check_interrupt()?;
            Ok::<_, AppError>(())
        },
    )?;
    let time_s = start.elapsed().as_secs_f64();
    Ok((plan, Balance { time_s, trials }))
}
