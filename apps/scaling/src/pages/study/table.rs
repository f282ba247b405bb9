//! Tables of measured scaling: of a case, of all cases, and as Markdown.

use crate::study::ScalingStudy;
use crate::study::measured::{Limits, Point, Series as Measured};
use crate::study::sample::{Disturbance, Spread};
use greenup_report::si::{percent, range, si, three};
use greenup_report::table::{Cell, Columns, Table};

fn median(s: Option<Spread>) -> Option<f64> {
    s.map(|s| s.median)
}

/// A row a number of devices, also for the terminal; without energies where there are none.
pub fn table(a: &Measured, what: &str) -> Table {
    let energies = a.points.iter().any(|p| p.energy_j.is_some());
    Columns::<Point>::new()
        .count(what, "", |p| p.devices as u64)
        .si("time", "Median of the rounds.", "s", |p| p.time_s.median)
        .cell("range", "Smallest and largest time.", |p| {
            let t = p.time_s;
            Cell::number(t.hi - t.lo, range(t.lo, t.hi, "s"))
        })
        .detail()
        .si("predicted time", "From the first run on one.", "s", |p| {
            p.predicted.as_ref().map(|m| m.time_s)
        })
        .detail()
        .percent("error", "Of the predicted time.", Point::error)
        .detail()
        .three("speedup", "T₁/T for the same work.", |p| p.speedup.median)
        .three("predicted speedup", "From the first run on one.", |p| {
            p.predicted.as_ref().map(|m| m.speedup)
        })
        .detail()
        .percent(
            "efficiency",
            "Speedup over the number of devices.",
            Point::efficiency,
        )
        .kept()
        .and_if(energies, |columns| {
            columns
                .si("power", "Of all devices.", "W", |p| median(p.power_w))
                .si("energy", "Of all devices.", "J", |p| median(p.energy_j))
                .kept()
                .three("powerup", "P₁/P", |p| median(p.powerup))
                .detail()
                .three("predicted powerup", "From the first run on one.", |p| {
                    p.predicted.as_ref()?.powerup
                })
                .detail()
                .three("greenup", "E₁/E for the same work.", |p| {
                    median(p.greenup)
                })
                .kept()
                .three("predicted greenup", "From the first run on one.", |p| {
                    p.predicted.as_ref()?.greenup
                })
                .detail()
        })
        .cell("digits", "Compared with one device.", compared)
        .kept()
        .where_known()
        .table(format!("{} on several {what}", a.case), &a.points)
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
        _ => Cell::missing(),
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
pub fn signed(s: f64) -> String {
    let sign = if s < 0.0 { "−" } else { "+" };
    format!("{sign}{}", si(s.abs(), "s"))
}

/// All cases on several devices, a row each.
pub fn summary(study: &ScalingStudy) -> Table {
    let what = devices(study.gpus);
    let pair = |ends: Option<(f64, f64)>, unit: &str| match ends {
        Some((a, b)) => Cell::number(b, format!("{} → {}", si(a, unit), si(b, unit))),
        None => Cell::missing(),
    };
    let rows = (study.applications.iter())
        .filter_map(|a| Some((a, a.alone()?)))
        .flat_map(|(a, one)| {
            let several = a.points.iter().filter(|p| p.devices > 1);
            several.map(move |p| (a, one, p))
        });
    Columns::<(&Measured, &Point, &Point)>::new()
        .cell("case", "", |(a, ..)| Cell::text(&a.case).leads_to(&a.case))
        .count(what, "", |(.., p)| p.devices as u64)
        .cell("time", "On one, and on these.", |(_, one, p)| {
            pair(Some((one.time_s.median, p.time_s.median)), "s")
        })
        .cell("energy", "On one, and on these.", |(_, one, p)| {
            pair(median(one.energy_j).zip(median(p.energy_j)), "J")
        })
        .where_known()
        .three("speedup", "T₁/T for the same work.", |(.., p)| {
            p.speedup.median
        })
        .three(
            "predicted speedup",
            "Before any run on several.",
            |(.., p)| p.predicted.as_ref().map(|m| m.speedup),
        )
        .where_known()
        .percent("error", "Of the predicted time.", |(.., p)| p.error())
        .where_known()
        .percent(
            "efficiency",
            "Speedup over the number of devices.",
            |(.., p)| p.efficiency(),
        )
        .three("powerup", "P₁/P", |(.., p)| median(p.powerup))
        .where_known()
        .three("greenup", "E₁/E for the same work.", |(.., p)| {
            median(p.greenup)
        })
        .where_known()
        .three(
            "predicted greenup",
            "Before any run on several.",
            |(.., p)| p.predicted.as_ref()?.greenup,
        )
        .where_known()
        .cell("digits", "Compared with one device.", |(.., p)| compared(p))
        .where_known()
        .table(format!("All cases on several {what}"), rows)
}

/// What loses the most, and how much, s; `None` if nothing takes longer than with ideal scaling.
pub fn lost(parts: &[(String, f64)]) -> Option<&(String, f64)> {
    parts.first().filter(|(_, s)| *s > 0.0)
}

/// What limits each case on its largest number of devices, and how much workers disturb each other.
pub fn limit_table(study: &ScalingStudy) -> Table {
    let what = devices(study.gpus);
    let first = |parts: &[(String, f64)]| match lost(parts) {
        Some((name, s)) => Cell::number(*s, format!("{name} {}", signed(*s))),
        None => Cell::missing(),
    };
    let rows = (study.applications.iter())
        .filter_map(|a| Some((&a.case, a.limits.as_ref()?, a.largest()?)));
    Columns::<(&String, &Limits, &Point)>::new()
        .text("case", "", |(case, ..)| (*case).clone())
        .count(what, "The most that were measured.", |(_, l, _)| {
            l.devices as u64
        })
        .shown(
            "beyond ideal",
            "Time beyond that of ideal scaling.",
            signed,
            |(_, l, _)| l.lost_s,
        )
        .cell(
            "phase",
            "That loses the most, by the application's timers.",
            |(_, l, _)| first(&l.measured),
        )
        .where_known()
        .cell(
            "model's term",
            "That loses the most, as predicted.",
            |(_, l, _)| first(&l.predicted),
        )
        .where_known()
        .cell(
            "all workers over one",
            "tune: a kernel with all workers at once over alone.",
            |(.., p)| Cell::known(p.disturbance.map(disturbed)),
        )
        .where_known()
        .table("What limits each case", rows)
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
        out.push_str(&format!("\n{}", table.markdown()));
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

/// What a device is called.
pub fn devices(gpus: bool) -> &'static str {
    if gpus { "GPUs" } else { "ranks" }
}
