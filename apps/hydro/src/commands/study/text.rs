//! Measured rows as text.

use super::record::{Comparison, Row, comparisons};
use greenup_app::stdout;
use std::fmt::Write as _;

/// Prints the rows, and speedup, powerup and greenup between them.
pub fn print(rows: &[Row]) {
    let mut out =
        String::from("order  assembly     work      ms        W         J    J/unknown/step\n");
    let or = |x: Option<f64>, digits: usize| {
        x.map_or_else(|| "-".to_owned(), |x| format!("{x:.digits$}"))
    };
    for r in rows {
        let assembly = r.assembly.name();
        let each = r
            .joules_per_unknown
            .map_or_else(|| "-".to_owned(), |j| format!("{j:.3e}"));
        let _ = writeln!(
            out,
            "{}   {assembly:<12} {:<7}{:>8.3}{:>9}{:>10}    {each}",
            r.spaces(),
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
    for c in comparisons(rows) {
        let Comparison {
            what,
            speedup,
            powerup,
            greenup,
        } = c;
        let _ = write!(out, "{what}: speedup {speedup:.2}");
        if let (Some(p), Some(g)) = (powerup, greenup) {
            let _ = write!(out, ", powerup {p:.2}, greenup {g:.2}");
        }
        out.push('\n');
    }
    stdout::bytes(out.as_bytes());
}
