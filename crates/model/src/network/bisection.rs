//! Recursive bisection: zones are cut across the longest side of their box, again and again.

/// Deals zones out to ranks, as equal in number as possible: the rank of each zone, by the positions of their centres. Zones
/// at the same place of a cut go by their numbers. There must be a zone for each rank.
pub fn bisect(centres: &[[f64; 3]], ranks: usize) -> Vec<u32> {
    let mut rank_of = vec![0; centres.len()];
    let mut zones: Vec<u32> = (0..centres.len() as u32).collect();
    cut(centres, &mut zones, (0, ranks.max(1)), &mut rank_of);
    rank_of
}

/// The longest of some sides, the first of nearly equal ones: rounding of coordinates does not choose.
pub fn longest(sides: [f64; 3]) -> usize {
    (1..3).fold(0, |best, c| {
        if sides[c] > sides[best] * (1.0 + 1e-9) {
            c
        } else {
            best
        }
    })
}

/// Gives the zones to `count` ranks from `first` on.
fn cut(centres: &[[f64; 3]], zones: &mut [u32], (first, count): (usize, usize), to: &mut [u32]) {
    if count == 1 {
        for z in zones {
            to[*z as usize] = first as u32;
        }
        return;
    }
    let side = |c: usize| {
        let x = || zones.iter().map(|z| centres[*z as usize][c]);
        x().fold(f64::NEG_INFINITY, f64::max) - x().fold(f64::INFINITY, f64::min)
    };
    let longest = longest([side(0), side(1), side(2)]);
    let left = count / 2;
    let middle = zones.len() * left / count;
    zones.sort_unstable_by(|a, b| {
        let at = |z: &u32| centres[*z as usize][longest];
        at(a).total_cmp(&at(b)).then(a.cmp(b))
    });
    let (low, high) = zones.split_at_mut(middle);
    cut(centres, low, (first, left), to);
    cut(centres, high, (first + left, count - left), to);
}
