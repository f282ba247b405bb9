//! `greenup wisdom transfer`: leave one device out.

mod table;

use crate::args::WisdomTransferArgs;
use crate::search;
use greenup_app::error::{AppError, Result};
use greenup_app::{machine, print};
use greenup_report::si::factor;
use greenup_report::table::Columns;
use greenup_space::Value;
use greenup_wisdom::{Device, Map};
use std::collections::BTreeMap;
use std::path::Path;
use table::{Recorded, TransferCosts, median, rows};

/// Devices by name, as a file describes them.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Devices {
    #[serde(default)]
    device: Vec<Device>,
}

fn devices(path: &Path) -> Result<Vec<Device>> {
    let text = greenup_files::read_text(path)?;
    let all: Devices = toml::from_str(&text)
        .map_err(|e| AppError::new(format!("{}: {}", path.display(), e.to_string().trim_end())))?;
    Ok(all.device)
}

fn value(v: &toml::Value) -> Value {
    match v {
        toml::Value::Integer(i) => Value::Int(*i),
        toml::Value::Boolean(b) => Value::Bool(*b),
        toml::Value::Float(f) => Value::Float(*f),
        other => Value::Str(
            other
                .as_str()
                .map_or_else(|| other.to_string(), str::to_owned),
        ),
    }
}

pub fn run(args: &WisdomTransferArgs) -> Result {
    let described = match &args.facts {
        Some(path) => devices(path)?,
        None => Vec::new(),
    };
    let mut all = Vec::new();
    for path in &args.sweeps {
        let sweep = search::recorded(path)?;
        all.push(Recorded::new(path, sweep, &described).map_err(AppError::new)?);
    }
    let default: BTreeMap<String, Value> = (args.default.iter())
        .map(|(n, v)| (n.clone(), value(v)))
        .collect();
    let map = machine::all().map_or_else(|_| Map::shipped(), Map::new);
    let rows = rows(&all, &map, &default);
    if rows.is_empty() {
        return Err(
            AppError::new("no two of these sweeps are of one space on several devices")
                .hint("give sweeps with the same parameters, precision and size"),
        );
    }
    if args.json {
        return print::json(&serde_json::json!({ "rows": rows }));
    }
    print(&rows);
    Ok(())
}

fn print(rows: &[TransferCosts]) {
    let columns = Columns::<TransferCosts>::new()
        .text("problem", "", |r| r.problem.clone())
        .text("device", "", |r| r.device.clone())
        .count("configs", "", |r| r.configs as u64)
        .si("own winner", "", "s", |r| r.own_s)
        .text("nearest, octaves", "", |r| {
            format!("{}, {:.2}", r.nearest, r.octaves)
        })
        .shown("nearest's", "", factor, |r| r.nearest_ratio)
        .count("passed over", "", |r| r.passed_over as u64)
        .shown("farthest's", "", factor, |r| r.farthest_ratio)
        .shown("default", "", factor, |r| r.default_ratio)
        .shown("median config", "", factor, |r| r.median_ratio);
    print::table(&columns.table("", rows));
    let column = |name: &str, of: &dyn Fn(&TransferCosts) -> Option<f64>| {
        let mut values: Vec<f64> = rows.iter().filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        if let (Some(lo), Some(hi)) = (values.first(), values.last()) {
            print::line(format!(
                "{name}: median {} of the own winner's time, {} sweeps [{} … {}]",
                factor(median(&values)),
                values.len(),
                factor(*lo),
                factor(*hi)
            ));
        }
    };
    column("winner of the nearest other device", &|r| {
        Some(r.nearest_ratio)
    });
    column("winner of the farthest", &|r| r.farthest_ratio);
    column("default config", &|r| r.default_ratio);
    column("median of all configs", &|r| Some(r.median_ratio));
}
