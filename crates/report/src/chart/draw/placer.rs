//! Labels beside what they name: away from other texts, points and lines, with a leader line where they stand apart.

use crate::chart::canvas::Rect;

/// What labels keep away from.
#[derive(Clone, Debug)]
pub struct Placer {
    area: Rect,
    texts: Vec<Rect>,
    dots: Vec<((f64, f64), f64)>,
    segments: Vec<((f64, f64), (f64, f64))>,
}

/// A label's box, and the line that ties it to its point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Box of the text.
    pub text: Rect,
    /// The line from the point to the box, if they stand apart.
    pub leader: Option<((f64, f64), (f64, f64))>,
}

/// Distances tried, pixels.
const RINGS: [f64; 8] = [4.0, 9.0, 16.0, 26.0, 40.0, 60.0, 86.0, 120.0];
/// Directions tried on each ring.
const DIRECTIONS: usize = 16;
/// Beyond this distance a label has a leader line, pixels.
const NEAR: f64 = 11.0;
/// Cost of a crossing with a line, pixels of distance.
const CROSSING: f64 = 30.0;

impl Placer {
    /// An empty area.
    pub fn new(area: Rect) -> Self {
        Self {
            area,
            texts: Vec::new(),
            dots: Vec::new(),
            segments: Vec::new(),
        }
    }

    /// Keeps labels away from a text.
    pub fn text(&mut self, r: Rect) {
        self.texts.push(r);
    }

    /// Keeps labels away from a disc.
    pub fn dot(&mut self, p: (f64, f64), radius: f64) {
        if p.0.is_finite() && p.1.is_finite() {
            self.dots.push((p, radius));
        }
    }

    /// Keeps labels away from a line, if there is room elsewhere.
    pub fn line(&mut self, points: &[(f64, f64)]) {
        let finite = |p: &(f64, f64)| p.0.is_finite() && p.1.is_finite();
        self.segments.extend(
            points
                .windows(2)
                .filter(|w| w.iter().all(finite))
                .map(|w| (w[0], w[1])),
        );
    }

    /// A box of the given size near one of the anchors, off the discs; `None` without room.
    pub fn place(&mut self, anchors: &[(f64, f64)], (width, height): (f64, f64)) -> Option<Placed> {
        let mut best: Option<(f64, Placed)> = None;
        for &anchor in anchors {
            let here = |(p, _): &&((f64, f64), f64)| {
                (p.0 - anchor.0).abs() < 0.01 && (p.1 - anchor.1).abs() < 0.01
            };
            let radius = self
                .dots
                .iter()
                .filter(here)
                .map(|d| d.1)
                .fold(0.0, f64::max);
            for ring in RINGS {
                // Nothing farther is cheaper.
                if best.as_ref().is_some_and(|(cost, _)| *cost <= ring) {
                    break;
                }
                for k in 0..DIRECTIONS {
                    let Some((cost, placed)) =
                        self.candidate(anchor, radius, ring, k, width, height)
                    else {
                        continue;
                    };
                    if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                        best = Some((cost, placed));
                    }
                }
            }
        }
        let placed = best?.1;
        self.texts.push(placed.text);
        if let Some((a, b)) = placed.leader {
            self.segments.push((a, b));
        }
        Some(placed)
    }

    fn candidate(
        &self,
        (x, y): (f64, f64),
        radius: f64,
        ring: f64,
        direction: usize,
        width: f64,
        height: f64,
    ) -> Option<(f64, Placed)> {
        // Right first, then its neighbours.
        let turn = [0, 1, 15, 8, 7, 9, 2, 14, 6, 10, 3, 13, 5, 11, 4, 12][direction];
        let angle = std::f64::consts::TAU * turn as f64 / DIRECTIONS as f64;
        let (dx, dy) = (angle.cos(), angle.sin());
        let reach = radius + ring;
        let (cx, cy) = (
            x + dx * (reach + 0.5 * width * dx.abs().powf(0.3)),
            y + dy * (reach + 0.5 * height * dy.abs().powf(0.3)),
        );
        let text = Rect {
            left: cx - 0.5 * width,
            top: cy - 0.5 * height,
            width,
            height,
        };
        let padded = Rect {
            left: text.left - 2.0,
            top: text.top - 1.5,
            width: width + 4.0,
            height: height + 3.0,
        };
        if !padded.inside(&self.area) || self.texts.iter().any(|t| t.hits(&padded)) {
            return None;
        }
        let own = text.distance((x, y));
        let mut nearest = f64::INFINITY;
        for &(d, r) in &self.dots {
            let away = padded.distance(d) - r;
            if away < 0.0 {
                return None;
            }
            if (d.0 - x).abs() > 0.01 || (d.1 - y).abs() > 0.01 {
                nearest = nearest.min(away);
            }
        }
        let apart = own > radius + NEAR || nearest < 1.5 * (own - radius);
        let leader = apart.then(|| ((x, y), text.nearest((x, y))));
        if let Some((a, b)) = leader
            && self.texts.iter().any(|t| crosses(t, a, b))
        {
            return None;
        }
        let crossings = self
            .segments
            .iter()
            .filter(|(a, b)| crosses(&padded, *a, *b))
            .count();
        let cost = ring
            + 0.4 * direction as f64
            + CROSSING * (crossings.min(3)) as f64
            + if apart { 6.0 } else { 0.0 };
        Some((cost, Placed { text, leader }))
    }
}

