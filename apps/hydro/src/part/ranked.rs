//! An engine whose zones are advanced by several ranks, each with an engine of its own. All ranks call the same methods.

use super::local::{Map, owner};
use super::partition::Partition;
use crate::HydroError;
use crate::engine::{Engine, Part, State, Timings};
use crate::hydro::Hydro;
use greenup_ranks::{Exact, Ranks, sum_exact};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The engine of a rank's part.
pub struct Ranked {
    inner: Box<dyn Engine>,
    ranks: Arc<dyn Ranks>,
    map: Map,
    part: Arc<Hydro>,
    /// Nodes of the whole.
    nodes: usize,
    /// On the first rank: zones and owned nodes of the whole of each rank.
    others: Vec<(Vec<u32>, Vec<u32>)>,
    exact: bool,
    /// Set by a signal to this process.
    interrupt: &'static AtomicBool,
    /// Whether a rank was asked to stop: all know it after the same step.
    stop: Arc<AtomicBool>,
}

impl Ranked {
    /// An engine for the part of this rank. With `exact`, energies are summed without rounding.
    pub fn new(
        whole: &Hydro,
        partition: &Partition,
        (map, part, inner): (Map, Arc<Hydro>, Box<dyn Engine>),
        ranks: Arc<dyn Ranks>,
        exact: bool,
        interrupt: &'static AtomicBool,
    ) -> Self {
        let space = &whole.space;
        let others = match ranks.rank() {
            0 => (0..partition.ranks)
                .map(|rank| {
                    let zones = partition.zones(rank).iter().map(|z| *z as u32).collect();
                    let own = |n: &u32| owner(space, partition, *n as usize) == rank;
                    (zones, (0..space.nodes as u32).filter(own).collect())
                })
                .collect(),
            _ => Vec::new(),
        };
        Self {
            inner,
            nodes: space.nodes,
            ranks,
            map,
            part,
            others,
            exact,
            interrupt,
            stop: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Whether a rank was asked to stop; the same on all ranks after each step.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The largest rate of all ranks, and whether one was asked to stop.
    fn agreed(&self, rate: f64) -> f64 {
        let asked = f64::from(u8::from(self.interrupt.load(Ordering::Relaxed)));
        let mut all = [rate, asked];
        self.ranks.max(&mut all);
        self.stop.store(all[1] > 0.0, Ordering::Relaxed);
        all[0]
    }
}

fn bytes(x: &[f64]) -> Vec<u8> {
    x.iter().flat_map(|x| x.to_ne_bytes()).collect()
}

impl Engine for Ranked {
    fn start(&mut self, s: &State) -> Result<f64, HydroError> {
        let energies = self.part.space.element.energies;
        let own = self.map.state(s, self.nodes, energies);
        let rate = self.inner.start(&own)?;
        Ok(self.agreed(rate))
    }

    fn step(&mut self, dt: f64) -> Result<f64, HydroError> {
        let rate = self.inner.step(dt)?;
        Ok(self.agreed(rate))
    }

    fn accept(&mut self) -> Result<(), HydroError> {
        self.inner.accept()
    }

    fn reject(&mut self) -> Result<f64, HydroError> {
        let rate = self.inner.reject()?;
        Ok(self.agreed(rate))
    }

    /// The state of the whole on the first rank; an empty one on the others.
    fn state(&mut self) -> Result<State, HydroError> {
        let own = self.inner.state()?;
        let (n, dim) = (self.map.nodes.len(), self.part.space.dim);
        let mut order: Vec<usize> = (0..n).filter(|i| self.map.owned[*i]).collect();
        order.sort_unstable_by_key(|i| self.map.nodes[*i]);
        let mut data = Vec::with_capacity(2 * dim * order.len() + own.e.len());
        for field in [&own.x, &own.v] {
            for part in field.chunks(n) {
                data.extend(order.iter().map(|i| part[*i]));
            }
        }
        data.extend_from_slice(&own.e);
        let Some(all) = self.ranks.gather(&bytes(&data)) else {
            return Ok(State {
                x: Vec::new(),
                v: Vec::new(),
                e: Vec::new(),
            });
        };
        let energies = self.part.space.element.energies;
        let zones: usize = self.others.iter().map(|o| o.0.len()).sum();
        let mut state = State {
            x: vec![0.0; dim * self.nodes],
            v: vec![0.0; dim * self.nodes],
            e: vec![0.0; zones * energies],
        };
        for ((zones, nodes), data) in self.others.iter().zip(&all) {
            let (words, _) = data.as_chunks();
            let mut next = words.iter().map(|w| f64::from_ne_bytes(*w));
            for field in [&mut state.x, &mut state.v] {
                for part in field.chunks_mut(self.nodes) {
                    for (n, x) in nodes.iter().zip(&mut next) {
                        part[*n as usize] = x;
                    }
                }
            }
            for z in zones {
                let to = &mut state.e[*z as usize * energies..(*z as usize + 1) * energies];
                for (to, x) in to.iter_mut().zip(&mut next) {
                    *to = x;
                }
            }
        }
        Ok(state)
    }

    fn energies(&mut self) -> Result<(f64, f64), HydroError> {
        if !self.exact {
            let (internal, kinetic) = self.inner.energies()?;
            let mut all = [internal, kinetic];
            self.ranks.sum(&mut all);
            return Ok(all.into());
        }
        let s = self.inner.state()?;
        let mut sums = [Exact::default(), Exact::default()];
        for z in 0..self.part.space.zones {
            let (internal, kinetic) = self.part.zone_energies(&s, z);
            sums[0].add(internal);
            sums[1].add(kinetic);
        }
        sum_exact(&*self.ranks, &mut sums);
        Ok((sums[0].value(), sums[1].value()))
    }

    fn timings(&self) -> Timings {
        self.inner.timings()
    }

    fn part(&mut self, part: Part) -> Result<(), HydroError> {
        self.inner.part(part)
    }
}
