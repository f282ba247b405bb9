//! Figures of searches, with plain and with hostile inputs.

use super::LONG;
use greenup_report::best_figure::{Course, Trial, best_so_far};
use greenup_report::box_figure::{self, Spread, boxes};
use greenup_report::chart::Chart;
use greenup_report::parallel_figure::{self, Parallel};
use greenup_report::replay_figure::{Run, strategies};

fn course(label: &str, unit: &str, n: usize, f: &dyn Fn(usize) -> f64) -> Course {
    Course {
        label: label.into(),
        unit: unit.into(),
        trials: (1..=n)
            .map(|k| Trial {
                number: k,
                value: f(k),
                tip: format!("config {k}"),
            })
            .collect(),
    }
}

fn best() -> Vec<(&'static str, Chart)> {
    let noise = |k: usize| 1.0 + ((k * 7919) % 101) as f64 / 20.0;
    let time = course("time", "s", 900, &|k| 1e-3 * noise(k));
    let decades = course(LONG, "J", 40, &|k| 10_f64.powi((k * 5 % 13) as i32));
    let drawn = |title: &str, course: &Course| best_so_far(title, course, vec![]);
    vec![
        ("best so far", drawn("dgemm", &time)),
        ("best so far, twelve decades", drawn(LONG, &decades)),
        (
            "best so far of one trial",
            drawn("one", &course("time", "s", 1, &|_| 2.0)),
        ),
        (
            "best so far of equal trials",
            drawn("same", &course("time", "s", 2, &|_| 2.0)),
        ),
        (
            "best so far without data",
            drawn("nothing", &course("time", "s", 0, &|_| 1.0)),
        ),
    ]
}

fn parallel(rows: usize, values: usize, n: usize, name: &dyn Fn(usize) -> String) -> Chart {
    let mut rng = fastrand::Rng::with_seed(5);
    Parallel {
        title: "parameters of the configs".into(),
        parameters: (0..rows)
            .map(|p| parallel_figure::Parameter {
                name: name(p),
                values: (0..values)
                    .map(|v| (1_u64 << (v % 20)).to_string())
                    .collect(),
            })
            .collect(),
        configs: (0..n)
            .map(|k| {
                let value = 1e-3 * 10_f64.powf(12.0 * k as f64 / n as f64);
                (value, (0..rows).map(|_| rng.usize(..values)).collect())
            })
            .collect(),
    }
    .chart()
}

fn lines() -> Vec<(&'static str, Chart)> {
    vec![
        ("parallel", parallel(8, 6, 2000, &|p| format!("BLK_{p}"))),
        (
            "parallel, hostile",
            parallel(40, 25, 30_000, &|p| format!("{p} {LONG}")),
        ),
        (
            "parallel of one config",
            parallel(3, 1, 1, &|p| format!("p{p}")),
        ),
        ("parallel without data", Parallel::default().chart()),
    ]
}

fn distributions() -> Vec<(&'static str, Chart)> {
    let parameter =
        |name: String, n: usize, f: &dyn Fn(usize, usize) -> f64| box_figure::Parameter {
            name,
            values: (0..n)
                .filter_map(|v| {
                    let all = (0..60).map(|k| f(v, k)).collect();
                    Some(((8 << v).to_string(), Spread::of(all)?))
                })
                .collect(),
        };
    let noise =
        |v: usize, k: usize| 1e12 * (1.0 + v as f64) * (1.0 + ((k * 37) % 60) as f64 / 30.0);
    vec![
        (
            "boxes",
            boxes(
                "dgemm",
                "performance",
                "flop/s",
                &[3, 5, 7, 2].map(|n| parameter(format!("BLK_{n}"), n, &noise)),
            ),
        ),
        (
            "boxes of forty parameters over twelve decades",
            boxes(
                LONG,
                LONG,
                "flop/s",
                &(0..40)
                    .map(|p| {
                        parameter(format!("{p} {LONG}"), 12, &|v, k| {
                            10_f64.powi(((v + k) % 13) as i32)
                        })
                    })
                    .collect::<Vec<_>>(),
            ),
        ),
        (
            "boxes of one value",
            boxes(
                "one",
                "performance",
                "flop/s",
                &[parameter("p".into(), 1, &|_, _| 3.0)],
            ),
        ),
        (
            "boxes without data",
            boxes(
                "nothing",
                "performance",
                "flop/s",
                &[parameter("p".into(), 2, &|_, _| f64::NAN)],
            ),
        ),
    ]
}

fn replays() -> Vec<(&'static str, Chart)> {
    let run = |name: String, k: usize, n: usize| Run {
        name,
        course: (1..=n)
            .map(|i| {
                let x = i as f64;
                let median = 1.0 - 0.9 / (1.0 + 0.1 * (k + 1) as f64 * x);
                (x, median, 0.9 * median, (1.05 * median).min(1.0))
            })
            .collect(),
    };
    vec![
        (
            "strategies",
            strategies(
                "dgemm",
                &["forest", "random", "genetic", "local"]
                    .iter()
                    .enumerate()
                    .map(|(k, name)| run((*name).into(), k, 72))
                    .collect::<Vec<_>>(),
            ),
        ),
        (
            "forty strategies",
            strategies(
                LONG,
                &(0..40)
                    .map(|k| run(format!("{k} {LONG}"), k, 30))
                    .collect::<Vec<_>>(),
            ),
        ),
        (
            "a strategy of one trial",
            strategies("one", &[run("random".into(), 0, 1)]),
        ),
        ("no strategy", strategies("nothing", &[])),
    ]
}

/// All cases by name.
pub fn all() -> Vec<(&'static str, Chart)> {
    [best(), lines(), distributions(), replays()]
        .into_iter()
        .flatten()
        .collect()
}
