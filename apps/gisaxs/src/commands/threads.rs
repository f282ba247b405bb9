//! `gisaxs study --scaling` on CPUs.

use super::watched;
use crate::GisaxsError;
use crate::study::{Case, OnThreads, method, scale_threads};
use crate::wisdom;
use greenup_app::args::pin_pool;
use greenup_app::{Result, print};
use greenup_device::CpuFacts;
use greenup_device::affinity::{Pin, Places};
use greenup_report::provenance::Provenance;
use serde_json::{Value, json};

/// Measures cases on 1 to N threads in some rounds, pinned in each of `pins`; `keep` writes the result after each case.
pub fn threads(
    cases: &[Case],
    (pins, rounds): (&[Pin], usize),
    (as_json, provenance): (bool, &Provenance),
    keep: impl Fn(&Value) -> Result,
) -> Result {
    let most = rayon::current_num_threads();
    let (facts, places) = (CpuFacts::read(), Places::read());
    let value = |rows: &[OnThreads]| {
        json!({
            "device": facts.model, "cpus": facts.cpus.len(), "cores": facts.cores.len(), "sockets": facts.sockets,
            "numa_nodes": places.nodes, "virtual_machine": facts.virtual_machine, "rounds": rounds, "rows": rows,
            "provenance": provenance,
        })
    };
    let blocks = wisdom::read()?.blocks();
    let pinned = |pin: Pin| pin_pool(pin, (0, 1)).map_err(|e| GisaxsError::from(e.message));
    let rows = watched(cases.len() as u64, "cases", |watch| -> Result<Vec<_>> {
        let mut rows = Vec::new();
        for case in cases {
            let how = (most, pins, rounds);
            let Some(some) = scale_threads(case, how, blocks, &pinned, watch)? else {
                return Err(super::stopped());
            };
            rows.extend(some);
            // So that a kill loses one case only.
            keep(&value(&rows))?;
            watch.tick(1);
        }
        Ok(rows)
    })?;
    print::line(match as_json {
        true => value(&rows).to_string(),
        false => format!("{}\n{}", facts.model, table(&rows)),
    });
    Ok(())
}

fn table(rows: &[OnThreads]) -> String {
    let mut out = format!(
        "{:>9} {:>9} {:>8} {:>7} {:>7} {:>9}  {:>31}  {:>9} {:>8} {:>10}  {}\n",
        "triangles",
        "q",
        "method",
        "q_z",
        "threads",
        "pin",
        "evaluate, s [shortest…longest]",
        "GFLOP/s",
        "speedup",
        "efficiency",
        "bits of one"
    );
    for r in rows {
        let [lo, hi] = r.evaluation_range_s;
        out.push_str(&format!(
            "{:>9} {:>9} {:>8} {:>7} {:>7} {:>9}  {:>31}  {:>9.1} {:>8.3} {:>8.1} %  {}\n",
            r.triangles,
            r.points,
            method(&r.case),
            if r.case.im_qz > 0.0 {
                "complex"
            } else {
                "real"
            },
            r.threads,
            r.pin.name(),
            format!("{:.4} [{lo:.4}…{hi:.4}]", r.evaluation_s),
            r.gflops,
            r.speedup,
            100.0 * r.efficiency,
            if r.same_bits { "yes" } else { "NO" },
        ));
    }
    out.push_str("Medians of the rounds. GFLOP/s: by the operation count of direct sums in the paper (85 n_t + 16) for every method.");
    out
}
