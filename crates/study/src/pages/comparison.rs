//! The page of machines beside each other: their lines, and all their constants.

use crate::pages::study::machine::constants_table;
use greenup_calibrate::Record;
use greenup_model::{Machine, Op};
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::{Interval, Point};
use greenup_report::si::{percent, si, three};
use greenup_report::table::{Cell, Header, Table};

/// Builds the page of a figure of these machines for one flop class.
pub fn page(figure: &RooflineFigure, machines: &[Machine], flop: Op) -> Page {
    let mut about = vec![
        "Lines: what each machine can reach at each intensity, with its 95 % band where it has one."
            .to_owned(),
    ];
    let above = figure.above_roof();
    if !above.is_empty() {
        about.push(format!("Above the roof: {}.", above.join(", ")));
    }
    let names: Vec<&str> = machines.iter().map(|m| m.name.as_str()).collect();
    let mut sections = vec![
        Section {
            id: "lines".into(),
            title: "Limits".into(),
            label: Some("derived"),
            paragraphs: about,
            figures: vec![Figure::chart(&figure.chart(), "").wide()],
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
        sections,
        ..Page::default()
    }
}

/// A row a machine; costs that it does not have are empty.
fn side_by_side(machines: &[Machine], flop: Op) -> Table {
    let cell = |v: Option<f64>, unit: &str| match v {
        Some(v) => Cell::number(v, si(v, unit)),
        None => Cell::text("–"),
    };
    let plain = |v: Option<f64>| match v {
        Some(v) => Cell::number(v, three(v)),
        None => Cell::text("–"),
    };
    let rows = machines
        .iter()
        .map(|m| {
            let rate = |op: Op| m.time_of(op).ok().map(|t| 1.0 / t);
            let r = m.roofline(flop, Op::Dram).ok();
            let r = r.as_ref();
            vec![
                Cell::text(&m.name),
                cell(rate(flop), "flop/s"),
                cell(rate(Op::Dram), "B/s"),
                plain(rate(flop).zip(rate(Op::Dram)).map(|(f, b)| f / b)),
                // Far beyond every balance only flops and constant power cost.
                cell(r.map(|r| 1.0 / r.energy_per_flop(1e9)), "flop/J"),
                plain(r.map(|r| r.energy_balance())),
                cell(r.map(|r| r.pi0), "W"),
                cell(r.map(|r| r.max_power()), "W"),
                match r.map(|r| r.pi0 / r.max_power()) {
                    Some(share) => Cell::number(share, percent(share)),
                    None => Cell::text("–"),
                },
            ]
        })
        .collect();
    let about = [
        ("machine", ""),
        ("peak", "Highest rate of the flop class."),
        ("slow memory", "Highest bandwidth."),
        (
            "Bτ, flop/B",
            "Below this intensity a kernel waits for memory.",
        ),
        ("best efficiency", "Flops per joule at high intensity."),
        (
            "Bε, flop/B",
            "Below this intensity bytes cost more joules than flops.",
        ),
        ("constant power", ""),
        ("largest power", ""),
        ("constant share", "Constant power over the largest power."),
    ];
    Table {
        caption: format!("For {flop} and slow memory"),
        header: about.iter().map(|(n, t)| Header::new(n, t)).collect(),
        rows,
    }
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
