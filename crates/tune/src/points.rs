//! A space as search strategies see it: numbered points with coordinates.

use greenup_space::{Index, Value};
use std::collections::HashMap;
use std::ops::Deref;

/// Numbered points. A point's coordinates are the positions of its values among the values that
/// each parameter takes anywhere in the space, in ascending order.
pub trait Points {
    /// Number of points.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names of the parameters.
    fn names(&self) -> Vec<String>;

    /// The values that each parameter takes anywhere.
    fn values(&self) -> &[Vec<Value>];

    /// Index of each parameter's value among its values.
    fn coordinates(&self, point: u64) -> Vec<u32>;

    /// The point with these coordinates; `None` if it is not valid.
    fn find(&self, coordinates: &[u32]) -> Option<u64>;

    /// Points that differ in one parameter.
    fn neighbours(&self, point: u64) -> Vec<u64>;

    /// The point with these values; `None` if it is not valid.
    fn position(&self, config: &[Value]) -> Option<u64>;

    /// Values of the parameters.
    fn config(&self, point: u64) -> Vec<Value> {
        self.coordinates(point)
            .iter()
            .zip(self.values())
            .map(|(&c, v)| v[c as usize].clone())
            .collect()
    }
}

/// Ascending by value, what is no number last.
fn sorted(mut values: Vec<Value>) -> Vec<Value> {
    values.sort_by(Value::order);
    values.dedup();
    values
}

/// The place of a value among [`sorted`] ones.
fn place(all: &[Value], v: &Value) -> Option<usize> {
    all.binary_search_by(|k| k.order(v))
        .ok()
        .or_else(|| all.iter().position(|k| k == v))
}

/// Points of a table, as a recorded sweep has them.
pub struct Table {
    names: Vec<String>,
    values: Vec<Vec<Value>>,
    rows: Vec<Vec<u32>>,
    at: HashMap<Vec<u32>, u64>,
}

impl Table {
    /// `rows` in any order; equal rows count once, the first of them.
    pub fn new(names: Vec<String>, rows: &[Vec<Value>]) -> Self {
        let values: Vec<Vec<Value>> = (0..names.len())
            .map(|p| sorted(rows.iter().map(|r| r[p].clone()).collect()))
            .collect();
        let coded: Vec<Vec<u32>> = rows
            .iter()
            .map(|r| {
                r.iter()
                    .zip(&values)
                    .map(|(v, all)| place(all, v).unwrap_or(0) as u32)
                    .collect()
            })
            .collect();
        let mut at = HashMap::with_capacity(coded.len());
        for (i, r) in coded.iter().enumerate() {
            at.entry(r.clone()).or_insert(i as u64);
        }
        Self {
            names,
            values,
            rows: coded,
            at,
        }
    }
}

impl Points for Table {
    fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn values(&self) -> &[Vec<Value>] {
        &self.values
    }

    fn coordinates(&self, point: u64) -> Vec<u32> {
        self.rows[point as usize].clone()
    }

    fn find(&self, coordinates: &[u32]) -> Option<u64> {
        self.at.get(coordinates).copied()
    }

    fn position(&self, config: &[Value]) -> Option<u64> {
        let codes = (config.iter().zip(&self.values))
            .map(|(v, all)| Some(place(all, v)? as u32))
            .collect::<Option<Vec<u32>>>()?;
        self.find(&codes)
    }

    fn neighbours(&self, point: u64) -> Vec<u64> {
        let mut c = self.coordinates(point);
        let mut out = Vec::new();
        for p in 0..c.len() {
            let own = c[p];
            for v in (0..self.values[p].len() as u32).filter(|&v| v != own) {
                c[p] = v;
                out.extend(self.find(&c));
            }
            c[p] = own;
        }
        out
    }
}

impl<T: Points + ?Sized> Points for &T {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn names(&self) -> Vec<String> {
        (**self).names()
    }

    fn values(&self) -> &[Vec<Value>] {
        (**self).values()
    }

    fn coordinates(&self, point: u64) -> Vec<u32> {
        (**self).coordinates(point)
    }

    fn find(&self, coordinates: &[u32]) -> Option<u64> {
        (**self).find(coordinates)
    }

    fn neighbours(&self, point: u64) -> Vec<u64> {
        (**self).neighbours(point)
    }

    fn position(&self, config: &[Value]) -> Option<u64> {
        (**self).position(config)
    }

    fn config(&self, point: u64) -> Vec<Value> {
        (**self).config(point)
    }
}

/// Points of an indexed space, which is borrowed or shared.
pub struct Indexed<I> {
    index: I,
    values: Vec<Vec<Value>>,
}

impl<I: Deref<Target = Index>> Indexed<I> {
    /// Adapts an index.
    pub fn new(index: I) -> Self {
        Self {
            values: index.values().into_iter().map(sorted).collect(),
            index,
        }
    }
}

impl<I: Deref<Target = Index>> Points for Indexed<I> {
    fn len(&self) -> u64 {
        self.index.len()
    }

    fn names(&self) -> Vec<String> {
        self.index.space().names().map(str::to_owned).collect()
    }

    fn values(&self) -> &[Vec<Value>] {
        &self.values
    }

    fn coordinates(&self, point: u64) -> Vec<u32> {
        self.index
            .get(point)
            .unwrap_or_default()
            .iter()
            .zip(&self.values)
            .map(|(v, all)| {
                all.binary_search_by(|k| k.compare(v).unwrap_or(std::cmp::Ordering::Less))
                    .or_else(|_| all.iter().position(|k| k == v).ok_or(()))
                    .unwrap_or(0) as u32
            })
            .collect()
    }

    fn find(&self, coordinates: &[u32]) -> Option<u64> {
        let point: Vec<Value> = coordinates
            .iter()
            .zip(&self.values)
            .map(|(&c, v)| v[c as usize].clone())
            .collect();
        self.index.position(&point)
    }

    fn position(&self, config: &[Value]) -> Option<u64> {
        self.index.position(config)
    }

    fn neighbours(&self, point: u64) -> Vec<u64> {
        self.index.neighbours(point)
    }
}
