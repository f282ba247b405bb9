//! Images in files; the first row of numbers is the lowest angle.

mod arrays;
mod cut;
mod figure;
mod page;

pub use arrays::read;
pub use cut::{Curve, Cut, curves};
pub use figure::png;
pub use greenup_report::npy::npy;
pub use page::{About, brightest, page};

use crate::GisaxsError;
use crate::detector::Detector;
use crate::table::fail;
use greenup_files::outputs::ending;
use std::path::Path;

/// Formats of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Csv,
    Npy,
    /// 32-bit floats, highest row on top, as beamlines keep them.
    Tiff,
    /// The logarithm of the intensity, highest row on top, with axes.
    Png,
    /// A page with the picture, cuts and the sample.
    Html,
    #[cfg(feature = "hdf5")]
    Hdf5,
}

/// Endings of images' names.
const ENDINGS: &[&str] = &[
    "csv",
    "npy",
    "tif",
    "tiff",
    "png",
    "html",
    "htm",
    #[cfg(feature = "hdf5")]
    "h5",
    #[cfg(feature = "hdf5")]
    "hdf5",
];

impl Format {
    /// By a file's ending.
    ///
    /// # Errors
    /// Another ending.
    pub fn of(path: &Path) -> Result<Self, GisaxsError> {
        #[cfg(not(feature = "hdf5"))]
        if path.extension().is_some_and(|e| e == "h5" || e == "hdf5") {
            return Err(fail(
                path,
                "this build has no HDF5: build with --features hdf5 (apt install libhdf5-dev)",
            ));
        }
        Ok(match ending(path, ENDINGS)?.as_str() {
            "npy" => Self::Npy,
            "tif" | "tiff" => Self::Tiff,
            "png" => Self::Png,
            "html" | "htm" => Self::Html,
            #[cfg(feature = "hdf5")]
            "h5" | "hdf5" => Self::Hdf5,
            _ => Self::Csv,
        })
    }

    /// Writes an image whole or not at all.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(
        self,
        path: &Path,
        pixels: &[f64],
        detector: &Detector,
        about: &About,
    ) -> Result<(), GisaxsError> {
        let columns = detector.columns();
        let bytes = match self {
            Self::Csv => arrays::csv(pixels, columns),
            Self::Npy => {
                let rows = pixels.len() / columns.max(1);
                npy("f8", &[rows, columns], pixels.iter().copied())
            }
            Self::Tiff => arrays::tiff(pixels, columns).map_err(|e| fail(path, e))?,
            Self::Png => png(pixels, detector).map_err(|e| fail(path, e))?,
            Self::Html => page(pixels, detector, about).map_err(|e| fail(path, e))?,
            #[cfg(feature = "hdf5")]
            Self::Hdf5 => return arrays::hdf5(path, pixels, detector),
        };
        Ok(greenup_files::write(path, bytes)?)
    }
}
