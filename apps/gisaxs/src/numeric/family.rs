//! Rows of a detector that share the factors of their products.

use super::Nodes;
use super::sheet::Sheet;

/// Sheets whose places are those of the first, moved by η times a field of directions.
pub(super) struct Family<'a> {
    pub sheets: &'a [Sheet],
    /// Of the first sheet and of the direction.
    pub base: Vec<[f64; 2]>,
    pub along: Vec<[f64; 2]>,
    /// η of each sheet, within ±1.
    pub eta: Vec<f64>,
    /// Powers of η kept.
    pub powers: usize,
}

impl Family<'_> {
    /// Sums of each power: q*·n over base and z, and over the direction where there is one.
    pub fn kinds(&self) -> usize {
        if self.sheets.len() > 1 { 3 } else { 2 }
    }
}

/// Most powers of a block of rows; with more, blocks are cut smaller.
pub(super) const POWERS: usize = 3;

/// The longest runs of sheets that a few powers serve.
pub(super) fn families<'a>(nodes: &Nodes, sheets: &'a [Sheet], accuracy: f64) -> Vec<Family<'a>> {
    let mut out = Vec::new();
    let mut rest = sheets;
    while !rest.is_empty() {
        let mut n = rest.len().min(128);
        let found = loop {
            if let Some(f) = together(nodes, &rest[..n], accuracy) {
                break f;
            }
            n = n.div_ceil(2);
        };
        rest = &rest[found.sheets.len()..];
        out.push(found);
    }
    out
}

/// These sheets as a family, if few enough powers do and they are one at all; one sheet always is.
fn together<'a>(nodes: &Nodes, sheets: &'a [Sheet], accuracy: f64) -> Option<Family<'a>> {
    let (first, last) = (&sheets[0].xy[..], &sheets[sheets.len() - 1].xy[..]);
    if sheets.len() == 1 {
        return Some(Family {
            sheets,
            base: first.to_vec(),
            along: vec![[0.0; 2]; first.len()],
            eta: vec![0.0],
            powers: 1,
        });
    }
    if first.len() != last.len() {
        return None;
    }
    let mid = |a: f64, b: f64| (0.5 * (a + b), 0.5 * (b - a));
    let (mut base, mut along) = (Vec::new(), Vec::new());
    let mut longest = 0.0_f64;
    for (a, b) in first.iter().zip(last) {
        let (x, y) = (mid(a[0], b[0]), mid(a[1], b[1]));
        base.push([x.0, y.0]);
        along.push([x.1, y.1]);
        longest = longest.max(x.1.hypot(y.1));
    }
    let mut eta = Vec::new();
    for s in sheets {
        if s.xy.len() != base.len() {
            return None;
        }
        // The η that serves the place with the longest way best, then all must agree.
        let (mut up, mut down) = (0.0, 0.0);
        for ((p, b), d) in s.xy.iter().zip(&base).zip(&along) {
            up += (p[0] - b[0]) * d[0] + (p[1] - b[1]) * d[1];
            down += d[0] * d[0] + d[1] * d[1];
        }
        let e = if down > 0.0 { up / down } else { 0.0 };
        let off =
            s.xy.iter()
                .zip(&base)
                .zip(&along)
                .map(|((p, b), d)| (p[0] - b[0] - e * d[0]).hypot(p[1] - b[1] - e * d[1]))
                .fold(0.0, f64::max);
        if off * nodes.reach > 0.1 * accuracy {
            return None;
        }
        eta.push(e);
    }
    let phase = longest * nodes.reach;
    let mut term = 1.0;
    for powers in 1..=POWERS {
        term *= phase / powers as f64;
        if term <= accuracy {
            return Some(Family {
                sheets,
                base,
                along,
                eta,
                powers,
            });
        }
    }
    None
}
