//! The page of machines beside each other: their lines, and all their constants.

use crate::pages::study::machine::constants_table;
use greenup_calibrate::Record;
use greenup_model::{Estimate, Label, Machine, Op};
use greenup_report::page::{Answer, Fact, Figure, Page, Section};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::{Interval, Point};
use greenup_report::si::si;
use greenup_report::table::{Cell, Columns, Table};

/// Builds the page of a figure of these machines for one flop class; `named` are the machines as a command line names them.
pub fn page(figure: &RooflineFigure, machines: &[Machine], named: &[String], flop: Op) -> Page {
    let above = figure.above_roof();
    let about = match above.is_empty() {
        true => Vec::new(),
        false => vec![format!("Above the roof: {}.", above.join(", "))],
    };
    let caption =
        "What each machine can reach at each intensity, with its 95 % band where it has one.";
    let names: Vec<&str> = machines.iter().map(|m| m.name.as_str()).collect();
    let mut sections = vec![
        Section {
            id: "lines".into(),
            title: "Limits".into(),
            label: Some("derived"),
            paragraphs: about,
            figures: vec![Figure::chart(&figure.chart(), caption).wide()],
            ..Section::default()
        },
        Section {
            id: "numbers".into(),
            title: "Side by side".into(),
            label: Some("derived"),
            tables: vec![side_by_side(machines, flop)],
            ..Section::default()
        },
    ];
    sections.extend(machines.iter().map(constants));
    Page {
        title: names.join(" and "),
        subtitle: format!("Energy rooflines, {flop}"),
        answer: answer(machines, named, flop),
        sections,
        ..Page::default()
    }
}

/// Flops per joule at high intensity: far beyond every balance only flops and constant power cost.
fn best_efficiency(m: &Machine, flop: Op) -> Option<f64> {
    let line = m.roofline(flop, Op::Dram).ok()?;
    Some(1.0 / line.energy_per_flop(1e9))
}

