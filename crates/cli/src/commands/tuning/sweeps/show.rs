//! `greenup sweeps show`.

use super::Overview;
use crate::args::ShowArgs;
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_meter::Summary;
use greenup_report::table::Columns;
use greenup_report::text;
use greenup_tune::shard::{SHARD, Shard};
use greenup_tune::sweep::{Folder, Outcome, file_and_section};
use greenup_tune::{Objective, Sweep, Unmet};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Separates the sweeps in the fact `merged from`.
const BETWEEN: &str = "; ";

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    overview: Overview,
    objective: String,
    /// Whether results were compared with a reference; absent in files of other programs.
    verified: Option<bool>,
    /// Points of the whole space after its filters, where recorded.
    points: Option<u64>,
    /// Failed trials by kind.
    failures: BTreeMap<&'static str, usize>,
    /// Trials that were stopped early.
    stopped: usize,
    #[serde(skip)]
    stopped_in_words: Option<String>,
    /// Trials by host and GPU, where recorded.
    trials_by_device: BTreeMap<String, usize>,
    /// Configs of the final rounds.
    measured_again: usize,
    has_energy: bool,
    best: Vec<Best>,
    /// Why there is none, if the bound of the objective is the reason.
    #[serde(skip)]
    unmet: Option<Unmet>,
    /// Sweeps that were joined.
    merged: Vec<String>,
    /// Shards that are not among them.
    missing_shards: Vec<u64>,
    /// Strategy, seed, host, sensor, versions, command, …
    facts: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Best {
    config: BTreeMap<String, serde_json::Value>,
    /// The values for people, in the order of the parameters.
    #[serde(skip)]
    values: Vec<String>,
    time_s: f64,
    /// 95 % interval; absent where there is only one value.
    time_interval_s: Option<[f64; 2]>,
    energy_j: Option<f64>,
    /// The same; single trials have none.
    energy_interval_j: Option<[f64; 2]>,
    /// The metric that is the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    metric: Option<f64>,
    /// By the final rounds, not by its trial.
    measured_again: bool,
}

pub fn run(args: &ShowArgs) -> Result {
    let path = found(&args.sweep)?;
    let (sweep, objective) = search::aimed(search::recorded(&path)?, None)?;
    let shown = shown(&path, &sweep, objective, args.best);
    if args.json {
        if let Some(unmet) = shown.unmet {
            print::warn(unmet.to_string());
        }
        return print::json(&shown);
    }
    text(&shown, &sweep.facts.parameters);
    Ok(())
}

/// A path, or the name of a sweep in `sweeps`.
fn found(name: &Path) -> Result<PathBuf> {
    let below = Path::new("sweeps").join(name);
    let there = |path: &Path| file_and_section(path).0.is_file() || Folder::exists(path);
    if there(name) {
        return Ok(name.to_owned());
    }
    if there(&below) {
        return Ok(below);
    }
    let why = if name.exists() {
        format!("{} holds no sweep", name.display())
    } else {
        format!("there is no sweep {}", name.display())
    };
    Err(AppError::new(why).hint("`greenup sweeps list [DIR]` lists the sweeps in a folder"))
}

fn shown(path: &Path, sweep: &Sweep, objective: Objective, best: usize) -> Shown {
    let facts = &sweep.facts;
    let mut failures = BTreeMap::new();
    let mut trials_by_device = BTreeMap::new();
    for t in &sweep.trials {
        if let Some((f, _)) = t.failure() {
            *failures.entry(f.name()).or_insert(0) += 1;
        }
        if let Some(d) = &t.device {
            let gpu = d.gpu.map(|n| format!("cuda:{n}"));
            let host = d.host.as_ref().or(facts.more.get("host")).cloned();
            let name: Vec<String> = host.into_iter().chain(gpu).collect();
            if !name.is_empty() {
                *trials_by_device.entry(name.join(" ")).or_insert(0) += 1;
            }
        }
    }
    let mut more = facts.more.clone();
    let merged: Vec<String> = more
        .remove("merged from")
        .map(|all| all.split(BETWEEN).map(str::to_owned).collect())
        .unwrap_or_default();
    more.remove(SHARD);
    Shown {
        overview: Overview::of(path, sweep),
        objective: objective.to_string(),
        verified: facts.verified,
        points: more.remove("points").and_then(|n| n.parse().ok()),
        failures,
        stopped: sweep.trials.iter().filter(|t| t.stopped).count(),
        stopped_in_words: sweep.stopped_in_words(),
        trials_by_device,
        measured_again: sweep.finals.as_ref().map_or(0, |f| f.configs.len()),
        has_energy: sweep.has_energy(),
        best: best_of(sweep, objective, best),
        unmet: sweep.unmet(objective),
        missing_shards: missing(&merged),
        merged,
        facts: more,
    }
}

