//! Recursive bisection: zones are cut across the longest side of their box, again and again.

use crate::HydroError;
use crate::fem::fe_space::Space;

/// Which rank has which zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Rank of each zone.
    pub rank_of: Vec<u32>,
    /// Number of ranks.
    pub ranks: usize,
}

impl Partition {
    /// Cuts the zones of a space into parts of as equal numbers as possible.
    ///
    /// # Errors
    /// There are fewer zones than ranks.
    pub fn new(space: &Space, ranks: usize) -> Result<Self, HydroError> {
        if ranks > space.zones {
            return Err(HydroError::Setting(format!(
                "{ranks} ranks for {} zones: each needs one at least. Fix: fewer ranks, or a higher --refine",
                space.zones
            )));
        }
        let centres: Vec<[f64; 3]> = (0..space.zones).map(|z| centre(space, z)).collect();
        let mut rank_of = vec![0; space.zones];
        let mut zones: Vec<u32> = (0..space.zones as u32).collect();
        bisect(&centres, &mut zones, (0, ranks), &mut rank_of);
        Ok(Self { rank_of, ranks })
    }

    /// The zones of a rank, ascending.
    pub fn zones(&self, rank: usize) -> Vec<usize> {
        let own = |z: &usize| self.rank_of[*z] as usize == rank;
        (0..self.rank_of.len()).filter(own).collect()
    }
}

/// Mean position of the nodes of a zone.
fn centre(space: &Space, z: usize) -> [f64; 3] {
    let nodes = space.zone(z);
    std::array::from_fn(|c| {
        if c >= space.dim {
            return 0.0;
        }
        let x = nodes
            .iter()
            .map(|n| space.start[c * space.nodes + *n as usize]);
        x.sum::<f64>() / nodes.len() as f64
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
    // The first of equal sides.
    let longest = (1..3).fold(0, |best, c| if side(c) > side(best) { c } else { best });
    let left = count / 2;
    let middle = zones.len() * left / count;
    zones.sort_unstable_by(|a, b| {
        let at = |z: &u32| centres[*z as usize][longest];
        at(a).total_cmp(&at(b)).then(a.cmp(b))
    });
    let (low, high) = zones.split_at_mut(middle);
    bisect(centres, low, (first, left), to);
    bisect(centres, high, (first + left, count - left), to);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fem::element::Element;
    use crate::mesh::Mesh;
    use hashbrown::HashMap;

    #[test]
    fn parts_are_balanced_and_cover_all() {
        let mesh = Mesh::open("box01_hex", 1).unwrap();
        let element = Element::new(mesh.shape, 1, 0);
        let space = Space::new(&mesh, element, &HashMap::new()).unwrap();
        for ranks in 1..=9 {
            let p = Partition::new(&space, ranks).unwrap();
            let sizes: Vec<usize> = (0..ranks).map(|r| p.zones(r).len()).collect();
            assert_eq!(sizes.iter().sum::<usize>(), space.zones);
            let (low, high) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(high - low <= 2, "{sizes:?}");
        }
        let e = Partition::new(&space, space.zones + 1)
            .unwrap_err()
            .to_string();
        assert!(e.contains("fewer ranks"), "{e}");
    }
}
