//! `gisaxs wisdom`.

use super::summary;
use clap::Args;
use greenup_app::provenance::Provenance;
use greenup_app::{AppError, Result};
use greenup_gisaxs::GisaxsError;
use greenup_gisaxs::gpu::{DirectConfig, ListConfig};
use greenup_gisaxs::mesh_form_factor::Blocks;
use greenup_gisaxs::wisdom::{self, verify};
use greenup_tune::Sweep;
use greenup_tune::sweep::Folder;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
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

/// The values of a trial, by the names of the parameters.
struct Values(Vec<(String, u64)>);

impl Values {
    fn of(&self, name: &str) -> std::result::Result<u64, GisaxsError> {
        let found = self.0.iter().find(|v| v.0 == name);
        found
            .map(|v| v.1)
            .ok_or_else(|| format!("has no parameter {name}").into())
    }

    fn small(&self, name: &str) -> std::result::Result<u32, GisaxsError> {
        u32::try_from(self.of(name)?).map_err(|_| format!("{name} is too large").into())
    }

    fn blocks(&self) -> std::result::Result<Blocks, GisaxsError> {
        let size = |n: u64| usize::try_from(n).map_err(|_| format!("{n} is too large"));
        let points = self.of("h_y")?.checked_mul(self.of("h_z")?);
        Ok(Blocks {
            points: size(points.ok_or("h_y times h_z is too large")?)?,
            nodes: size(self.of("h_t")?)?,
            unroll: size(self.of("per_lane")?)?,
        })
    }

    fn direct(&self) -> std::result::Result<DirectConfig, GisaxsError> {
        Ok(DirectConfig {
            dim_y: self.small("dim_y")?,
            dim_z: self.small("dim_z")?,
            per_y: self.small("per_y")?,
            per_z: self.small("per_z")?,
            tile: self.small("tile")?,
            buffers: self.small("buffers")?,
            steps: self.small("steps")?,
            sine: self.small("sine")?,
            by_hand: self.small("by_hand")?,
            h_y: self.small("h_y")?,
            h_z: self.small("h_z")?,
            h_t: self.small("h_t")?,
        })
    }

    fn list(&self, known: ListConfig) -> std::result::Result<ListConfig, GisaxsError> {
        Ok(ListConfig {
            threads: self.small("threads")?,
            points: self.small("points")?,
            tile: self.small("tile")?,
            by_hand: self.small("by_hand")?,
            ..known
        })
    }
}

/// The measured trials, the best first.
fn ranked(sweep: &Sweep, lowest_energy: bool) -> Vec<Values> {
    let cost = |c: &greenup_tune::Cost| {
        if lowest_energy {
            c.energy_j
        } else {
            Some(c.time_s)
        }
    };
    let mut all: Vec<_> = sweep
        .measured()
        .filter_map(|(t, c)| Some((t, cost(&c)?)))
        .collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    all.into_iter()
        .filter_map(|(trial, _)| {
            let named = sweep.facts.parameters.iter().zip(&trial.config);
            named
                .map(|(n, v)| Some((n.clone(), v.to_string().parse().ok()?)))
                .collect::<Option<Vec<_>>>()
        })
        .map(Values)
        .collect()
}

/// Configs that are tried before a sweep is refused.
const TRIED: usize = 20;

/// The best config that is correct on this host, its error (`None`: the device is not here), and the number of better
/// ones that are not correct.
fn best<T>(
    ranked: &[Values],
    config: impl Fn(&Values) -> std::result::Result<T, GisaxsError>,
    verify: impl Fn(&T) -> std::result::Result<Option<f64>, GisaxsError>,
) -> std::result::Result<(T, Option<f64>, usize), GisaxsError> {
    let mut first = None;
    for (n, values) in ranked.iter().take(TRIED).enumerate() {
        let config = config(values)?;
        match verify(&config) {
            Ok(error) => return Ok((config, error, n)),
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
    let mut known = wisdom::read()?;
    let mut text = String::new();
    for path in &args.sweeps {
        let wrong = |m: String| AppError::new(format!("{}: {m}", path.display()));
        let sweep = Folder::read(path)?;
        let ranked = ranked(&sweep, args.lowest_energy);
        if ranked.is_empty() {
            return Err(wrong(if args.lowest_energy {
                "no energy was measured".to_owned()
            } else {
                "nothing was measured".to_owned()
            }));
        }
        let refused = |e: GisaxsError| wrong(e.to_string());
        let (device, error, skipped) = match sweep.facts.name.as_str() {
            "form_factor_cpu" => {
                let name = wisdom::cpu();
                let (blocks, error, skipped) =
                    best(&ranked, Values::blocks, |b| verify::cpu(*b).map(Some))
                        .map_err(refused)?;
                known.cpu.insert(name.clone(), blocks);
                (name, error, skipped)
            }
            "form_factor_gpu" => {
                let name = sweep.facts.device.clone();
                let list = known.list(&name);
                let (config, error, skipped) =
                    best(&ranked, Values::direct, |c| verify::gpu(&name, *c, list))
                        .map_err(refused)?;
                known.gpu.insert(name.clone(), config);
                (name, error, skipped)
            }
            "form_factor_list" => {
                let name = sweep.facts.device.clone();
                let (old, direct) = (known.list(&name), known.direct(&name));
                // With others the digits of a q depend on its place in a list, and that on how devices share the q.
                let ranked: Vec<Values> = ranked
                    .into_iter()
                    .filter(|v| v.of("by_hand").is_ok_and(|n| n == 0))
                    .collect();
                if ranked.is_empty() {
                    return Err(wrong(
                        "has no config with by_hand = 0, which lists of q need".to_owned(),
                    ));
                }
                let (config, error, skipped) =
                    best(&ranked, |v| v.list(old), |c| verify::gpu(&name, direct, *c))
                        .map_err(refused)?;
                known.gpu_list.insert(name.clone(), config);
                (name, error, skipped)
            }
            other => {
                return Err(wrong(format!(
                    "is a sweep of {other}, not of the form factor"
                )));
            }
        };
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
    let file = known.store()?;
    text.push_str(&format!("stored in {}", file.display()));
    summary(
        args.json,
        &json!({"file": file, "known": known, "provenance": Provenance::of_process()}),
        &text,
    );
    Ok(())
}
