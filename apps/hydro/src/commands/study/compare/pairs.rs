//! Steps of one study over those of another.

use super::power::{CpuPower, Range};
use crate::commands::study::row::Row;
use greenup_model::machine::Label;
use serde::Serialize;

/// What a step costs on a device.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    pub device: String,
    pub seconds: f64,
    /// CPU and GPU together, W.
    pub watts: Option<Range>,
    /// Of one step, J.
    pub joules: Option<Range>,
    pub label: Label,
}

/// A study over the first one, at one order.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    pub spaces: String,
    pub zones: usize,
    pub assembly: &'static str,
    pub base: Side,
    pub other: Side,
    pub speedup: f64,
    /// Power of the base over power of the other.
    pub powerup: Option<Range>,
    /// Energy of the base over energy of the other.
    pub greenup: Option<Range>,
    pub label: Label,
}

fn side(r: &Row, cpu: Option<CpuPower>) -> Side {
    let on_cpu = r.device == "cpu";
    let (watts, label) = if on_cpu {
        match r.watts {
            Some(w) => (Some(Range::exact(w)), Label::Measured),
            None => (cpu.map(|c| c.busy), Label::Estimated),
        }
    } else {
        let host = match r.host_watts {
            Some(w) => (Some(Range::exact(w)), Label::Measured),
            None if r.device.ends_with("+cpu") => (cpu.map(|c| c.busy), Label::Estimated),
            None => (cpu.map(|c| c.waiting), Label::Estimated),
        };
        let both = r.watts.zip(host.0);
        (both.map(|(board, h)| h.of(|h| board + h)), host.1)
    };
    Side {
        device: if on_cpu {
            "cpu".into()
        } else {
            r.device.clone()
        },
        seconds: r.seconds,
        watts,
        joules: watts.map(|w| w.of(|w| w * r.seconds)),
        label,
    }
}

/// Steps that both have, at the same order, assembly and number of zones.
pub fn pairs(base: &[Row], other: &[Row], cpu: Option<CpuPower>) -> Vec<Pair> {
    let steps = |rows: &'_ [Row]| -> Vec<Row> {
        rows.iter().filter(|r| r.work == "step").cloned().collect()
    };
    let base = steps(base);
    let mut out = Vec::new();
    for new in steps(other) {
        let same =
            |b: &&Row| (b.order, b.zones, b.assembly) == (new.order, new.zones, new.assembly);
        let Some(old) = base.iter().find(same) else {
            continue;
        };
        let (base, other) = (side(old, cpu), side(&new, cpu));
        let both = base.watts.zip(other.watts);
        let speedup = base.seconds / other.seconds;
        let powerup = both.map(|(a, b)| a.with(b, |a, b| a / b));
        let measured = [&base, &other].iter().all(|s| s.label == Label::Measured);
        out.push(Pair {
            spaces: new.spaces(),
            zones: new.zones,
            assembly: new.assembly.name(),
            speedup,
            powerup,
            greenup: powerup.map(|p| p.of(|p| p * speedup)),
            label: if measured {
                Label::Measured
            } else {
                Label::Estimated
            },
            base,
            other,
        });
    }
    out
}
