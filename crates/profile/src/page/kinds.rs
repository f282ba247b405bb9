//! Groups of kernels: their sums, their table, and what they say.

use crate::attribution::{BETWEEN, GpuProfile, PAUSES, Profile, Row};
use crate::kind::Kind;
use greenup_report::si::{percent, si};
use greenup_report::table::{Columns, Table};

/// Sums over the kernels and copies of a group.
#[derive(Clone, Debug)]
pub struct KindSum {
    /// The group.
    pub kind: Kind,
    /// Different kernels.
    pub kernels: usize,
    /// Launches.
    pub launches: u64,
    /// Share of the GPU's time, s.
    pub share_s: f64,
    /// Energy, J.
    pub energy_j: Option<f64>,
}

/// Share of joules in the energy of the GPU.
pub fn of_all(g: &GpuProfile, joules: Option<f64>) -> Option<f64> {
    let all = g.measured_j.or(g.model_j).filter(|a| *a > 0.0);
    joules.zip(all).map(|(j, a)| j / a)
}

/// The groups that ran, that with the most energy or time first.
pub fn sums_by_kind(g: &GpuProfile) -> Vec<KindSum> {
    let waits = |r: &Row| r.launches == 0 || r.name == PAUSES;
    let all = || (g.kernels.iter().chain(&g.others)).filter(|r| !waits(r));
    let mut out: Vec<KindSum> = (Kind::ALL.into_iter())
        .map(|kind| {
            let own = || all().filter(|r| r.kind == kind);
            KindSum {
                kind,
                kernels: own().count(),
                launches: own().map(|r| r.launches).sum(),
                share_s: own().map(|r| r.share_s).sum(),
                energy_j: own().map(|r| g.energy(r)).sum(),
            }
        })
        .filter(|s| s.kernels > 0)
        .collect();
    let size = |s: &KindSum| s.energy_j.unwrap_or(s.share_s);
    out.sort_by(|a, b| size(b).total_cmp(&size(a)));
    out
}

/// A row a group.
pub fn kinds(g: &GpuProfile) -> Table {
    Columns::<KindSum>::new()
        .text("group", "by the names of the kernels", |s| {
            s.kind.name().to_owned()
        })
        .count("kernels", "different names, grids and durations", |s| {
            s.kernels as u64
        })
        .count("launches", "", |s| s.launches)
        .si("time", "share of the GPU's time", "s", |s| s.share_s)
        .percent("of the time", "from the first to the last work", |s| {
            of_time(g, s.share_s)
        })
        .si("energy", "", "J", |s| s.energy_j)
        .where_known()
        .percent("of the energy", "of the GPU in the whole run", |s| {
            of_all(g, s.energy_j)
        })
        .where_known()
        .si("power", "mean while it ran", "W", |s| {
            s.energy_j
                .filter(|_| s.share_s > 0.0)
                .map(|j| j / s.share_s)
        })
        .where_known()
        .table("Groups of kernels", sums_by_kind(g))
}

/// Share of the time from the first to the last work.
pub fn of_time(g: &GpuProfile, s: f64) -> Option<f64> {
    let span = g.busy_s + g.gap_s;
    (span > 0.0).then(|| s / span)
}

/// What the page says first: where the energy of the GPU that used most goes, what it waits for, and what to do.
pub fn answer(p: &Profile) -> Vec<String> {
    let used = |g: &GpuProfile| g.measured_j.or(g.model_j).unwrap_or(g.busy_s);
    let Some(g) = p.gpus.iter().max_by(|a, b| used(a).total_cmp(&used(b))) else {
        return p.cpu.iter().map(|c| c.advice.clone()).collect();
    };
    let mut out = Vec::new();
    if let Some(first) = sums_by_kind(g).first() {
        let time = of_time(g, first.share_s).map(percent);
        let energy = of_all(g, first.energy_j).map(percent);
        let name = match first.kind {
            Kind::Other => "kernels of no known group",
            kind => kind.name(),
        };
        let name = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        out.push(match (energy, time) {
            (Some(e), Some(t)) => {
                format!("{name} takes {e} of the GPU's energy, in {t} of its time.")
            }
            (_, Some(t)) => format!("{name} takes {t} of the GPU's time."),
            _ => format!("{name} takes most of the GPU's time."),
        });
    }
    let others = |name: &str| g.others.iter().find(|r| r.name == name && r.share_s > 0.0);
    let of = |r: &Row| of_time(g, r.share_s).filter(|s| *s > 0.05);
    if let Some((r, share)) = others(PAUSES).and_then(|r| Some((r, of(r)?))) {
        out.push(format!(
            "The GPU stood still for {} ({} of the time) in {}: look at what the program does then, not at its launches.",
            si(r.share_s, "s"),
            percent(share),
            match r.launches {
                1 => "1 pause".to_owned(),
                n => format!("{n} pauses"),
            }
        ));
    }
    if let Some(share) = others(BETWEEN).and_then(of) {
        out.push(format!(
            "Gaps between launches take {} of the time: fewer and larger launches or CUDA graphs close them.",
            percent(share)
        ));
    }
    if let Some(r) = g.kernels.first().filter(|r| !r.advice.is_empty()) {
        out.push(format!("First kernel, `{}`: {}", r.name, r.advice));
    }
    out
}
