use super::*;
use crate::cpu::Counts;
use crate::joules::Trace;
use crate::record::same_bus;
use crate::run::Exit;
use greenup_model::shipped;
use std::collections::BTreeMap;

/// A run of 12 s at 400 W from 2 s to 10 s, at 80 W else.
fn run(counters: Vec<Counted>) -> Recorded {
    let energy = |t: f64| 80.0 * t + 320.0 * (t.clamp(2.0, 10.0) - 2.0);
    let readings = (-3..125)
        .map(|i| f64::from(i) * 0.1)
        .map(|t| (t, energy(t)))
        .collect();
    Recorded {
        version: Recorded::VERSION,
        command: vec!["app".into()],
        exit: Exit::Code(0),
        interrupted: false,
        start_ns: 5_000_000_000,
        wall_s: 12.0,
        user_s: 1.0,
        system_s: 0.1,
        memory_bytes: Some(1e9),
        cpu: Counts::default(),
        traces: vec![Trace {
            id: "nvml:0:energy".into(),
            counter: true,
            readings,
            ..Trace::default()
        }],
        gpus: vec![GpuFacts {
            name: "NVIDIA H100 80GB HBM3".into(),
            bus_id: "0000:1B:00.0".into(),
            multiprocessors: 132,
            sensor: Some("nvml:0:energy".into()),
        }],
        host_sensor: None,
        from_table: false,
        counters,
        notes: vec![],
        provenance: serde_json::Value::Null,
    }
}

fn group(name: &str, share_s: f64) -> Group {
    Group {
        key: Key::Kernel {
            name: name.into(),
            grid: [4096, 1, 1],
            block: [256, 1, 1],
            part: 0,
        },
        launches: 100,
        time_s: share_s,
        share_s,
        median_s: share_s / 100.0,
        least_s: share_s / 100.0,
        longest_s: share_s / 100.0,
        bytes: 0.0,
        invocations: vec![1, 2],
        steps: vec![],
    }
}

fn device() -> Device {
    Device {
        bus_id: "00000000:1b:00.0".into(),
        groups: vec![group("stream", 6.0), group("sgemm", 1.0)],
        first_ns: 7_000_000_000,
        last_ns: 15_000_000_000,
        busy_s: 7.0,
        gap_s: 1.0,
        pauses: vec![],
        step_s: 0.1,
    }
}

fn counted(name: &str, dram: f64, f32_fma: f64) -> Counted {
    let mut counters: BTreeMap<String, f64> = (greenup_tune::counters::table::COUNTERS.iter())
        .map(|c| (c.name.to_owned(), 0.0))
        .collect();
    counters.insert("dram_bytes".into(), dram);
    counters.insert("l2_bytes".into(), dram);
    counters.insert("f32_fma".into(), f32_fma);
    Counted {
        name: name.into(),
        grid: None,
        block: None,
        part: None,
        launches: 1,
        time_s: Some(0.06),
        counters,
    }
}

#[test]
fn attributed_joules_are_those_of_the_meter() {
    let h100 = shipped::find("h100").unwrap().unwrap();
    let both = vec![counted("stream", 1.8e11, 0.0), counted("sgemm", 1e9, 3e11)];
    for counters in [vec![], both[..1].to_vec(), both.clone()] {
        let n = counters.len();
        let r = run(counters);
        let p = profile(&r, &device(), r.gpus.first(), Some(&h100));
        let measured = p.measured_j.unwrap();
        assert!(
            (measured / (80.0 * 12.0 + 320.0 * 8.0) - 1.0).abs() < 1e-3,
            "{measured}"
        );
        assert!((p.attributed_j.unwrap() / measured - 1.0).abs() < 1e-9);
        assert!(
            (p.window.joules.unwrap() / 3200.0 - 1.0).abs() < 0.01,
            "{:?}",
            p.window
        );
        let sum: f64 = (p.kernels.iter().chain(&p.others))
            .filter_map(|r| r.joules)
            .sum();
        assert!((sum / measured - 1.0).abs() < 1e-9);
        let by_counters = p
            .kernels
            .iter()
            .filter(|r| r.basis == Basis::Counters)
            .count();
        assert_eq!(by_counters, n);
        let advised = |r: &&Row| !r.advice.is_empty();
        assert_eq!(p.kernels.iter().filter(advised).count(), n);
    }
}

