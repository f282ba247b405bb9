//! The candidate values of a level at the current point, those left out that cannot pass.

use super::scan::Slots;
use crate::expr::{divisors, gcd};
use crate::plan::graph::op::Type;
use crate::plan::nest::compile::Level;
use crate::plan::{DomainNodes, Space};
use hashbrown::HashMap;
use std::sync::Arc;

/// Values in their order, without holding them.
#[derive(Clone, Copy)]
enum Sequence<'a> {
    List(&'a [u64]),
    Range { start: i64, step: i64, count: u64 },
}

impl Sequence<'_> {
    fn len(&self) -> usize {
        match self {
            Self::List(l) => l.len(),
            Self::Range { count, .. } => *count as usize,
        }
    }

    fn get(&self, i: usize) -> u64 {
        match self {
            Self::List(l) => l[i],
            Self::Range { start, step, .. } => {
                start.wrapping_add(step.wrapping_mul(i as i64)) as u64
            }
        }
    }
}

/// Why a level has no candidates at a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DomainFault {
    ZeroStep,
    TooMany,
    /// More are left to look at one by one than fit the memory.
    Memory,
    NoValue(&'static str),
    Script(String),
}

/// Below this many candidates it is not worth looking for fewer.
const FEW: usize = 12;

/// Candidates drawn in place of more than [`MANY`].
const DRAWN: usize = 256;

/// More are not looked at one by one where some can be drawn.
const MANY: usize = 1 << 16;

/// More are not held: half a gigabyte.
const HELD: usize = 1 << 26;

/// Bounds for which a list of divisors is made.
const LARGEST: i64 = 1 << 36;

/// Generates candidates; remembers divisors and the lists of closures.
#[derive(Default)]
pub struct Candidates {
    divisors: HashMap<i64, Arc<[i64]>>,
    lists: HashMap<(usize, Vec<u64>), Arc<[u64]>>,
    /// Levels whose list rises strictly: found once.
    rising: HashMap<usize, bool>,
}

impl Candidates {
    /// How many values level `k` has at the current point, before any filter.
    ///
    /// # Errors
    /// The level has no values here for a reason its author must know.
    pub fn count(&mut self, space: &Space, k: usize, slots: &Slots) -> Result<u64, DomainFault> {
        Ok(match self.sequence(space, k, slots)? {
            Some(s) => s.len() as u64,
            None => self.list(space, k, slots)?.len() as u64,
        })
    }

    /// All values of level `k` at the current point, none left out.
    ///
    /// # Errors
    /// As [`Candidates::count`].
    pub fn all(&mut self, space: &Space, k: usize, slots: &Slots) -> Result<Vec<u64>, DomainFault> {
        Ok(match self.sequence(space, k, slots)? {
            Some(s) => (0..s.len()).map(|i| s.get(i)).collect(),
            None => self.list(space, k, slots)?.to_vec(),
        })
    }

    /// Puts the candidates of level `k` into `out`, in order; `skip[i]` tells that test `i` of the
    /// level holds for all of them. With `draw`, some drawn at random in place of many. Returns how many each stands for.
    ///
    /// # Errors
    /// As [`Candidates::count`].
    pub fn fill(
        &mut self,
        space: &Space,
        k: usize,
        level: &Level,
        slots: &mut Slots,
        (out, skip): (&mut Vec<u64>, &mut Vec<bool>),
        draw: Option<&mut fastrand::Rng>,
    ) -> Result<f64, DomainFault> {
        out.clear();
        skip.clear();
        skip.resize(level.tests.len(), false);
        let hold;
        let sequence = match self.sequence(space, k, slots)? {
            Some(s) => s,
            None => {
                hold = self.list(space, k, slots)?;
                Sequence::List(&hold)
            }
        };
        let n = sequence.len();
        let numeric = space.params[space.levels[k]].kind == Type::Int;
        if n <= FEW || !numeric {
            out.extend((0..n).map(|i| sequence.get(i)));
            return Ok(1.0);
        }
        let rises = match sequence {
            Sequence::Range { step, .. } => Some(step > 0),
            Sequence::List(l) => {
                let is_static = matches!(space.domains[k], DomainNodes::List(_));
                let rising = |l: &[u64]| l.windows(2).all(|w| (w[0] as i64) < w[1] as i64);
                let yes = if is_static {
                    *self.rising.entry(k).or_insert_with(|| rising(l))
                } else {
                    rising(l)
                };
                yes.then_some(true)
            }
        };
        let Some(rises) = rises else {
            out.extend((0..n).map(|i| sequence.get(i)));
            return Ok(1.0);
        };
        let (mut from, mut to) = (0, n);
        for edge in &level.edges {
            // True from some index on, or up to one.
            let late = edge.rises == rises;
            let (mut lo, mut hi) = (from, to);
            let mut sound = true;
            while lo < hi {
                let mid = lo + (hi - lo) / 2;
                slots.words[level.slot as usize] = sequence.get(mid);
                match slots.truth(&edge.test) {
                    Ok(truth) if truth == late => hi = mid,
                    Ok(_) => lo = mid + 1,
                    Err(_) => {
                        sound = false;
                        break;
                    }
                }
            }
            if sound {
                if late {
                    from = lo;
                } else {
                    to = lo;
                }
                if let Some(t) = edge.replaces {
                    skip[t] = true;
                }
            }
        }
        if to - from > FEW
            && let Some(d) = self.divisors(&level.divides, slots, to - from)
        {
            pick(sequence, &d, rises, from..to, out);
            return Ok(1.0);
        }
        if to - from > MANY
            && let Some(rng) = draw
        {
            out.extend((0..DRAWN).map(|_| sequence.get(rng.usize(from..to))));
            return Ok((to - from) as f64 / DRAWN as f64);
        }
        if to - from > HELD {
            return Err(DomainFault::Memory);
        }
        out.extend((from..to).map(|i| sequence.get(i)));
        Ok(1.0)
    }

