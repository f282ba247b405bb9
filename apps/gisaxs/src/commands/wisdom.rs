//! `gisaxs wisdom`.

use super::{Result, summary};
use clap::Args;
use greenup_gisaxs::GisaxsError;
use greenup_gisaxs::gpu::{DirectConfig, ListConfig};
use greenup_gisaxs::numeric::Blocks;
use greenup_gisaxs::wisdom::{self, verify};
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

/// The values of a trial, by the names of the parameters.
struct Values(Vec<(String, u64)>);

impl Values {
    fn of(&self, name: &str) -> std::result::Result<u64, String> {
        let found = self.0.iter().find(|v| v.0 == name);
        found
            .map(|v| v.1)
            .ok_or_else(|| format!("has no parameter {name}"))
    }

    fn small(&self, name: &str) -> std::result::Result<u32, String> {
        u32::try_from(self.of(name)?).map_err(|_| format!("{name} is too large"))
    }

    fn blocks(&self) -> std::result::Result<Blocks, String> {
        let size = |n: u64| usize::try_from(n).map_err(|_| format!("{n} is too large"));
        let points = self.of("h_y")?.checked_mul(self.of("h_z")?);
        Ok(Blocks {
            points: size(points.ok_or("h_y times h_z is too large")?)?,
            nodes: size(self.of("h_t")?)?,
            unroll: size(self.of("per_lane")?)?,
        })
    }

    fn direct(&self) -> std::result::Result<DirectConfig, String> {
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

    fn list(&self, known: ListConfig) -> std::result::Result<ListConfig, String> {
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
fn ranked(sweep: &Sweep, greenest: bool) -> Vec<Values> {
    let cost = |c: &greenup_tune::Cost| if greenest { c.energy_j } else { Some(c.time_s) };
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

/// The best config that is right on this host, its error here (`None`: the device is not here), and how many
/// better ones are not.
fn best<T>(
    ranked: &[Values],
    config: impl Fn(&Values) -> std::result::Result<T, String>,
    verify: impl Fn(&T) -> std::result::Result<Option<f64>, String>,
) -> std::result::Result<(T, Option<f64>, usize), String> {
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
    Err(format!(
        "none of its {tried} best configs is right on this host; of the best: {}",
        first.unwrap_or_default()
    ))
}

pub fn wisdom(args: &WisdomArgs) -> Result<()> {
    let mut known = wisdom::read().map_err(GisaxsError::Sample)?;
    let mut words = String::new();
    for path in &args.sweeps {
        let wrong = |m: &str| GisaxsError::Sample(format!("{}: {m}", path.display()));
        let sweep = Folder::read(path).map_err(|e| GisaxsError::Sample(e.to_string()))?;
        let ranked = ranked(&sweep, args.greenest);
        if ranked.is_empty() {
            return Err(wrong(if args.greenest {
                "no energy was measured"
            } else {
                "nothing was measured"
            }));
        }
        let refused = |m: String| wrong(&m);
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
                let (config, error, skipped) =
                    best(&ranked, |v| v.list(old), |c| verify::gpu(&name, direct, *c))
                        .map_err(refused)?;
                known.gpu_list.insert(name.clone(), config);
                (name, error, skipped)
            }
            other => {
                return Err(wrong(&format!(
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
            n => format!("; {n} faster ones are wrong here"),
        };
        words.push_str(&format!(
            "{device}: the best of {} trials, {checked}{better}\n",
            sweep.trials.len()
        ));
    }
    let file = known.keep().map_err(GisaxsError::Sample)?;
    words.push_str(&format!("kept in {}", file.display()));
    summary(args.json, &json!({"file": file, "known": known}), &words);
    Ok(())
}
