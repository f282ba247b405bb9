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

impl Format {
    /// By a file's ending.
    ///
    /// # Errors
    /// Another ending.
    pub fn of(path: &Path) -> Result<Self, GisaxsError> {
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("npy") => Ok(Self::Npy),
            Some("tif" | "tiff") => Ok(Self::Tiff),
            Some("png") => Ok(Self::Png),
            Some("html" | "htm") => Ok(Self::Html),
            #[cfg(feature = "hdf5")]
            Some("h5" | "hdf5") => Ok(Self::Hdf5),
            #[cfg(not(feature = "hdf5"))]
            Some("h5" | "hdf5") => Err(fail(
                path,
                "this build has no HDF5: build with --features hdf5 (apt install libhdf5-dev)",
            )),
            _ => Err(fail(path, "its ending is not csv, npy, tif, png or html")),
        }
    }

    /// Writes an image.
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
        std::fs::write(path, bytes).map_err(|e| fail(path, format!("cannot be written: {e}")))
    }
}
