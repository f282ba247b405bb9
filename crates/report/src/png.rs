//! SVG → PNG, with the fonts built in: the same picture on every host.

use resvg::tiny_skia::{Pixmap, PremultipliedColorU8, Transform};
use resvg::usvg::{Options, Tree};

/// A picture that cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the figure cannot be drawn: {0}")]
pub struct PngError(String);

/// Pixels laid over a drawing, row after row from the top.
pub struct Raster<'a> {
    /// Where, in pixels of the picture, and how many of them a pixel of the raster takes each way.
    pub left: usize,
    pub top: usize,
    pub zoom: usize,
    pub columns: usize,
    pub rgb: &'a [[u8; 3]],
}

/// Draws an SVG document at a pixel a unit, and pixels over it.
///
/// # Errors
/// The document is none, or too large.
pub fn png_with(svg: &str, raster: &Raster) -> Result<Vec<u8>, PngError> {
    let mut pixels = drawn(svg, 1.0)?;
    let (width, height) = (pixels.width() as usize, pixels.height() as usize);
    let to = pixels.pixels_mut();
    for (i, &[r, g, b]) in raster.rgb.iter().enumerate() {
        let Some(colour) = PremultipliedColorU8::from_rgba(r, g, b, 255) else {
            continue;
        };
        let (row, column) = (i / raster.columns, i % raster.columns);
        for y in 0..raster.zoom {
            let y = raster.top + row * raster.zoom + y;
            for x in 0..raster.zoom {
                let x = raster.left + column * raster.zoom + x;
                if x < width && y < height {
                    to[y * width + x] = colour;
                }
            }
        }
    }
    pixels.encode_png().map_err(|e| PngError(e.to_string()))
}

/// Draws an SVG document at `scale` pixels a unit.
///
/// # Errors
/// The document is none, or too large.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    drawn(svg, scale)?
        .encode_png()
        .map_err(|e| PngError(e.to_string()))
}

fn drawn(svg: &str, scale: f32) -> Result<Pixmap, PngError> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(include_bytes!("../fonts/NotoSans-Regular-subset.ttf").to_vec());
    fonts.load_font_data(include_bytes!("../fonts/NotoSans-Bold-subset.ttf").to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    let tree = Tree::from_str(svg, &options).map_err(|e| PngError(e.to_string()))?;
    let size = tree.size();
    let (w, h) = (
        (size.width() * scale).ceil() as u32,
        (size.height() * scale).ceil() as u32,
    );
    let mut pixels = Pixmap::new(w, h).ok_or_else(|| PngError(format!("{w} × {h} pixels")))?;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixels.as_mut(),
    );
    Ok(pixels)
}

#[cfg(test)]
mod tests {
    use crate::svg::{Anchor, Svg};

    #[test]
    fn text_leaves_ink() {
        let blank = super::png(&Svg::new().document(60.0, 20.0, ""), 1.0).unwrap();
        let mut svg = Svg::new();
        svg.text((5.0, 15.0), Anchor::Start, "", "Bτ ½");
        let text = super::png(&svg.document(60.0, 20.0, ""), 1.0).unwrap();
        assert!(text.starts_with(b"\x89PNG") && text.len() > blank.len());
        assert!(super::png("<svg", 1.0).is_err());
        let raster = |rgb| super::Raster {
            left: 50,
            top: 10,
            zoom: 4,
            columns: 3,
            rgb,
        };
        // Beyond the edge nothing is laid.
        let dots =
            super::png_with(&svg.document(60.0, 20.0, ""), &raster(&[[255, 0, 0]; 9])).unwrap();
        let none = super::png_with(&svg.document(60.0, 20.0, ""), &raster(&[])).unwrap();
        assert!(none == text && dots != text);
    }
}
