//! The set-up of a part: zones and nodes of its own, and facts of the whole, which ranks find together.

use super::halo::{Halo, Terms};
use super::local::Map;
use super::mesh::PartMesh;
use super::numbering::{Numbers, Whole, from_first, sums_before};
use super::partition::Partition;
use crate::HydroError;
use crate::engine::State;
use crate::fem::fe_space::Space;
use crate::hydro::Hydro;
use crate::problem::Problem;
use crate::problem::initial_state::{Facts, Orders, assembled, spaces, values};
use crate::problem::zone_at_start::material;
use greenup_ranks::Ranks;
use greenup_setting::setting;
use std::sync::Arc;

/// The problem of a part, and where it lies in the whole.
pub struct Part {
    /// The problem.
    pub hydro: Arc<Hydro>,
    /// Its initial state.
    pub state: State,
    /// The space of the zones here and those that touch them.
    pub around: Space,
    /// The ranks of these zones.
    pub partition: Partition,
    /// Which of these zones and nodes the part has.
    pub map: Map,
    /// Numbers in the whole.
    pub whole: Arc<Whole>,
}

struct Together<'a> {
    ranks: &'a dyn Ranks,
    zones: Numbers,
}

impl Facts for Together<'_> {
    fn zones(&self) -> usize {
        self.zones.all
    }

    fn number(&self, zone: usize) -> usize {
        self.zones.of[zone] as usize
    }

    fn all(&self, here: bool) -> bool {
        let mut fails = [f64::from(u8::from(!here))];
        self.ranks.max(&mut fails);
        fails[0] == 0.0
    }

    fn sum(&self, of_zones: &[f64]) -> f64 {
        Whole::sum(self.ranks, &self.zones, 1, of_zones)
    }

    fn sum_of(&self, terms: &[(usize, f64)]) -> (usize, f64) {
        let number = |z: &usize| self.zones.of[*z].to_ne_bytes();
        let bytes: Vec<u8> = (terms.iter())
            .flat_map(|(z, x)| number(z).into_iter().chain(x.to_ne_bytes()))
            .collect();
        let mut all: Vec<(u32, f64)> = (self.ranks.gather(&bytes).unwrap_or_default().iter())
            .flat_map(|b| b.chunks_exact(12))
            .map(|b| {
                let (zone, x) = b.split_at(4);
                let zone = u32::from_ne_bytes(zone.try_into().unwrap_or_default());
                (zone, f64::from_ne_bytes(x.try_into().unwrap_or_default()))
            })
            .collect();
        // Stable: a zone may have several.
        all.sort_by_key(|t| t.0);
        let sum = all.iter().map(|t| t.1).sum();
        let both = from_first(self.ranks, &[all.len() as f64, sum]);
        (both[0] as usize, both[1])
    }
}

impl Part {
    /// Discretises a problem on the part of this rank, as [`Hydro::new`] does on the whole. All ranks call it.
    ///
    /// # Errors
    /// As [`Hydro::new`], or the whole has too many nodes.
    pub fn new(
        part: PartMesh,
        problem: Problem,
        o: &Orders,
        e0: f64,
        ranks: &Arc<dyn Ranks>,
    ) -> Result<Self, HydroError> {
        let me = ranks.rank();
        let (mesh, around) = spaces(&part.mesh, &part.bounds, &problem, o)?;
        let map = Map::new(&around, &part.partition, me);
        let of_zones = map.of_zones(&part.numbers, 1);
        let facts = Together {
            ranks: &**ranks,
            zones: Numbers::new(of_zones, |_| true, part.all_zones),
        };
        let values = values((&mesh, &around), &map.zones, &problem, &facts)?;
        let own_zone = |z: u32| map.zones.binary_search(&z).ok();
        let of_nodes = (map.nodes.iter())
            .map(|n| {
                let (first, _) = around.shares[around.begin[*n as usize] as usize];
                match own_zone(first) {
                    Some(z) => values.material[z],
                    None => material(&mesh, &problem, first as usize),
                }
            })
            .collect();
        drop(mesh);
        drop(part.mesh);
        let space = map.space(&around);
        let (mut hydro, state) = assembled(space, values, of_nodes, (problem, o, e0), &facts)?;
        hydro.first_mass = first_mass(&hydro, &facts);
        let mut halo = Halo::of(&around, &part.partition, &map, (Arc::clone(ranks), 1), true);
        hydro.whole_diagonal = Some(diagonal(&hydro, &mut halo));
        let nodes = numbered(&hydro.space, &map, &around, &facts, &mut halo)?;
        Ok(Self {
            whole: Arc::new(Whole {
                ranks: Arc::clone(ranks),
                zones: facts.zones,
                nodes,
                dim: hydro.space.dim,
                energies: hydro.space.element.energies,
            }),
            hydro: Arc::new(hydro),
            state,
            around,
            partition: part.partition,
            map,
        })
    }
}

