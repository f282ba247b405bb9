//! Finds CUDA's libraries: first in the folders that the environment names, as the loader does not find those of Python
//! packages and versioned toolkits.

use super::CudaError;
use crate::library::Library;
use std::path::PathBuf;
use std::sync::OnceLock;

pub(super) const NVRTC: &str = "NVRTC (libnvrtc.so)";
pub(super) const DRIVER: &str = "the CUDA driver (libcuda.so)";

/// Folders to look in, in this order.
fn folders() -> Vec<PathBuf> {
    let mut out: Vec<PathBuf> = std::env::var_os("GREENUP_CUDA")
        .map(PathBuf::from)
        .into_iter()
        .collect();
    for home in ["CUDA_HOME", "CUDA_PATH"] {
        out.extend(std::env::var_os(home).map(|h| PathBuf::from(h).join("lib64")));
    }
    out.push("/usr/local/cuda/lib64".into());
    out
}

/// Loads NVRTC and its built-in headers from the first folder that has them, so that they are found
/// by name later.
fn preload() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        for folder in folders() {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                continue;
            };
            let mut files: Vec<PathBuf> = entries
                .flatten()
                .map(|e| e.path())
                .filter(|p| {
                    let name = p.file_name().unwrap_or_default().to_string_lossy();
                    name.starts_with("libnvrtc") && name.contains(".so") && !name.contains(".alt.")
                })
                .collect();
            // The compiler opens its built-ins by name, so they come first: `-` sorts before `.`.
            files.sort();
            for file in &files {
                // A failure shows when the library is needed.
                let _ = Library::open_global(file);
            }
            if !files.is_empty() {
                return;
            }
        }
    });
}

/// Checks that NVRTC can be loaded.
///
/// # Errors
/// The library is missing.
pub fn nvrtc() -> Result<(), CudaError> {
    preload();
    // SAFETY: only tries to load the library.
    if unsafe { cudarc::nvrtc::sys::is_culib_present() } {
        Ok(())
    } else {
        Err(CudaError::Missing { library: NVRTC })
    }
}

/// Checks that the CUDA driver can be loaded.
///
/// # Errors
/// The library is missing.
pub fn driver() -> Result<(), CudaError> {
    // SAFETY: only tries to load the library.
    if unsafe { cudarc::driver::sys::is_culib_present() } {
        Ok(())
    } else {
        Err(CudaError::Missing { library: DRIVER })
    }
}
