//! Charts as PDF: vectors with outlined text, pictures as images.

use super::scene::{self, Item, Line, Paint};
use crate::chart::canvas::{Canvas, Rect};
use crate::chart::{Chart, Picture, Style};
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Filter, Finish as _, Name, Pdf, Ref, TextStr};
use std::collections::BTreeMap;
use tiny_skia::{Path, PathBuilder, PathSegment};

/// Points of 1/72 inch a pixel of 1/96 inch.
const POINT: f64 = 0.75;
/// Numbers of the objects that every file has.
const CATALOG: i32 = 1;
const PAGES: i32 = 2;
const PAGE: i32 = 3;
const CONTENT: i32 = 4;

impl Chart {
    /// The chart as a PDF file of one page, as large as the chart.
    pub fn pdf(&self, style: Style, width: f64) -> Vec<u8> {
        let d = self.draw(style, width);
        let mut out = Writer {
            content: Content::new(),
            opacities: BTreeMap::new(),
        };
        let (w, h) = ((POINT * width) as f32, (POINT * d.height) as f32);
        // From the top, in pixels.
        out.content
            .transform([POINT as f32, 0.0, 0.0, -POINT as f32, 0.0, h]);
        if style != Style::Print
            && let Some(ground) = d.canvas.ground()
        {
            out.fill(ground);
            out.content.rect(0.0, 0.0, width as f32, d.height as f32);
            out.content.fill_nonzero();
        }
        out.pictures(&d.canvas);
        for item in scene::items(&d.canvas) {
            out.item(&item);
        }
        out.finish((w, h), d.canvas.pictures(), &self.origin_text())
    }
}

struct Writer {
    content: Content,
    /// Opacities in percent and their names.
    opacities: BTreeMap<u8, String>,
}

impl Writer {
    fn fill(&mut self, [r, g, b]: [u8; 3]) {
        let [r, g, b] = [r, g, b].map(|v| f32::from(v) / 255.0);
        self.content.set_fill_rgb(r, g, b);
    }

    fn pictures(&mut self, canvas: &Canvas) {
        for (i, (r, _)) in canvas.pictures().iter().enumerate() {
            let Rect {
                left,
                width,
                height,
                ..
            } = *r;
            self.content.save_state();
            // An image is a unit square, from the bottom.
            self.content.transform([
                width as f32,
                0.0,
                0.0,
                -height as f32,
                left as f32,
                r.bottom() as f32,
            ]);
            self.content.x_object(Name(format!("P{i}").as_bytes()));
            self.content.restore_state();
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Fill(path, paint, _) => {
                self.content.save_state();
                self.opacity(paint.opacity);
                self.fill(paint.colour);
                self.path(path);
                self.content.fill_nonzero();
                self.content.restore_state();
            }
            Item::Stroke(path, paint, line) => self.stroke(path, paint, line),
            Item::Within(area) => {
                self.content.save_state();
                self.path(&PathBuilder::from_rect(*area));
                self.content.clip_nonzero();
                self.content.end_path();
            }
            Item::Whole => {
                self.content.restore_state();
            }
        }
    }

    fn stroke(&mut self, path: &Path, paint: &Paint, line: &Line) {
        self.content.save_state();
        self.opacity(paint.opacity);
        let [r, g, b] = paint.colour.map(|v| f32::from(v) / 255.0);
        self.content.set_stroke_rgb(r, g, b);
        self.content.set_line_width(line.width);
        if line.round_ends {
            self.content.set_line_cap(LineCapStyle::RoundCap);
        }
        if line.round_corners {
            self.content.set_line_join(LineJoinStyle::RoundJoin);
        }
        if !line.dashes.is_empty() {
            self.content
                .set_dash_pattern(line.dashes.iter().copied(), 0.0);
        }
        self.path(path);
        self.content.stroke();
        self.content.restore_state();
    }

    fn opacity(&mut self, share: f32) {
        let percent = (100.0 * share).round() as u8;
        if percent < 100 {
            let name = format!("A{percent}");
            self.content.set_parameters(Name(name.as_bytes()));
            self.opacities.insert(percent, name);
        }
    }

