//! The partition of a box of zones from the coordinates of its faces alone: no rank holds a list of all zones. It is that of
//! [`Partition::new`](super::Partition::new).

use super::partition::{check, longest};
use crate::HydroError;

/// Layer along a direction, and zone: the order in which zones are cut.
type Key = (usize, usize);

/// The zones whose keys lie between bounds along each direction.
#[derive(Clone, Copy)]
struct Region {
    from: [Key; 3],
    to: [Key; 3],
}

enum Cut {
    Rank(u32),
    At {
        along: usize,
        /// Zones with smaller keys are low.
        key: Key,
        low: Box<Cut>,
        high: Box<Cut>,
    },
}

/// Which rank has which zone of a box.
pub(super) struct BoxPartition {
    /// Zones along each direction.
    counts: [usize; 3],
    root: Cut,
    /// The zones of each rank.
    regions: Vec<Region>,
}

impl BoxPartition {
    /// Cuts a box with these faces into parts of as equal numbers of zones as possible.
    ///
    /// # Errors
    /// There are fewer zones than ranks.
    pub fn new(faces: &[Vec<f64>], ranks: usize) -> Result<Self, HydroError> {
        let counts = std::array::from_fn(|d| faces.get(d).map_or(1, |f| f.len() - 1));
        check(counts.iter().product(), ranks)?;
        let mut out = Self {
            counts,
            root: Cut::Rank(0),
            regions: Vec::with_capacity(ranks),
        };
        let all = Region {
            from: [(0, 0); 3],
            to: counts.map(|n| (n, 0)),
        };
        out.root = out.cut(faces, all, (0, ranks));
        Ok(out)
    }

    /// Position of a zone in layers.
    pub fn at(&self, z: usize) -> [usize; 3] {
        let [x, y, _] = self.counts;
        [z % x, z / x % y, z / (x * y)]
    }

    /// The rank of a zone.
    pub fn rank_of(&self, z: usize) -> u32 {
        let layers = self.at(z);
        let mut cut = &self.root;
        loop {
            match cut {
                Cut::Rank(rank) => return *rank,
                Cut::At {
                    along,
                    key,
                    low,
                    high,
                } => {
                    cut = if (layers[*along], z) < *key {
                        low
                    } else {
                        high
                    };
                }
            }
        }
    }

    /// The zones of a rank, ascending.
    pub fn zones(&self, rank: usize) -> Vec<u32> {
        let mut out = Vec::new();
        self.each(&self.regions[rank], |z, _| out.push(z as u32));
        out
    }

    /// The zones that share a vertex with a zone, and that zone.
    pub fn around(&self, z: usize, mut put: impl FnMut(usize)) {
        let [i, j, k] = self.at(z);
        let near = |i: usize, n: usize| i.saturating_sub(1)..(i + 2).min(n);
        let [x, y, nz] = self.counts;
        for k in near(k, nz) {
            for j in near(j, y) {
                for i in near(i, x) {
                    put(i + x * (j + y * k));
                }
            }
        }
    }

    /// Calls `f` with the zones of a region, ascending, and their layers.
    fn each(&self, r: &Region, mut f: impl FnMut(usize, [usize; 3])) {
        let span = |d: usize| r.from[d].0..(r.to[d].0 + 1).min(self.counts[d]);
        let [x, y, _] = self.counts;
        for k in span(2) {
            for j in span(1) {
                for i in span(0) {
                    let (at, z) = ([i, j, k], i + x * (j + y * k));
                    if (0..3).all(|d| (r.from[d]..r.to[d]).contains(&(at[d], z))) {
                        f(z, at);
                    }
                }
            }
        }
    }

    fn cut(&mut self, faces: &[Vec<f64>], region: Region, (first, count): (usize, usize)) -> Cut {
        if count == 1 {
            self.regions.push(region);
            return Cut::Rank(first as u32);
        }
        let mut layers = self.counts.map(|n| vec![0usize; n]);
        self.each(&region, |_, at| {
            for (layers, at) in layers.iter_mut().zip(at) {
                layers[at] += 1;
            }
        });
        let side = |d: usize| {
            let Some(f) = faces.get(d) else { return 0.0 };
            let centre = |i: usize| 0.5 * (f[i] + f[i + 1]);
            let there = |n: &usize| *n > 0;
            let ends = (
                layers[d].iter().position(there),
                layers[d].iter().rposition(there),
            );
            match ends {
                (Some(a), Some(b)) => centre(b) - centre(a),
                _ => 0.0,
            }
        };
        let along = longest([side(0), side(1), side(2)]);
        let left = count / 2;
        let mut middle = layers[along].iter().sum::<usize>() * left / count;
        let mut layer = 0;
        while layer < layers[along].len() && middle >= layers[along][layer] {
            middle -= layers[along][layer];
            layer += 1;
        }
        // The zone in the layer before which there are as many as the lower ranks have.
        let mut key = (layer, 0);
        let inside = Region {
            from: replaced(region.from, along, region.from[along].max((layer, 0))),
            to: replaced(region.to, along, region.to[along].min((layer + 1, 0))),
        };
        let mut n = 0;
        self.each(&inside, |z, _| {
            if n == middle {
                key.1 = z;
            }
            n += 1;
        });
        let low = Region {
            to: replaced(region.to, along, key),
            ..region
        };
        let high = Region {
            from: replaced(region.from, along, key),
            ..region
        };
        let low = Box::new(self.cut(faces, low, (first, left)));
        let high = Box::new(self.cut(faces, high, (first + left, count - left)));
        Cut::At {
            along,
            key,
            low,
            high,
        }
    }
}

fn replaced(mut keys: [Key; 3], along: usize, key: Key) -> [Key; 3] {
    keys[along] = key;
    keys
}

#[cfg(test)]
mod tests {
    use super::super::Partition;
    use super::*;
    use crate::mesh::Mesh;
    use crate::mesh::boxes;

    #[test]
    fn it_is_the_partition_of_the_whole_mesh() {
        for (name, refine) in [
            ("segment01", 3),
            ("square01_quad", 2),
            ("box01_hex", 1),
            ("5x7x3", 0),
            ("rectangle01_quad", 1),
        ] {
            let faces = boxes::refined(boxes::faces(name).unwrap(), refine);
            let mesh = Mesh::open(name, refine).unwrap();
            for ranks in 1..=9 {
                let want = Partition::new(&mesh, ranks).unwrap();
                let got = BoxPartition::new(&faces, ranks).unwrap();
                let all: Vec<u32> = (0..mesh.zones()).map(|z| got.rank_of(z)).collect();
                assert_eq!(all, want.rank_of, "{name}, {ranks} ranks");
                for rank in 0..ranks {
                    let zones: Vec<usize> = got.zones(rank).iter().map(|z| *z as usize).collect();
                    assert_eq!(zones, want.zones(rank), "{name}, {rank} of {ranks}");
                }
            }
        }
    }
}
