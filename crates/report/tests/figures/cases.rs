//! Every kind of figure, with plain and with hostile inputs.

mod pictures;
mod searches;

use greenup_model::{Op, shipped};
use greenup_report::bar_figure::{Energy, Kernel, Part, kernels};
use greenup_report::chart::{Axis, Chart, Height, Scale, Unit};
use greenup_report::dumbbell_figure::{Row, dumbbells};
use greenup_report::heat_figure::Heat;
use greenup_report::map_figure::map;
use greenup_report::pruning_figure::{Fate, PruningFigure, Slice, Step};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::{Interval, Line, Point};
use greenup_report::scaling_figure::{self, over_time, scaling};
use greenup_report::share_figure::{Group, shares};
use greenup_report::sweep_figure::{Dot, Scatter, SignedBar, signed_bars};
use pictures::picture;

const LONG: &str = "a name of sixty characters, which nothing ever has room for.";

fn machines() -> Vec<greenup_model::Machine> {
    let all = shipped::all().expect("the shipped machines");
    all.into_iter()
        .filter(|m| Line::of(m, Op::F32).is_ok())
        .collect()
}

fn interval(value: f64) -> Interval {
    Interval {
        value,
        lo: 0.9 * value,
        hi: 1.15 * value,
    }
}

fn roofline(names: &[&str], points: Vec<Point>) -> Chart {
    let all = machines();
    RooflineFigure {
        title: format!("Roofline of {}", names.join(", ")),
        lines: names
            .iter()
            .map(|n| {
                Line::of(
                    all.iter().find(|m| m.name == *n).expect("a machine"),
                    Op::F32,
                )
                .expect("its line")
            })
            .collect(),
        points,
        intensity: (1.0 / 16.0, 512.0),
        label_points: true,
    }
    .chart()
}

fn point(name: &str, intensity: f64, v: f64) -> Point {
    Point {
        name: name.into(),
        line: 0,
        intensity,
        flops_per_s: interval(v),
        flops_per_j: Some(interval(v / 250.0)),
        power_w: Some(interval(250.0)),
        calibration: false,
        roof: None,
    }
}

fn rooflines() -> Vec<(&'static str, Chart)> {
    let calibration = (0..30).map(|k| Point {
        calibration: true,
        roof: None,
        ..point(
            "microbenchmark",
            f64::from(k - 8).exp2().min(400.0),
            2e11 * f64::from(k % 3 + 1),
        )
    });
    let mut kernels = vec![
        point("triad", 1.0 / 12.0, 1.9e10),
        point("spmv", 0.13, 2.0e10),
        point("dgemm", 96.0, 1.3e12),
        point("form factor", 300.0, 3e12),
    ];
    kernels.extend(calibration);
    let crowd = (0..12).map(|k| point(&format!("kernel {k} of the same place"), 1.0, 1e11));
    let forty: Vec<Line> = (0..40)
        .map(|k| {
            let all = machines();
            let mut line = Line::of(&all[k % all.len()], Op::F32).expect("a line");
            line.name = format!("{k} {LONG}");
            line
        })
        .collect();
    vec![
        ("roofline of one machine", roofline(&["gtx-titan"], kernels)),
        (
            "roofline of three machines",
            roofline(&["gtx-titan", "arndale-gpu", "xeon-phi"], vec![]),
        ),
        (
            "roofline with a crowd",
            roofline(&["gtx-titan"], crowd.collect()),
        ),
        (
            "roofline of forty machines",
            RooflineFigure {
                title: LONG.repeat(3),
                lines: forty,
                points: vec![
                    point(LONG, 1.0, 1e12),
                    point(LONG, 1.0, 1e12),
                    point("out", 1e9, 1.0),
                ],
                intensity: (1e-6, 1e6),
                label_points: true,
            }
            .chart(),
        ),
    ]
}

fn bar_charts() -> Vec<(&'static str, Chart)> {
    let kernel = |name: &str, share: f64, joules: f64, parts: usize| Kernel {
        name: name.into(),
        share: (share, 0.95 * share, 1.07 * share),
        time_s: 1.19e-3,
        bound: "dram".into(),
        energy: (parts > 0).then(|| Energy {
            measured: (joules, 0.97 * joules, 1.02 * joules),
            parts: ["arithmetic", "data", "constant power"][..parts]
                .iter()
                .map(|n| Part {
                    name: (*n).into(),
                    value: 0.93 * joules / parts as f64,
                })
                .collect(),
        }),
    };
    vec![
        (
            "rows of kernels",
            kernels(
                "Kernels: time and energy",
                &[
                    kernel("triad", 0.91, 2.0, 3),
                    kernel("dgemm", 0.96, 11.6, 3),
                    kernel("form factor", 0.61, 0.37, 3),
                ],
            ),
        ),
        (
            "rows, hostile",
            kernels(
                LONG,
                &[
                    kernel(LONG, 3.9, 1e-9, 0),
                    kernel("zero", 0.0, 0.0, 2),
                    kernel("nan", f64::NAN, 1.0, 1),
                    kernel("no joules", 0.5, 0.0, 3),
                ],
            ),
        ),
        ("rows without data", kernels("nothing", &[])),
    ]
}

