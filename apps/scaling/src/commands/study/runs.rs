//! The runs of a folder: of a new study, or of one that is continued.

use crate::pages::study::devices;
use crate::study::runs_file::{NAME, RunsFile, Start};
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use greenup_model::Machine;
use std::path::Path;

/// The file of the runs: that of an earlier study to continue it, else a new one.
pub fn open(folder: &Path, resume: bool) -> Result<RunsFile> {
    let path = folder.join(NAME);
    if !resume && path.exists() {
        let stem = folder.join("scaling-runs-before");
        let aside = greenup_files::outputs::unused(stem, "jsonl");
        std::fs::rename(&path, &aside)?;
        print::note(format!(
            "the runs of an earlier study are in {}; --resume continues one",
            aside.display()
        ));
    }
    RunsFile::open(folder).map_err(|e| AppError::new(e.to_string()))
}

/// The machine and the link of the study that is continued.
pub fn continued(before: &Start, device: &str, ranks: bool) -> Result<(Machine, String)> {
    if (before.device.as_str(), before.gpus) != (device, !ranks) {
        return Err(AppError::new(format!(
            "--resume: the folder has runs on {} of {}, and this study is on {} of {device}",
            devices(before.gpus),
            before.device,
            devices(!ranks)
        ))
        .hint("name a new folder by --out"));
    }
    let machine = Machine::from_toml(&before.machine).map_err(|e| AppError::new(e.to_string()))?;
    Ok((machine, before.link.clone()))
}
