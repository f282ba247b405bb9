//! The applications that a study of scaling runs, and their default problems.

use crate::args::{Measured, ScalingStudyArgs};
use greenup_app::error::Result;
use greenup_study::scaling::study::Application;
use std::path::{Path, PathBuf};

/// Side of the icosahedron, nm: larger ones have more quadrature points.
const SHAPE: &str = "shape = \"icosahedron\"\nedge = 50.0\n";

/// The applications that were found, and what is missing, with the fix. Inputs and results go to the folder `temporary`.
pub fn find(
    args: &ScalingStudyArgs,
    gpus: bool,
    temporary: &Path,
) -> Result<(Vec<Application>, Vec<String>)> {
    let usual: &[Measured] = match gpus {
        true => &[Measured::Hydro, Measured::Gisaxs, Measured::Fmm],
        false => &[Measured::Hydro, Measured::Fmm],
    };
    let wanted = match args.apps.as_slice() {
        [] => usual,
        some => some,
    };
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for app in wanted {
        let (name, problem, arguments) = match app {
            Measured::Hydro => hydro(args, gpus),
            Measured::Gisaxs => gisaxs(args, gpus, temporary)?,
            Measured::Fmm => fmm(args, gpus),
        };
        match program(name) {
            Some(program) => found.push(Application {
                name,
                program,
                arguments,
                problem,
            }),
            None => missing.push(format!(
                "{name}: there is no such program beside greenup or on PATH. Fix: `cargo install --path apps/{name}` in the repository, or add \
                 its folder to PATH"
            )),
        }
    }
    Ok((found, missing))
}

type Run = (&'static str, String, Vec<String>);

fn hydro(args: &ScalingStudyArgs, gpus: bool) -> Run {
    let refine = args.hydro_refine.unwrap_or(if gpus { 5 } else { 3 });
    let steps = args.hydro_steps.unwrap_or(if gpus { 60 } else { 6 });
    let side = 2usize << refine;
    let text = format!(
        "run --problem 1 --mesh cube01_hex --refine {refine} --order 2 --steps {steps} --json"
    );
    let problem = format!("Sedov in 3D, {side}³ zones, order 2, {steps} steps");
    ("hydro", problem, words(&text))
}

fn fmm(args: &ScalingStudyArgs, gpus: bool) -> Run {
    let n = args
        .fmm_points
        .unwrap_or(if gpus { 20_000_000 } else { 400_000 });
    let more = match gpus {
        true => "--precision f32 --accuracy 1e-4 --measure",
        false => "--precision f64 --accuracy 1e-6",
    };
    let problem = format!("Laplace, {n} uniform points");
    let text = format!("run -n {n} {more} --repeat 3 --json");
    ("fmm", problem, words(&text))
}

fn gisaxs(args: &ScalingStudyArgs, gpus: bool, temporary: &Path) -> Result<Run> {
    let n = args.gisaxs_grid.unwrap_or(if gpus { 2001 } else { 401 });
    let input = temporary.join("icosahedron.toml");
    greenup_files::write(&input, SHAPE)?;
    let mut arguments = vec!["form-factor".into(), input.display().to_string()];
    arguments.extend(words(&format!(
        "--grid 0 -2:2:{n} 0:2:{n} --method direct --accuracy 1e-4 --repeat 3 --json -o"
    )));
    arguments.push(temporary.join("f.npy").display().to_string());
    if gpus {
        arguments.push("--measure".into());
    }
    let problem = format!("Direct sums, icosahedron of 50 nm, {n}² q");
    Ok(("gisaxs", problem, arguments))
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// A program beside this one, else on PATH.
pub fn program(name: &str) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.parent()?.join(name);
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::iter::once(beside)
        .chain(std::env::split_paths(&path).map(|folder| folder.join(name)))
        .find(|p| p.is_file())
}
