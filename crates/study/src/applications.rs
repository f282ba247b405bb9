//! Energies of applications, predicted from hardware counters and compared with measurements (thesis, chapter 6).

use greenup_model::{Machine, MachineError};
use greenup_tune::analyze::counted::{self, FromCounters};
use greenup_tune::sweep::{Folder, FolderError};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Applications of this workspace and their recorded sweeps.
pub const KNOWN: [(&str, &[&str]); 4] = [
    ("fmm", &["fmm_h200", "fmm_ulist_h200", "fmm_ulist_f64_h200"]),
    ("gemm", &["dgemm_h200"]),
    ("gisaxs", &["form_factor_h200", "form_factor_list_h200"]),
    ("hydro", &["hydro_corner_h200"]),
];

/// An application, or a sweep, with predicted and measured energies of its cases.
#[derive(Serialize)]
pub struct Application {
    /// Name of the application, or of the folder of the sweep.
    pub name: String,
    /// Folders of its sweeps.
    pub sweeps: Vec<String>,
    /// Configs with counters and a measured energy.
    pub cases: Vec<FromCounters>,
    /// Mean of |predicted − measured| / measured energy.
    pub mean_error: f64,
    /// The largest of these errors.
    pub largest_error: f64,
    /// Minimum and maximum share of constant power in the predicted energy.
    pub constant_share: (f64, f64),
    /// Median of T / T_min: measured time over the roofline bound.
    pub over_least_time: Option<f64>,
}

/// All applications on one machine.
#[derive(Serialize)]
pub struct Explained {
    /// Title of the machine.
    pub machine: String,
    /// Results of each application.
    pub applications: Vec<Application>,
    /// Number of cases.
    pub cases: usize,
    /// Mean error over all cases.
    pub mean_error: f64,
    /// Mean of the applications' mean errors.
    pub mean_of_applications: f64,
    /// Largest error over all cases.
    pub largest_error: f64,
}

/// Why the energies of an application cannot be predicted.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// A sweep cannot be read.
    #[error(transparent)]
    Sweep(#[from] FolderError),
    /// The machine lacks a cost.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// The sweep has no counters of configs with measured energy.
    #[error("{0} has no counters with energies; `greenup profile` measures them")]
    NoCounters(String),
}

/// Names of the known applications.
pub fn names() -> [&'static str; 4] {
    KNOWN.map(|k| k.0)
}

/// Folders of the sweeps of an application, below the folder `sweeps`; an unknown `name` is the folder of one sweep.
pub fn folders(name: &str, sweeps: &Path) -> Vec<PathBuf> {
    match KNOWN.iter().find(|k| k.0 == name) {
        Some((_, all)) => all.iter().map(|s| sweeps.join(s)).collect(),
        None => vec![PathBuf::from(name)],
    }
}

/// Predicts the energies of applications by name, or of sweeps by folder.
///
/// # Errors
/// A sweep cannot be read or has no counters, or the machine lacks a cost.
pub fn explain(
    names: &[&str],
    sweeps: &Path,
    machine: &Machine,
) -> Result<Explained, ExplainError> {
    let applications = names
        .iter()
        .map(|name| application(name, sweeps, machine))
        .collect::<Result<Vec<_>, _>>()?;
    let errors: Vec<f64> = applications
        .iter()
        .flat_map(|a| a.cases.iter().map(|c| c.error().abs()))
        .collect();
    let means: Vec<f64> = applications.iter().map(|a| a.mean_error).collect();
    Ok(Explained {
        machine: machine.title.clone(),
        cases: errors.len(),
        mean_error: mean(&errors),
        mean_of_applications: mean(&means),
        largest_error: errors.iter().copied().fold(0.0, f64::max),
        applications,
    })
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len().max(1) as f64
}

fn application(name: &str, sweeps: &Path, machine: &Machine) -> Result<Application, ExplainError> {
    let known = KNOWN.iter().any(|k| k.0 == name);
    let folders = folders(name, sweeps);
    let mut cases = Vec::new();
    for folder in &folders {
        cases.extend(counted::predict(&Folder::read(folder)?, machine)?);
    }
    if cases.is_empty() {
        return Err(ExplainError::NoCounters(name.to_owned()));
    }
    let errors: Vec<f64> = cases.iter().map(|c| c.error().abs()).collect();
    let constant: Vec<f64> = cases.iter().map(|c| c.constant_j / c.predicted_j).collect();
    let mut ratios: Vec<f64> = (cases
        .iter()
        .filter_map(|c| c.predicted_s.map(|s| c.time_s / s)))
    .collect();
    ratios.sort_by(f64::total_cmp);
    Ok(Application {
        name: if known {
            name.to_owned()
        } else {
            folders[0]
                .file_name()
                .map_or_else(|| name.to_owned(), |n| n.to_string_lossy().into_owned())
        },
        sweeps: folders.iter().map(|f| f.display().to_string()).collect(),
        mean_error: mean(&errors),
        largest_error: errors.iter().copied().fold(0.0, f64::max),
        constant_share: (
            constant.iter().copied().fold(f64::INFINITY, f64::min),
            constant.iter().copied().fold(0.0, f64::max),
        ),
        over_least_time: ratios.get(ratios.len() / 2).copied(),
        cases,
    })
}
