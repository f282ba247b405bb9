//! Charts as files.

mod origin;
mod pdf;
pub mod png;
mod scene;

use super::picture::PngError;
use super::{Chart, Style};

/// How a chart's file looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileStyle {
    /// Colours.
    pub style: Style,
    /// Width, pixels of 1/96 inch.
    pub width: f64,
    /// Pixels an inch of a PNG file.
    pub dpi: f64,
}

impl Default for FileStyle {
    fn default() -> Self {
        Self {
            style: Style::Light,
            width: 900.0,
            dpi: 192.0,
        }
    }
}

impl Chart {
    /// The chart as a file: `png`, `pdf`, or else SVG.
    ///
    /// # Errors
    /// There is no memory for that many pixels.
    pub fn file(&self, ending: &str, look: &FileStyle) -> Result<Vec<u8>, PngError> {
        match ending {
            "png" => self.png(look.style, look.width, (look.dpi / 96.0) as f32),
            "pdf" => Ok(self.pdf(look.style, look.width)),
            _ => Ok(self.svg(look.style, look.width).into_bytes()),
        }
    }
}
