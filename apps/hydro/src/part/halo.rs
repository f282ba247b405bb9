//! Nodes that zones of several ranks share. All ranks add what they exchange in one order, so the sum at a node has the same
//! bits on each of its ranks. A halo by ranks exchanges the sum of the zones of each. A halo by zones exchanges what each zone
//! contributes, and adds it in the order of the zones of the whole: the bits are then the same on any number of ranks.

use super::local::{Map, owner};
use super::partition::Partition;
use crate::fem::fe_space::Space;
use greenup_ranks::{Link, Peer, Ranks};
use hashbrown::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What zones contribute to a node.
pub trait Terms {
    /// Writes the contributions to a component at nodes of the part, one after another: for each node those of its zones in
    /// their order if the halo is by zones, else their sum.
    fn terms(&self, component: usize, nodes: &[u32], to: &mut [f64]);
}

/// Nodes shared with other ranks, and the exchange of what their zones contribute.
pub struct Halo {
    ranks: Arc<dyn Ranks>,
    components: usize,
    /// Shared nodes of the part, ascending.
    nodes: Vec<u32>,
    /// Number of own contributions to all of them.
    own: usize,
    /// For each node the contributions in their order: own ones, then those of each peer, numbered through.
    order: Vec<u32>,
    begin: Vec<u32>,
    /// For each peer the own contributions to send.
    send: Vec<Vec<u32>>,
    receive: Vec<usize>,
    /// Rank of each peer.
    peers: Vec<usize>,
    /// Only [`Halo::exchange`] uses it; the lock lets threads share the rest.
    link: Mutex<Box<dyn Link>>,
    terms: Vec<f64>,
    /// Own contributions, `[component][own contribution]`.
    here: Vec<f64>,
    /// Sums at the shared nodes, `[component][shared node]`.
    sums: Vec<f64>,
}

/// Which contributions ranks exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lists {
    /// Shared nodes of the part, ascending.
    pub nodes: Vec<u32>,
    /// Number of own contributions to all of them, in the order of the nodes.
    pub own: usize,
    /// For each node the contributions in their order: own ones, then those of each peer, numbered through.
    pub order: Vec<u32>,
    /// Offsets into `order`, one per node and the total.
    pub begin: Vec<u32>,
    /// Rank of each peer.
    pub peers: Vec<usize>,
    /// For each peer the own contributions to send.
    pub send: Vec<Vec<u32>>,
    /// For each peer the number of its contributions.
    pub receive: Vec<usize>,
}

impl Halo {
    /// The halo of a part of a space, which has all zones that touch those of the part. With `by_zone` each zone has a contribution to send, else each rank.
    pub fn new(
        space: &Space,
        partition: &Partition,
        map: &Map,
        ranks: Arc<dyn Ranks>,
        by_zone: bool,
    ) -> Self {
        Self::of(space, partition, map, (ranks, space.dim), by_zone)
    }

    /// The same for fields of some components.
    pub fn of(
        space: &Space,
        partition: &Partition,
        map: &Map,
        (ranks, components): (Arc<dyn Ranks>, usize),
        by_zone: bool,
    ) -> Self {
        let me = ranks.rank() as u32;
        let mut here: Vec<(u32, u32)> = (map.nodes.iter().enumerate())
            .map(|(local, n)| (local as u32, *n))
            .filter(|(_, n)| contributors(space, partition, *n, by_zone).any(|r| r != me))
            .collect();
        here.sort_unstable();
        // Both sides number what they send in the order of the nodes of the whole.
        let mut by_whole = here.clone();
        by_whole.sort_unstable_by_key(|(_, n)| *n);
        let mut own_of: HashMap<u32, u32> = HashMap::new();
        let mut own = 0;
        for (_, n) in &here {
            own_of.insert(*n, own);
            let mine = contributors(space, partition, *n, by_zone).filter(|r| *r == me);
            own += mine.count() as u32;
        }
        let mut peers: Vec<u32> = Vec::new();
        for (_, n) in &here {
            peers.extend(contributors(space, partition, *n, by_zone).filter(|r| *r != me));
        }
        peers.sort_unstable();
        peers.dedup();
        let mut send = vec![Vec::new(); peers.len()];
        let mut receive = vec![0; peers.len()];
        // Where the contributions of a peer to a node begin in its message.
        let mut from: HashMap<(u32, u32), u32> = HashMap::new();
        for (_, n) in &by_whole {
            let all: Vec<u32> = contributors(space, partition, *n, by_zone).collect();
            let mine = all.iter().filter(|r| **r == me).count() as u32;
            for (p, peer) in peers.iter().enumerate() {
                let theirs = all.iter().filter(|r| *r == peer).count();
                if theirs > 0 {
                    from.insert((*peer, *n), receive[p] as u32);
                    receive[p] += theirs;
                    send[p].extend(own_of[n]..own_of[n] + mine);
                }
            }
        }
        let mut first = vec![own];
        for n in &receive {
            first.push(first[first.len() - 1] + *n as u32);
        }
        let (mut order, mut begin) = (Vec::new(), vec![0]);
        for (_, n) in &here {
            let mut taken: HashMap<u32, u32> = HashMap::new();
            for rank in contributors(space, partition, *n, by_zone) {
                let k = taken.entry(rank).or_default();
                order.push(match peers.binary_search(&rank) {
                    Ok(p) => first[p] + from[&(rank, *n)] + *k,
                    Err(_) => own_of[n] + *k,
                });
                *k += 1;
            }
            begin.push(order.len() as u32);
        }
        let list: Vec<Peer> = (peers.iter().enumerate())
            .map(|(p, rank)| Peer {
                rank: *rank as usize,
                send: components * send[p].len(),
                receive: components * receive[p],
            })
            .collect();
        Self {
            link: Mutex::new(ranks.link(&list)),
            ranks,
            components,
            own: own as usize,
            here: vec![0.0; components * own as usize],
            terms: vec![0.0; *first.last().unwrap_or(&0) as usize],
            sums: vec![0.0; components * here.len()],
            nodes: here.iter().map(|(local, _)| *local).collect(),
            order,
            begin,
            send,
            receive,
            peers: list.iter().map(|p| p.rank).collect(),
        }
    }

