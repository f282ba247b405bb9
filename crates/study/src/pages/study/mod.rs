//! The HTML page of a study.

mod answer;
mod devices;
pub mod energy;
mod headline;
pub mod kernels;
pub(super) mod lines;
pub(super) mod machine;
mod tradeoff;
pub mod tuning;

use crate::study::Study;
pub use devices::without_energy;
use greenup_model::{Label, Machine, MachineError, Op, Prediction};
use greenup_report::page::{Figure, Page, Section};
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::Line;
use greenup_report::table::Columns;
pub use headline::headline;
pub use lines::roofline_figure;

/// Builds the page.
///
/// # Errors
/// A calibrated or the assumed machine lacks a cost that the page needs.
pub fn page(study: &Study) -> Result<Page, MachineError> {
    let several = study.devices.len() > 1;
    let mut sections = Vec::new();
    for device in &study.devices {
        let mut own = vec![
            lines::section(device)?,
            kernels::section(device),
            kernels::numbers(device),
        ];
        own.extend(tuning::section(device));
        let folded = [
            machine::constants(device),
            machine::facts(device),
            machine::calibration_points(device),
        ];
        own.extend(folded.map(|s| Section { folded: true, ..s }));
        if several {
            for section in &mut own {
                section.tab = format!("{}: {}", device.device, device.model());
            }
        }
        sections.extend(own);
    }
    if let Some(assumed) = &study.assume {
        sections.push(assumed_energy(study, assumed)?);
    }
    sections.push(devices::section(study));
    let names: Vec<&str> = (study.devices.iter().map(|d| d.machine.name.as_str())).collect();
    let titles: Vec<&str> = (study.devices.iter().map(|d| d.machine.title.as_str())).collect();
    Ok(Page {
        title: format!(
            "{} roofline of {}",
            if study.devices.iter().any(|d| d.machine.has_energy()) {
                "Energy"
            } else {
                "Time"
            },
            titles.join(" and ")
        ),
        banner: banner(study),
        subtitle: format!(
            "machine {}{}",
            names.join(", "),
            if study.interrupted {
                " — interrupted: what had been measured"
            } else {
                ""
            }
        ),
        answer: answer::of(study),
        headline: match &study.devices[..] {
            [one] => (headline(one).into_iter())
                .filter(|f| !answer::SAID.contains(&f.name.as_str()))
                .collect(),
            _ => Vec::new(),
        },
        sections,
        footer: "Medians with 95 % intervals.".into(),
        provenance: study.provenance.facts(),
    })
}

/// What disturbed the devices, a sentence or two each; also shown in the terminal.
pub fn banner(study: &Study) -> Vec<String> {
    (study.devices.iter())
        .filter_map(|d| {
            Some(format!(
                "{} ({}): {}",
                d.device,
                d.model(),
                d.noise.banner()?
            ))
        })
        .collect()
}

/// The section on the energy of the assumed (published) machine, without any measurement.
fn assumed_energy(study: &Study, assumed: &Machine) -> Result<Section, MachineError> {
    let flop = if assumed.cost.contains_key(&Op::F64) {
        Op::F64
    } else {
        Op::F32
    };
    let figure = RooflineFigure {
        title: assumed.title.clone(),
        lines: vec![Line::of(assumed, flop)?],
        points: vec![],
        intensity: (1.0 / 16.0, 512.0),
        label_points: false,
    };
    let rows = (study.devices.iter())
        .flat_map(|d| d.kernels.iter().map(move |k| (d, k)))
        .filter_map(|(d, k)| {
            let p = k.assumed.as_ref()?;
            Some((format!("{} on {}", k.name, d.device), p))
        })
        .collect::<Vec<_>>();
    let mut paragraphs = vec![format!(
        "{} — {} numbers ({}), not of this host and not measured here. They show what the same work would cost on that machine.",
        assumed.title,
        assumed.label.name(),
        assumed.sources.join("; ")
    )];
    if rows.is_empty() {
        paragraphs.push(format!(
            "{} has no cost for a class of each kernel.",
            assumed.name
        ));
    }
    let tables = if rows.is_empty() {
        vec![]
    } else {
        vec![
            Columns::<(String, &Prediction)>::new()
                .text("kernel", "", |(name, _)| name.clone())
                .si("time", "", "s", |(_, p)| p.time_s)
                .si("energy", "", "J", |(_, p)| p.energy_j)
                .si("power", "", "W", |(_, p)| p.power_w)
                .text("bound by", "", |(_, p)| p.bound.to_string())
                .table(format!("The kernels' work on {}", assumed.name), rows),
        ]
    };
    Ok(Section {
        id: "assumed".into(),
        title: format!("Energy, assumed: {}", assumed.name),
        label: Some(match assumed.label {
            Label::Estimated => "estimated",
            // Derived from printed numbers; a machine measured elsewhere is as good as printed.
            _ => "published",
        }),
        paragraphs,
        figures: vec![Figure::chart(&figure.chart(), "").wide()],
        tables,
        ..Section::default()
    })
}
