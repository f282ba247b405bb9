//! What a study of scaling writes and prints.

use crate::pages::study::{devices, figure, limits, mean_error, page, rounds, table};
use crate::study::ScalingStudy;
use greenup_app::print;
use greenup_files::FileError;
use greenup_files::ours::write;
use greenup_report::chart::FileStyle;
use greenup_report::si::percent;
use std::path::Path;

/// The files in its folder, beside its runs.
pub const FILES: [&str; 4] = ["scaling.json", "scaling.html", "scaling.svg", "scaling.png"];

pub fn save(study: &ScalingStudy, dir: &Path) -> Result<(), FileError> {
    if study.applications.is_empty() {
        return Ok(());
    }
    let figure = figure(study);
    let look = FileStyle {
        width: 1200.0,
        ..FileStyle::default()
    };
    for name in FILES {
        let bytes = match name {
            "scaling.json" => serde_json::to_vec_pretty(study).map_err(|e| e.to_string()),
            "scaling.html" => page(study)
                .render()
                .map(String::into_bytes)
                .map_err(|e| e.to_string()),
            _ => figure
                .file(name.rsplit('.').next().unwrap_or("svg"), &look)
                .map_err(|e| e.to_string()),
        };
        let path = dir.join(name);
        let bytes = bytes.map_err(std::io::Error::other);
        write(&path, bytes.map_err(FileError::write(&path))?)?;
    }
    Ok(())
}

pub fn show(study: &ScalingStudy) {
    let what = devices(study.gpus);
    for a in &study.applications {
        print::line(print::bold(&format!("{}: {}", a.case, a.problem)));
        print::table(&table(a, what));
        if let Some(text) = limits(a, what) {
            print::line(text);
        }
        print::line("");
    }
    print::line(format!(
        "On {}, {}; predictions from the first run on one, and the link ({}).",
        study.device,
        rounds(study.rounds),
        study.link
    ));
    if let Some(e) = mean_error(study) {
        print::line(format!(
            "Mean error of the predicted times on several {what}: {}.",
            percent(e)
        ));
    }
    if study.interrupted {
        print::warn("interrupted: these are the measurements so far");
    }
}