    /// What is exchanged, for an engine that keeps the contributions elsewhere.
    pub fn lists(self) -> Lists {
        Lists {
            nodes: self.nodes,
            own: self.own,
            order: self.order,
            begin: self.begin,
            peers: self.peers,
            send: self.send,
            receive: self.receive,
        }
    }

    /// The ranks.
    pub fn ranks(&self) -> &dyn Ranks {
        &*self.ranks
    }

    /// Shared nodes of the part, ascending.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Sends and receives the contributions, and adds them.
    pub fn exchange(&mut self, of: &dyn Terms) {
        self.begin(of);
        self.finish();
    }

    /// Begins an exchange: takes the contributions of this rank, and sends them.
    pub fn begin(&mut self, of: &dyn Terms) {
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner);
        let own = self.own;
        for (c, all) in self.here.chunks_mut(own.max(1)).enumerate() {
            of.terms(c, &self.nodes, all);
        }
        for (p, send) in self.send.iter().enumerate() {
            let to = link.outgoing(p).chunks_mut(send.len().max(1));
            for (c, to) in to.enumerate() {
                for (to, i) in to.iter_mut().zip(send) {
                    *to = self.here[c * own + *i as usize];
                }
            }
        }
        link.begin();
    }

    /// Ends the exchange that was begun: waits for the contributions of other ranks, and adds all.
    pub fn finish(&mut self) {
        let link = self.link.get_mut().unwrap_or_else(PoisonError::into_inner);
        link.finish();
        let own = self.own;
        let shared = self.nodes.len();
        for c in 0..self.components {
            self.terms[..own].copy_from_slice(&self.here[c * own..(c + 1) * own]);
            let mut at = own;
            for (p, n) in self.receive.iter().enumerate() {
                self.terms[at..at + n].copy_from_slice(&link.incoming(p)[c * n..(c + 1) * n]);
                at += n;
            }
            for k in 0..shared {
                let order = &self.order[self.begin[k] as usize..self.begin[k + 1] as usize];
                self.sums[c * shared + k] = order.iter().map(|i| self.terms[*i as usize]).sum();
            }
        }
    }

    /// Replaces the values of a component at a range of nodes, where they are shared, by the sums of the last exchange.
    pub fn patch(&self, component: usize, range: Range<usize>, to: &mut [f64]) {
        let at = |n: usize| self.nodes.partition_point(|x| (*x as usize) < n);
        let sums = &self.sums[component * self.nodes.len()..];
        for k in at(range.start)..at(range.end) {
            to[self.nodes[k] as usize - range.start] = sums[k];
        }
    }
}

/// The ranks that contribute to a node, in the order in which their contributions are added.
fn contributors<'a>(
    space: &'a Space,
    partition: &'a Partition,
    node: u32,
    by_zone: bool,
) -> Box<dyn Iterator<Item = u32> + 'a> {
    let range = space.begin[node as usize] as usize..space.begin[node as usize + 1] as usize;
    let zones = space.shares[range].iter();
    let ranks = zones.map(|(z, _)| partition.rank_of[*z as usize]);
    if by_zone {
        return Box::new(ranks);
    }
    let mut ranks: Vec<u32> = ranks.collect();
    let first = owner(space, partition, node as usize) as u32;
    ranks.sort_unstable_by_key(|r| (*r != first, *r));
    ranks.dedup();
    Box::new(ranks.into_iter())
}
