//! What a rank's GPU must know of the others.

use crate::fem::mass_matrix::Csr;
use crate::hydro::Hydro;
use crate::part::halo::Terms;
use crate::part::{Halo, Lists};
use greenup_ranks::{Peer, Ranks};
use std::sync::Arc;

/// Flag of a shared node in its offset, as in CUDA.
const SHARED_NODE: u32 = 1 << 31;

/// Bit of a node that another rank counts, as in CUDA.
pub(in crate::gpu) const NOT_COUNTED: u8 = 1 << 7;

/// The part of a rank, for an engine on a GPU.
pub struct RankPart {
    /// The ranks.
    pub ranks: Arc<dyn Ranks>,
    /// Contributions of zones to shared nodes.
    pub by_zone: Lists,
    /// Contributions of ranks, with full assembly.
    pub by_rank: Option<Lists>,
    /// Whether a node is counted here, in products of vectors.
    pub owned: Vec<bool>,
    /// The product of the mass matrix of the whole and gravity, `[component][node]`.
    pub gravity: Option<Vec<f64>>,
}

/// What the zones of a part contribute to a field.
struct Sums<'a> {
    of: &'a [f64],
    nodes: usize,
}

impl Terms for Sums<'_> {
    fn terms(&self, component: usize, nodes: &[u32], to: &mut [f64]) {
        let of = &self.of[component * self.nodes..];
        for (to, n) in to.iter_mut().zip(nodes) {
            *to = of[*n as usize];
        }
    }
}

impl RankPart {
    /// The part of a rank: its halo by zones and, with full assembly or gravity, by ranks.
    pub fn new(
        h: &Hydro,
        ranks: Arc<dyn Ranks>,
        owned: Vec<bool>,
        by_zone: Halo,
        by_rank: Option<Halo>,
    ) -> Self {
        let mut by_rank = by_rank;
        let gravity = match (h.gravity, &mut by_rank) {
            (Some(g), Some(halo)) => Some(gravity(h, g, halo)),
            _ => None,
        };
        Self {
            ranks,
            by_zone: by_zone.lists(),
            by_rank: by_rank.map(Halo::lists),
            owned,
            gravity,
        }
    }

    /// Offsets of the shares of the nodes, shared nodes marked.
    pub(in crate::gpu) fn begin(&self, h: &Hydro) -> Vec<u32> {
        let mut out = h.space.begin.clone();
        for n in &self.by_zone.nodes {
            out[*n as usize] |= SHARED_NODE;
        }
        out
    }

    /// Puts the number of each shared node in the place of its first share, which it does not need.
    pub(in crate::gpu) fn number(&self, h: &Hydro, shares: &mut [u32]) {
        for (k, n) in self.by_zone.nodes.iter().enumerate() {
            shares[h.space.begin[*n as usize] as usize] = k as u32;
        }
    }

    /// Where each own contribution by zones lies in `[zone][local][component]`.
    pub(in crate::gpu) fn places(&self, h: &Hydro) -> Vec<u32> {
        let (s, local) = (&h.space, h.space.element.local);
        let of = |n: &u32| s.begin[*n as usize] as usize..s.begin[*n as usize + 1] as usize;
        let own = self.by_zone.nodes.iter().flat_map(|n| &s.shares[of(n)]);
        own.map(|(z, i)| ((*z as usize * local + *i as usize) * s.dim) as u32)
            .collect()
    }

    /// Where each own contribution by ranks lies in `[node][component]`.
    pub(in crate::gpu) fn rows(&self, h: &Hydro) -> Vec<u32> {
        let nodes = self.by_rank.iter().flat_map(|l| &l.nodes);
        nodes.map(|n| n * h.space.dim as u32).collect()
    }
}

fn gravity(h: &Hydro, g: [f64; 3], halo: &mut Halo) -> Vec<f64> {
    let (dim, nodes) = (h.space.dim, h.space.nodes);
    let field: Vec<f64> = (0..dim).flat_map(|c| vec![g[c]; nodes]).collect();
    let mut image = vec![0.0; field.len()];
    Csr::of_mass(h).multiply(&field, &mut image);
    halo.exchange(&Sums { of: &image, nodes });
    for (c, part) in image.chunks_mut(nodes).enumerate() {
        halo.patch(c, 0..nodes, part);
    }
    image
}

/// Lengths of messages of `each` numbers a contribution.
pub(super) fn messages(lists: &Lists, each: usize) -> Vec<Peer> {
    (lists.peers.iter())
        .zip(lists.send.iter().zip(&lists.receive))
        .map(|(rank, (send, receive))| Peer {
            rank: *rank,
            send: each * send.len(),
            receive: each * receive,
        })
        .collect()
}

/// Addresses of the contributions in their order: own ones at `own`, those of each peer at `theirs`.
pub(super) fn addresses(lists: &Lists, own: &[u64], theirs: &[Vec<u64>]) -> Vec<u64> {
    let all: Vec<u64> = own.iter().chain(theirs.iter().flatten()).copied().collect();
    lists.order.iter().map(|i| all[*i as usize]).collect()
}

/// Where the contributions of each peer lie in its memory, by where the own ones lie: all ranks tell each other.
pub(super) fn their_places(lists: &Lists, ranks: &dyn Ranks, own: &[u32]) -> Vec<Vec<u32>> {
    let mut link = ranks.link(&messages(lists, 1));
    for (p, send) in lists.send.iter().enumerate() {
        for (to, i) in link.outgoing(p).iter_mut().zip(send) {
            *to = f64::from(own[*i as usize]);
        }
    }
    link.begin();
    link.finish();
    (0..lists.peers.len())
        .map(|p| link.incoming(p).iter().map(|x| *x as u32).collect())
        .collect()
}