fn sweeps() -> Vec<(&'static str, Chart)> {
    let mut rng = fastrand::Rng::with_seed(3);
    let dots: Vec<Dot> = (0..3000)
        .map(|k| {
            let (a, b) = (rng.f64(), rng.f64());
            Dot {
                x: 1e12 * (1.0 + 20.0 * a * b),
                y: 1e9 * (10.0 + 40.0 * a * b + 6.0 * b),
                tip: format!("config {k}"),
                colour: usize::from(a > 0.5),
            }
        })
        .collect();
    let best = |f: &dyn Fn(&Dot) -> f64| {
        (0..dots.len()).max_by(|i, j| f(&dots[*i]).total_cmp(&f(&dots[*j])))
    };
    let plane = Scatter {
        title: "dgemm: efficiency and performance".into(),
        x_label: "performance".into(),
        y_label: "efficiency".into(),
        x_unit: "flop/s".into(),
        y_unit: "flop/J".into(),
        fastest: best(&|d| d.x),
        lowest_energy: best(&|d| d.y),
        hull: vec![0, 1, 2],
        legend: vec!["block ≤ 32".into(), "block > 32".into()],
        most: 2000,
        dots,
        ..Scatter::default()
    };
    let mut again = plane.clone();
    again.hull = Vec::new();
    (again.fastest, again.lowest_energy) = (None, None);
    again.legend = Vec::new();
    again.dots.iter_mut().for_each(|d| d.colour = 0);
    again.front = plane
        .fastest
        .into_iter()
        .chain(plane.lowest_energy)
        .collect();
    let first = again.dots[again.front[0]].clone();
    again.again = (1..9)
        .map(|k| {
            let x = first.x * (1.0 - 1e-3 * f64::from(k));
            let interval = Some((0.99 * first.y, 1.01 * first.y));
            (Dot { x, ..first.clone() }, interval)
        })
        .collect();
    again.named = vec![
        ("fastest and lowest energy".into(), again.again[0].0.clone()),
        (LONG.into(), again.again[7].0.clone()),
    ];
    let one = Scatter {
        title: LONG.into(),
        x_label: LONG.into(),
        y_label: LONG.into(),
        x_unit: "flop/s".into(),
        y_unit: "flop/J".into(),
        dots: vec![
            Dot {
                x: 7.0,
                y: 3.0,
                tip: LONG.into(),
                colour: 0,
            };
            2
        ],
        fastest: Some(0),
        lowest_energy: Some(1),
        ..Scatter::default()
    };
    let bar = |name: &str, value: f64| SignedBar {
        name: name.into(),
        value,
        marked: value > 0.5,
        tip: name.into(),
    };
    let heat = |n: usize, m: usize, f: &dyn Fn(usize, usize) -> Option<f64>| Heat {
        title: format!("time over the best, {n} × {m}"),
        x: (
            "BLK_M".into(),
            (0..n).map(|k| (8 << (k % 9)).to_string()).collect(),
        ),
        y: (
            "BLK_N".into(),
            (0..m).map(|k| (16 * k).to_string()).collect(),
        ),
        ratios: (0..m).map(|j| (0..n).map(|i| f(i, j)).collect()).collect(),
        quantity: "time over the best".into(),
    };
    vec![
        ("plane of a sweep", plane.chart()),
        ("plane with a front and finalists", again.chart()),
        ("plane of one config", one.chart()),
        ("plane without data", Scatter::default().chart()),
        (
            "correlations",
            signed_bars(
                "with performance",
                &[
                    bar("BLK_K", -0.7),
                    bar(LONG, -0.01),
                    bar("threads per block", 0.93),
                    bar("nan", f64::NAN),
                ],
            ),
        ),
        (
            "rows of two dots",
            dumbbells(
                LONG,
                Axis::new(LONG, Unit::None, Scale::Linear).over(-1.0, 1.0),
                &["time", LONG],
                &[("a", 0.5), (LONG, -1.0), ("nan", f64::NAN)].map(|(name, v)| Row {
                    name: name.into(),
                    values: vec![Some(v), None, Some(-v)],
                }),
            ),
        ),
        (
            "no rows of dots",
            dumbbells(
                "none",
                Axis::new("x", Unit::Percent, Scale::Linear),
                &["a"],
                &[],
            ),
        ),
        (
            "heat map",
            heat(6, 5, &|i, j| (i + j != 3).then(|| 1.0 + (i * j) as f64)).chart(),
        ),
        (
            "heat map of one value",
            heat(1, 1, &|_, _| Some(1.0)).chart(),
        ),
        (
            "heat map, large and wide",
            heat(40, 30, &|i, j| Some(10_f64.powi(((i + j) % 13) as i32))).chart(),
        ),
        ("heat map without data", heat(3, 2, &|_, _| None).chart()),
    ]
}