/// Whether a segment meets a rectangle.
fn crosses(r: &Rect, a: (f64, f64), b: (f64, f64)) -> bool {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (p, q) in [
        (-dx, a.0 - r.left),
        (dx, r.right() - a.0),
        (-dy, a.1 - r.top),
        (dy, r.bottom() - a.1),
    ] {
        if p == 0.0 {
            if q < 0.0 {
                return false;
            }
        } else if p < 0.0 {
            from = from.max(q / p);
        } else {
            to = to.min(q / p);
        }
    }
    from < to
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect {
        left: 0.0,
        top: 0.0,
        width: 400.0,
        height: 300.0,
    };

    /// Points, many at the same position, get labels that meet neither each other nor any point.
    #[test]
    fn labels_of_a_crowd_do_not_meet() {
        let mut rng = fastrand::Rng::with_seed(4);
        for crowd in [1, 2, 8, 30] {
            let mut placer = Placer::new(AREA);
            let points: Vec<(f64, f64)> = (0..crowd)
                .map(|k| {
                    if k % 3 == 1 {
                        (200.0, 150.0)
                    } else {
                        (rng.f64() * 400.0, rng.f64() * 300.0)
                    }
                })
                .collect();
            points.iter().for_each(|p| placer.dot(*p, 4.0));
            placer.line(&[(0.0, 300.0), (200.0, 60.0), (400.0, 60.0)]);
            let placed: Vec<Placed> = points
                .iter()
                .filter_map(|p| placer.place(&[*p], (60.0, 12.0)))
                .collect();
            assert!(placed.len() * 2 > crowd, "{crowd}: {}", placed.len());
            for (i, a) in placed.iter().enumerate() {
                assert!(a.text.inside(&AREA));
                assert!(placed[..i].iter().all(|b| !b.text.hits(&a.text)));
                assert!(points.iter().all(|p| a.text.distance(*p) > 2.0));
            }
        }
    }

    #[test]
    fn a_lone_label_is_near_and_off_the_lines() {
        let mut placer = Placer::new(AREA);
        placer.line(&[(0.0, 150.0), (400.0, 150.0)]);
        placer.dot((200.0, 150.0), 4.0);
        let p = placer.place(&[(200.0, 150.0)], (60.0, 12.0)).unwrap();
        assert!(
            p.leader.is_none() && !crosses(&p.text, (0.0, 150.0), (400.0, 150.0)),
            "{p:?}"
        );
        assert!(
            Placer::new(AREA)
                .place(&[(200.0, 150.0)], (600.0, 12.0))
                .is_none()
        );
    }
}
