//! What a loop goes through, one element after the other: the body sees and makes changes, as in Python.

use super::error::{At, Cause, Run};
use super::read::tree::{Kind, Node};
use super::run::Call;
use super::values::item::{Heap, Item};
use crate::expr::OperatorError;

pub(super) enum Elements {
    Range {
        next: i64,
        step: i64,
        left: usize,
    },
    /// A list, which may change meanwhile.
    List {
        id: usize,
        next: usize,
    },
    /// A list from its end, with the number of elements that are left.
    Reversed {
        id: usize,
        left: usize,
    },
    /// A dictionary, whose keys may not change meanwhile.
    Dict {
        id: usize,
        changes: u64,
        place: usize,
        part: Part,
    },
    /// A set, which may not change meanwhile.
    Set {
        id: usize,
        changes: u64,
        items: std::vec::IntoIter<Item>,
    },
    Enumerate(i64, Box<Elements>),
    Zip(Vec<Elements>),
    Taken(std::vec::IntoIter<Item>),
}

/// What a loop over a dictionary takes of each entry.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Key,
    Value,
    Both,
}

impl Elements {
    #[inline]
    pub fn next(&mut self, heap: &mut Heap, at: usize) -> Run<Option<Item>> {
        Ok(match self {
            Self::Range { left: 0, .. } => None,
            Self::Range { next, step, left } => {
                *left -= 1;
                let item = Item::Int(*next);
                *next = next.wrapping_add(*step);
                Some(item)
            }
            Self::List { id, next } => {
                let item = heap.lists[*id].get(*next).copied();
                *next += 1;
                item
            }
            Self::Taken(items) => items.next(),
            _ => return self.next_of_others(heap, at),
        })
    }

    fn next_of_others(&mut self, heap: &mut Heap, at: usize) -> Run<Option<Item>> {
        Ok(match self {
            Self::Reversed { id, left } => {
                let place = left.checked_sub(1);
                *left = place.unwrap_or_default();
                let item = place.and_then(|p| heap.lists[*id].get(p).copied());
                if item.is_none() {
                    *left = 0;
                }
                item
            }
            Self::Dict { id, changes, .. } if heap.dicts[*id].changes != *changes => {
                return Err(Cause::Changed("a dictionary")).at(at);
            }
            Self::Set { id, changes, .. } if heap.dicts[*id].changes != *changes => {
                return Err(Cause::Changed("a set")).at(at);
            }
            Self::Dict {
                id, place, part, ..
            } => {
                let Some(((key, value), next)) = heap.dicts[*id].entry(*place) else {
                    return Ok(None);
                };
                *place = next;
                Some(match part {
                    Part::Key => key,
                    Part::Value => value,
                    Part::Both => heap.put_tuple(vec![key, value]).at(at)?,
                })
            }
            Self::Set { items, .. } => items.next(),
            Self::Enumerate(number, of) => {
                let Some(item) = of.next(heap, at)? else {
                    return Ok(None);
                };
                let pair = heap.put_tuple(vec![Item::Int(*number), item]).at(at)?;
                let after = number.checked_add(1).ok_or(OperatorError::Overflow);
                *number = after.map_err(Cause::from).at(at)?;
                Some(pair)
            }
            Self::Zip(all) => {
                let mut items = Vec::with_capacity(all.len());
                for one in all {
                    let Some(item) = one.next(heap, at)? else {
                        return Ok(None);
                    };
                    items.push(item);
                }
                Some(heap.put_tuple(items).at(at)?)
            }
            other => return other.next(heap, at),
        })
    }
}

impl Call<'_> {
    /// What a loop goes through. Only where it is written in the header of the loop do changes reach `enumerate`, `zip`,
    /// `reversed` and the parts of a dictionary: elsewhere they are lists.
    pub fn elements(&mut self, source: &Node) -> Run<Elements> {
        let at = source.at;
        let item = match &source.kind {
            Kind::Function("enumerate", args) => {
                let of = self.elements(&args[0])?;
                let first = args.get(1).map_or(Ok(Item::Int(0)), |e| self.eval(e))?;
                let first = self.heap.index(first).at(at)?;
                return Ok(Elements::Enumerate(first, of.into()));
            }
            Kind::Function("zip", args) => {
                let all = args.iter().map(|of| self.elements(of));
                return Ok(Elements::Zip(all.collect::<Run<_>>()?));
            }
            Kind::Function("reversed", args) => match self.eval(&args[0])? {
                Item::List(id) => {
                    let id = id as usize;
                    let left = self.heap.lists[id].len();
                    return Ok(Elements::Reversed { id, left });
                }
                of => self.heap.function("reversed", &[of]).at(at)?,
            },
            Kind::Method(of, name, args) if args.is_empty() => {
                let of = self.eval(of)?;
                match (of, name.as_str()) {
                    (Item::Dict(id), "keys") => return Ok(self.entries(id, Part::Key)),
                    (Item::Dict(id), "values") => return Ok(self.entries(id, Part::Value)),
                    (Item::Dict(id), "items") => return Ok(self.entries(id, Part::Both)),
                    _ => self.heap.method(of, name, &[]).at(at)?,
                }
            }
            _ => self.eval(source)?,
        };
        self.elements_of(item, at)
    }

    fn entries(&self, id: u32, part: Part) -> Elements {
        let id = id as usize;
        Elements::Dict {
            id,
            changes: self.heap.dicts[id].changes,
            place: 0,
            part,
        }
    }

    fn elements_of(&mut self, item: Item, at: usize) -> Run<Elements> {
        Ok(match item {
            Item::Range(id) => {
                let range = self.heap.range(id);
                Elements::Range {
                    next: range.0,
                    step: range.2,
                    left: range.len(),
                }
            }
            Item::List(id) | Item::Tuple(id) => Elements::List {
                id: id as usize,
                next: 0,
            },
            Item::Dict(id) => self.entries(id, Part::Key),
            Item::Set(id) => Elements::Set {
                id: id as usize,
                changes: self.heap.dicts[id as usize].changes,
                items: self.heap.elements(item).at(at)?.into_iter(),
            },
            other => Elements::Taken(self.heap.elements(other).at(at)?.into_iter()),
        })
    }
}
