//! Images in files, pictures and HTML pages. Arrays hold the lowest row first.

mod arrays;
mod axes;
mod colours;
pub mod coordinates;
pub mod curves;
mod cut;
pub mod figure;
mod maxima;
mod page;

pub use arrays::{Measured, read};
pub use axes::{Axes, View};
pub use colours::{ColourRange, level};
pub use cut::{Curve, Cut, Measure};
pub use greenup_report::npy::npy;
pub use maxima::brightest_cuts;
pub use page::{AXES_NOTE, About, headline, page, picture};

use crate::GisaxsError;
use crate::scattering::dwba::Scene;
use crate::table::fail;
use greenup_files::outputs::ending;
use greenup_report::chart::FileStyle;
use std::path::Path;

/// File format of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// CSV, lowest row first.
    Csv,
    /// NumPy array of float64, lowest row first.
    Npy,
    /// NumPy arrays of intensity, q and angles of every pixel, lowest row first.
    Npz,
    /// TIFF of 32-bit floats, highest row first, as at beamlines.
    Tiff,
    /// Picture of the intensity with logarithmic colours and axes: svg, png or pdf.
    Figure(&'static str),
    /// HTML page with the picture, cuts and the sample.
    Html,
    /// HDF5 with intensities and axes, lowest row first.
    #[cfg(feature = "hdf5")]
    Hdf5,
}

/// Extensions of image files.
const ENDINGS: &[&str] = &[
    "csv",
    "npy",
    "npz",
    "tif",
    "tiff",
    "svg",
    "png",
    "pdf",
    "html",
    "htm",
    #[cfg(feature = "hdf5")]
    "h5",
    #[cfg(feature = "hdf5")]
    "hdf5",
];

impl Format {
    /// The format of a file, by its extension.
    ///
    /// # Errors
    /// The extension is unknown, or this build does not support the format.
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
            "npz" => Self::Npz,
            "tif" | "tiff" => Self::Tiff,
            "svg" => Self::Figure("svg"),
            "png" => Self::Figure("png"),
            "pdf" => Self::Figure("pdf"),
            "html" | "htm" => Self::Html,
            #[cfg(feature = "hdf5")]
            "h5" | "hdf5" => Self::Hdf5,
            _ => Self::Csv,
        })
    }

    /// Writes an image, completely or not at all.
    ///
    /// # Errors
    /// The image cannot be encoded, or the file cannot be written.
    pub fn write(
        self,
        path: &Path,
        pixels: &[f64],
        scene: &Scene,
        (about, look): (&About, &FileStyle),
    ) -> Result<(), GisaxsError> {
        let columns = scene.detector.columns();
        let origin = || {
            let lines = about.provenance.iter().map(|(n, v)| format!("{n}: {v}"));
            lines.collect::<Vec<_>>().join("\n")
        };
        let bytes = match self {
            Self::Csv => arrays::csv(pixels, columns),
            Self::Npy => {
                let rows = pixels.len() / columns.max(1);
                npy("f8", &[rows, columns], pixels.iter().copied())
            }
            Self::Npz => coordinates::npz(pixels, scene).map_err(|e| fail(path, e))?,
            Self::Tiff => arrays::tiff(pixels, columns, &origin()).map_err(|e| fail(path, e))?,
            Self::Figure(ending) => picture(pixels, scene, about)
                .file(ending, look)
                .map_err(|e| fail(path, e.to_string()))?,
            Self::Html => page(pixels, scene, about).map_err(|e| fail(path, e))?,
            #[cfg(feature = "hdf5")]
            Self::Hdf5 => return arrays::hdf5(path, pixels, scene, &origin()),
        };
        Ok(greenup_files::write(path, bytes)?)
    }
}
