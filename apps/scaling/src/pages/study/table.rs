//! Tables of measured scaling: of a case, of all cases, and as Markdown.

use crate::study::ScalingStudy;
use crate::study::measured::{Point, Series as Measured};
use crate::study::sample::{Disturbance, Spread};
use greenup_report::si::{percent, si, three};
use greenup_report::table::{Cell, Header, Table};

fn number(v: Option<f64>, text: &dyn Fn(f64) -> String) -> Cell {
    match v {
        Some(v) => Cell::number(v, text(v)),
        None => Cell::text("–"),
    }
}

fn median(s: Option<Spread>) -> Option<f64> {
    s.map(|s| s.median)
}

/// Titles, explanations and texts of the columns, also for the terminal; without energies where there are none.
pub fn columns(a: &Measured, what: &str) -> (Vec<Header>, Vec<Vec<Cell>>) {
    let energies = a.points.iter().any(|p| p.energy_j.is_some());
    let digits = a.points.iter().any(|p| p.devices > 1 && p.digits.is_some());
    let mut header = vec![
        Header::new(what, ""),
        Header::new("time", "Median of the rounds."),
        Header::new("range", "Smallest and largest time."),
        Header::new("predicted", "Time, from the first run on one."),
        Header::new("error", "Of the predicted time."),
        Header::new("speedup", "T₁/T for the same work."),
        Header::new("predicted", "Speedup"),
        Header::new("efficiency", "Speedup over the number of devices."),
    ];
    if energies {
        header.extend([
            Header::new("power", "Of all devices."),
            Header::new("energy", "Of all devices."),
            Header::new("powerup", "P₁/P"),
            Header::new("predicted", "Powerup"),
            Header::new("greenup", "E₁/E for the same work."),
            Header::new("predicted", "Greenup"),
        ]);
    }
    if digits {
        header.push(Header::new("digits", "Compared with one device."));
    }
    let rows = (a.points.iter())
        .map(|p| {
            let t = p.time_s;
            let model = p.predicted.as_ref();
            let mut row = vec![
                Cell::number(p.devices as f64, p.devices.to_string()),
                Cell::number(t.median, si(t.median, "s")),
                Cell::number(
                    t.hi - t.lo,
                    format!("{} … {}", si(t.lo, "s"), si(t.hi, "s")),
                ),
                number(model.map(|m| m.time_s), &|v| si(v, "s")),
                number(p.error(), &percent),
                number(Some(p.speedup.median), &three),
                number(model.map(|m| m.speedup), &three),
                number(Some(p.efficiency()), &percent),
            ];
            if energies {
                row.extend([
                    number(median(p.power_w), &|v| si(v, "W")),
                    number(median(p.energy_j), &|v| si(v, "J")),
                    number(median(p.powerup), &three),
                    number(model.and_then(|m| m.powerup), &three),
                    number(median(p.greenup), &three),
                    number(model.and_then(|m| m.greenup), &three),
                ]);
            }
            if digits {
                row.push(compared(p));
            }
            row
        })
        .collect();
    (header, rows)
}

/// Whether the result is that of one device.
fn compared(p: &Point) -> Cell {
    match p.digits {
        Some(d) if p.devices > 1 => {
            let text = match (d.same, d.difference) {
                (true, 0.0) => "same".to_owned(),
                (true, difference) => format!("same, ±{difference:.0e}"),
                (false, difference) => format!("DIFFERENT, {difference:.0e}"),
            };
            let mark = if d.same { "good" } else { "bad" };
            Cell::number(d.difference, text).marked(mark)
        }
        _ => Cell::text("–"),
    }
}

/// Rounds in words.
pub fn rounds(n: usize) -> String {
    match n {
        1 => "one run of each".to_owned(),
        n => format!("medians of {n} interleaved rounds"),
    }
}

/// What the largest number of devices loses, in words; `None` of one device.
pub fn limits(a: &Measured, what: &str) -> Option<String> {
    let (l, p) = (a.limits.as_ref()?, a.largest()?);
    let all = |parts: &[(String, f64)], none: &str| match parts {
        [] => none.to_owned(),
        some => {
            let texts: Vec<String> = (some.iter().take(3))
                .map(|(name, s)| format!("{name} {}", signed(*s)))
                .collect();
            texts.join(", ")
        }
    };
    let mut text = format!(
        "Against ideal scaling on {} {what}: {}. Phases: {}. Model: {}.",
        l.devices,
        signed(l.lost_s),
        all(&l.measured, "not timed"),
        all(&l.predicted, "nothing")
    );
    if let Some(d) = p.disturbance {
        text.push_str(&format!(" All workers at once over one: {}.", disturbed(d)));
    }
    Some(text)
}

fn disturbed(d: Disturbance) -> String {
    let ratio = |name: &str, s: Spread| {
        format!(
            "{name} {} [{} … {}]",
            three(s.median),
            three(s.lo),
            three(s.hi)
        )
    };
    let energy = d.energy.map(|e| format!(", {}", ratio("energy", e)));
    format!("{}{}", ratio("time", d.time), energy.unwrap_or_default())
}

/// A time with its sign.
fn signed(s: f64) -> String {
    let sign = if s < 0.0 { "−" } else { "+" };
    format!("{sign}{}", si(s.abs(), "s"))
}