    /// Divisors common to the values of some nodes, when listing them pays.
    fn divisors(
        &mut self,
        nodes: &[(u32, bool)],
        slots: &Slots,
        candidates: usize,
    ) -> Option<Arc<[i64]>> {
        let mut common = 0;
        for &(node, float) in nodes {
            if slots.faults[node as usize] != 0 {
                continue;
            }
            let word = slots.words[node as usize];
            let value = if float {
                let f = f64::from_bits(word);
                if f.trunc() != f || f.abs() > LARGEST as f64 {
                    continue;
                }
                f as i64
            } else {
                word as i64
            };
            // Everything divides 0.
            common = gcd(common, value).unwrap_or(0);
        }
        if common == 0 || common > LARGEST {
            return None;
        }
        let known = self.divisors.len();
        if let Some(d) = self.divisors.get(&common) {
            return Some(d.clone());
        }
        // Finding them takes a root's worth of divisions.
        if known > 1 << 16 || (common as f64).sqrt() > 64.0 * candidates as f64 {
            return None;
        }
        let d: Arc<[i64]> = divisors(common).into();
        self.divisors.insert(common, d.clone());
        Some(d)
    }

    fn sequence<'s>(
        &mut self,
        space: &'s Space,
        k: usize,
        slots: &Slots,
    ) -> Result<Option<Sequence<'s>>, DomainFault> {
        let at = |id: u32| -> Result<i64, DomainFault> {
            if space.graph.node(id).may_fail
                && let Some(f) = crate::plan::graph::op::Fault::of_code(slots.faults[id as usize])
            {
                return Err(DomainFault::NoValue(f.describe()));
            }
            Ok(slots.words[id as usize] as i64)
        };
        Ok(match &space.domains[k] {
            DomainNodes::List(l) => Some(Sequence::List(l)),
            DomainNodes::Range { start, stop, step } => {
                let (start, stop, step) = (at(*start)?, at(*stop)?, at(*step)?);
                if step == 0 {
                    return Err(DomainFault::ZeroStep);
                }
                let span = i128::from(stop) - i128::from(start);
                let count = if (span < 0) != (step < 0) && span != 0 {
                    0
                } else {
                    span.unsigned_abs() / u128::from(step.unsigned_abs()) + 1
                };
                let Ok(count) = i64::try_from(count).map(i64::unsigned_abs) else {
                    return Err(DomainFault::TooMany);
                };
                Some(Sequence::Range { start, step, count })
            }
            DomainNodes::Divisors(_) | DomainNodes::Dynamic { .. } => None,
        })
    }

    /// The list of a closure or of divisors.
    fn list(&mut self, space: &Space, k: usize, slots: &Slots) -> Result<Arc<[u64]>, DomainFault> {
        let nodes = crate::plan::nest::compile::domain_nodes(&space.domains[k]);
        let key: Vec<u64> = nodes.iter().map(|&id| slots.words[id as usize]).collect();
        if let Some(known) = self.lists.get(&(k, key.clone())) {
            return Ok(known.clone());
        }
        let list: Vec<u64> = match &space.domains[k] {
            DomainNodes::Divisors(_) => {
                let of = key[0] as i64;
                if of == 0 || of.saturating_abs() > LARGEST {
                    return Err(DomainFault::NoValue("0 or too large to list its divisors"));
                }
                divisors(of).into_iter().map(|d| d as u64).collect()
            }
            DomainNodes::Dynamic { expr, uses } => {
                let known: Vec<(&str, crate::Value)> = uses
                    .iter()
                    .zip(&key)
                    .map(|((name, _), &bits)| {
                        let p = space.params.iter().position(|p| p.name == *name);
                        let value =
                            p.map_or(crate::Value::Int(bits as i64), |p| space.decode(p, bits));
                        (name.as_str(), value)
                    })
                    .collect();
                let list = space
                    .dynamic(expr, &known)
                    .map_err(|e| DomainFault::Script(e.message))?;
                let mut sorted = list.clone();
                sorted.sort_unstable();
                if sorted.windows(2).any(|w| w[0] == w[1]) {
                    return Err(DomainFault::Script("the list has a value twice".to_owned()));
                }
                list
            }
            _ => Vec::new(),
        };
        let list: Arc<[u64]> = list.into();
        if self.lists.len() < 1 << 16 {
            self.lists.insert((k, key), list.clone());
        }
        Ok(list)
    }
}

/// Members of a sequence among ascending positive values, in the sequence's order.
fn pick(
    s: Sequence,
    values: &[i64],
    rises: bool,
    within: std::ops::Range<usize>,
    out: &mut Vec<u64>,
) {
    let mut put = |v: i64| {
        let index = match s {
            Sequence::Range { start, step, .. } => {
                let d = v - start;
                (d % step == 0)
                    .then_some(d / step)
                    .filter(|i| *i >= 0)
                    .map(|i| i as usize)
            }
            Sequence::List(l) => l.binary_search_by(|w| (*w as i64).cmp(&v)).ok(),
        };
        if index.is_some_and(|i| within.contains(&i)) {
            out.push(v as u64);
        }
    };
    if rises {
        values.iter().for_each(|&v| put(v));
    } else {
        values.iter().rev().for_each(|&v| put(v));
    }
}
