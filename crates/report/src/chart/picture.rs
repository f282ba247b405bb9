//! Coloured pixels, and PNG files of them.

use base64::Engine as _;
use tiny_skia::{Pixmap, PremultipliedColorU8};

/// Coloured pixels.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Pixels a row.
    pub columns: usize,
    /// Colours, row by row from the top; `None` where nothing is.
    pub pixels: Vec<Option<[u8; 3]>>,
    /// From and to on the horizontal axis.
    pub x: (f64, f64),
    /// From and to on the vertical axis.
    pub y: (f64, f64),
}

impl Picture {
    /// A name that another picture does not have.
    pub(super) fn id(&self) -> String {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut h = DefaultHasher::new();
        (self.columns, &self.pixels).hash(&mut h);
        format!("p{:x}", h.finish())
    }

    pub(super) fn image(&self, attributes: &str) -> String {
        let data = pixels(self.columns, &self.pixels).unwrap_or_default();
        format!(
            "<image{attributes} width=\"1\" height=\"1\" preserveAspectRatio=\"none\" \
             style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
            base64::engine::general_purpose::STANDARD.encode(data)
        )
    }
}

/// A PNG file of pixels; those without a colour are transparent.
pub(crate) fn pixels(columns: usize, rgb: &[Option<[u8; 3]>]) -> Result<Vec<u8>, PngError> {
    let rows = rgb.len() / columns.max(1);
    let (width, height) = (columns as u32, rows as u32);
    let mut map = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    for (to, from) in map.pixels_mut().iter_mut().zip(rgb) {
        if let Some(c) = from.and_then(|[r, g, b]| PremultipliedColorU8::from_rgba(r, g, b, 255)) {
            *to = c;
        }
    }
    map.encode_png()
        .map_err(|e| PngError::Encode(e.to_string()))
}

/// A figure that cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// No memory for that many pixels, or none at all.
    #[error("the figure cannot be drawn: {width} × {height} pixels")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// The bytes are no PNG file.
    #[error("the picture cannot be read: {0}")]
    Decode(String),
    /// The PNG encoder failed.
    #[error("the figure cannot be drawn: {0}")]
    Encode(String),
}

/// A PNG file as a picture whose pixels have the size one; transparent pixels have no colour.
///
/// # Errors
/// The bytes are no PNG file.
pub fn read(bytes: &[u8]) -> Result<Picture, PngError> {
    let map = Pixmap::decode_png(bytes).map_err(|e| PngError::Decode(e.to_string()))?;
    let colours = map.pixels().iter().map(|p| {
        let c = p.demultiply();
        (c.alpha() > 0).then_some([c.red(), c.green(), c.blue()])
    });
    Ok(Picture {
        columns: map.width() as usize,
        pixels: colours.collect(),
        x: (0.0, f64::from(map.width())),
        y: (0.0, f64::from(map.height())),
    })
}
