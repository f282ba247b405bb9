//! `greenup init`.

use crate::args::{InitArgs, Template};
use greenup_app::error::{AppError, Result};
use greenup_app::print;
use std::io::ErrorKind;
use std::path::Path;

/// A file of a template: its name and text.
type File = (&'static str, &'static str);

macro_rules! template {
    ($folder:literal, $($file:literal),+) => {
        &[$(($file, include_str!(concat!("../../../templates/", $folder, "/", $file)))),+]
    };
}

const C: &[File] = template!("c", "problem.toml", "kernel.c", "reference.c", "README.md");
const CPP: &[File] = template!(
    "cpp",
    "problem.toml",
    "kernel.cpp",
    "reference.cpp",
    "README.md"
);
const CUDA: &[File] = template!(
    "cuda",
    "problem.toml",
    "kernel.cu",
    "reference.c",
    "README.md"
);

const OPENCL: &[File] = template!(
    "opencl",
    "problem.toml",
    "kernel.cl",
    "reference.c",
    "README.md"
);

const COMMAND: &[File] = template!(
    "command",
    "problem.toml",
    "blur.c",
    "expected.txt",
    "README.md"
);

pub fn run(args: &InitArgs) -> Result {
    let dir = &args.dir;
    // Final rounds on a GPU take longer: each config has a process with a context of its own.
    let (files, budget) = match args.template {
        Template::C => (C, "20s"),
        Template::Cpp => (CPP, "20s"),
        Template::Cuda => (CUDA, "10s"),
        Template::Opencl => (OPENCL, "20s"),
        Template::Command => (COMMAND, "20s"),
    };
    check_empty(dir)?;
    for (name, text) in files {
        greenup_files::write(dir.join(name), text)?;
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    print::note(format!("wrote {} to {}", names.join(", "), dir.display()));
    print::line("next:");
    if dir != Path::new(".") {
        let dir = dir.display().to_string();
        let quoted = if dir
            .chars()
            .all(|c| c.is_alphanumeric() || "-_./".contains(c))
        {
            dir
        } else {
            format!("'{}'", dir.replace('\'', "'\\''"))
        };
        print::data(format!("  cd {quoted}"));
    }
    print::data(format!("  greenup tune problem.toml --budget {budget}"));
    Ok(())
}

/// Refuses a folder with anything in it.
fn check_empty(dir: &Path) -> Result {
    let shown = dir.display();
    let first = match std::fs::read_dir(dir) {
        Ok(mut entries) => entries.next(),
        Err(e) if e.kind() == ErrorKind::NotFound => None,
        Err(e) => {
            return Err(
                AppError::new(format!("{shown} cannot be used: {e}")).hint("name a new folder")
            );
        }
    };
    match first {
        None => Ok(()),
        Some(entry) => {
            let name = entry?.file_name();
            Err(AppError::new(format!(
                "{shown} is not empty: it holds {}",
                name.to_string_lossy()
            ))
            .hint("name a new folder: `init` overwrites nothing"))
        }
    }
}
