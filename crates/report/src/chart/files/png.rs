//! SVG → PNG, with the fonts built in: the same picture on every host.

pub use crate::chart::picture::{PngError, read};

use crate::chart::Picture;
use crate::chart::canvas::{Canvas, Rect};
use resvg::tiny_skia::{Color, Pixmap, PremultipliedColorU8, Transform};
use resvg::usvg::{Options, Tree};

/// Draws an SVG document at `scale` pixels a unit.
///
/// # Errors
/// The document is not valid SVG, or too large.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    drawn(svg, scale)?
        .encode_png()
        .map_err(|e| PngError::Encode(e.to_string()))
}

/// A PNG file of a chart: its background, its pictures, and the drawing over them.
pub(crate) fn drawn_over(
    canvas: &Canvas,
    (width, height): (f64, f64),
    title: &str,
    scale: f32,
) -> Result<Vec<u8>, PngError> {
    let tree = tree(&canvas.transparent(width, height, title))?;
    let size = tree.size();
    let (w, h) = (
        (size.width() * scale).ceil() as u32,
        (size.height() * scale).ceil() as u32,
    );
    let mut map = Pixmap::new(w, h).ok_or(PngError::Size {
        width: w,
        height: h,
    })?;
    if let Some([r, g, b]) = canvas.ground() {
        map.fill(Color::from_rgba8(r, g, b, 255));
    }
    for (r, p) in canvas.pictures() {
        lay(&mut map, r, p, f64::from(scale));
    }
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut map.as_mut(),
    );
    map.encode_png()
        .map_err(|e| PngError::Encode(e.to_string()))
}

/// Lays a picture over a rectangle, the nearest pixel everywhere.
fn lay(map: &mut Pixmap, r: &Rect, p: &Picture, scale: f64) {
    let (width, height) = (map.width() as usize, map.height() as usize);
    let rows = p.pixels.len() / p.columns.max(1);
    let range = |from: f64, size: f64, most: usize| {
        let end = ((from + size) * scale).round().max(0.0) as usize;
        (from * scale).round().max(0.0) as usize..end.min(most)
    };
    let to = map.pixels_mut();
    for y in range(r.top, r.height, height) {
        let v = ((y as f64 + 0.5) / scale - r.top) / r.height;
        let row = ((v * rows as f64) as usize).min(rows.saturating_sub(1));
        for x in range(r.left, r.width, width) {
            let u = ((x as f64 + 0.5) / scale - r.left) / r.width;
            let column = ((u * p.columns as f64) as usize).min(p.columns.saturating_sub(1));
            let colour = p.pixels.get(row * p.columns + column).copied().flatten();
            if let Some(c) =
                colour.and_then(|[r, g, b]| PremultipliedColorU8::from_rgba(r, g, b, 255))
            {
                to[y * width + x] = c;
            }
        }
    }
}

pub(in crate::chart) fn tree(svg: &str) -> Result<Tree, PngError> {
    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(include_bytes!("../../../fonts/NotoSans-Regular-subset.ttf").to_vec());
    fonts.load_font_data(include_bytes!("../../../fonts/NotoSans-Bold-subset.ttf").to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    Ok(Tree::from_str(svg, &options)?)
}

fn drawn(svg: &str, scale: f32) -> Result<Pixmap, PngError> {
    let tree = tree(svg)?;
    let size = tree.size();
    let (width, height) = (
        (size.width() * scale).ceil() as u32,
        (size.height() * scale).ceil() as u32,
    );
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixels.as_mut(),
    );
    Ok(pixels)
}

#[cfg(test)]
mod tests {
    use crate::chart::{Axis, Chart, Layer, Panel, Picture, Scale, Style, Unit, What};

    #[test]
    fn pictures_are_read_as_they_were_written() {
        let rgb = [Some([10, 200, 30]), None, Some([0, 0, 0]), Some([255; 3])];
        let read = super::read(&crate::chart::picture::pixels(2, &rgb).unwrap()).unwrap();
        assert_eq!((read.columns, read.pixels.as_slice()), (2, &rgb[..]));
        assert!(super::read(b"no picture").is_err());
    }

    #[test]
    fn charts_and_their_pictures_leave_ink() {
        let axis = || Axis::new("x", Unit::None, Scale::Linear).over(0.0, 2.0);
        let mut chart = Chart {
            title: "Bτ ½".into(),
            panels: vec![Panel::new("", axis(), axis())],
            ..Chart::default()
        };
        let empty = chart.png(Style::Light, 200.0, 1.0).unwrap();
        assert!(empty.starts_with(b"\x89PNG"));
        let picture = Picture {
            columns: 2,
            pixels: vec![Some([255, 0, 0]), None, None, Some([0, 0, 255])],
            x: (0.0, 2.0),
            y: (0.0, 2.0),
        };
        chart.panels[0].push(Layer::of(0, What::Picture(picture)));
        let full = chart.png(Style::Light, 200.0, 1.0).unwrap();
        assert!(full != empty && super::png("<svg", 1.0).is_err());
        assert!(
            chart.html().contains("<use href=\"#p")
                && chart.svg(Style::Dark, 200.0).contains("<image")
        );
    }
}
