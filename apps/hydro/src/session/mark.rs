//! The mark of a run: which outputs it may continue or replace. It is made of what decides its states, so that the same run
//! started again has the same mark; a restart inherits it.

use crate::output::checkpoint::{self, Input};
use crate::session::settings::Settings;
use greenup_app::{AppError, Result};
use greenup_files::FileError;
use greenup_setting::setting;
use std::path::Path;

/// The settings with the mark of their run, which is made if they have none.
pub fn marked(s: Settings, inputs: &[Input]) -> Settings {
    let mark = s.mark.clone().unwrap_or_else(|| text_of(&s, inputs));
    Settings {
        mark: Some(mark),
        ..s
    }
}

/// Mark of a run that begins with these settings and input files: eight hexadecimal digits.
fn text_of(s: &Settings, inputs: &[Input]) -> String {
    let files: Vec<&str> = s.input_files().iter().map(|(name, _)| *name).collect();
    // Files count by their contents.
    let name = |setting: &str, name: &str| {
        if files.contains(&setting) {
            String::new()
        } else {
            name.to_owned()
        }
    };
    let o = s.orders();
    let numbers = (o.kinematic, o.energy, o.cg_tol, o.cg_max, o.cfl, s.e0());
    let names = (name("problem", s.problem()), name("mesh", s.mesh()));
    let sums: Vec<u32> = inputs.iter().map(|i| i.crc32).collect();
    let text = format!(
        "{names:?} {} {numbers:?} {:?} {sums:?}",
        s.refine(),
        s.ode()
    );
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

/// Refuses to replace a file that is no checkpoint of the run.
pub fn check_checkpoint(path: &Path, mark: &str) -> Result {
    // Devices and empty files hold nothing.
    if !std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0) {
        return Ok(());
    }
    let checkpoint = setting("checkpoint");
    let hint = format!("name another file with {checkpoint}, or delete it");
    let old = checkpoint::read::<Settings>(path).map_err(|e| {
        AppError::new(format!(
            "{checkpoint} would replace a file that is no checkpoint: {e}"
        ))
        .hint(&hint)
    })?;
    let before = marked(old.setup, &old.inputs);
    if before.mark.as_deref() == Some(mark) {
        return Ok(());
    }
    Err(AppError::new(format!(
        "{checkpoint} would replace {}, a checkpoint of another run: problem {} on {}, step {}, t = {}",
        path.display(),
        before.problem(),
        before.mesh(),
        old.clock.steps,
        old.clock.t
    ))
    .hint(hint))
}

/// Refuses to replace a figure whose name the program chose, unless it drew it: its figures name their command.
pub fn check_drawing(path: &Path) -> std::result::Result<(), FileError> {
    let has = |bytes: &[u8], word: &[u8]| bytes.windows(word.len()).any(|w| w == word);
    let not_ours = || FileError::NotOurs {
        path: path.to_owned(),
    };
    if !std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0) {
        return Ok(());
    }
    let bytes = greenup_files::read_bytes(path, greenup_files::read::TEXT_LIMIT)?;
    let head = &bytes[..bytes.len().min(1 << 14)];
    if has(head, b"iTXt") && has(head, b"hydro") {
        Ok(())
    } else {
        Err(not_ours())
    }
}
