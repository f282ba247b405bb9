//! The section on the limits of a device: roofline, arch line and power line.

use crate::device::DeviceStudy;
use crate::result::KernelResult;
use greenup_calibrate::Record;
use greenup_model::{Bound, Machine, MachineError, Op};
use greenup_report::page::{Fact, Figure, Section};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::{Interval, Line, Point};
use greenup_report::si::{si, three};

/// Flop classes with lines of their own on a GPU, and their names.
const ON_A_GPU: [(Op, &str); 3] = [
    (Op::F64, "f64"),
    (Op::TensorF64, "f64, tensor cores"),
    (Op::F32, "f32"),
];
/// Range of intensity, flop/B, where no kernel is beyond it.
const INTENSITY: (f64, f64) = (1.0 / 16.0, 512.0);

/// The roofline figure of the measured machine with its kernels.
///
/// # Errors
/// The calibrated machine lacks a cost that the figure needs.
pub fn roofline_figure(study: &DeviceStudy) -> Result<RooflineFigure, MachineError> {
    let classes = Classes::of(&study.machine, study.is_gpu())?;
    let points: Vec<Point> = (study.kernels.iter())
        .filter_map(|k| point(k, &classes.ops))
        .chain(classes.calibration(&study.records))
        .collect();
    let title = if study.is_gpu() {
        study.machine.title.clone()
    } else {
        format!("{}, double precision", study.machine.title)
    };
    Ok(limits(title, classes, points))
}

/// The figure of these lines and points, wide enough for all points.
pub fn limits(title: String, classes: Classes, points: Vec<Point>) -> RooflineFigure {
    let most = (points.iter().map(|p| p.intensity))
        .filter(|i| i.is_finite())
        .fold(INTENSITY.1, f64::max);
    RooflineFigure {
        title,
        lines: classes.lines,
        points,
        intensity: (INTENSITY.0, most.log2().ceil().exp2()),
        label_points: true,
    }
}

/// Flop classes that are drawn, and their lines.
pub struct Classes {
    ops: Vec<Op>,
    lines: Vec<Line>,
}

impl Classes {
    /// Double precision on a CPU; one line for each flop class that a GPU has, the caches' roofs with the first alone.
    ///
    /// # Errors
    /// The machine lacks a cost that the lines need.
    pub fn of(machine: &Machine, gpu: bool) -> Result<Self, MachineError> {
        if !gpu {
            return Ok(Self {
                ops: vec![Op::F64],
                lines: vec![Line::of(machine, Op::F64)?],
            });
        }
        let (mut ops, mut lines) = (Vec::new(), Vec::new());
        for (op, name) in ON_A_GPU {
            if op != Op::F64 && machine.time_of(op).is_err() {
                continue;
            }
            let mut line = Line::of(machine, op)?;
            line.name = name.to_owned();
            if !lines.is_empty() {
                line.levels.clear();
            }
            lines.push(line);
            ops.push(op);
        }
        Ok(Self { ops, lines })
    }

    /// The microbenchmarks of one of the classes and main memory.
    pub fn calibration(&self, records: &[Record]) -> Vec<Point> {
        let point = |r: &Record| {
            let line = self.ops.iter().position(|op| r.work.count(*op) > 0.0)?;
            let bytes = r.work.count(Op::Dram);
            if bytes == 0.0 || r.occupancy < 1.0 {
                return None;
            }
            let flops = r.work.count(self.ops[line]);
            let (lo, hi) = (
                r.note("_time_lo_s").unwrap_or(r.time_s),
                r.note("_time_hi_s").unwrap_or(r.time_s),
            );
            let exact = |v: f64| Interval {
                value: v,
                lo: v,
                hi: v,
            };
            Some(Point {
                name: r.benchmark.clone(),
                line,
                intensity: flops / bytes,
                flops_per_s: Interval {
                    value: flops / r.time_s,
                    lo: flops / hi,
                    hi: flops / lo,
                },
                flops_per_j: r.energy_j.map(|e| exact(flops / e)),
                power_w: r.energy_j.map(|e| exact(e / r.time_s)),
                calibration: true,
                roof: None,
            })
        };
        records.iter().filter_map(point).collect()
    }
}

