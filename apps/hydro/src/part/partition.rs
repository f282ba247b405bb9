//! Recursive bisection: zones are cut across the longest side of their box, again and again.

use crate::HydroError;
use crate::mesh::Mesh;

/// Which rank has which zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Rank of each zone.
    pub rank_of: Vec<u32>,
    /// Number of ranks.
    pub ranks: usize,
}

impl Partition {
    /// Cuts the zones of a mesh into parts of as equal numbers as possible.
    ///
    /// # Errors
    /// There are fewer zones than ranks.
    pub fn new(mesh: &Mesh, ranks: usize) -> Result<Self, HydroError> {
        check(mesh.zones(), ranks)?;
        let centres: Vec<[f64; 3]> = (0..mesh.zones()).map(|z| centre(mesh, z)).collect();
        let mut rank_of = vec![0; mesh.zones()];
        let mut zones: Vec<u32> = (0..mesh.zones() as u32).collect();
        bisect(&centres, &mut zones, (0, ranks), &mut rank_of);
        Ok(Self { rank_of, ranks })
    }

    /// The zones of a rank, ascending.
    pub fn zones(&self, rank: usize) -> Vec<usize> {
        let own = |z: &usize| self.rank_of[*z] as usize == rank;
        (0..self.rank_of.len()).filter(own).collect()
    }
}

/// Each rank needs a zone.
pub(super) fn check(zones: usize, ranks: usize) -> Result<(), HydroError> {
    if ranks > zones {
        return Err(HydroError::Setting(format!(
            "{ranks} ranks for {zones} zones: each needs one at least. Fix: fewer ranks, or a higher --refine"
        )));
    }
    Ok(())
}

/// Mean position of the vertices of a zone.
fn centre(mesh: &Mesh, z: usize) -> [f64; 3] {
    let zone = mesh.zone(z);
    let all = zone.iter().map(|v| mesh.vertices[*v as usize]);
    let sum = all.fold([0.0; 3], |a: [f64; 3], x| {
        std::array::from_fn(|c| a[c] + x[c])
    });
    sum.map(|x| x / zone.len() as f64)
}

/// The longest of some sides, the first of nearly equal ones.
pub(super) fn longest(sides: [f64; 3]) -> usize {
    (1..3).fold(0, |best, c| {
        if sides[c] > sides[best] * (1.0 + 1e-9) {
            c
        } else {
            best
        }
    })
}

/// Gives the zones to `count` ranks from `first` on.
fn bisect(centres: &[[f64; 3]], zones: &mut [u32], (first, count): (usize, usize), to: &mut [u32]) {
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
    let along = longest([side(0), side(1), side(2)]);
    let left = count / 2;
    let middle = zones.len() * left / count;
    zones.sort_unstable_by(|a, b| {
        let at = |z: &u32| centres[*z as usize][along];
        at(a).total_cmp(&at(b)).then(a.cmp(b))
    });
    let (low, high) = zones.split_at_mut(middle);
    bisect(centres, low, (first, left), to);
    bisect(centres, high, (first + left, count - left), to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_balanced_and_cover_all() {
        let mesh = Mesh::open("box01_hex", 1).unwrap();
        for ranks in 1..=9 {
            let p = Partition::new(&mesh, ranks).unwrap();
            let sizes: Vec<usize> = (0..ranks).map(|r| p.zones(r).len()).collect();
            assert_eq!(sizes.iter().sum::<usize>(), mesh.zones());
            let (low, high) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(high - low <= 2, "{sizes:?}");
        }
        let e = Partition::new(&mesh, mesh.zones() + 1)
            .unwrap_err()
            .to_string();
        assert!(e.contains("fewer ranks"), "{e}");
    }
}