/// The best configs, each once.
fn best_of(sweep: &Sweep, objective: Objective, n: usize) -> Vec<Best> {
    let mut configs = Vec::new();
    let mut out = Vec::new();
    for i in sweep.ranked(objective) {
        let trial = &sweep.trials[i];
        if out.len() == n {
            break;
        }
        if configs.contains(&&trial.config) {
            continue;
        }
        let Some((cost, measured_again)) = sweep.best_known_cost(i) else {
            continue;
        };
        configs.push(&trial.config);
        let (time_interval_s, energy_interval_j) = match (&sweep.finals, measured_again) {
            (Some(finals), true) => {
                let place = finals.configs.iter().position(|c| *c == trial.config);
                let of = |all: &[Vec<f64>]| place.and_then(|p| interval(all.get(p)?));
                (of(&finals.times_s), of(&finals.energies_j))
            }
            _ => match &trial.outcome {
                Outcome::Measured {
                    time_error: Some(e),
                    ..
                } => (
                    Some([cost.time_s * (1.0 - e), cost.time_s * (1.0 + e)]),
                    None,
                ),
                _ => (None, None),
            },
        };
        let names = sweep.facts.parameters.iter().cloned();
        let values = trial.config.iter();
        let values = values.map(|v| serde_json::to_value(v).unwrap_or_default());
        out.push(Best {
            config: names.zip(values).collect(),
            values: trial.config.iter().map(ToString::to_string).collect(),
            time_s: cost.time_s,
            time_interval_s,
            energy_j: cost.energy_j,
            energy_interval_j,
            metric: sweep.metric_of(i, objective).map(|m| m.1),
            measured_again,
        });
    }
    out
}

/// Both ends of the 95 % interval; `None` of a single value.
fn interval(values: &[f64]) -> Option<[f64; 2]> {
    let s = Summary::of(values)?;
    (s.n > 1).then_some([s.lo, s.hi])
}

/// Shards that are not among merged sweeps, if those were shards of one number.
fn missing(merged: &[String]) -> Vec<u64> {
    let shards: Option<Vec<Shard>> = (merged.iter())
        .map(|text| {
            let after = text.rsplit_once(" shard ")?.1;
            after.split([',', ')']).next()?.parse().ok()
        })
        .collect();
    let shards = shards.unwrap_or_default();
    let Some(count) = shards.first().map(|s| s.count()) else {
        return Vec::new();
    };
    if shards.iter().any(|s| s.count() != count) {
        return Vec::new();
    }
    let has = |n: u64| shards.iter().any(|s| s.number() == n);
    (1..=count).filter(|n| !has(*n)).collect()
}

fn text(s: &Shown, parameters: &[String]) {
    let o = &s.overview;
    let line = |name: &str, value: &str| print::line(format!("{name:<12}{value}"));
    line("sweep", &o.path);
    line("problem", &o.name);
    line("device", &o.device);
    if let Some(points) = s.points {
        line(
            "space",
            &format!("{} points", text::grouped(u128::from(points))),
        );
    }
    if let Some(shard) = &o.shard {
        line("shard", shard);
    }
    let failures: Vec<String> = s.failures.iter().map(|(k, n)| format!("{n} {k}")).collect();
    let failed = if failures.is_empty() {
        "none failed".to_owned()
    } else {
        format!("{} failed: {}", o.failed, failures.join(", "))
    };
    line("trials", &format!("{}, {failed}", o.trials));
    if let Some(stopped) = &s.stopped_in_words {
        line("", stopped);
    }
    for (device, n) in &s.trials_by_device {
        line("", &format!("{n} on {device}"));
    }
    line("objective", &s.objective);
    if s.verified == Some(true) {
        line("verified", "yes, against the reference");
    }
    let known = [
        ("tuner", "tuner"),
        ("arguments", "arguments"),
        ("strategy", "strategy"),
        ("seed", "seed"),
        ("workers", "workers"),
        ("host", "host"),
        ("sensor", "sensor"),
        ("compiler", "compiler"),
        ("greenup", "version"),
        ("accepted changes", "accepted"),
        ("command", "command"),
    ];
    for (key, name) in known {
        if let Some(value) = s.facts.get(key) {
            line(name, value);
        }
    }
    for (i, part) in s.merged.iter().enumerate() {
        line(if i == 0 { "merged from" } else { "" }, part);
    }
    if !s.missing_shards.is_empty() {
        let numbers: Vec<String> = s.missing_shards.iter().map(u64::to_string).collect();
        line("missing", &format!("shards {}", numbers.join(", ")));
    }
    if let Some(unmet) = s.unmet {
        print::line(format!("\nbest by {}: {unmet}", s.objective));
    }
    if s.best.is_empty() {
        return;
    }
    print::line(match s.measured_again {
        0 => format!("\nbest by {}, by single trials:", s.objective),
        n => format!(
            "\nbest by {}; {n} configs were measured again, interleaved:",
            s.objective
        ),
    });
    table(s, parameters);
}

fn table(s: &Shown, parameters: &[String]) {
    let metric = (s.objective.strip_prefix("metric:")).filter(|_| s.best[0].metric.is_some());
    let columns = Columns::<Best>::new()
        .si("time", "", "s", |b| b.time_s)
        .range("[95 %]", "", "s", |b| {
            b.time_interval_s.map(|[lo, hi]| (lo, hi))
        })
        .and_if(s.has_energy, |all| {
            all.si("energy", "", "J", |b| b.energy_j)
                .range("[95 %]", "", "J", |b| {
                    b.energy_interval_j.map(|[lo, hi]| (lo, hi))
                })
        })
        .and_each(metric, |all, name| all.three(name, "", |b| b.metric))
        .text("measured", "", |b| {
            if b.measured_again { "again" } else { "once" }.to_owned()
        })
        .and_each(parameters.iter().enumerate(), |all, (i, name)| {
            all.text(name, "", move |b| b.values[i].clone()).of_config()
        });
    print::table(&columns.table("", &s.best));
}
