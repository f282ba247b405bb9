//! What is marked on a roofline figure beside its lines: cache roofs, balances, the capped range.

use crate::axis::{Area, LogRange, three_trimmed};
use crate::roofline_parts::{Line, Panel};
use crate::si::three;
use crate::svg::{Anchor, INK, QUIET, Svg, escape};

/// Thin roofs of the caches, labelled at their left end.
pub fn draw_levels(svg: &mut Svg, line: &Line, c: &str, area: Area, x: LogRange, y: LogRange) {
    for (k, level) in line.levels.iter().enumerate() {
        // flop/s = I/τ up to the flop peak.
        let knee = (level.tau / line.roofline.tau_flop).min(x.hi);
        let rate = |i: f64| 1e-9 * (i / level.tau).min(1.0 / line.roofline.tau_flop);
        // Leave the panel by its bottom where the roof is below it.
        let from = x.lo.max(y.lo * 1e9 * level.tau);
        if knee <= from {
            continue;
        }
        let at = |i: f64| (x.x(area, i), y.y(area, rate(i).clamp(y.lo, y.hi)));
        svg.line(
            at(from),
            at(knee),
            &format!("stroke=\"{c}\" stroke-width=\"1\" stroke-dasharray=\"5 3\""),
        );
        // Near the knee, where the levels lie farthest apart.
        let (px, py) = at(knee * [0.8, 0.4, 0.6][k % 3]);
        svg.text(
            (px - 6.0, py),
            Anchor::End,
            &format!("font-size=\"10\" fill=\"{QUIET}\""),
            &level.name,
        );
    }
}

/// A small ring at the balance of one of several machines, with its value as a tip.
pub fn mark_knee(
    svg: &mut Svg,
    panel: Panel,
    line: &Line,
    c: &str,
    x: LogRange,
    at: &dyn Fn(f64, f64) -> (f64, f64),
) {
    let r = &line.roofline;
    let (i, name) = match panel {
        Panel::Energy => (r.energy_balance(), "energy balance"),
        _ => (r.time_balance(), "time balance"),
    };
    if !(i >= x.lo && i <= x.hi) {
        return;
    }
    let (px, py) = at(i, panel.value(r, i));
    let tip = format!("{}: {name} {} flop/B", line.name, three(i));
    svg.element(
        "circle",
        &format!(
            "cx=\"{px:.2}\" cy=\"{py:.2}\" r=\"4\" fill=\"#ffffff\" stroke=\"{c}\" \
             stroke-width=\"1.8\" data-tip=\"{}\"",
            escape(&tip)
        ),
    );
}

/// Vertical marks of the balances; only with one machine, where they can be read.
pub fn mark_balances(svg: &mut Svg, panel: Panel, line: &Line, c: &str, area: Area, x: LogRange) {
    let r = &line.roofline;
    let mut marks: Vec<(f64, String)> = Vec::new();
    match panel {
        Panel::Time => marks.push((
            r.time_balance(),
            format!("Bτ = {}", three_trimmed(r.time_balance())),
        )),
        Panel::Energy => {
            if r.eps_flop > 0.0 {
                marks.push((
                    r.energy_balance(),
                    format!("Bε = {}", three_trimmed(r.energy_balance())),
                ));
            }
            let half = r.half_efficiency_intensity();
            marks.push((half, format!("½ at {}", three_trimmed(half))));
        }
        Panel::Power => {}
    }
    if panel != Panel::Energy && line.has_energy && !r.never_throttles() {
        let lo = x.x(area, r.balance_minus().clamp(x.lo, x.hi));
        let hi = x.x(area, r.balance_plus().clamp(x.lo, x.hi));
        svg.rect(
            lo,
            area.top,
            hi - lo,
            area.height,
            &format!("fill=\"{c}\" fill-opacity=\"0.07\""),
        );
        svg.text(
            (0.5 * (lo + hi), area.bottom() - 6.0),
            Anchor::Middle,
            &format!("font-size=\"10\" fill=\"{QUIET}\""),
            "power cap",
        );
    }
    for (k, (at, text)) in marks.iter().enumerate() {
        if *at < x.lo || *at > x.hi {
            continue;
        }
        let px = x.x(area, *at);
        svg.line(
            (px, area.top),
            (px, area.bottom()),
            &format!("stroke=\"{INK}\" stroke-width=\"1\" stroke-dasharray=\"4 3\""),
        );
        let left = px > area.left + 0.75 * area.width;
        svg.text(
            (
                px + if left { -4.0 } else { 4.0 },
                area.bottom() - 20.0 - 14.0 * k as f64,
            ),
            if left { Anchor::End } else { Anchor::Start },
            "font-size=\"11\"",
            text,
        );
    }
}

