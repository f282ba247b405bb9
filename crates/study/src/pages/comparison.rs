//! The page of machines beside each other: their lines, and all their constants.

use crate::pages::study::machine::constants_table;
use greenup_calibrate::Record;
use greenup_model::{Machine, Op};
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::{Interval, Point};
use greenup_report::si::si;
use greenup_report::table::{Cell, Columns, Table};

/// Builds the page of a figure of these machines for one flop class.
pub fn page(figure: &RooflineFigure, machines: &[Machine], flop: Op) -> Page {
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
        answer: answer(machines, flop),
        sections,
        ..Page::default()
    }
}

/// Flops per joule at high intensity: far beyond every balance only flops and constant power cost.
fn best_efficiency(m: &Machine, flop: Op) -> Option<f64> {
    let line = m.roofline(flop, Op::Dram).ok()?;
    Some(1.0 / line.energy_per_flop(1e9))
}

/// Which machine is the fastest, has the highest bandwidth, and takes the least energy.
fn answer(machines: &[Machine], flop: Op) -> Vec<String> {
    let rate = |m: &Machine, op: Op| m.time_of(op).ok().map(|t| 1.0 / t);
    let most = |unit: &str, of: &dyn Fn(&Machine) -> Option<f64>| {
        let known = machines.iter().filter_map(|m| Some((m, of(m)?)));
        let (m, v) = known.max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(format!("{} ({})", m.name, si(v, unit)))
    };
    let parts = [
        ("highest peak", most("flop/s", &|m| rate(m, flop))),
        ("highest bandwidth", most("B/s", &|m| rate(m, Op::Dram))),
        (
            "most flops a joule at high intensity",
            most("flop/J", &|m| {
                best_efficiency(m, flop).filter(|_| !m.lacks_constant_power())
            }),
        ),
    ];
    let all: Vec<String> = (parts.into_iter())
        .filter_map(|(what, which)| Some(format!("{what}: {}", which?)))
        .collect();
    let mut out = match machines.len() {
        0 | 1 => return Vec::new(),
        n => vec![format!("Of {n} machines, {}.", all.join("; "))],
    };
    let known = |m: &&Machine| best_efficiency(m, flop).is_some() && !m.lacks_constant_power();
    let without: Vec<&str> = (machines.iter())
        .filter(|m| !known(m))
        .map(|m| m.name.as_str())
        .collect();
    if !without.is_empty() && without.len() < machines.len() {
        let names = without.join(", ");
        out.push(format!(
            "Energy or constant power is not known of: {names}."
        ));
    }
    out.push("Next: `greenup predict` tells what a kernel of your own takes on each.".into());
    out
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
        let page = page(&figure, &machines, Op::F32);
        assert_eq!(page.sections.len(), 4);
        assert_eq!(page.sections[1].tables[0].rows.len(), 2);
        let html = page.render().unwrap();
        assert!(html.contains("Constants of arndale-gpu"));
        assert!(!page.sections[0].figures[0].html.contains("NaN"));
    }
}
