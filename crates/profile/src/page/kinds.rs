//! Groups of kernels: their sums, their table, and what they say.

use crate::attribution::{BETWEEN, GpuProfile, OUTSIDE, PAUSES, Profile, Row};
use crate::kind::Kind;
use greenup_report::page::Answer;
use greenup_report::si::{percent, si, three};
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
    by_energy(&mut out, |s| s.energy_j, |s| s.share_s);
    out
}

/// Sorts what used most first: by energy if all have one, else by time.
fn by_energy<T>(all: &mut [T], energy_j: impl Fn(&T) -> Option<f64>, time_s: impl Fn(&T) -> f64) {
    let known = all.iter().all(|x| energy_j(x).is_some());
    let size = |x: &T| energy_j(x).filter(|_| known).unwrap_or_else(|| time_s(x));
    all.sort_by(|a, b| size(b).total_cmp(&size(a)));
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
        .percent("of the time", span(g), |s| of_time(g, s.share_s))
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

/// The time that shares are of. A traced run is taken whole, as its energy is; tables tell how long kernels ran, not when.
pub fn span(g: &GpuProfile) -> &'static str {
    match (outside(g), g.gap_s > 0.0) {
        (Some(_), _) => "of the whole run",
        (None, true) => "from first to last work",
        (None, false) => "in kernels",
    }
}

/// Time before the first work and after the last, if it is known.
fn outside(g: &GpuProfile) -> Option<f64> {
    let row = g.others.iter().find(|r| r.name == OUTSIDE);
    row.map(|r| r.share_s)
}

/// Share of the time of [`span`].
pub fn of_time(g: &GpuProfile, s: f64) -> Option<f64> {
    let span = g.busy_s + g.gap_s + outside(g).unwrap_or(0.0);
    (span > 0.0).then(|| s / span)
}

/// What the page says first: where the energy of the GPU that used most goes, what it waits for, and what to do.
pub fn answer(p: &Profile) -> Answer {
    let mut gpus: Vec<&GpuProfile> = p.gpus.iter().collect();
    // The meter ran longer than the model covers: the two are not compared.
    match gpus.iter().all(|g| g.measured_j.is_some()) {
        true => by_energy(&mut gpus, |g| g.measured_j, |g| g.busy_s),
        false => by_energy(&mut gpus, |g| g.model_j, |g| g.busy_s),
    }
    let Some(g) = gpus.first() else {
        return of_cpu(p);
    };
    let gpu = match gpus.len() {
        1 => "the GPU".to_owned(),
        _ => format!("{} at {}", g.name, g.bus_id),
    };
    let (mut says, mut next) = (Vec::new(), Vec::new());
    if let Some(first) = sums_by_kind(g).first() {
        let time = of_time(g, first.share_s).map(percent);
        let energy = of_all(g, first.energy_j).map(percent);
        let name = match first.kind {
            Kind::Other => "Kernels of no known group take".to_owned(),
            kind => format!(
                "{}{} takes",
                kind.name()[..1].to_uppercase(),
                &kind.name()[1..]
            ),
        };
        let joules = match g.measured_j {
            Some(_) => "energy",
            None => "energy that the model estimates",
        };
        let span = span(g);
        says.push(match (energy, time, g.measured_j.is_some()) {
            (Some(e), Some(t), true) if outside(g).is_some() => {
                format!("{name} {e} of the {joules} of {gpu} and {t} of the time {span}.")
            }
            // The meter ran all the time, the model covers what the time covers.
            (Some(e), Some(t), true) => format!(
                "{name} {e} of the {joules} of {gpu} in the whole run, and {t} of its time {span}."
            ),
            (Some(e), Some(t), false) => {
                format!("{name} {e} of the {joules} of {gpu} and {t} of its time {span}.")
            }
            (_, Some(t), _) => format!("{name} {t} of the time of {gpu} {span}."),
            _ => format!("{name} most of the time of {gpu}."),
        });
    }
    if says.is_empty() {
        says.push(format!("No kernel ran on {gpu}."));
    }
    let others = |name: &str| g.others.iter().find(|r| r.name == name && r.share_s > 0.0);
    let of = |r: &Row| of_time(g, r.share_s).filter(|s| *s > 0.05);
    let r = g.kernels.first().filter(|r| !r.advice.is_empty());
    next.extend(r.map(|r| {
        let share = of_all(g, g.energy(r)).map(percent);
        let share = share.map_or_else(String::new, |s| format!(", {s} of the energy"));
        format!(
            "The kernel that takes most is `{}`{share}. {}",
            r.name, r.advice
        )
    }));
    if let Some((r, share)) = others(PAUSES).and_then(|r| Some((r, of(r)?))) {
        says.push(format!(
            "No work ran for {} ({} of the time) in {}.",
            si(r.share_s, "s"),
            percent(share),
            match r.launches {
                1 => "1 pause".to_owned(),
                n => format!("{n} pauses"),
            }
        ));
        next.push("Look at what the program does in the pauses, not at its launches.".into());
    }
    if let Some(share) = others(BETWEEN).and_then(of) {
        says.push(format!(
            "Gaps between launches take {} of the time.",
            percent(share)
        ));
        next.push("Fewer and larger launches or CUDA graphs close the gaps.".into());
    }
    if next.is_empty() {
        next.push(
            "`greenup predict` tells what the work takes at best on this GPU; the launches of each kernel stand below."
                .into(),
        );
    }
    Answer {
        says,
        sure: vec![sure(g)],
        next,
    }
}

