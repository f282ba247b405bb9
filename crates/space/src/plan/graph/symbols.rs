//! Values that are no numbers, as numbers.

use crate::value::Value;

/// Strings, tuples, `None` and what stands among them, as numbers; strings and tuples keep their order.
#[derive(Default)]
pub struct Symbols {
    values: Vec<Value>,
}

impl Symbols {
    /// Takes all values that will ever be needed.
    pub fn new(mut values: Vec<Value>) -> Self {
        values.sort_by(Value::order);
        values.dedup();
        Self { values }
    }

    pub fn get(&self, v: &Value) -> Option<u64> {
        self.values.iter().position(|k| k == v).map(|i| i as u64)
    }

    pub fn value(&self, symbol: u64) -> Option<&Value> {
        self.values.get(symbol as usize)
    }
}
