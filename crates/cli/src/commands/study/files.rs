//! Files of a study.

use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_calibrate::record;
use greenup_files::Outputs;
use greenup_files::ours::{self, write};
use greenup_report::chart::FileStyle;
use greenup_study::Study;
use greenup_study::device::suffix;
use greenup_study::pages::study::{page, roofline_figure};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Files of each device, the raw records first.
const OF_A_DEVICE: [(&str, &str); 4] = [
    ("records", "csv"),
    ("machine", "toml"),
    ("roofline", "svg"),
    ("roofline", "png"),
];
/// Files of all devices.
const OF_ALL: [&str; 2] = ["summary.json", "report.html"];

/// Checks that everything can be written, and that nothing of the user's has these names.
pub fn check(outputs: &mut Outputs, dir: &Path, devices: &[String]) -> Result {
    let of_devices = devices
        .iter()
        .flat_map(|d| OF_A_DEVICE.map(|(stem, ending)| format!("{stem}{}.{ending}", suffix(d))));
    let names: Vec<String> = of_devices.chain(OF_ALL.map(str::to_owned)).collect();
    for name in &names {
        outputs.file(dir.join(name), &[])?;
    }
    Ok(ours::check(dir, names.iter().map(String::as_str))?)
}

/// Writes the files.
pub fn save(study: &Study, summary: &Value, dir: &Path) -> Result<PathBuf> {
    for device in &study.devices {
        // An interrupted calibration may lack a roof.
        let figure = match roofline_figure(device) {
            Ok(figure) => Some(figure.chart()),
            Err(_) if device.interrupted => None,
            Err(e) => return Err(e.into()),
        };
        let look = FileStyle {
            width: 1200.0,
            ..FileStyle::default()
        };
        for (stem, ending) in OF_A_DEVICE {
            let bytes = match (stem, ending) {
                ("records", _) => record::to_csv(&device.records).into_bytes(),
                ("machine", _) => device.machine.to_toml()?.into_bytes(),
                _ => match &figure {
                    Some(figure) => figure.file(ending, &look)?,
                    None => continue,
                },
            };
            write(dir.join(device.file(stem, ending)), bytes)?;
        }
    }
    for name in OF_ALL {
        let bytes = match name {
            "summary.json" => serde_json::to_string_pretty(summary)?,
            _ => page(study)?.render()?,
        };
        write(dir.join(name), bytes)?;
    }
    Ok(dir.to_owned())
}

/// Writes the results into a new temporary folder if theirs is full or gone.
pub fn rescue(study: &Study, summary: &Value, dir: &Path, first: AppError) -> Result<PathBuf> {
    let Ok(other) = tempfile::Builder::new().prefix("greenup-study-").tempdir() else {
        return Err(first);
    };
    // Without the results it is removed again.
    if save(study, summary, other.path()).is_err() {
        return Err(first);
    }
    let place = other.keep();
    print::warn(format!(
        "{} failed ({}); the results are in {}",
        dir.display(),
        first.message,
        place.display()
    ));
    Ok(place)
}