    fn path(&mut self, path: &Path) {
        let mut last = (0.0, 0.0);
        for s in path.segments() {
            match s {
                PathSegment::MoveTo(p) => {
                    self.content.move_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::LineTo(p) => {
                    self.content.line_to(p.x, p.y);
                    last = (p.x, p.y);
                }
                // PDF has cubic curves only.
                PathSegment::QuadTo(c, p) => {
                    let third = |from: f32, c: f32| from + 2.0 / 3.0 * (c - from);
                    self.content.cubic_to(
                        third(last.0, c.x),
                        third(last.1, c.y),
                        third(p.x, c.x),
                        third(p.y, c.y),
                        p.x,
                        p.y,
                    );
                    last = (p.x, p.y);
                }
                PathSegment::CubicTo(a, b, p) => {
                    self.content.cubic_to(a.x, a.y, b.x, b.y, p.x, p.y);
                    last = (p.x, p.y);
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }

    fn finish(
        self,
        (width, height): (f32, f32),
        pictures: &[(Rect, Picture)],
        origin: &str,
    ) -> Vec<u8> {
        let mut pdf = Pdf::new();
        let id = |n: i32| Ref::new(n);
        pdf.catalog(id(CATALOG)).pages(id(PAGES));
        pdf.pages(id(PAGES)).kids([id(PAGE)]).count(1);
        let first_opacity = CONTENT + 1;
        let first_picture = first_opacity + self.opacities.len() as i32;
        let mut page = pdf.page(id(PAGE));
        page.media_box(pdf_writer::Rect::new(0.0, 0.0, width, height));
        page.parent(id(PAGES)).contents(id(CONTENT));
        let mut resources = page.resources();
        let mut states = resources.ext_g_states();
        for (n, name) in (first_opacity..).zip(self.opacities.values()) {
            states.pair(Name(name.as_bytes()), id(n));
        }
        states.finish();
        let mut objects = resources.x_objects();
        for i in 0..pictures.len() {
            // A picture and its mask.
            let n = first_picture + 2 * i as i32;
            objects.pair(Name(format!("P{i}").as_bytes()), id(n));
        }
        objects.finish();
        resources.finish();
        page.finish();
        for (n, percent) in (first_opacity..).zip(self.opacities.keys()) {
            let share = f32::from(*percent) / 100.0;
            pdf.ext_graphics(id(n))
                .stroking_alpha(share)
                .non_stroking_alpha(share);
        }
        for (i, (_, p)) in pictures.iter().enumerate() {
            image(&mut pdf, first_picture + 2 * i as i32, p);
        }
        if !origin.is_empty() {
            let n = first_picture + 2 * pictures.len() as i32;
            pdf.document_info(id(n)).keywords(TextStr(origin));
        }
        let packed = packed(&self.content.finish());
        pdf.stream(id(CONTENT), &packed).filter(Filter::FlateDecode);
        pdf.finish()
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(bytes, 6)
}

/// An image object and the mask of its empty pixels.
fn image(pdf: &mut Pdf, n: i32, p: &Picture) {
    let rgb: Vec<u8> = p
        .pixels
        .iter()
        .flat_map(|c| c.unwrap_or([255; 3]))
        .collect();
    let mask: Vec<u8> = p
        .pixels
        .iter()
        .map(|c| if c.is_some() { 255 } else { 0 })
        .collect();
    let (width, height) = (p.columns as i32, (p.pixels.len() / p.columns.max(1)) as i32);
    let (rgb, mask) = (packed(&rgb), packed(&mask));
    let mut image = pdf.image_xobject(Ref::new(n), &rgb);
    image.filter(Filter::FlateDecode);
    image.width(width).height(height).bits_per_component(8);
    image.color_space().device_rgb();
    image.s_mask(Ref::new(n + 1));
    image.finish();
    let mut image = pdf.image_xobject(Ref::new(n + 1), &mask);
    image.filter(Filter::FlateDecode);
    image.width(width).height(height).bits_per_component(8);
    image.color_space().device_gray();
}
