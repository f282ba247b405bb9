//! `gisaxs wisdom`.

use super::summary;
use crate::GisaxsError;
use crate::gpu::{DirectConfig, ListConfig};
use crate::wisdom::{self, Values, verify};
use clap::Args;
use greenup_app::print::lossy;
use greenup_app::{AppError, Result};
use greenup_report::provenance::Provenance;
use greenup_tune::sweep::Folder;
use greenup_tune::sweep::wisdom::entry_of;
use greenup_tune::{Objective, Sweep};
use greenup_wisdom::merge::Prefer;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  gisaxs wisdom sweeps/form_factor_xeon2\n  gisaxs wisdom sweeps/form_factor_h200 --lowest-energy"
)]
pub struct WisdomArgs {
    /// Sweeps that `greenup tune` measured for form_factor_cpu, form_factor_gpu or form_factor_list
    #[arg(required = true)]
    sweeps: Vec<PathBuf>,
    /// Store the config of lowest energy instead of lowest time
    #[arg(long)]
    lowest_energy: bool,
    /// Print the stored configs as JSON
    #[arg(long)]
    json: bool,
}

/// The measured trials, the best first, with their numbers.
fn ranked(sweep: &Sweep, objective: Objective) -> Vec<(usize, Values)> {
    let values = |trial: usize| {
        let config = &sweep.trials.get(trial)?.config;
        let named = sweep.facts.parameters.iter().zip(config);
        let all = named.map(|(n, v)| Some((n.clone(), v.to_string().parse().ok()?)));
        Some((trial, Values::new(all.collect::<Option<_>>()?)))
    };
    (sweep.ranked(objective).into_iter())
        .filter_map(values)
        .collect()
}

/// Configs that are tried before a sweep is refused.
const TRIED: usize = 20;

/// The number of the best trial whose config is correct on this host, its error (`None`: the device is not here), and the
/// number of better ones that are not correct.
fn best<T>(
    ranked: &[(usize, Values)],
    config: impl Fn(&Values) -> std::result::Result<T, GisaxsError>,
    verify: impl Fn(&T) -> std::result::Result<Option<f64>, GisaxsError>,
) -> std::result::Result<(usize, Option<f64>, usize), GisaxsError> {
    let mut first = None;
    for (n, (trial, values)) in ranked.iter().take(TRIED).enumerate() {
        let config = config(values)?;
        match verify(&config) {
            Ok(error) => return Ok((*trial, error, n)),
            Err(m) => {
                first.get_or_insert(m);
            }
        }
    }
    let tried = ranked.len().min(TRIED);
    let first = first.map_or_else(String::new, |e| e.to_string());
    Err(
        format!("none of its {tried} best configs is correct on this host; the best: {first}")
            .into(),
    )
}

pub fn wisdom(args: &WisdomArgs) -> Result {
    let objective = if args.lowest_energy {
        Objective::Energy
    } else {
        Objective::Time
    };
    let mut entries = Vec::new();
    let mut text = String::new();
    for path in &args.sweeps {
        let wrong = |m: String| AppError::new(format!("{}: {m}", path.display()));
        let sweep = Folder::read(path)?;
        let mut ranked = ranked(&sweep, objective);
        if ranked.is_empty() {
            return Err(wrong(if args.lowest_energy {
                "no energy was measured".to_owned()
            } else {
                "nothing was measured".to_owned()
            }));
        }
        let refused = |e: GisaxsError| wrong(e.to_string());
        let device = sweep.facts.device.clone();
        let grids = DirectConfig::default();
        let (trial, error, skipped) = match sweep.facts.name.as_str() {
            wisdom::CPU => best(&ranked, Values::blocks, |b| verify::cpu(*b).map(Some)),
            wisdom::GPU => best(&ranked, Values::direct, |c| {
                verify::gpu(&device, *c, ListConfig::default())
            }),
            wisdom::LIST => {
                // With others the digits of a q depend on its place in a list, and that on how devices share the q.
                ranked.retain(|(_, v)| v.is_zero("by_hand"));
                if ranked.is_empty() {
                    return Err(wrong(
                        "has no config with by_hand = 0, which lists of q need".to_owned(),
                    ));
                }
                let list = |v: &Values| v.list(ListConfig::default());
                best(&ranked, list, |c| verify::gpu(&device, grids, *c))
            }
            other => {
                return Err(wrong(format!(
                    "is a sweep of {other}, not of the form factor"
                )));
            }
        }
        .map_err(refused)?;
        let from = path.display().to_string();
        let mut entry = entry_of(&sweep, trial, objective, &from)
            .ok_or_else(|| wrong("nothing was measured".to_owned()))?;
        // The application asks for the fastest: the user decides here what counts as the best.
        entry.objective = Objective::Time.to_string();
        entry.check().map_err(wrong)?;
        entries.push(entry);
        let checked = match error {
            Some(e) => format!("verified here, error {e:.1e}"),
            None => "not verified: this host has no such device".into(),
        };
        let better = match skipped {
            0 => String::new(),
            n => format!("; {n} better ones give wrong results here"),
        };
        text.push_str(&format!(
            "{device}: the best of {} trials, {checked}{better}\n",
            sweep.trials.len()
        ));
    }
    let kept = greenup_app::wisdom::keep(&entries, Prefer::Imported)?.ok_or_else(|| {
        AppError::new("wisdom is not used").hint("name a file with --wisdom FILE")
    })?;
    text.push_str(&format!("stored in {}", kept.path.display()));
    summary(
        args.json,
        &json!({"file": lossy(&kept.path), "entries": entries, "provenance": Provenance::of_process()}),
        &text,
    );
    Ok(())
}
