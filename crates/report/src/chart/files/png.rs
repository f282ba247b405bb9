//! Charts as PNG, with the fonts built in: the same picture on every host.

pub use crate::chart::picture::{PngError, read};

use super::scene::{self, Item, Line};
use crate::chart::Picture;
use crate::chart::canvas::{Canvas, Rect};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, PathBuilder, Pixmap, PremultipliedColorU8,
    Stroke, StrokeDash, Transform,
};

/// A PNG file of a chart at `scale` pixels a unit: its background, its pictures, and the drawing over them.
pub(crate) fn png(
    canvas: &Canvas,
    (width, height): (f64, f64),
    scale: f32,
) -> Result<Vec<u8>, PngError> {
    let pixels = |size: f64| (size.ceil() as f32 * scale).ceil() as u32;
    let (width, height) = (pixels(width), pixels(height));
    let mut map = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    if let Some([r, g, b]) = canvas.ground() {
        map.fill(Color::from_rgba8(r, g, b, 255));
    }
    for (r, p) in canvas.pictures() {
        lay(&mut map, r, p, f64::from(scale));
    }
    let to = Transform::from_scale(scale, scale);
    let paint = |p: &scene::Paint, smooth| {
        let mut out = Paint {
            anti_alias: smooth,
            ..Paint::default()
        };
        let [r, g, b] = p.colour;
        out.set_color_rgba8(r, g, b, (255.0 * p.opacity).round() as u8);
        out
    };
    let mut mask = None;
    for item in scene::items(canvas) {
        match item {
            Item::Fill(path, p, smooth) => {
                map.fill_path(
                    &path,
                    &paint(&p, smooth),
                    FillRule::Winding,
                    to,
                    mask.as_ref(),
                );
            }
            Item::Stroke(path, p, line) => {
                map.stroke_path(&path, &paint(&p, true), &stroke(line), to, mask.as_ref());
            }
            Item::Within(area) => {
                let mut within = Mask::new(width, height);
                if let Some(m) = &mut within {
                    let area = PathBuilder::from_rect(area);
                    m.fill_path(&area, FillRule::Winding, true, to);
                }
                mask = within;
            }
            Item::Whole => mask = None,
        }
    }
    encoded(map, canvas.ground().is_some()).map_err(|e| PngError::Encode(e.to_string()))
}

/// The file of a drawing, `whole` where nothing of it is transparent. Flat colours pack best without filters; more effort takes twice
/// the time for 5 % less.
fn encoded(map: Pixmap, whole: bool) -> Result<Vec<u8>, ::png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = ::png::Encoder::new(&mut file, map.width(), map.height());
    encoder.set_depth(::png::BitDepth::Eight);
    encoder.set_deflate_compression(::png::DeflateCompression::Level(4));
    encoder.set_filter(::png::Filter::NoFilter);
    let bytes = if whole {
        encoder.set_color(::png::ColorType::Rgb);
        let colours = map.pixels().iter().map(|p| [p.red(), p.green(), p.blue()]);
        colours.collect::<Vec<_>>().into_flattened()
    } else {
        encoder.set_color(::png::ColorType::Rgba);
        map.take_demultiplied()
    };
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&bytes)?;
    writer.finish()?;
    Ok(file)
}

fn stroke(line: Line) -> Stroke {
    Stroke {
        width: line.width,
        line_cap: if line.round_ends {
            LineCap::Round
        } else {
            LineCap::Butt
        },
        line_join: if line.round_corners {
            LineJoin::Round
        } else {
            LineJoin::Miter
        },
        // None of no dashes.
        dash: StrokeDash::new(line.dashes, 0.0),
        ..Stroke::default()
    }
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

#[cfg(test)]
mod tests {
    use crate::chart::{Axis, Chart, Layer, Panel, Picture, Scale, Style, Unit, What};

    #[test]
    fn files_have_the_colours_of_the_drawing() {
        let mut map = tiny_skia::Pixmap::new(3, 2).unwrap();
        let clear = map.clone();
        for (k, p) in map.pixels_mut().iter_mut().enumerate() {
            let k = 40 * k as u8;
            *p = tiny_skia::PremultipliedColorU8::from_rgba(k, 255 - k, 7, 255).unwrap();
        }
        for (drawn, whole) in [(&map, true), (&map, false), (&clear, false)] {
            let file = super::encoded(drawn.clone(), whole).unwrap();
            assert_eq!(&tiny_skia::Pixmap::decode_png(&file).unwrap(), drawn);
        }
    }

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
        assert!(full != empty);
        assert!(
            chart.html().contains("<use href=\"#p")
                && chart.svg(Style::Dark, 200.0).contains("<image")
        );
    }
}
