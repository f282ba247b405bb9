//! SVG → PNG, with the fonts built in: the same picture on every host.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// A picture that cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[error("the figure cannot be drawn: {0}")]
pub struct PngError(String);

/// Draws an SVG document at `scale` pixels a unit.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
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
    pixels.encode_png().map_err(|e| PngError(e.to_string()))
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
    }
}