/// Names beside points. Each goes to the first place around its point that is free of other names and points, inside the
/// panel, and clearly nearer to its own point than to any other; a name without such a place is tied to its point by a
/// thin line.
pub fn label_points(svg: &mut Svg, area: Area, points: &[(&str, (f64, f64))]) {
    let mut taken: Vec<NameBox> = Vec::new();
    for (i, &(name, (px, py))) in points.iter().enumerate() {
        if px < area.left || px > area.right() {
            continue;
        }
        let width = 6.4 * name.len() as f64;
        // Below the roof first; steps further down for crowds, then up.
        let steps = |n: u8, first: f64, step: f64| (0..n).map(move |k| first + step * f64::from(k));
        let both = |dy: f64| [(8.0, dy), (-8.0 - width, dy)];
        let places: Vec<NameBox> = (steps(6, 15.0, 12.0).flat_map(both))
            .chain([
                (9.0, 4.0),
                (-9.0 - width, 4.0),
                (8.0, -8.0),
                (-8.0 - width, -6.0),
            ])
            .chain(steps(5, -20.0, -12.0).flat_map(both))
            .map(|(dx, dy)| NameBox {
                left: px + dx,
                right: px + dx + width,
                base: py + dy,
            })
            .collect();
        let others = || points.iter().enumerate().filter(|(j, _)| *j != i);
        let free = |b: &&NameBox| {
            b.inside(area)
                && !taken.iter().any(|t| t.hits(b))
                && !others().any(|(_, p)| b.distance(p.1) < 5.0)
        };
        let clear = |b: &&NameBox| {
            let own = b.distance((px, py));
            others().all(|(_, p)| own < 0.6 * b.distance(p.1))
        };
        let place = (places.iter().filter(free).find(clear)).or_else(|| {
            let tied = places.iter().find(free).or(places.first())?;
            svg.line(
                (px, py),
                tied.nearest((px, py)),
                &format!("class=\"tie\" stroke=\"{QUIET}\" stroke-width=\"0.8\""),
            );
            Some(tied)
        });
        if let Some(b) = place {
            svg.text((b.left, b.base), Anchor::Start, "font-size=\"11\"", name);
            taken.push(*b);
        }
    }
}

/// Where a name stands: its ends and its baseline.
#[derive(Clone, Copy)]
struct NameBox {
    left: f64,
    right: f64,
    base: f64,
}

impl NameBox {
    const ASCENT: f64 = 9.0;
    const DESCENT: f64 = 3.0;

    fn inside(&self, area: Area) -> bool {
        self.left > area.left
            && self.right < area.right()
            && self.base - Self::ASCENT > area.top
            && self.base < area.bottom() - Self::DESCENT
    }

    fn hits(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && (self.base - other.base).abs() < Self::ASCENT + Self::DESCENT
    }

    /// The place in the box that is nearest to a point.
    fn nearest(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (
            x.clamp(self.left, self.right),
            y.clamp(self.base - Self::ASCENT, self.base + Self::DESCENT),
        )
    }

    fn distance(&self, p: (f64, f64)) -> f64 {
        let (x, y) = self.nearest(p);
        (x - p.0).hypot(y - p.1)
    }
}
