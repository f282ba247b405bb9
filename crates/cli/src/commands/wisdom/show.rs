//! `greenup wisdom show`.

use super::list::ListedEntry;
use crate::args::WisdomShowArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{print, wisdom};
use greenup_files::date::utc;
use greenup_report::si::si;
use greenup_report::text;
use greenup_wisdom::{Entry, Origin, Wisdom};

pub fn run(args: &WisdomShowArgs) -> Result {
    let known = wisdom::load()?;
    let found = by_ids(&known, &args.ids)?;
    if args.json {
        let rows: Vec<ListedEntry> = found.into_iter().map(ListedEntry::of).collect();
        return print::json(&serde_json::json!({ "entries": rows }));
    }
    for (i, (e, origin)) in found.into_iter().enumerate() {
        if i > 0 {
            print::line("");
        }
        let range = |r: Option<[f64; 2]>, unit: &str| {
            r.map_or(String::new(), |[lo, hi]| {
                format!(" [{} … {}]", si(lo, unit), si(hi, unit))
            })
        };
        let p = &e.provenance;
        let mut rows = vec![
            ("entry", format!("{}, {origin}", e.id())),
            ("problem", format!("{} {}", e.problem, e.precision)),
            ("objective", e.objective.clone()),
            (
                "time",
                format!("{}{}", si(e.time_s, "s"), range(e.time_range_s, "s")),
            ),
        ];
        if let Some(j) = e.energy_j {
            rows.push((
                "energy",
                format!("{}{}", si(j, "J"), range(e.energy_range_j, "J")),
            ));
        }
        rows.push(("config", e.config_text()));
        rows.push(("constants", text::named(e.constants.iter())));
        rows.push((
            "device",
            format!("{}, {}", e.device.title(), e.device.architecture),
        ));
        rows.push(("facts", text::named(e.device.facts.iter())));
        if p.at > 0 {
            rows.push(("measured", utc(p.at)));
        }
        rows.push((
            "best of",
            format!(
                "{} configs, {}",
                p.trials,
                if p.verified {
                    "verified"
                } else {
                    "whether verified was not recorded"
                }
            ),
        ));
        for (name, text) in [
            ("command", &p.command),
            ("greenup", &p.greenup),
            ("compiler", &p.compiler),
            ("sensor", &p.sensor),
            ("sources", &p.sources),
            ("taken from", &p.from),
        ] {
            if !text.is_empty() {
                rows.push((name, text.clone()));
            }
        }
        for (name, text) in rows {
            print::line(format!("{name:<11} {text}"));
        }
    }
    Ok(())
}

/// Entries by ids or their first digits.
pub(super) fn by_ids<'a>(wisdom: &'a Wisdom, ids: &[String]) -> Result<Vec<&'a (Entry, Origin)>> {
    let mut out = Vec::new();
    for id in ids {
        let found: Vec<_> = (wisdom.known.iter())
            .filter(|(e, _)| id.len() >= 2 && e.id().starts_with(id.as_str()))
            .collect();
        if found.is_empty() {
            return Err(AppError::new(format!("there is no entry `{id}`"))
                .hint("`greenup wisdom list` prints the ids"));
        }
        out.extend(found);
    }
    Ok(out)
}
