//! `greenup scaling --study`: figures, page and table of a study of scaling.

use super::args::ScalingArgs;
use super::study::results;
use crate::pages::study::{figure, markdown, page};
use crate::study::ScalingStudy;
use greenup_app::error::{AppError, Result};
use greenup_app::{output, print};
use greenup_files::Outputs;
use std::path::Path;

/// Endings of an output.
const ENDINGS: [&str; 6] = ["svg", "png", "pdf", "html", "htm", "md"];

/// Draws the study in a folder, or prints its table.
pub fn drawn(args: &ScalingArgs, folder: &Path) -> Result {
    let file = if folder.is_dir() {
        folder.join("scaling.json")
    } else {
        folder.to_owned()
    };
    let mut outputs = Outputs::new();
    outputs.input(&file);
    let to = output::optional(&mut outputs, args.out.as_deref(), &ENDINGS, args.json)?;
    let text = greenup_files::read_text(&file)?;
    let mut study: ScalingStudy = serde_json::from_str(&text).map_err(|e| {
        AppError::new(format!("{}: {e}", file.display()))
            .hint("`greenup scaling study` of this version writes it")
    })?;
    if let Some(app) = args.app {
        study.applications.retain(|a| a.application == app.name());
        if study.applications.is_empty() {
            return Err(AppError::new(format!(
                "{} has no case of {}",
                file.display(),
                app.name()
            )));
        }
    }
    if args.json {
        print::json(&study)?;
    }
    match to {
        Some(to) if to.has_ending("md") => {
            to.write(markdown(&study).as_bytes())?;
            to.print_name();
        }
        Some(to) if to.has_ending("html") || to.has_ending("htm") => {
            to.write(page(&study).render()?.as_bytes())?;
            to.print_name();
        }
        Some(to) => to.write_chart(&figure(&study), &args.look.look())?,
        None if !args.json => results::show(&study),
        None => {}
    }
    Ok(())
}