#[test]
fn a_gpu_that_waits_draws_idle_power_and_bytes_between_partitions_of_l2_count_once() {
    let h200 = shipped::find("h200").unwrap().unwrap();
    let of = |counters: Vec<Counted>| {
        let r = run(counters);
        profile(&r, &device(), r.gpus.first(), Some(&h200))
    };
    let streams = |l2: f64, between: Option<f64>| {
        let mut c = counted("stream", 1e11, 0.0);
        c.counters.remove("l2_between_partitions_bytes");
        c.counters.insert("l2_bytes".into(), l2);
        if let Some(between) = between {
            c.counters
                .insert("l2_between_partitions_bytes".into(), between);
        }
        of(vec![c])
    };
    let waits = |p: &GpuProfile| {
        let gap = p.others.iter().find(|r| r.name == "between kernels");
        (gap.unwrap().basis, gap.unwrap().model_j.unwrap())
    };
    // Eight boards of a node, which has 928.7 W.
    let once = streams(1e11, Some(0.0));
    let (basis, joules) = waits(&once);
    assert_eq!(basis, Basis::IdlePower);
    assert!((joules - 928.7 / 8.0).abs() < 1e-9, "{joules}");
    let stream = |p: &GpuProfile| {
        p.kernels
            .iter()
            .find(|k| k.name == "stream")
            .unwrap()
            .model_j
            .unwrap()
    };
    let counted_between = streams(1.5e11, Some(0.5e11));
    let estimated = streams(1.5e11, None);
    assert!((stream(&counted_between) / stream(&once) - 1.0).abs() < 1e-12);
    assert!((stream(&estimated) / stream(&once) - 1.0).abs() < 1e-12);
    let said = |p: &GpuProfile| p.notes.iter().any(|n| n.contains("partitions of L2"));
    assert_eq!((said(&counted_between), said(&estimated)), (false, true));
}

#[test]
fn counters_give_the_energy_of_the_model_and_what_binds() {
    let h100 = shipped::find("h100").unwrap().unwrap();
    let r = run(vec![counted("stream", 1.8e11, 0.0)]);
    let p = profile(&r, &device(), r.gpus.first(), Some(&h100));
    let stream = p.kernels.iter().find(|k| k.name == "stream").unwrap();
    let of = |op| h100.cost_of(op).unwrap().energy_j.as_ref().unwrap().value;
    let expected =
        100.0 * 1.8e11 * of(Op::Dram) + h100.constant_power_w.as_ref().unwrap().value * 6.0;
    assert!((stream.model_j.unwrap() / expected - 1.0).abs() < 1e-9);
    assert_eq!(stream.bound.as_deref(), Some("dram"));
    assert!(
        stream.of_roof.unwrap() > 0.9 && stream.advice.contains("fewer bytes"),
        "{stream:?}"
    );
    // 100 launches of 0.06 s at 3 TB/s, 6 of 8 s.
    assert!(
        p.scale.unwrap() > 0.8 && p.scale.unwrap() < 1.2,
        "{:?}",
        p.scale
    );
}

#[test]
fn kernels_that_are_faster_than_their_machine_are_named() {
    let h100 = shipped::find("h100").unwrap().unwrap();
    let of = |dram: f64| {
        let r = run(vec![counted("stream", dram, 0.0)]);
        profile(&r, &device(), r.gpus.first(), Some(&h100))
    };
    let named = |p: &GpuProfile| p.notes.iter().find(|n| n.contains("faster than")).cloned();
    assert_eq!(named(&of(1.8e11)), None);
    let wrong = of(1.8e14);
    let note = named(&wrong).unwrap();
    assert!(
        note.starts_with(&format!("1 kernel is faster than {} can be", h100.title))
            && note.contains("stream: 60.0 ms where"),
        "{note}"
    );
    let stream = wrong.kernels.iter().find(|k| k.name == "stream").unwrap();
    assert!(stream.advice.contains("check units"), "{}", stream.advice);
}

#[test]
fn without_a_model_or_a_sensor_it_says_so() {
    let mut r = run(vec![]);
    let p = profile(&r, &device(), r.gpus.first(), None);
    assert!((p.attributed_j.unwrap() / p.measured_j.unwrap() - 1.0).abs() < 1e-9);
    assert_eq!((p.model_j, p.scale), (None, None));
    assert!(p.notes.iter().any(|n| n.contains("no machine model")));
    let mut bare = shipped::find("h100").unwrap().unwrap();
    bare.constant_power_w = None;
    let q = profile(&r, &device(), r.gpus.first(), Some(&bare));
    assert_eq!((q.machine, q.kernels[0].basis), (None, Basis::Time));
    assert!(q.notes.iter().any(|n| n.contains("has no energies")));
    let stream = &p.kernels[0];
    assert!((stream.joules.unwrap() / (p.window.joules.unwrap() * 6.0 / 8.0) - 1.0).abs() < 1e-9);
    // A sensor that failed is named with its error.
    r.traces[0].readings.truncate(40);
    r.traces[0].error = Some("GPU is lost".into());
    let p = profile(&r, &device(), r.gpus.first(), None);
    assert_eq!(p.measured_j, None);
    assert!(
        p.notes.iter().any(|n| n.contains("failed: GPU is lost")),
        "{:?}",
        p.notes
    );
    r.traces.clear();
    let h100 = shipped::find("h100").unwrap().unwrap();
    let p = profile(&r, &device(), r.gpus.first(), Some(&h100));
    assert_eq!((p.measured_j, p.attributed_j), (None, None));
    assert!(p.model_j.unwrap() > 1000.0 && p.kernels[0].joules.is_none());
}

