//! Tables of a study, for its page and for a terminal.

use super::comparison::{Comparison, comparisons};
use super::row::Row;
use greenup_app::print;
use greenup_report::si::percent;
use greenup_report::table::{Cell, Columns};

/// The table of rows.
pub fn columns() -> Columns<'static, Row> {
    Columns::<Row>::new()
        .text("spaces", "orders of velocities and energies", Row::spaces)
        .text("assembly", "", |r| r.assembly.name().into())
        .text("work", "a whole step, or a part of it, once", |r| {
            r.work.clone()
        })
        .si("time", "median", "s", |r| r.seconds)
        .cell("95 % interval", "half width, of the time", |r| {
            let known = Some(r.seconds_error).filter(|e| *e > 0.0);
            Cell::shown(known, |e| format!("± {}", percent(e)))
        })
        .where_known()
        .si("power", "", "W", |r| r.watts)
        .where_known()
        .si("energy", "", "J", |r| r.joules)
        .where_known()
        .si("energy per unknown", "of a step", "J", |r| {
            r.joules_per_unknown
        })
        .where_known()
        .si("CPU power", "while the GPU computes", "W", |r| r.host_watts)
        .where_known()
        .si("predicted time", "by the machine model", "s", |r| {
            Some(r.predicted?.0)
        })
        .where_known()
        .si("predicted energy", "by the machine model", "J", |r| {
            r.predicted?.1
        })
        .where_known()
        .si("predicted power", "by the machine model", "W", |r| {
            let (time_s, energy_j) = r.predicted?;
            Some(energy_j? / time_s)
        })
        .where_known()
}

/// The table of comparisons.
pub fn ratios() -> Columns<'static, Comparison> {
    let ratio = |v: Option<f64>| {
        let mark = v.map(|v| if v < 1.0 { "bad" } else { "good" });
        Cell {
            mark,
            ..Cell::three(v)
        }
    };
    Columns::<Comparison>::new()
        .text("comparison", "", |c| c.what.clone())
        .cell("speedup", "ratio of times", move |c| ratio(Some(c.speedup)))
        .three("powerup", "ratio of powers, old over new", |c| c.powerup)
        .where_known()
        .cell("greenup", "ratio of energies, old over new", move |c| {
            ratio(c.greenup)
        })
        .where_known()
}

/// Prints the rows, and speedup, powerup and greenup between them.
pub fn print(rows: &[Row]) {
    print::table(&columns().table("", rows));
    let all = comparisons(rows);
    if !all.is_empty() {
        print::line("");
        print::table(&ratios().table("", &all));
    }
}