/// Which machine is the fastest, has the highest bandwidth, and takes the least energy; and how sure their constants are.
fn answer(machines: &[Machine], named: &[String], flop: Op) -> Answer {
    let rate = |m: &Machine, op: Op| m.time_of(op).ok().map(|t| 1.0 / t);
    let efficiency = |m: &Machine| best_efficiency(m, flop).filter(|_| !m.lacks_constant_power());
    let most = |of: &dyn Fn(&Machine) -> Option<f64>| {
        let known = machines.iter().filter_map(|m| Some((m, of(m)?)));
        known.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let fast = most(&|m| rate(m, flop));
    let green = most(&efficiency);
    let parts = [
        ("highest peak", fast, "flop/s"),
        ("highest bandwidth", most(&|m| rate(m, Op::Dram)), "B/s"),
        ("most flops a joule at high intensity", green, "flop/J"),
    ];
    let frugal = (machines.iter())
        .filter_map(|m| Some((m, energy_of_byte(m, flop)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let all: Vec<String> = (parts.into_iter())
        .filter_map(|(what, which, unit)| {
            let (m, v) = which?;
            Some(format!("{what}: {} ({})", m.name, si(v, unit)))
        })
        .chain(frugal.map(|(m, e)| {
            format!(
                "least energy of a byte at low intensity: {} ({})",
                m.name,
                si(e, "J/B")
            )
        }))
        .collect();
    let mut says = match machines.len() {
        0 => vec!["There is no machine.".to_owned()],
        1 => vec![format!("The {}.", all.join("; "))],
        n => vec![format!("Of {n} machines, {}.", all.join("; "))],
    };
    if let (Some((fast, peak)), Some((green, _))) = (fast, green)
        && fast.name != green.name
        && let Some(other) = rate(green, flop)
    {
        let less = (efficiency(fast))
            .map_or_else(String::new, |e| format!(", which does {}", si(e, "flop/J")));
        says.push(format!(
            "A choice between speed and energy: the peak of {} is {} against {} of {}{less}.",
            green.name,
            si(other, "flop/s"),
            si(peak, "flop/s"),
            fast.name
        ));
    }
    let without: Vec<&str> = (machines.iter())
        .filter(|m| efficiency(m).is_none())
        .map(|m| m.name.as_str())
        .collect();
    if !without.is_empty() {
        let names = without.join(", ");
        says.push(format!(
            "Energy or constant power is not known of: {names}."
        ));
    }
    let next = match fast {
        Some((m, _)) => format!(
            "`greenup predict --machine {} --op {flop}=1e12 --op dram=1e11` tells what such work takes on it: put in the counts of your own, and each machine.",
            (machines.iter().zip(named))
                .find(|(of, _)| of.name == m.name)
                .map_or(&*m.name, |(_, named)| named)
        ),
        None => "`greenup calibrate` measures a machine.".to_owned(),
    };
    Answer {
        says,
        sure: lead(machines, flop)
            .into_iter()
            .chain(sure(machines))
            .collect(),
        next: vec![next],
    }
}

/// Joules of a byte at low intensity, with constant power for its time; `None` where that is not known.
fn energy_of_byte(m: &Machine, flop: Op) -> Option<f64> {
    const LOW: f64 = 1e-9;
    let line = m
        .roofline(flop, Op::Dram)
        .ok()
        .filter(|_| !m.lacks_constant_power())?;
    Some(LOW * line.energy_per_flop(LOW))
}

/// Whether the highest peak lies beyond the intervals of the next; `None` where they are not known.
fn lead(machines: &[Machine], flop: Op) -> Option<String> {
    let mut peaks: Vec<(&str, &Estimate)> = (machines.iter())
        .filter_map(|m| Some((&*m.name, m.cost.get(&flop)?.time_s.as_ref()?)))
        .collect();
    peaks.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let [(first, a), (second, b), ..] = peaks[..] else {
        return None;
    };
    let beyond = match a.hi.zip(b.lo)? {
        (slowest, fastest) if slowest < fastest => "larger than their 95 % intervals",
        _ => "within their 95 % intervals",
    };
    Some(format!(
        "The lead of {first} over {second} in peak is {beyond}."
    ))
}

/// Where the constants come from, and whether their intervals are known: machines alike in this have a sentence.
fn sure(machines: &[Machine]) -> Vec<String> {
    let kind = |m: &Machine| {
        let known = |e: Option<&Estimate>| e.is_some_and(|e| e.lo.is_some() && e.hi.is_some());
        let mut costs = m.cost.values().filter(|c| c.time_s.is_some()).peekable();
        let interval = costs.peek().is_some() && costs.all(|c| known(c.time_s.as_ref()));
        let with = if interval { "with" } else { "without" };
        let label = match m.label {
            Label::Derived => "derived (computed from numbers of their sources)",
            other => other.name(),
        };
        format!("{label}, {with} 95 % intervals")
    };
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for m in machines {
        let of = kind(m);
        match kinds.iter_mut().find(|k| k.0 == of) {
            Some(k) => k.1.push(&m.name),
            None => kinds.push((of, vec![&m.name])),
        }
    }
    (kinds.into_iter())
        .map(|(kind, names)| format!("Constants of {} are {kind}.", names.join(", ")))
        .collect()
}

/// A row a machine; costs that it does not have are empty.
fn side_by_side(machines: &[Machine], flop: Op) -> Table {
    let rate = |m: &Machine, op: Op| m.time_of(op).ok().map(|t| 1.0 / t);
    let line = |m: &Machine| m.roofline(flop, Op::Dram).ok();
    Columns::<Machine>::new()
        .text("machine", "", |m| m.name.clone())
        .si("peak", "Highest rate of the flop class.", "flop/s", |m| {
            rate(m, flop)
        })
        .si("slow memory", "Highest bandwidth.", "B/s", |m| {
            rate(m, Op::Dram)
        })
        .three(
            "Bτ, flop/B",
            "Below this intensity a kernel waits for memory.",
            |m| rate(m, flop).zip(rate(m, Op::Dram)).map(|(f, b)| f / b),
        )
        .cell(
            "best efficiency",
            "Flops per joule at high intensity; an upper bound where constant power is not known.",
            |m| {
                Cell::shown(best_efficiency(m, flop), |x| {
                    match m.lacks_constant_power() {
                        true => format!("≤ {}", si(x, "flop/J")),
                        false => si(x, "flop/J"),
                    }
                })
            },
        )
        .si(
            "energy of a byte",
            "At low intensity, with constant power for its time.",
            "J/B",
            |m| energy_of_byte(m, flop),
        )
        .where_known()
        .three(
            "Bε, flop/B",
            "Below this intensity bytes cost more joules than flops.",
            |m| line(m).map(|r| r.energy_balance()),
        )
        .si("constant power", "", "W", |m| {
            line(m).map(|r| r.pi0).filter(|_| !m.lacks_constant_power())
        })
        .si("largest power", "", "W", |m| {
            (line(m).map(|r| r.max_power())).filter(|_| !m.lacks_constant_power())
        })
        .percent(
            "constant share",
            "Constant power over the largest power.",
            |m| {
                let share = line(m).map(|r| r.pi0 / r.max_power());
                share.filter(|_| !m.lacks_constant_power())
            },
        )
        .table(format!("For {flop} and slow memory"), machines)
}

fn constants(m: &Machine) -> Section {
    let mut items: Vec<Fact> = m.sources.iter().map(|s| Fact::new("", s.clone())).collect();
    if !m.about.is_empty() {
        items.insert(0, Fact::new("", m.about.clone()));
    }
    Section {
        id: format!("constants-{}", m.name),
        title: format!("Constants of {}", m.name),
        label: Some(m.label.name()),
        paragraphs: m.warnings.clone(),
        items,
        tables: vec![constants_table(
            m,
            "With 95 % intervals where there are some",
        )],
        ..Section::default()
    }
}

/// Records of the flop class against slow memory, on the whole device.
pub fn points(records: &[Record], flop: Op) -> Vec<Point> {
    records
        .iter()
        .filter(|r| r.occupancy >= 1.0 && r.work.count(flop) > 0.0)
        .filter_map(|r| {
            let intensity = r.work.intensity()?;
            let w = r.work.flops();
            let note = |name: &str| {
                r.notes
                    .iter()
                    .find(|(n, _)| n == name)
                    .and_then(|(_, v)| v.parse::<f64>().ok())
            };
            let (fast, slow) = (
                note("_time_lo_s").unwrap_or(r.time_s),
                note("_time_hi_s").unwrap_or(r.time_s),
            );
            let exact = |v: f64| Interval {
                value: v,
                lo: v,
                hi: v,
            };
            Some(Point {
                name: r.benchmark.clone(),
                line: 0,
                intensity,
                flops_per_s: Interval {
                    value: w / r.time_s,
                    lo: w / slow,
                    hi: w / fast,
                },
                flops_per_j: r.energy_j.map(|e| exact(w / e)),
                power_w: r.energy_j.map(|e| exact(e / r.time_s)),
                calibration: false,
                roof: None,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_model::shipped;
    use greenup_report::roofline_parts::Line;

    #[test]
    fn every_machine_has_a_row_and_its_constants() {
        let machines: Vec<Machine> = ["gtx-titan", "arndale-gpu"]
            .map(|n| shipped::find(n).unwrap().unwrap())
            .to_vec();
        let figure = RooflineFigure {
            title: "t".into(),
            lines: (machines.iter())
                .map(|m| Line::of(m, Op::F32).unwrap())
                .collect(),
            points: vec![],
            intensity: (0.0625, 512.0),
            label_points: true,
        };
        let named = ["gtx-titan".to_owned(), "./a b.toml".to_owned()];
        let page = page(&figure, &machines, &named, Op::F32);
        assert!(page.answer.next[0].contains("--machine gtx-titan --op f32=1e12"));
        assert_eq!(page.sections.len(), 4);
        assert_eq!(page.sections[1].tables[0].rows.len(), 2);
        let html = page.render().unwrap();
        assert!(html.contains("Constants of arndale-gpu"));
        assert!(!page.sections[0].figures[0].html.contains("NaN"));
    }
}
