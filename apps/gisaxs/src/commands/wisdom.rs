//! `gisaxs wisdom`.

use super::{Result, summary};
use clap::Args;
use greenup_gisaxs::GisaxsError;
use greenup_gisaxs::gpu::{DirectConfig, ListConfig};
use greenup_gisaxs::numeric::Blocks;
use greenup_gisaxs::wisdom;
use greenup_tune::Sweep;
use greenup_tune::sweep::Folder;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub struct WisdomArgs {
    /// Folders of sweeps by `greenup tune` of form_factor_cpu, form_factor_gpu or form_factor_list
    #[arg(required = true)]
    sweeps: Vec<PathBuf>,
    /// Keep the config of least energy, not of least time
    #[arg(long)]
    greenest: bool,
    /// Print what is known as JSON
    #[arg(long)]
    json: bool,
}

/// The values of the best trial, by the names of the parameters.
fn best(sweep: &Sweep, greenest: bool) -> Option<Vec<(String, u64)>> {
    let cost = |c: &greenup_tune::Cost| if greenest { c.energy_j } else { Some(c.time_s) };
    let (trial, _) = sweep
        .measured()
        .filter_map(|(t, c)| Some((t, cost(&c)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    sweep
        .facts
        .parameters
        .iter()
        .zip(&trial.config)
        .map(|(n, v)| Some((n.clone(), v.to_string().parse().ok()?)))
        .collect()
}

pub fn wisdom(args: &WisdomArgs) -> Result<()> {
    let mut known = wisdom::read().map_err(GisaxsError::Sample)?;
    let mut words = String::new();
    for path in &args.sweeps {
        let wrong = |m: &str| GisaxsError::Sample(format!("{}: {m}", path.display()));
        let sweep = Folder::read(path).map_err(|e| GisaxsError::Sample(e.to_string()))?;
        let values = best(&sweep, args.greenest).ok_or_else(|| {
            wrong(if args.greenest {
                "no energy was measured"
            } else {
                "nothing was measured"
            })
        })?;
        let value = |name: &str| -> Result<u64> {
            let found = values.iter().find(|v| v.0 == name);
            found
                .map(|v| v.1)
                .ok_or_else(|| wrong(&format!("has no parameter {name}")))
        };
        let small = |name: &str| -> Result<u32> {
            u32::try_from(value(name)?).map_err(|_| wrong(&format!("{name} is too large")))
        };
        let device = match sweep.facts.name.as_str() {
            "form_factor_cpu" => {
                let name = wisdom::cpu();
                known.cpu.insert(
                    name.clone(),
                    Blocks {
                        points: (value("h_y")? * value("h_z")?) as usize,
                        nodes: value("h_t")? as usize,
                        unroll: value("per_lane")? as usize,
                    },
                );
                name
            }
            "form_factor_gpu" => {
                let name = sweep.facts.device.clone();
                known.gpu.insert(
                    name.clone(),
                    DirectConfig {
                        dim_y: small("dim_y")?,
                        dim_z: small("dim_z")?,
                        per_y: small("per_y")?,
                        per_z: small("per_z")?,
                        tile: small("tile")?,
                        buffers: small("buffers")?,
                        steps: small("steps")?,
                        sine: small("sine")?,
                        by_hand: small("by_hand")?,
                        h_y: small("h_y")?,
                        h_z: small("h_z")?,
                        h_t: small("h_t")?,
                    },
                );
                name
            }
            "form_factor_list" => {
                let name = sweep.facts.device.clone();
                known.gpu_list.insert(
                    name.clone(),
                    ListConfig {
                        threads: small("threads")?,
                        points: small("points")?,
                        tile: small("tile")?,
                        by_hand: small("by_hand")?,
                        ..known.list(&name)
                    },
                );
                name
            }
            other => {
                return Err(wrong(&format!(
                    "is a sweep of {other}, not of the form factor"
                )));
            }
        };
        words.push_str(&format!(
            "{device}: the best of {} trials\n",
            sweep.trials.len()
        ));
    }
    let file = known.keep().map_err(GisaxsError::Sample)?;
    words.push_str(&format!("kept in {}", file.display()));
    summary(args.json, &json!({"file": file, "known": known}), &words);
    Ok(())
}