/// What the joules of a GPU rest on.
fn sure(g: &GpuProfile) -> String {
    match (g.measured_j, g.scale, g.model_j) {
        (Some(_), Some(scale), _) => {
            let rests = match g.counted_share {
                s if s < 0.001 => "from the names and times of the kernels alone".to_owned(),
                s => format!("{} of it from counters", percent(s)),
            };
            let off = g.model_j.zip(g.window.joules).map(|(m, j)| 100.0 * (m / j - 1.0));
            let adds = match off {
                Some(off) if off < 0.0 => format!("{:.1} % too low", -off),
                Some(off) => format!("{off:.1} % too high"),
                None => format!("{} times the meter's", three(1.0 / scale)),
            };
            format!(
                "The total energy is measured. Its split among kernels is modelled, {rests}: the model's sum was {adds} and was scaled to the meter's."
            )
        }
        (Some(_), None, _) => {
            "The sum of all joules is the meter's; without a model of this GPU kernels share them by their time."
                .into()
        }
        (None, _, Some(_)) => "No joules were measured: energies are estimates of the model.".into(),
        (None, _, None) => "Times are measured; nothing is known of energies.".into(),
    }
}

/// Of a program without a GPU.
fn of_cpu(p: &Profile) -> Answer {
    let Some(c) = &p.cpu else {
        return Answer::new(
            "Nothing was measured.",
            "Nothing is known.",
            "`greenup profile`.",
        );
    };
    let energy = c
        .joules
        .map_or_else(String::new, |j| format!(" and {}", si(j, "J")));
    Answer::new(
        format!(
            "It takes {}{energy}, with {} busy cores on average.",
            si(c.wall_s, "s"),
            three(c.cores)
        ),
        "It ran once: `greenup run` repeats it and gives intervals.",
        &*c.advice,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{Basis, Timeline, Window};

    fn row(kind: Kind, share_s: f64, joules: Option<f64>) -> Row {
        Row {
            kind,
            launches: 1,
            joules,
            ..Row::plain("kernel", Basis::Time, share_s)
        }
    }

    fn gpu(bus_id: &str, measured_j: Option<f64>, kernels: Vec<Row>) -> GpuProfile {
        GpuProfile {
            name: "H200".into(),
            bus_id: bus_id.into(),
            machine: None,
            sensor: None,
            measured_j,
            window: Window::default(),
            model_j: None,
            scale: None,
            attributed_j: None,
            busy_s: kernels.iter().map(|r| r.share_s).sum(),
            gap_s: 0.0,
            pauses: vec![],
            timeline: Timeline::default(),
            clock_hz: None,
            counted_share: 0.0,
            throttling: vec![],
            power: vec![],
            kernels,
            others: vec![],
            notes: vec![],
        }
    }

    fn first(gpus: Vec<GpuProfile>) -> String {
        let all = Profile {
            command: vec!["app".into()],
            wall_s: 10.0,
            gpus,
            cpu: None,
            notes: vec![],
        };
        answer(&all).says.remove(0)
    }

    #[test]
    fn joules_are_compared_with_joules_and_seconds_with_seconds() {
        let both = |joules| {
            vec![
                row(Kind::Gemm, 1.0, Some(90.0)),
                row(Kind::Other, 3.0, joules),
            ]
        };
        let traced = GpuProfile {
            gap_s: 4.0,
            ..gpu("a", Some(100.0), both(Some(5.0)))
        };
        assert_eq!(
            first(vec![traced]),
            "GEMM takes 90.0 % of the energy of the GPU in the whole run, and 12.5 % of its time from first to last work."
        );
        // What is measured of the whole run is compared with the whole run.
        let whole = GpuProfile {
            gap_s: 4.0,
            others: vec![Row::plain(OUTSIDE, Basis::Time, 2.0)],
            ..gpu("a", Some(100.0), both(Some(5.0)))
        };
        assert_eq!(
            first(vec![whole]),
            "GEMM takes 90.0 % of the energy of the GPU and 10.0 % of the time of the whole run."
        );
        // Without the energy of one group the time decides, and without that of one GPU too.
        let some = gpu("a", Some(100.0), both(None));
        assert_eq!(sums_by_kind(&some)[0].kind, Kind::Other);
        let long = gpu("b", None, vec![row(Kind::Other, 8.0, None)]);
        assert_eq!(
            first(vec![some, long]),
            "Kernels of no known group take 100.0 % of the time of H200 at b in kernels."
        );
    }
}
