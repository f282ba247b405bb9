//! Grazing-incidence X-ray scattering. Lengths are in nm, wave vectors in 1/nm, angles in rad (degrees in files). z
//! points up, out of the sample, whose surface is at z = 0; x is along the projection of the beam. q = k_i − k_f,
//! n = 1 − δ + iβ, F(q) = ∫ e^{iq·r} d³r over a particle whose base is at z = 0.
//!
//! | module | contents |
//! |---|---|
//! | [`sample`] | the input file: beam, detector, layers and particles |
//! | [`scattering`] | layers, structure factors, distorted-wave Born approximation |
//! | [`form`] | form factors of shapes in closed form, polyhedra and meshes |
//! | [`mesh`] | triangulated surfaces: reading, merging of vertices, checks |
//! | [`mesh_form_factor`] | form factors of meshes at many q: the methods, and selection of the cheapest |
//! | [`gpu`] | form factors of meshes on CUDA GPUs |
//! | [`detector`] | pixels and their angles, resolution, counting noise |
//! | [`image`] | images as files, pictures and HTML pages; cuts |
//! | [`fit`] | fits of sample parameters to measured data |
//! | [`study`] | measured and predicted time and energy of each method |
//! | [`session`] | settings with tuned configs and devices, for programs: the command `gisaxs`, the Python package |
//! | [`wisdom`] | tuned configs of each device |
//! | [`table`] | tables of numbers in CSV files |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod commands;
pub mod detector;
pub mod fit;
pub mod form;
pub mod gpu;
pub mod image;
pub mod mesh;
pub mod mesh_form_factor;
pub mod program;
pub mod range;
pub mod sample;
pub mod scattering;
pub mod session;
pub mod study;
pub mod table;
pub mod wisdom;

pub use form::FormFactor;
pub use num_complex::Complex64;
pub use scattering::momentum::Q;

/// Error of this crate.
#[derive(Debug, thiserror::Error)]
pub enum GisaxsError {
    /// A parameter or an argument is invalid.
    #[error("{0}")]
    Invalid(String),
    /// The user or the caller stopped the computation.
    #[error("stopped")]
    Interrupted,
    /// The thread that owns a GPU has ended.
    #[error("the GPU does not answer any more: check `nvidia-smi`, and run it again")]
    DeviceLost,
    /// One of several devices fails.
    #[error("device {number} of {count} ({name}): {source}{fix}")]
    Device {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        count: usize,
        /// Its name.
        name: String,
        /// What happened.
        source: Box<GisaxsError>,
        /// A sentence on how to go on without it; may be empty.
        fix: String,
    },
    /// A GPU, its driver or its compiler fails.
    #[error("{0}")]
    Cuda(#[from] greenup_device::cuda::CudaError),
    /// A file of tuned configs is invalid.
    #[error("{0}")]
    Tuned(#[from] greenup_wisdom::StoreError),
    /// The folder of the user's data is unknown.
    #[error("{0}")]
    NoHome(#[from] greenup_app::folders::NoHome),
    /// Not enough memory.
    #[error("{0}")]
    Memory(#[from] greenup_process::memory::OutOfMemory),
    /// The contents of a file are invalid.
    #[error("{path}: {message}")]
    File {
        /// Path of the file.
        path: String,
        /// What is wrong, with the line.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("{0}")]
    Io(#[from] greenup_files::FileError),
    /// The sample is invalid.
    #[error("{0}")]
    Sample(String),
    /// A core is not inside of its shell.
    #[error("{0}")]
    Outside(String),
    /// A shape is invalid.
    #[error("{0}")]
    Shape(String),
    /// A mesh is invalid.
    #[error("the mesh {0}")]
    Mesh(String),
    /// An intensity is infinite, negative or not a number.
    #[error("{0}")]
    Intensity(String),
}

impl From<String> for GisaxsError {
    fn from(message: String) -> Self {
        Self::Invalid(message)
    }
}

impl From<&str> for GisaxsError {
    fn from(message: &str) -> Self {
        Self::Invalid(message.to_owned())
    }
}