fn series(name: &str, n: usize, f: &dyn Fn(f64) -> f64) -> scaling_figure::Series {
    scaling_figure::Series {
        name: name.into(),
        points: (1..=n)
            .map(|k| {
                let x = k as f64;
                (x, f(x), 0.96 * f(x), 1.05 * f(x))
            })
            .collect(),
    }
}

fn over_size_and_time() -> Vec<(&'static str, Chart)> {
    let panel = |label: &str, unit: &str, series| scaling_figure::Panel {
        label: label.into(),
        unit: unit.into(),
        series,
    };
    vec![
        (
            "scaling",
            scaling(
                "dgemm: configs over problem size",
                "n",
                &[
                    panel(
                        "performance",
                        "flop/s",
                        vec![
                            series("fastest", 9, &|x| 1e12 * x),
                            series("default", 9, &|x| 8e11 * x),
                        ],
                    ),
                    panel(
                        "efficiency",
                        "flop/J",
                        vec![series("fastest", 9, &|x| 1e9 * x)],
                    ),
                ],
            ),
        ),
        (
            "power over time",
            over_time(
                "power",
                "time",
                Unit::si("s"),
                &[panel(
                    "power",
                    "W",
                    vec![series("step", 400, &|x| 300.0 + 40.0 * (0.1 * x).sin())],
                )],
            ),
        ),
        (
            "forty series, twelve decades",
            over_time(
                LONG,
                "time",
                Unit::si("s"),
                &[panel(
                    "energy",
                    "J",
                    (0..40)
                        .map(|k| series(&format!("{k} {LONG}"), 3, &|x| x * 10_f64.powi(k % 13)))
                        .collect(),
                )],
            ),
        ),
        (
            "scaling without data",
            scaling("nothing", "n", &[panel("performance", "flop/s", vec![])]),
        ),
    ]
}

fn others() -> Vec<(&'static str, Chart)> {
    let places: Vec<_> = machines()
        .iter()
        .filter_map(|m| {
            let r = m.roofline(Op::F32, Op::Dram).ok()?;
            Some((m.name.clone(), greenup_model::map::Place::of(&r)?))
        })
        .collect();
    let mut forty = Vec::new();
    for k in 0..40 {
        let (_, p) = places[k % places.len()];
        forty.push((format!("{k} {LONG}"), p));
    }
    let group = |name: &str, n: usize| Group {
        name: name.into(),
        cases: (0..n)
            .map(|k| {
                (
                    format!("case {k}"),
                    vec![0.3, 0.1, 0.2, 0.35 + 0.01 * k as f64],
                )
            })
            .collect(),
    };
    let step = |name: &str, after: Option<f64>| Step {
        name: name.into(),
        soft: false,
        after,
        label: after.map_or(String::new(), |a| a.to_string()),
    };
    let pruning = PruningFigure {
        title: "pruning".into(),
        cartesian: Some(1e12),
        cartesian_label: "1000000000000".into(),
        steps: (0..14)
            .map(|k| step(&format!("{LONG} {k}"), Some(1e12 / 7_f64.powi(k))))
            .chain([step("not counted", None), step("none left", Some(0.0))])
            .collect(),
        levels: (0..8).map(|k| format!("parameter {k}")).collect(),
        slices: (0..200)
            .map(|k| {
                let level = k % 8;
                Slice {
                    level,
                    from: (k / 8) as f64 / 25.0,
                    to: (k / 8 + 1) as f64 / 25.0,
                    fate: match k % 5 {
                        0 => Fate::Alive,
                        1 => Fate::DiesBelow,
                        _ => Fate::Rejected(k % 14),
                    },
                }
            })
            .collect(),
        cut: true,
    };
    vec![
        (
            "map of the machines",
            map("Machines by their dimensionless groups", &places),
        ),
        ("map of forty machines", map(LONG, &forty)),
        ("map without machines", map("nothing", &[])),
        (
            "energies of applications",
            shares(
                "predicted energy over measured",
                &["arithmetic", "other instructions", "data", "constant power"],
                &[
                    group("dgemm", 40),
                    group("form factor", 7),
                    group(LONG, 1),
                    group("empty", 0),
                ],
            ),
        ),
        ("pruning", pruning.chart()),
        ("picture", picture(Height::Equal, 1.0)),
        ("picture, long and flat", picture(Height::Equal, 0.02)),
    ]
}

/// All cases by name.
pub fn all() -> Vec<(&'static str, Chart)> {
    [
        rooflines(),
        bar_charts(),
        sweeps(),
        searches::all(),
        over_size_and_time(),
        others(),
        pictures::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
