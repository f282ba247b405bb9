//! X-ray scattering at grazing incidence. Lengths are nm, wave vectors 1/nm, angles rad (degrees in
//! files). z points up, out of the sample, whose surface is at z = 0; x lies along the beam's
//! projection. q = k_i − k_f, n = 1 − δ + iβ, F(q) = ∫ e^{iq·r} d³r over a particle whose base is at
//! z = 0.
//!
//! | module | what it holds |
//! |---|---|
//! | [`wave`] | the transfer of momentum, whose z is complex inside matter |
//! | [`form`] | form factors: round shapes in closed form, polyhedra and meshes exactly |
//! | [`memory`] | how much there is, so that what cannot fit is refused |
//! | [`mesh`] | triangulated surfaces: read, welded, checked |
//! | [`stack`] | layers: reflected and transmitted waves in each, reflectivity |
//! | [`sample`] | the page that describes beam, detector, layers and particles |
//! | [`detector`] | pixels and their angles |
//! | [`order`] | lattices and paracrystals: how particles stand, and how their waves add |
//! | [`particle`], [`rotation`] | populations of particles in all sizes and orientations |
//! | [`numeric`] | form factors of meshes at many q: four ways, and the choice between them |
//! | [`gpu`] | the same on a CUDA GPU |
//! | [`study`] | time and joules of each way, measured and predicted |
//! | [`wisdom`] | what tuning found |
//! | [`fit`] | numbers of a sample from a measured image |
//! | [`smear`] | the instrument's resolution |
//! | [`photons`] | what a detector counts |
//! | [`table`] | numbers in CSV files |
//! | [`dwba`] | intensities on the detector in the distorted-wave Born approximation |
//! | [`image`] | an image in a file, a picture or a page, and cuts through it |

pub mod detector;
pub mod dwba;
pub mod fit;
pub mod form;
pub mod gpu;
pub mod image;
pub mod memory;
pub mod mesh;
pub mod numeric;
pub mod order;
pub mod particle;
pub mod photons;
pub mod rotation;
pub mod sample;
pub mod smear;
pub mod stack;
pub mod study;
pub mod table;
pub mod wave;
pub mod wisdom;

pub use form::FormFactor;
pub use num_complex::Complex64;
pub use wave::Q;

/// What cannot be simulated, and why.
#[derive(Debug, thiserror::Error)]
pub enum GisaxsError {
    #[error("{path}: {message}")]
    File { path: String, message: String },
    #[error("{0}")]
    Io(#[from] greenup_files::FileError),
    #[error("{0}")]
    Sample(String),
    #[error("{0}")]
    Shape(String),
    #[error("the mesh {0}")]
    Mesh(String),
    /// An intensity that is no number, infinite or negative.
    #[error("{0}")]
    Intensity(String),
}
