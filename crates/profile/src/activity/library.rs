//! The library that the CUDA driver loads into the program, and NVIDIA's `libcupti` that it needs.

use greenup_files::FileError;
use greenup_setting::setting;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Built from `inject.c`; empty where CUDA does not load such libraries.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/inject.so"));

/// Names of CUPTI, the newest first.
const NAMES: [&str; 3] = ["libcupti.so.13", "libcupti.so.12", "libcupti.so"];

/// Environment variable that names CUPTI, as `--cupti` does.
pub const VARIABLE: &str = "GREENUP_CUPTI";

/// NVIDIA's tracing library is not there.
#[derive(Debug, thiserror::Error)]
pub enum MissingCupti {
    /// The file that was named.
    #[error("there is no file {}", .0.display())]
    Named(PathBuf),
    /// None was found.
    #[error("NVIDIA's tracing library libcupti is not in {}", folders(.0))]
    NotFound(Vec<PathBuf>),
    /// Not on this system.
    #[error("CUDA loads tracing libraries on Linux alone")]
    System,
}

impl MissingCupti {
    /// How to fix it.
    pub fn hint(&self) -> String {
        let without = || {
            let cpu = setting("method").to("cpu");
            format!("`{cpu}` profiles the program without its GPU")
        };
        match self {
            Self::Named(_) => format!(
                "{} and GREENUP_CUPTI name the file libcupti.so.13 or .12",
                setting("cupti")
            ),
            Self::NotFound(_) => format!(
                "it comes with the CUDA toolkit (extras/CUPTI/lib64), or: pip install nvidia-cuda-cupti; name its file \
                 with {}. {}",
                setting("cupti").to("FILE"),
                without()
            ),
            Self::System => without(),
        }
    }
}

fn folders(all: &[PathBuf]) -> String {
    let mut names: Vec<String> = all
        .iter()
        .take(6)
        .map(|d| d.display().to_string())
        .collect();
    if all.len() > names.len() {
        names.push(format!("and {} more folders", all.len() - names.len()));
    }
    names.join(", ")
}

/// Finds CUPTI: the file that is named, else in the folders of the CUDA toolkit, of LD_LIBRARY_PATH, and of Python
/// packages of the program's interpreter.
///
/// # Errors
/// It is nowhere.
pub fn find(named: Option<&Path>, program: &Path) -> Result<PathBuf, MissingCupti> {
    if LIBRARY.is_empty() {
        return Err(MissingCupti::System);
    }
    let variable = std::env::var_os(VARIABLE).filter(|v| !v.is_empty());
    if let Some(file) = named.map(Path::to_owned).or(variable.map(PathBuf::from)) {
        return if file.is_file() {
            Ok(std::path::absolute(&file).unwrap_or(file))
        } else {
            Err(MissingCupti::Named(file))
        };
    }
    let dirs = candidates(program);
    (dirs.iter())
        .find_map(|d| NAMES.iter().map(|n| d.join(n)).find(|f| f.is_file()))
        .ok_or(MissingCupti::NotFound(dirs))
}

/// Folders in which CUPTI may be; those of the program's own Python first, as it will load that copy too.
fn candidates(program: &Path) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = Vec::new();
    let interpreters = [Some(program.to_owned()), on_path("python3")];
    for p in interpreters.into_iter().flatten() {
        for p in [Some(p.clone()), std::fs::canonicalize(&p).ok()] {
            roots.extend(
                p.iter()
                    .filter_map(|p| p.parent()?.parent())
                    .map(Path::to_owned),
            );
        }
    }
    roots.extend(std::env::var_os("VIRTUAL_ENV").map(PathBuf::from));
    roots.extend(std::env::var_os("HOME").map(|h| Path::new(&h).join(".local")));
    let mut out: Vec<PathBuf> = Vec::new();
    for root in roots {
        for python in below(&root.join("lib"), "python3") {
            for packages in ["site-packages", "dist-packages"] {
                let nvidia = python.join(packages).join("nvidia");
                out.extend(["cu13/lib", "cuda_cupti/lib"].map(|d| nvidia.join(d)));
            }
        }
    }
    let paths = std::env::var_os("LD_LIBRARY_PATH");
    out.extend(paths.iter().flat_map(std::env::split_paths));
    let homes = ["CUDA_HOME", "CUDA_PATH"].map(|v| std::env::var_os(v).map(PathBuf::from));
    let toolkits = below(Path::new("/usr/local"), "cuda");
    for home in homes.into_iter().flatten().chain(toolkits) {
        out.extend(["extras/CUPTI/lib64", "lib64"].map(|d| home.join(d)));
    }
    let system = [
        "/opt/cuda/extras/CUPTI/lib64",
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
    ];
    out.extend(system.map(PathBuf::from));
    let mut kept: Vec<PathBuf> = Vec::new();
    for d in out {
        if d.is_dir() && !kept.contains(&d) {
            kept.push(d);
        }
    }
    kept
}

/// Folders in `dir` whose names begin so, the last name first: the newest version.
fn below(dir: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = (std::fs::read_dir(dir).into_iter().flatten().flatten())
        .filter(|e| e.file_name().to_string_lossy().starts_with(prefix))
        .map(|e| e.path())
        .collect();
    out.sort();
    out.reverse();
    out
}

/// A program of the search path, as a shell finds it.
pub fn on_path(name: &str) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let runs = |p: &PathBuf| {
        (p.metadata()).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(runs);
    }
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths)
        .map(|d| d.join(name))
        .find(runs)
}

/// What makes the CUDA driver trace a program.
#[derive(Clone, Debug)]
pub struct Injection {
    /// Environment variables of the program.
    pub environment: Vec<(&'static str, OsString)>,
    /// Folder of the files, one a process.
    pub folder: PathBuf,
}

impl Injection {
    /// Writes the library into `scratch`; the program will write its files into `folder`, which exists.
    ///
    /// # Errors
    /// The library cannot be written.
    pub fn prepare(cupti: &Path, scratch: &Path, folder: &Path) -> Result<Self, FileError> {
        let library = scratch.join("greenup-activity.so");
        greenup_files::write(&library, LIBRARY)?;
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let environment = vec![
            ("CUDA_INJECTION64_PATH", library.into_os_string()),
            ("GREENUP_ACTIVITY_DIR", folder.clone().into_os_string()),
            (VARIABLE, cupti.as_os_str().to_owned()),
        ];
        Ok(Self {
            environment,
            folder,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cupti_is_found_where_it_is_named_or_next_to_the_interpreter() {
        let dir = tempfile::tempdir().unwrap();
        let lib = dir
            .path()
            .join("lib/python3.12/site-packages/nvidia/cu13/lib");
        std::fs::create_dir_all(&lib).unwrap();
        let file = lib.join("libcupti.so.13");
        std::fs::write(&file, "").unwrap();
        assert_eq!(find(Some(&file), Path::new("/none")).unwrap(), file);
        let e = find(Some(Path::new("/no/libcupti.so")), Path::new("/none")).unwrap_err();
        assert!(e.to_string().contains("/no/libcupti.so"), "{e}");
        let python = dir.path().join("bin/python3");
        assert!(
            candidates(&python).contains(&lib),
            "{:?}",
            candidates(&python)
        );
    }
}
