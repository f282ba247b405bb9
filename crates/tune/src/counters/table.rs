//! The counters, and the metrics of `ncu` that they are.

/// Our name of a counter, the profiler's metrics that add up to it, and what one of them is worth.
pub struct Counter {
    /// Name of the counted quantity.
    pub name: &'static str,
    /// Names of the metrics of `ncu` whose sum it is.
    pub metrics: &'static [&'static str],
    /// Name of a metric that is the sum of them already.
    pub total: Option<&'static str>,
    /// What one count is worth, in the unit of the quantity.
    pub worth: f64,
    /// Whether the work of a kernel follows from it.
    pub of_work: bool,
    /// Whether a chip may lack it, so that the profiler does not know the metrics.
    pub optional: bool,
}

const fn counter(name: &'static str, metrics: &'static [&'static str], worth: f64) -> Counter {
    Counter {
        name,
        metrics,
        total: None,
        worth,
        of_work: false,
        optional: false,
    }
}

const fn of_work(name: &'static str, metrics: &'static [&'static str], worth: f64) -> Counter {
    Counter {
        of_work: true,
        ..counter(name, metrics, worth)
    }
}

/// Counters that make up the work of a kernel, and those of Anzt et al. 2015, Figs. 6 to 9, under
/// the names that today's profiler has for them.
pub const COUNTERS: [Counter; 25] = [
    Counter {
        total: Some("dram__bytes.sum"),
        ..of_work(
            "dram_bytes",
            &["dram__bytes_read.sum", "dram__bytes_write.sum"],
            1.0,
        )
    },
    of_work(
        "l2_bytes",
        &["lts__t_sectors_op_read.sum", "lts__t_sectors_op_write.sum"],
        32.0,
    ),
    // Of an access that goes on to the other partition of L2, both count the sectors.
    Counter {
        optional: true,
        ..of_work(
            "l2_between_partitions_bytes",
            &["lts__t_sectors_srcunit_ltcfabric.sum"],
            32.0,
        )
    },
    of_work(
        "shared_traffic_bytes",
        &["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"],
        128.0,
    ),
    of_work(
        "f64_fma",
        &["smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"],
        1.0,
    ),
    of_work(
        "f64_other",
        &[
            "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
        ],
        1.0,
    ),
    of_work(
        "f32_fma",
        &["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"],
        1.0,
    ),
    of_work(
        "f32_other",
        &[
            "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
        ],
        1.0,
    ),
    of_work(
        "integer_ops",
        &["smsp__sass_thread_inst_executed_op_integer_pred_on.sum"],
        1.0,
    ),
    of_work("special_ops", &["smsp__inst_executed_pipe_xu.sum"], 32.0),
    of_work(
        "tensor_instructions",
        &["sm__inst_executed_pipe_tensor.sum"],
        1.0,
    ),
    counter(
        "tensor_pipe_share",
        &["sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"],
        0.01,
    ),
    counter(
        "f64_pipe_share",
        &["sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active"],
        0.01,
    ),
    of_work("instructions", &["smsp__inst_executed.sum"], 1.0),
    counter("issue_slots", &["smsp__inst_issued.sum"], 1.0),
    counter("cycles", &["sm__cycles_elapsed.max"], 1.0),
    counter(
        "active_warps",
        &["sm__warps_active.avg.pct_of_peak_sustained_active"],
        0.01,
    ),
    counter(
        "warp_issue_share",
        &["smsp__issue_active.avg.pct_of_peak_sustained_active"],
        0.01,
    ),
    of_work(
        "shared_loads",
        &["smsp__sass_inst_executed_op_shared_ld.sum"],
        1.0,
    ),
    of_work(
        "shared_conflicts",
        &["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"],
        1.0,
    ),
    counter("l1_hit_share", &["l1tex__t_sector_hit_rate.pct"], 0.01),
    counter("l2_hit_share", &["lts__t_sector_hit_rate.pct"], 0.01),
    of_work(
        "global_loads",
        &["smsp__sass_inst_executed_op_global_ld.sum"],
        1.0,
    ),
    counter(
        "local_loads",
        &["smsp__sass_inst_executed_op_local_ld.sum"],
        1.0,
    ),
    counter("branches", &["smsp__sass_branch_targets.sum"], 1.0),
];
