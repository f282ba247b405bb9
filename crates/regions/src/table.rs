//! A summary as text: a heading, the table of its regions, and remarks.

use crate::summary::{Region, Summary};
use std::fmt::Write as _;

/// Regions that are printed; the others are in the JSON.
const MOST_ROWS: usize = 200;

/// All of it, with columns as wide as their widest cell.
pub fn table(summary: &Summary) -> String {
    let table = aligned(&rows(&summary.regions, &summary.energy_sensors()));
    format!("{}\n{table}{}", heading(summary), remarks(summary))
        .trim_end()
        .to_owned()
}

/// Which process it is, and how long it ran.
pub fn heading(summary: &Summary) -> String {
    let p = &summary.process;
    let rank = p.rank.map(|r| format!(", rank {r}")).unwrap_or_default();
    format!(
        "greenup regions of {} (process {} on {}{rank}), {} s",
        shown(&p.program),
        p.pid,
        shown(&p.host),
        number(summary.wall_s)
    )
}

/// What the table does not say: regions beyond its rows, sensors, and notes; a line each.
pub fn remarks(summary: &Summary) -> String {
    let mut out = String::new();
    if let Some(more) = more(&summary.regions) {
        let _ = writeln!(out, "  {more}");
    }
    for sensor in &summary.sensors {
        let tick = sensor
            .tick_s
            .map_or_else(String::new, |t| format!(", tick {} ms", number(t * 1e3)));
        let _ = match (sensor.joules, &sensor.cause) {
            (Some(j), None) => writeln!(
                out,
                "  {}: {}{tick}; {} J in all",
                sensor.id,
                shown(&sensor.scope),
                number(j)
            ),
            (_, cause) => writeln!(
                out,
                "  {}: {}",
                sensor.id,
                cause.as_deref().map_or_else(String::new, shown)
            ),
        };
    }
    if summary.regions.iter().any(|r| r.accumulated.is_some()) {
        out.push_str(
            "  N/M: calls shorter than the sensor's tick, energy accumulated over N calls and M ticks: time share of each tick\n",
        );
    }
    if let Some(why) = summary.why_no_energy() {
        let _ = writeln!(out, "  {}", shown(&why));
    }
    for note in &summary.notes {
        let _ = writeln!(out, "  note: {}", shown(note));
    }
    out
}

/// How many regions have no row, if any.
pub fn more(regions: &[Region]) -> Option<String> {
    let more = regions.len().saturating_sub(MOST_ROWS);
    (more > 0).then(|| format!("… and {more} more"))
}

/// Whether a sensor counted for several regions at a time.
const ACCUMULATED: &str = "accumulated";

/// The cells of the table, after its titles: joules and watts of each sensor; columns that say nothing are left out.
pub fn rows(regions: &[Region], sensors: &[String]) -> Vec<Vec<String>> {
    let mut rows = vec![vec![
        "region".to_owned(),
        "calls".into(),
        "threads".into(),
        "total".into(),
        "self".into(),
        "mean".into(),
    ]];
    for sensor in sensors {
        rows[0].extend([
            format!("{sensor} J"),
            format!("{sensor} W"),
            format!("{sensor} {ACCUMULATED}"),
        ]);
    }
    for r in regions.iter().take(MOST_ROWS) {
        rows.push(row(r, sensors));
    }
    let says = |i: &usize| {
        !rows[0][*i].ends_with(ACCUMULATED) || rows[1..].iter().any(|r| !r[*i].is_empty())
    };
    let columns: Vec<usize> = (0..rows[0].len()).filter(says).collect();
    let kept = |r: Vec<String>| columns.iter().map(|i| r[*i].clone()).collect();
    rows.into_iter().map(kept).collect()
}

fn aligned(rows: &[Vec<String>]) -> String {
    let width = |i: usize| rows.iter().map(|r| r[i].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut out = String::new();
    for r in rows {
        let mut line = String::new();
        for (k, (cell, w)) in r.iter().zip(&widths).enumerate() {
            // Names to the left, numbers to the right.
            line += &match k {
                0 => format!("  {cell:<w$}"),
                _ => format!("  {cell:>w$}"),
            };
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

fn row(r: &Region, sensors: &[String]) -> Vec<String> {
    let name = r.path.last().map_or("", String::as_str);
    let indent = "  ".repeat(r.path.len().saturating_sub(1).min(20));
    let mean = if r.calls > 0 {
        duration(r.inclusive_s / r.calls as f64)
    } else {
        "open".into()
    };
    let mut row = vec![
        format!("{indent}{}", short(&shown(name))),
        r.calls.to_string(),
        r.threads.to_string(),
        duration(r.inclusive_s),
        duration(r.exclusive_s),
        mean,
    ];
    for sensor in sensors {
        let of = |m: &Option<std::collections::BTreeMap<String, f64>>| {
            m.as_ref()
                .and_then(|m| m.get(sensor))
                .map_or_else(|| "–".to_owned(), |&x| number(x))
        };
        row.push(of(&r.joules));
        row.push(of(&r.watts));
        let accumulated = r.accumulated.as_ref().and_then(|a| a.get(sensor));
        row.push(accumulated.map_or_else(String::new, |a| format!("{}/{}", a.calls, a.ticks)));
    }
    row
}

/// Text without what a terminal would obey.
fn shown(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            let escaped = c.is_control();
            let plain = (!escaped).then_some(c);
            plain
                .into_iter()
                .chain(escaped.then(|| c.escape_default()).into_iter().flatten())
        })
        .collect()
}

fn short(name: &str) -> String {
    match name.char_indices().nth(48) {
        Some((at, _)) => format!("{}…", &name[..at]),
        None => name.to_owned(),
    }
}

/// Four digits.
fn number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return "0".into();
    }
    let digits = x.abs().log10().floor() as i32 + 1;
    if digits >= 4 {
        format!("{x:.0}")
    } else if digits > -4 {
        format!("{x:.*}", (4 - digits).max(0) as usize)
    } else {
        format!("{x:.3e}")
    }
}

/// A duration with a fitting unit.
fn duration(s: f64) -> String {
    match s {
        0.0 => "0 s".into(),
        s if s < 1e-6 => format!("{:.0} ns", s * 1e9),
        s if s < 1e-3 => format!("{} µs", number(s * 1e6)),
        s if s < 1.0 => format!("{} ms", number(s * 1e3)),
        s => format!("{} s", number(s)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(number(1234.56), "1235");
        assert_eq!(number(12.3456), "12.35");
        assert_eq!(number(0.012_344), "0.01234");
        assert_eq!(number(0.0), "0");
        assert_eq!(number(1.5e-7), "1.500e-7");
        assert_eq!(duration(2.5e-5), "25.00 µs");
    }

    #[test]
    fn terminals_obey_no_name() {
        assert_eq!(shown("a\u{1b}[31m\n"), "a\\u{1b}[31m\\n");
        assert_eq!(short(&"x".repeat(100)).chars().count(), 49);
    }
}