/// All cases on several devices, a row each.
pub fn summary(study: &ScalingStudy) -> Table {
    let what = devices(study.gpus);
    let header = vec![
        Header::new("case", ""),
        Header::new(what, ""),
        Header::new("time", "On one, and on these."),
        Header::new("energy", "On one, and on these."),
        Header::new("speedup", "T₁/T for the same work."),
        Header::new("predicted", "Before any run on several."),
        Header::new("error", "Of the predicted time."),
        Header::new("efficiency", "Speedup over the number of devices."),
        Header::new("powerup", "P₁/P"),
        Header::new("greenup", "E₁/E for the same work."),
        Header::new("predicted", "Greenup"),
        Header::new("digits", "Compared with one device."),
    ];
    let pair = |a: Option<f64>, b: Option<f64>, unit: &str| match a.zip(b) {
        Some((a, b)) => Cell::number(b, format!("{} → {}", si(a, unit), si(b, unit))),
        None => Cell::text("–"),
    };
    let mut rows = Vec::new();
    for a in &study.applications {
        let Some(one) = a.alone() else { continue };
        for p in a.points.iter().filter(|p| p.devices > 1) {
            let model = p.predicted.as_ref();
            rows.push(vec![
                Cell::text(&a.case).leads_to(&a.case),
                Cell::number(p.devices as f64, p.devices.to_string()),
                pair(Some(one.time_s.median), Some(p.time_s.median), "s"),
                pair(median(one.energy_j), median(p.energy_j), "J"),
                number(Some(p.speedup.median), &three),
                number(model.map(|m| m.speedup), &three),
                number(p.error(), &percent),
                number(Some(p.efficiency()), &percent),
                number(median(p.powerup), &three),
                number(median(p.greenup), &three),
                number(model.and_then(|m| m.greenup), &three),
                compared(p),
            ]);
        }
    }
    used(Table {
        caption: format!("All cases on several {what}"),
        header,
        rows,
    })
}

/// A table without the columns that have no value.
fn used(table: Table) -> Table {
    let used: Vec<bool> = (0..table.header.len())
        .map(|k| table.rows.iter().any(|r| r[k].text != "–"))
        .collect();
    fn keep<T>(all: Vec<T>, used: &[bool]) -> Vec<T> {
        let some = all.into_iter().zip(used).filter(|c| *c.1);
        some.map(|c| c.0).collect()
    }
    Table {
        header: keep(table.header, &used),
        rows: (table.rows.into_iter()).map(|r| keep(r, &used)).collect(),
        ..table
    }
}

/// What limits each case on its largest number of devices, and how much workers disturb each other.
pub fn limit_table(study: &ScalingStudy) -> Table {
    let what = devices(study.gpus);
    let first = |parts: &[(String, f64)]| match parts.first() {
        Some((name, s)) => Cell::number(*s, format!("{name} {}", signed(*s))),
        None => Cell::text("–"),
    };
    let rows = (study.applications.iter())
        .filter_map(|a| {
            let (l, p) = (a.limits.as_ref()?, a.largest()?);
            Some(vec![
                Cell::text(&a.case),
                Cell::number(l.devices as f64, l.devices.to_string()),
                Cell::number(l.lost_s, signed(l.lost_s)),
                first(&l.measured),
                first(&l.predicted),
                Cell::text(p.disturbance.map_or_else(|| "–".into(), disturbed)),
            ])
        })
        .collect();
    used(Table {
        caption: "What limits each case".into(),
        header: vec![
            Header::new("case", ""),
            Header::new(what, "The most that were measured."),
            Header::new("beyond ideal", "Time beyond that of ideal scaling."),
            Header::new("phase", "That loses the most, by the application's timers."),
            Header::new("model's term", "That loses the most, as predicted."),
            Header::new(
                "all workers over one",
                "tune: a kernel with all workers at once over alone.",
            ),
        ],
        rows,
    })
}

/// Mean of the errors of the predicted times on several devices; `None` without any.
pub fn mean_error(study: &ScalingStudy) -> Option<f64> {
    let points = study.applications.iter().flat_map(|a| &a.points);
    let errors: Vec<f64> = points
        .filter(|p| p.devices > 1)
        .filter_map(|p| Some(p.error()?.abs()))
        .collect();
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

/// The study as Markdown: problems, all cases, and what limits them.
pub fn markdown(study: &ScalingStudy) -> String {
    let what = devices(study.gpus);
    let mut out = format!(
        "{} of {}; {}; link {}. `{}`\n\n",
        if study.gpus {
            "GPUs"
        } else {
            "Ranks of one thread"
        },
        study.device,
        rounds(study.rounds),
        study.link,
        study.provenance.command
    );
    for a in &study.applications {
        let weak = if a.weak { " (weak)" } else { "" };
        out.push_str(&format!("- `{}`{weak}: {}\n", a.case, a.problem));
    }
    for table in [summary(study), limit_table(study)] {
        out.push_str(&format!("\n{}\n", as_markdown(&table)));
    }
    if let Some(e) = mean_error(study) {
        out.push_str(&format!(
            "\nMean error of the predicted times on several {what}: {}.\n",
            percent(e)
        ));
    }
    for text in (study.missing.iter().cloned()).chain(study.without_time()) {
        out.push_str(&format!("\nNot measured: {text}.\n"));
    }
    out
}

/// A table as Markdown.
fn as_markdown(table: &Table) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(table.header.iter().map(|h| h.name.as_str()).collect());
    out.push_str(&line(vec!["---"; table.header.len()]));
    for row in &table.rows {
        out.push_str(&line(row.iter().map(|c| c.text.as_str()).collect()));
    }
    out.trim_end().to_owned()
}

/// What a device is called.
pub fn devices(gpus: bool) -> &'static str {
    if gpus { "GPUs" } else { "ranks" }
}
