//! `gisaxs study --scaling`.

use super::boards::meters;
use super::watched;
use crate::session;
use crate::study::{Case, Scaled, counts, method, scale};
use greenup_app::{AppError, Result, print};
use greenup_device::DeviceSpec;
use greenup_report::provenance::Provenance;
use serde_json::{Value, json};

/// Measures cases on 1 to N GPUs in some rounds, and their energy if asked for; `keep` writes the result after each case.
pub fn scaling(
    cases: &[Case],
    (devices, rounds, energy): (&DeviceSpec, usize, bool),
    (as_json, provenance): (bool, &Provenance),
    keep: impl Fn(&Value) -> Result,
) -> Result {
    let gpus = session::gpus(devices, (0, 1))?;
    if gpus.is_empty() {
        return Err(
            AppError::new("--scaling compares numbers of GPUs").hint("add --device cuda:all")
        );
    }
    let names: Vec<&str> = gpus.iter().map(|g| g.name()).collect();
    let value = |rows: &[Scaled]| {
        json!({
            "devices": names, "gpus": counts(gpus.len()), "rounds": rounds, "threads": rayon::current_num_threads(),
            "rows": rows, "provenance": provenance,
        })
    };
    let meter = energy.then(meters);
    let rows = watched(
        cases.len() as u64,
        "cases",
        |watch| -> Result<Vec<Scaled>> {
            let mut rows = Vec::new();
            for case in cases {
                let Some(some) = scale(case, &gpus, (rounds, meter.as_ref()), watch)? else {
                    return Err(super::stopped());
                };
                rows.extend(some);
                // So that a kill loses one case only.
                keep(&value(&rows))?;
                watch.tick(1);
            }
            Ok(rows)
        },
    )?;
    print::line(match as_json {
        true => value(&rows).to_string(),
        false => format!("{}\n{}", names.join(" + "), table(&rows)),
    });
    Ok(())
}

fn table(rows: &[Scaled]) -> String {
    let mut out = format!(
        "{:>9} {:>9} {:>13} {:>7} {:>4}  {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {:>7} {:>7} {:>7}  {:>9} {:>8}  {}\n",
        "triangles",
        "q",
        "method",
        "q_z",
        "GPUs",
        "prepare",
        "evaluate",
        "upload",
        "kernels",
        "download",
        "host, s",
        "kernels",
        "evalu.",
        "whole",
        "energy",
        "greenup",
        "bits of one"
    );
    for r in rows {
        let or = |x: Option<f64>, f: &dyn Fn(f64) -> String| x.map_or("–".to_owned(), f);
        out.push_str(&format!(
            "{:>9} {:>9} {:>13} {:>7} {:>4}  {:>9.4} {:>9.4} {:>9.4} {:>9.4} {:>9.4} {:>9.4}  {:>7.3} {:>7.3} {:>7.3}  {:>9} {:>8}  {}\n",
            r.triangles,
            r.points,
            method(&r.case),
            if r.case.im_qz > 0.0 { "complex" } else { "real" },
            r.gpus,
            r.prepare_s,
            r.evaluation_s,
            r.upload_s,
            r.kernel_s,
            r.download_s,
            r.host_s,
            r.kernel_speedup,
            r.evaluation_speedup,
            r.whole_speedup,
            or(r.total_j, &|x| format!("{x:.4} J")),
            or(r.greenup, &|x| format!("{x:.3}")),
            if r.same_bits { "yes" } else { "NO" },
        ));
    }
    out.push_str(
        "evaluate: upload, kernels and download of the slowest GPU, and the rest on the host. Speedups: all kernels, \
         evaluation, and whole (preparation and evaluation). Energy: kernels of all GPUs.",
    );
    out
}