/// A kernel on the line of the class that it has most flops of.
fn point(k: &KernelResult, classes: &[Op]) -> Option<Point> {
    let m = k.measured.as_ref()?;
    let line = (0..classes.len())
        .max_by(|&a, &b| {
            let n = |i: usize| k.work.count(classes[i]);
            n(a).total_cmp(&n(b)).then(b.cmp(&a))
        })
        .unwrap_or(0);
    let rate = |s: &greenup_meter::Summary| Interval {
        value: k.flops / s.median,
        lo: k.flops / s.hi,
        hi: k.flops / s.lo,
    };
    Some(Point {
        name: k.name.clone(),
        line,
        intensity: k.intensity,
        flops_per_s: rate(&m.time_s),
        flops_per_j: m.energy_j.as_ref().map(rate),
        power_w: m.power_w.map(|p| Interval {
            value: p.median,
            lo: p.lo,
            hi: p.hi,
        }),
        calibration: false,
        roof: k
            .share_of_roof
            .map(|share| (share, other_roof(k, classes[line]))),
    })
}

/// The name of the roof of a kernel, if it is neither main memory nor `flop`, which have lines; a power cap depends on its data too.
fn other_roof(k: &KernelResult, flop: Op) -> Option<String> {
    match k.predicted.bound {
        Bound::Op(op) if op != Op::Dram && op != flop => Some(op.name().to_owned()),
        Bound::Cap => Some("cap".to_owned()),
        _ => None,
    }
}

pub fn section(study: &DeviceStudy) -> Result<Section, MachineError> {
    let figure = &match roofline_figure(study) {
        Ok(figure) => figure,
        // Of an interrupted calibration there is what was measured.
        Err(why) if study.interrupted => {
            return Ok(Section {
                id: study.anchor("lines"),
                title: "Where this machine's limits are".into(),
                paragraphs: vec![format!("No roofline: {why}.")],
                ..Section::default()
            });
        }
        Err(why) => return Err(why),
    };
    let caption = "Solid: what this machine can reach at each intensity, with its 95 % band; dashed: the caches' own roofs. Points: the measured kernels with their intervals and the fraction of their roof; short lines: roofs of kernels that something else bounds.";
    let above = figure.above_roof();
    let paragraphs = if above.is_empty() {
        Vec::new()
    } else {
        vec![format!(
            "Above the roof (red): {}. A point there means that the roof or the count of bytes is wrong.",
            above.join(", ")
        )]
    };
    Ok(Section {
        id: study.anchor("lines"),
        title: "Where this machine's limits are".into(),
        short: "Limits".into(),
        label: Some("measured"),
        paragraphs,
        figures: vec![Figure::chart(&figure.chart(), caption).wide()],
        ..Section::default()
    })
}

/// What the balances say; nothing without energy.
pub fn balances(machine: &Machine) -> Vec<Fact> {
    let Ok(r) = machine.roofline(Op::F64, Op::Dram) else {
        return Vec::new();
    };
    vec![
        Fact::new(
            "Time balance",
            format!(
                "{} flop/B: below it a kernel waits for memory",
                three(r.time_balance())
            ),
        ),
        Fact::new(
            "Energy balance",
            format!(
                "{} flop/B: below it bytes cost more joules than flops",
                three(r.energy_balance())
            ),
        ),
        Fact::new(
            "Half of the best flop/J",
            format!("at {} flop/B", three(r.half_efficiency_intensity())),
        ),
        Fact::new("Constant power", si(r.pi0, "W")),
        Fact::new("Largest power", si(r.max_power(), "W")),
    ]
}
