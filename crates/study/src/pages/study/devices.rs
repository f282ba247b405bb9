//! The first section: which devices were studied, what is missing, and how the results came about.

use crate::study::Study;
use greenup_report::page::{Fact, Section};

/// What to do where no energy is measured: said once.
pub fn without_energy(study: &Study) -> Vec<String> {
    let mut out: Vec<String> = (study.devices.iter())
        .filter(|d| d.sensor.is_none())
        .map(|d| {
            let why = d.no_sensor.as_deref();
            format!(
                "{} ({}): times only; {}.",
                d.device,
                d.model(),
                why.unwrap_or("no energy sensor; run `greenup doctor` for the cause")
            )
        })
        .collect();
    if let Some(last) = out.last_mut()
        && study.assume.is_none()
    {
        last.push_str(" `--assume MACHINE` adds estimates by a published machine, labelled and apart from the measurements.");
    }
    out
}

pub fn section(study: &Study) -> Section {
    let devices = study.devices.iter().map(|d| {
        let sensor = d.sensor.as_ref();
        let energy = sensor.map_or("times only".to_owned(), |s| format!("energy by {s}"));
        Fact::new(&d.device, format!("{}, {energy}", d.model()))
    });
    Section {
        id: "devices".into(),
        title: "What was studied".into(),
        // What is missing is seen at once.
        folded: study.missing.is_empty(),
        paragraphs: without_energy(study),
        items: devices
            .chain(
                study
                    .missing
                    .iter()
                    .map(|why| Fact::new("missing", why.clone())),
            )
            .collect(),
        ..Section::default()
    }
}
