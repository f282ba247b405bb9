//! Errors of the fast multipole method.

use greenup_device::cuda::CudaError;
use greenup_files::FileError;
use greenup_process::memory::OutOfMemory;
use greenup_setting::setting;
use std::path::PathBuf;

/// What cannot be computed, and why.
#[derive(Debug, thiserror::Error)]
pub enum FmmError {
    /// A file cannot be read or written.
    #[error("{0}")]
    File(#[from] FileError),
    /// A file does not hold points.
    #[error("{}: {what}", path.display())]
    Points {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line.
        what: String,
    },
    /// A GPU, its driver or its compiler fails.
    #[error("{0}")]
    Cuda(#[from] CudaError),
    /// Not enough memory.
    #[error("{cause}; {fix}")]
    Memory {
        /// What needs how much.
        #[source]
        cause: OutOfMemory,
        /// What to change.
        fix: String,
    },
    /// A parameter is out of its range.
    #[error("invalid {name}: {value}; use {expected}")]
    Invalid {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: String,
        /// Valid values.
        expected: String,
    },
    /// A coordinate is not finite.
    #[error("{what} {number} has the coordinate {value}: coordinates must be finite")]
    Coordinate {
        /// Source or target.
        what: &'static str,
        /// From 1.
        number: usize,
        /// The coordinate.
        value: f64,
    },
    /// A charge is not finite.
    #[error("the charge of source {number} is {value}: charges must be finite")]
    Charge {
        /// From 1.
        number: usize,
        /// The charge.
        value: f64,
    },
    /// The number of charges does not fit the sources.
    #[error("{values} charge values for {sources} sources: {kernel} takes {each} each")]
    Charges {
        /// Values given.
        values: usize,
        /// Number of sources.
        sources: usize,
        /// The kernel.
        kernel: &'static str,
        /// Values per source.
        each: usize,
    },
    /// More points than indices.
    #[error("there are more than {} points, which one rank can number: give each rank a part with {}", .0, setting("distributed").on())]
    TooManyPoints(usize),
    /// The extent of the points overflows.
    #[error(
        "the points are too far apart: at most {0:e} from end to end; give them in a larger unit"
    )]
    TooFarApart(f64),
    /// Too many points are so close for the extent of all that positions do not resolve them.
    #[error(
        "more than {most} pairs of points are closer than {spacing:.1e} where all extend over {extent:.1e}, which {} does not resolve: {}leave \
         out points that are far from all others, or give the dense parts apart",
        if *single { "f32" } else { "f64" }, if *single { format!("use {}, ", setting("precision").to("f64")) } else { String::new() }
    )]
    TooClose {
        /// Number of pairs that can be treated apart.
        most: usize,
        /// Their distance.
        spacing: f64,
        /// Extent of all points.
        extent: f64,
        /// Whether the precision is f32.
        single: bool,
    },
    /// Another rank fails.
    #[error("another rank cannot go on: see its message")]
    OtherRank,
    /// Results are not as accurate as asked for.
    #[error(
        "the {what} of these points and charges are off by {error:.1e} (relative L2 error against direct sums at {targets} targets), \
         more than the accuracy {accuracy:e}: {hint}"
    )]
    Inaccurate {
        /// Potentials or gradients.
        what: &'static str,
        /// Relative L2 error.
        error: f64,
        /// Number of targets compared.
        targets: usize,
        /// What was asked for.
        accuracy: f64,
        /// What to change.
        hint: String,
    },
    /// Results overflow, or are so small that they lose their digits.
    #[error("{0} are beyond the range of numbers: give the points or the charges in other units")]
    Range(&'static str),
    /// The accuracy is beyond the precision.
    #[error("{what} in {precision} reach {reachable:e}, not {tolerance:e}{hint}")]
    Accuracy {
        /// Potentials or gradients.
        what: &'static str,
        /// f32 or f64.
        precision: &'static str,
        /// What was asked for.
        tolerance: f64,
        /// What can be reached.
        reachable: f64,
        /// What to change.
        hint: String,
    },
    /// The accuracy is beyond compressed matrices.
    #[error("compressed M2L reaches {reachable:e}, not {tolerance:e}: use {}", setting("m2l").to("fft"))]
    CompressedAccuracy {
        /// What was asked for.
        tolerance: f64,
        /// What can be reached.
        reachable: f64,
    },
    /// The method is for low frequencies.
    #[error(
        "k times half the extent of the points is {parameter:.3}; surfaces of this accuracy resolve waves up to {limit:.1}: \
         the method is for low frequencies. Use a lower {}, or direct sums, such as `fmm direct` writes",
        setting("k")
    )]
    HighFrequency {
        /// k times half the extent.
        parameter: f64,
        /// Its largest value.
        limit: f64,
    },
    /// Stokes' kernel has no gradients.
    #[error("Stokes gives velocities: omit {}", setting("gradient").on())]
    StokesGradient,
    /// GPUs have no compressed M2L.
    #[error("GPUs evaluate M2L by FFT: use {}", setting("m2l").to("fft"))]
    CompressedOnGpu,
    /// A factorisation does not converge.
    #[error("{what} do not converge: {cause}")]
    NotConverged {
        /// Singular values or eigenvalues.
        what: &'static str,
        /// The library's message.
        cause: String,
    },
    /// The cost model gives no valid count.
    #[error("{0}")]
    Cost(#[from] greenup_model::WorkError),
}

/// An invalid parameter.
pub(crate) fn invalid(
    name: &'static str,
    value: impl ToString,
    expected: impl Into<String>,
) -> FmmError {
    FmmError::Invalid {
        name,
        value: value.to_string(),
        expected: expected.into(),
    }
}