/// ρ₀ |J₀| w of the points of the first zone of the whole, from the rank that has it.
fn first_mass(h: &Hydro, facts: &Together) -> Vec<f64> {
    let here = facts.zones.of.first() == Some(&0);
    let own = if here { h.first_mass() } else { &[] };
    let bytes: Vec<u8> = own.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let all = facts.ranks.gather(&bytes).unwrap_or_default().concat();
    let (words, _) = all.as_chunks();
    let first: Vec<f64> = words.iter().map(|w| f64::from_ne_bytes(*w)).collect();
    from_first(facts.ranks, &first)
}

/// A number of each zone for each of its nodes, `[zone][local]`.
struct OfZones<'a> {
    space: &'a Space,
    own: &'a [f64],
}

impl Terms for OfZones<'_> {
    fn terms(&self, _component: usize, nodes: &[u32], to: &mut [f64]) {
        self.space.contributions(self.own, (1, 0), nodes, to);
    }
}

/// Adds what the zones of all ranks have at the nodes here.
fn added(space: &Space, own: &[f64], halo: &mut Halo) -> Vec<f64> {
    let mut out = space.scatter(own, 1);
    halo.exchange(&OfZones { space, own });
    halo.patch(0, 0..space.nodes, &mut out);
    out
}

/// Diagonal of the velocity mass matrix of the whole.
fn diagonal(h: &Hydro, halo: &mut Halo) -> Vec<f64> {
    added(&h.space, &h.zone_diagonals(), halo)
}

/// Numbers in the whole of the nodes here: in the order in which the zones of the whole visit them.
fn numbered(
    space: &Space,
    map: &Map,
    around: &Space,
    facts: &Together,
    halo: &mut Halo,
) -> Result<Numbers, HydroError> {
    let local = space.element.local;
    // The first zone of a node has its number.
    let first = |z: usize, i: usize| {
        let node = map.nodes[space.zone(z)[i] as usize] as usize;
        around.shares[around.begin[node] as usize] == (map.zones[z], i as u32)
    };
    let counts: Vec<f64> = (0..space.zones)
        .map(|z| (0..local).filter(|i| first(z, *i)).count() as f64)
        .collect();
    let (before, all) = sums_before(facts.ranks, &facts.zones, &counts);
    if all > f64::from(u32::MAX) {
        return Err(HydroError::Setting(format!(
            "{all} nodes are too many: they have 32-bit numbers; use a smaller {}",
            setting("refine")
        )));
    }
    let mut own = vec![0.0; space.zones * local];
    for z in 0..space.zones {
        let mut next = before[z];
        for i in (0..local).filter(|i| first(z, *i)) {
            own[z * local + i] = next;
            next += 1.0;
        }
    }
    let numbers = added(space, &own, halo);
    let numbers = numbers.iter().map(|n| *n as u32).collect();
    Ok(Numbers::new(numbers, |n| map.owned[n], all as usize))
}