#[test]
fn pauses_are_told_apart_from_launches_and_groups_have_a_timeline() {
    let h100 = shipped::find("h100").unwrap().unwrap();
    let mut d = device();
    d.pauses = vec![(3.0, 3.75)];
    for (group, first) in d.groups.iter_mut().zip([0, 70]) {
        group.steps = (first..first + 10).map(|n| (n, 0.05)).collect();
    }
    let r = run(vec![]);
    let p = profile(&r, &d, r.gpus.first(), Some(&h100));
    let of = |name: &str| p.others.iter().find(|r| r.name == name).unwrap();
    assert!((of(PAUSES).share_s - 0.75).abs() < 1e-9 && (of(BETWEEN).share_s - 0.25).abs() < 1e-9);
    assert!(of(BETWEEN).advice.contains("CUDA graphs") && !of(PAUSES).advice.contains("graphs"));
    assert_eq!(p.pauses, [(5.0, 5.75)]);
    let shares = |kind: Kind| p.timeline.shares[&kind].clone();
    assert_eq!(shares(Kind::Gemm)[70], 0.5);
    assert_eq!(
        (shares(Kind::Other)[0], shares(Kind::Other)[79]),
        (0.5, 0.0)
    );
    // The last interval ends with the last work.
    let short = Device {
        last_ns: d.last_ns - 50_000_000,
        ..d.clone()
    };
    let short = profile(&r, &short, r.gpus.first(), Some(&h100)).timeline;
    assert!(
        (short.shares[&Kind::Gemm][79] - 1.0).abs() < 1e-6,
        "{short:?}"
    );
    assert_eq!(short.edge(80), short.to_s);
    // Tables do not say when kernels ran.
    let table = Recorded {
        from_table: true,
        ..run(vec![])
    };
    let of_table = profile(&table, &d, table.gpus.first(), Some(&h100));
    assert_eq!(of_table.timeline, Default::default());
    let all = crate::Profile {
        command: vec!["app".into()],
        wall_s: 12.0,
        gpus: vec![p],
        cpu: None,
        notes: vec![],
    };
    let page = crate::page::page(&all, &|_| None);
    assert!(
        page.answer.says[1].contains("750 ms (6.2 % of the time) in 1 pause"),
        "{:?}",
        page.answer
    );
    let chart = crate::page::timeline(&all.gpus[0], 12.0).unwrap();
    for chart in [chart, crate::page::shares(&all.gpus[0])] {
        for width in [280.0, 400.0, 840.0, 1200.0] {
            assert_eq!(chart.faults(width), Vec::<String>::new());
        }
    }
}

#[test]
fn buses_are_compared_without_zeros() {
    assert!(same_bus("0000:1B:00.0", "00000000:1b:00.0"));
    assert!(!same_bus("0000:1B:00.0", "0000:1C:00.0"));
}

#[test]
fn each_kernel_has_the_clock_of_its_own_time() {
    let h200 = shipped::find("h200").unwrap().unwrap();
    let mut r = run(vec![
        counted("early", 0.0, 1e11),
        counted("late", 0.0, 1e11),
    ]);
    r.traces[0].states = (0..120)
        .map(|i| f64::from(i) * 0.1 + 0.05)
        .map(|at_s| crate::joules::State {
            at_s,
            clock_hz: Some(if at_s < 6.0 { 1.98e9 } else { 1.6e9 }),
            ..Default::default()
        })
        .collect();
    // The device begins 2 s after the program.
    let mut d = device();
    d.groups = vec![group("early", 3.0), group("late", 3.0), group("both", 3.0)];
    d.groups[0].steps = vec![(0, 1.5), (39, 1.5)];
    d.groups[1].steps = vec![(40, 3.0)];
    d.groups[2].steps = vec![(39, 1.0), (40, 2.0)];
    let p = profile(&r, &d, r.gpus.first(), Some(&h200));
    let of = |name: &str| p.kernels.iter().find(|k| k.name == name).unwrap();
    let near = |x: Option<f64>, y: f64| (x.unwrap() / y - 1.0).abs() < 1e-9;
    assert!(near(of("early").clock_hz, 1.98e9), "{:?}", of("early"));
    assert!(near(of("late").clock_hz, 1.6e9));
    assert!(near(of("both").clock_hz, (1.98e9 + 2.0 * 1.6e9) / 3.0));
    let f32_j = |name: &str| of(name).energy_by_op_j[&Op::F32];
    let lower = h200.clock.as_ref().unwrap().voltage(1.6e9).powi(2);
    assert!(lower < 0.9 && (f32_j("late") / f32_j("early") / lower - 1.0).abs() < 1e-9);
}
