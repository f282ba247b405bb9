//! Points.

use super::{Frame, Mark};
use crate::chart::canvas::{CLOUD_UNITS, Canvas, px};
use crate::chart::ink::Ink;
use std::fmt::Write as _;

/// Marks in a layer beyond which they are drawn without outline, half transparent.
const CLOUD: usize = 150;

pub(super) fn marks(
    c: &mut Canvas,
    f: &Frame,
    points: &[Mark],
    size: f64,
    hollow: bool,
    ink: Ink,
    tips: &mut Vec<String>,
) {
    let shown: Vec<(&Mark, (f64, f64))> = points
        .iter()
        .map(|m| (m, f.at(m.x, m.y)))
        .filter(|(_, p)| p.0.is_finite() && p.1.is_finite())
        .collect();
    if shown.is_empty() {
        return;
    }
    let mut bars = String::new();
    for (m, p) in &shown {
        if let Some((lo, hi)) = m.interval {
            let (a, b) = (f.at(m.x, lo).1, f.at(m.x, hi).1);
            if a.is_finite() && b.is_finite() {
                let _ = write!(bars, "M{} {}V{}", px(p.0), px(a), px(b));
            }
        }
    }
    // Attributes of pages are in their style sheet, by class.
    let stroke = |c: &Canvas, d: &str, ink: Ink, width: f64, (class, rest): (&str, &str)| {
        let look = match (c.is_page(), class) {
            (true, _) => format!("class=\"{class}\""),
            (false, "l") => "fill=\"none\" vector-effect=\"non-scaling-stroke\"".to_owned(),
            (false, _) => {
                let cap = if class.starts_with('q') {
                    "square"
                } else {
                    "round"
                };
                format!(
                    "fill=\"none\" vector-effect=\"non-scaling-stroke\" stroke-linecap=\"{cap}\" class=\"{class}\""
                )
            }
        };
        format!(
            "<path d=\"{d}\" {look} stroke=\"{}\" stroke-width=\"{}\"{rest}/>",
            c.css(ink),
            px(width)
        )
    };
    if !bars.is_empty() {
        let line = stroke(c, &bars, ink, 1.6, ("l", ""));
        c.raw(&line);
    }
    let first = tips.len();
    let tipped = shown.iter().any(|(m, _)| !m.tip.is_empty());
    if tipped {
        tips.extend(shown.iter().map(|(m, _)| m.tip.clone()));
    }
    let data = if tipped {
        format!(" data-t=\"{first}\"")
    } else {
        String::new()
    };
    // Discs and squares are the ends of lines without length: their shape stays when a drawing is scaled.
    let (class, marked, size) = match ink.has_shape() {
        true => ("q", "q mark", 0.9 * size),
        false => ("r", "r mark", size),
    };
    let many = shown.len() > CLOUD;
    if many && c.is_page() {
        let look = format!(
            "class=\"{marked}\" stroke=\"{}\" stroke-width=\"{}\" stroke-opacity=\"0.55\"{data}",
            c.css(ink),
            px(size)
        );
        c.cloud(cloud(f, &shown), f.area, &look);
        return;
    }
    let mut d = String::new();
    for (_, p) in &shown {
        let _ = write!(d, "M{} {}h0", px(p.0), px(p.1));
    }
    if !many {
        let ring = stroke(c, &d, Ink::Paper, size + 2.5, (class, ""));
        c.raw(&ring);
    }
    let opacity = if many { " stroke-opacity=\"0.55\"" } else { "" };
    let dots = stroke(c, &d, ink, size, (marked, &format!("{opacity}{data}")));
    c.raw(&dots);
    if hollow {
        let hole = stroke(c, &d, Ink::Paper, size - 3.2, (class, ""));
        c.raw(&hole);
    }
}

/// Many marks in units that are the same at all widths, and a name that is.
fn cloud(f: &Frame, shown: &[(&Mark, (f64, f64))]) -> (String, String) {
    let mut d = String::new();
    for (_, p) in shown {
        let unit = |v: f64, size: f64| (CLOUD_UNITS * v / size).round() as i64;
        let (x, y) = (unit(p.0, f.area.width), unit(p.1, f.area.height));
        let _ = write!(d, "M{x} {y}h0");
    }
    (name_of(f, shown.iter().map(|(m, _)| (m.x, m.y))), d)
}

/// A name that other points do not have; at all widths the same.
pub(super) fn name_of(f: &Frame, points: impl Iterator<Item = (f64, f64)>) -> String {
    let ends = [(f.x.lo, f.x.hi), (f.y.lo, f.y.hi)].into_iter();
    let values = ends.chain(points).flat_map(|(a, b)| [a, b]);
    let bytes = values.flat_map(|v| v.to_bits().to_le_bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("c{hash:x}")
}
