//! Metrics that a table does not have, out of others that it has: sums from rates, names of other chips and of pages.

use crate::counters::table::COUNTERS;

/// Duration of a launch, ns.
pub const DURATION: &str = "gpu__time_duration.sum";

/// Other names of a metric, and what one of them is worth.
const ALIASES: [(&str, &str, f64); 8] = [
    ("dram__bytes_read.sum", "dram__bytes_op_read.sum", 1.0),
    ("dram__bytes_read.sum", "dram__sectors_read.sum", 32.0),
    ("dram__bytes_read.sum", "dram__sectors_op_read.sum", 32.0),
    ("dram__bytes_write.sum", "dram__bytes_op_write.sum", 1.0),
    ("dram__bytes_write.sum", "dram__sectors_write.sum", 32.0),
    ("dram__bytes_write.sum", "dram__sectors_op_write.sum", 32.0),
    (
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
        "derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2",
        0.5,
    ),
    (
        "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
        "derived__smsp__sass_thread_inst_executed_op_dfma_pred_on_x2",
        0.5,
    ),
];

/// Names of the page `details`, with what must be in the unit where another row has the same name.
const LABELS: [(&str, &str, &str); 8] = [
    ("Duration", "", DURATION),
    ("Elapsed Cycles", "", "sm__cycles_elapsed.max"),
    ("Executed Instructions", "", "smsp__inst_executed.sum"),
    ("Issued Instructions", "", "smsp__inst_issued.sum"),
    ("Memory Throughput", "byte", "dram__bytes.sum.per_second"),
    ("L1/TEX Hit Rate", "", "l1tex__t_sector_hit_rate.pct"),
    ("L2 Hit Rate", "", "lts__t_sector_hit_rate.pct"),
    (
        "Achieved Occupancy",
        "",
        "sm__warps_active.avg.pct_of_peak_sustained_active",
    ),
];

/// The metric of a name: of the profiler, also behind a label, or of the page `details`.
pub fn metric<'a>(name: &'a str, unit: &str) -> Option<&'a str> {
    if name.contains("__") {
        let word = name.split_whitespace().find(|w| w.contains("__"));
        return word.map(|w| w.trim_matches(['(', ')']));
    }
    let label = |(text, part, _): &&(&str, &str, &str)| *text == name && unit.contains(part);
    LABELS.iter().find(label).map(|l| l.2)
}

/// Adds what follows from the values of a launch.
pub fn complete(values: &mut Vec<(String, f64)>) {
    let total = (COUNTERS.iter()).flat_map(|c| c.metrics.iter().copied().chain(c.total));
    for name in total {
        if !values.iter().any(|(n, _)| n == name)
            && let Some(x) = found(values, name)
        {
            values.push((name.to_owned(), x));
        }
    }
}

/// The value of a metric, by any of its names.
fn found(values: &[(String, f64)], name: &str) -> Option<f64> {
    let aliases = ALIASES.iter().filter(|(n, ..)| *n == name);
    let mut names = vec![(name.to_owned(), 1.0)];
    names.extend(aliases.map(|(_, other, worth)| ((*other).to_owned(), *worth)));
    // The sum over the parts of all multiprocessors is that over the multiprocessors.
    let of_sm = |(n, worth): &(String, f64)| (n.replacen("smsp__", "sm__", 1), *worth);
    let more: Vec<(String, f64)> = names.iter().map(of_sm).collect();
    names.extend(more);
    names
        .iter()
        .find_map(|(n, worth)| Some(sum(values, n)? * worth))
}

/// A sum, or a rate times what it is a rate of.
fn sum(values: &[(String, f64)], name: &str) -> Option<f64> {
    let of = |n: &str| values.iter().find(|(v, _)| v == n).map(|(_, x)| *x);
    let seconds = || Some(of(DURATION)? * 1e-9);
    let per_second = || Some(of(&format!("{name}.per_second"))? * seconds()?);
    let cycles = || {
        let clock = || Some(of("smsp__cycles_elapsed.avg.per_second")? * seconds()?);
        of("smsp__cycles_elapsed.avg")
            .or_else(clock)
            .or_else(|| of("sm__cycles_elapsed.max"))
    };
    let per_cycle = || Some(of(&format!("{name}.per_cycle_elapsed"))? * cycles()?);
    of(name).or_else(per_second).or_else(per_cycle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_follow_from_rates_and_other_names() {
        let of = |all: &[(&str, f64)]| {
            let mut values: Vec<(String, f64)> =
                all.iter().map(|(n, x)| ((*n).to_owned(), *x)).collect();
            complete(&mut values);
            move |name: &str| values.iter().find(|(n, _)| n == name).map(|v| v.1)
        };
        let v = of(&[
            (DURATION, 2000.0),
            ("dram__bytes_op_read.sum", 64.0),
            ("dram__sectors_write.sum", 2.0),
            ("dram__bytes.sum.per_second", 1e9),
            ("smsp__cycles_elapsed.avg.per_second", 1e9),
            (
                "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum.per_cycle_elapsed",
                0.5,
            ),
            ("sm__sass_thread_inst_executed_op_dmul_pred_on.sum", 7.0),
            (
                "derived__smsp__sass_thread_inst_executed_op_ffma_pred_on_x2",
                8.0,
            ),
        ]);
        assert_eq!(v("dram__bytes_read.sum"), Some(64.0));
        assert_eq!(v("dram__bytes_write.sum"), Some(64.0));
        let near = |x: Option<f64>, y: f64| assert!((x.unwrap() / y - 1.0).abs() < 1e-9, "{x:?}");
        near(v("dram__bytes.sum"), 2000.0);
        near(
            v("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"),
            1000.0,
        );
        assert_eq!(
            v("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"),
            Some(7.0)
        );
        assert_eq!(
            v("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"),
            Some(4.0)
        );
        assert_eq!(v("smsp__inst_executed.sum"), None);
        assert_eq!(
            of(&[("dram__bytes.sum.per_second", 1e9)])("dram__bytes.sum"),
            None
        );
    }

    #[test]
    fn rows_of_details_have_names_for_people() {
        assert_eq!(metric("Duration", "us"), Some(DURATION));
        assert_eq!(metric("Memory Throughput", "%"), None);
        assert_eq!(
            metric("Memory Throughput", "Gbyte/second"),
            Some("dram__bytes.sum.per_second")
        );
        assert_eq!(
            metric("Duration (gpu__time_duration.sum)", "us"),
            Some(DURATION)
        );
        assert_eq!(
            metric("dram__bytes_read.sum", "byte"),
            Some("dram__bytes_read.sum")
        );
        assert_eq!(metric("Theoretical Occupancy", "%"), None);
    }
}
