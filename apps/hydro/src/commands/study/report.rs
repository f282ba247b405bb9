//! Measured rows as text and files.

use super::{Row, StudyArgs};
use crate::commands::settings::Assembly;
use greenup_app::output::write_chart;
use greenup_app::{Result, stdout};
use greenup_report::chart::{Chart, Unit};
use greenup_report::scaling_figure::{Panel, Series, over_time};
use std::fmt::Write as _;

/// Times, s, with energies, J, or powers, W.
pub type Trace = Vec<(f64, f64)>;

/// What a trace is of.
#[derive(Clone, Copy, Debug)]
pub struct Traced {
    pub order: usize,
    pub assembly: Assembly,
    /// One of [`super::WORK`].
    pub work: &'static str,
}

impl Traced {
    fn config(&self) -> String {
        let assembly = format!("{:?}", self.assembly).to_lowercase();
        format!("Q{}Q{}, {assembly}", self.order, self.order - 1)
    }
}

/// Prints the rows, and speedup, powerup and greenup between them.
pub fn print(rows: &[Row]) {
    let mut out =
        String::from("order  assembly     work      ms        W         J    J/unknown/step\n");
    let or = |x: Option<f64>, digits: usize| {
        x.map_or_else(|| "-".to_owned(), |x| format!("{x:.digits$}"))
    };
    for r in rows {
        let assembly = format!("{:?}", r.assembly).to_lowercase();
        let each = r
            .joules_per_unknown
            .map_or_else(|| "-".to_owned(), |j| format!("{j:.3e}"));
        let _ = writeln!(
            out,
            "Q{}Q{}   {assembly:<12} {:<7}{:>8.3}{:>9}{:>10}    {each}",
            r.order,
            r.order - 1,
            r.work,
            1e3 * r.seconds,
            or(r.watts, 1),
            or(r.joules, 3),
        );
        if let Some((time, energy)) = r.predicted {
            let _ = writeln!(
                out,
                "       predicted            {:>8.3}{:>9}{:>10}",
                1e3 * time,
                or(energy.map(|e| e / time), 1),
                or(energy, 3)
            );
        }
    }
    let find = |order: usize, assembly: Assembly| {
        rows.iter()
            .find(|r| r.order == order && r.assembly == assembly && r.work == "step")
    };
    let mut compare = |what: String, base: &Row, new: &Row| {
        let speedup = base.seconds / new.seconds;
        let _ = write!(out, "{what}: speedup {speedup:.2}");
        if let (Some(a), Some(b)) = (base.joules, new.joules) {
            let greenup = a / b;
            let _ = write!(
                out,
                ", powerup {:.2}, greenup {greenup:.2}",
                greenup / speedup
            );
        }
        out.push('\n');
    };
    let mut orders: Vec<usize> = rows.iter().map(|r| r.order).collect();
    orders.dedup();
    for o in &orders {
        if let (Some(a), Some(b)) = (find(*o, Assembly::Full), find(*o, Assembly::Partial)) {
            compare(format!("Q{o}Q{}, partial over full assembly", o - 1), a, b);
        }
    }
    for o in orders.iter().skip(1) {
        for kind in [Assembly::Full, Assembly::Partial] {
            if let (Some(a), Some(b)) = (find(orders[0], kind), find(*o, kind)) {
                compare(
                    format!(
                        "Q{o}Q{} over Q{}Q{}, {kind:?} assembly",
                        o - 1,
                        orders[0],
                        orders[0] - 1
                    ),
                    a,
                    b,
                );
            }
        }
    }
    stdout::bytes(out.as_bytes());
}

/// Writes rows and traces.
pub fn write_numbers(args: &StudyArgs, rows: &[Row], traces: &[(Traced, Trace)]) -> Result {
    let Some(path) = &args.out else {
        return Ok(());
    };
    greenup_files::write(path, serde_json::to_vec_pretty(rows)?)?;
    let mut csv = String::from("work,time_s,quantity,value\n");
    for (of, trace) in traces {
        let name = format!("Q{} {:?} {}", of.order, of.assembly, of.work);
        for (t, value) in trace {
            let _ = writeln!(csv, "{name},{t},watts,{value}");
        }
    }
    if traces.iter().any(|(_, t)| !t.is_empty()) {
        greenup_files::write(path.with_extension("csv"), csv)?;
    }
    Ok(())
}

/// Writes rows, traces and the figure of the traces.
pub fn write_all(args: &StudyArgs, rows: &[Row], traces: &[(Traced, Trace)]) -> Result {
    write_numbers(args, rows, traces)?;
    let Some(path) = &args.out else {
        return Ok(());
    };
    let Some(chart) = traces_chart(traces) else {
        return Ok(());
    };
    write_chart(&path.with_extension("png"), &chart, &args.look.look())
}

/// Power over time: a panel for each kind of work, a colour for each order and assembly; `None` without any trace.
fn traces_chart(traces: &[(Traced, Trace)]) -> Option<Chart> {
    let panel = |work: &str| {
        let series: Vec<Series> = (traces.iter())
            .filter(|(of, _)| of.work == work)
            .filter_map(|(of, trace)| {
                let first = trace.first()?.0;
                let points = trace.iter().map(|(t, w)| (t - first, *w, *w, *w)).collect();
                Some(Series {
                    name: of.config(),
                    points,
                })
            })
            .collect();
        (!series.is_empty()).then(|| Panel {
            label: format!("power of {work}"),
            unit: "W".into(),
            series,
        })
    };
    let panels: Vec<Panel> = (super::WORK.iter())
        .filter_map(|(work, _)| panel(work))
        .collect();
    (!panels.is_empty()).then(|| over_time("power over time", "time", Unit::si("s"), &panels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_is_drawn_and_named() {
        let trace = |k: usize| -> Trace {
            (0..40)
                .map(|i| (3.0 + 0.1 * f64::from(i), 100.0 + 10.0 * k as f64))
                .collect()
        };
        let mut all = Vec::new();
        for order in [2, 3, 4] {
            for assembly in [Assembly::Full, Assembly::Partial] {
                for (work, _) in crate::commands::study::WORK {
                    let of = Traced {
                        order,
                        assembly,
                        work,
                    };
                    all.push((of, trace(order)));
                }
            }
        }
        let chart = traces_chart(&all).unwrap();
        assert_eq!((chart.panels.len(), chart.series.len()), (3, 6));
        assert!(
            chart.panels.iter().all(|p| p.layers.len() == 12),
            "lines and marks"
        );
        for width in [400.0, 900.0] {
            assert_eq!(chart.faults(width), Vec::<String>::new());
        }
        // Without a sensor there is nothing to draw.
        for (_, t) in &mut all {
            t.clear();
        }
        assert!(traces_chart(&all).is_none());
    }
}
