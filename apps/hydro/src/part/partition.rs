//! Which rank has which zone: by recursive bisection, across the longest side of the box of the zones, or by METIS.

use crate::HydroError;
use crate::mesh::Mesh;
use clap::ValueEnum;
use greenup_model::network::bisect;
pub(super) use greenup_model::network::bisection::longest;
use greenup_ranks::Ranks;
use greenup_setting::setting;

/// How zones are dealt out to ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Recursive bisection: parts of equal numbers, each cut across the longest side of its box
    #[default]
    Bisection,
    /// METIS: few faces between the parts of an irregular mesh (needs a build with `--features metis`, and libmetis)
    Metis,
}

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
        let rank_of = bisect(&centres, ranks);
        Ok(Self { rank_of, ranks })
    }

    /// The same by any method, the same on all ranks, which all call it.
    ///
    /// # Errors
    /// As [`Partition::new`]; METIS is not built in, not found, or fails.
    pub fn by(method: Method, mesh: &Mesh, ranks: &dyn Ranks) -> Result<Self, HydroError> {
        if method == Method::Bisection {
            return Self::new(mesh, ranks.size());
        }
        check(mesh.zones(), ranks.size())?;
        // The first rank's METIS decides: others may have another version. Its error is that of all.
        let mut message = Vec::new();
        if ranks.rank() == 0 {
            message = match metis(mesh, ranks.size()) {
                Ok(of) => std::iter::once(0)
                    .chain(of.iter().flat_map(|r| r.to_ne_bytes()))
                    .collect(),
                Err(e) => std::iter::once(1)
                    .chain(e.to_string().into_bytes())
                    .collect(),
            };
        }
        ranks.broadcast(&mut message);
        let (failed, rest) = message.split_first().unwrap_or((&1, &[]));
        if *failed != 0 {
            return Err(HydroError::Setting(String::from_utf8_lossy(rest).into()));
        }
        let number = |b: &[u8]| u32::from_ne_bytes(b.try_into().unwrap_or_default());
        Ok(Self {
            rank_of: rest.chunks_exact(4).map(number).collect(),
            ranks: ranks.size(),
        })
    }

    /// The zones of a rank, ascending.
    pub fn zones(&self, rank: usize) -> Vec<usize> {
        let own = |z: &usize| self.rank_of[*z] as usize == rank;
        (0..self.rank_of.len()).filter(own).collect()
    }
}

#[cfg(feature = "metis")]
use super::metis::partition as metis;

#[cfg(not(feature = "metis"))]
fn metis(_: &Mesh, _: usize) -> Result<Vec<u32>, HydroError> {
    Err(HydroError::Setting(format!(
        "this hydro is built without METIS. Fix: `cargo build -p greenup-hydro --features metis`, or {}",
        setting("partition").to("bisection")
    )))
}

/// Each rank needs a zone.
pub(super) fn check(zones: usize, ranks: usize) -> Result<(), HydroError> {
    if ranks > zones {
        return Err(HydroError::Setting(format!(
            "{ranks} ranks for {zones} zones: each needs one at least. Fix: fewer ranks, or a higher {}",
            setting("refine")
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
