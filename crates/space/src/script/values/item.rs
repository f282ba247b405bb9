//! Values while a function runs: small ones as they are, others by their number on the heap of the call.

use crate::script::error::{CALL_STEPS, Cause, Done, MAX_NESTED, MAX_SIZE};
use crate::value::{Value, whole};
use hashbrown::HashMap;

/// A value. Lists and dictionaries that are equal by number are the same, as in Python.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item {
    /// A name before its first assignment.
    Unset,
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(u32),
    Tuple(u32),
    List(u32),
    Range(u32),
    Dict(u32),
    Set(u32),
}

impl Item {
    /// What kind of value it is, as an operand.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unset | Self::None => "`None`",
            Self::Bool(_) | Self::Int(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a string",
            Self::Tuple(_) => "a tuple",
            Self::List(_) => "a list",
            Self::Range(_) => "a range",
            Self::Dict(_) => "a dictionary",
            Self::Set(_) => "a set",
        }
    }

    #[inline]
    pub fn int(self) -> Option<i64> {
        match self {
            Self::Int(i) => Some(i),
            Self::Bool(b) => Some(i64::from(b)),
            _ => None,
        }
    }
}

/// `start, stop, step` of a range.
#[derive(Clone, Copy)]
pub struct Span3(pub i64, pub i64, pub i64);

impl Span3 {
    pub fn len(self) -> usize {
        let (start, stop, step) = (i128::from(self.0), i128::from(self.1), i128::from(self.2));
        let distance = if step > 0 { stop - start } else { start - stop };
        let step = step.abs();
        usize::try_from((distance + step - 1).max(0) / step.max(1)).unwrap_or(usize::MAX)
    }

    pub fn get(self, i: usize) -> i64 {
        (i128::from(self.0) + i as i128 * i128::from(self.2)) as i64
    }
}

/// What is equal has the same key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    None,
    Int(i64),
    Float(u64),
    Text(Box<str>),
    Tuple(Vec<Key>),
}

/// Keys and values in the order in which they came.
#[derive(Default)]
pub struct Dict {
    places: HashMap<Key, usize>,
    entries: Vec<Option<(Item, Item)>>,
    /// How often a key came or went.
    pub changes: u64,
}

impl Dict {
    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn get(&self, key: &Key) -> Option<Item> {
        let place = *self.places.get(key)?;
        self.entries[place].map(|(_, v)| v)
    }

    pub fn put(&mut self, key: Key, name: Item, value: Item) {
        match self.places.get(&key) {
            Some(&place) => {
                if let Some(entry) = &mut self.entries[place] {
                    entry.1 = value;
                }
            }
            None => {
                self.changes += 1;
                self.places.insert(key, self.entries.len());
                self.entries.push(Some((name, value)));
            }
        }
    }

    pub fn take(&mut self, key: &Key) -> Option<Item> {
        let place = self.places.remove(key)?;
        self.changes += 1;
        let taken = self.entries[place].take().map(|(_, v)| v);
        if self.entries.len() > 2 * self.places.len() + 16 {
            self.close_gaps();
        }
        taken
    }

    fn close_gaps(&mut self) {
        let mut filled = 0;
        let new: Vec<usize> = self
            .entries
            .iter()
            .map(|e| {
                filled += usize::from(e.is_some());
                filled.saturating_sub(1)
            })
            .collect();
        self.places
            .values_mut()
            .for_each(|place| *place = new[*place]);
        self.entries.retain(Option::is_some);
    }

    /// Has the keys and values of another one from now on.
    fn take_from(&mut self, new: Self) {
        let has = |key| self.places.contains_key(key);
        let same = self.len() == new.len() && new.places.keys().all(has);
        let changes = self.changes + u64::from(!same);
        *self = Self { changes, ..new };
    }

    /// The first entry from a place on, and the place after it.
    pub fn entry(&self, from: usize) -> Option<((Item, Item), usize)> {
        let mut rest = self.entries.iter().enumerate().skip(from);
        rest.find_map(|(i, e)| e.map(|e| (e, i + 1)))
    }

    pub fn entries(&self) -> impl Iterator<Item = (Item, Item)> {
        self.entries.iter().flatten().copied()
    }
}

/// All values of one call that are no plain numbers. They stay to its end: each takes steps, and those are limited.
pub struct Heap<'a> {
    /// Texts that stand in the script.
    constants: &'a [Box<str>],
    texts: Vec<Box<str>>,
    pub lists: Vec<Vec<Item>>,
    ranges: Vec<Span3>,
    pub dicts: Vec<Dict>,
    /// Steps that values took since they were last counted.
    pub owed: u64,
}

impl<'a> Heap<'a> {
    pub fn new(constants: &'a [Box<str>], tuples: &[Vec<Item>]) -> Self {
        Self {
            constants,
            texts: Vec::new(),
            lists: tuples.to_vec(),
            ranges: Vec::new(),
            dicts: Vec::new(),
            owed: 0,
        }
    }

    /// Counts steps for values; those of one call are limited.
    pub fn owe(&mut self, steps: usize) -> Done<()> {
        self.owed = self.owed.saturating_add(steps as u64);
        if self.owed > CALL_STEPS {
            return Err(Cause::CallSteps);
        }
        Ok(())
    }

    pub fn text(&self, id: u32) -> &str {
        let id = id as usize;
        match id.checked_sub(self.constants.len()) {
            None => &self.constants[id],
            Some(own) => &self.texts[own],
        }
    }

    pub fn put_text(&mut self, text: &str) -> Done<Item> {
        if text.len() > MAX_SIZE {
            return Err(Cause::LongText);
        }
        self.owe(2 + text.len() / 8)?;
        self.texts.push(text.into());
        Ok(Item::Text(
            (self.constants.len() + self.texts.len() - 1) as u32,
        ))
    }

    /// Counts the steps of a look at a long string.
    pub fn weigh(&mut self, item: Item) -> Done<()> {
        match item {
            Item::Text(id) => self.owe(self.text(id).len() / 64),
            _ => Ok(()),
        }
    }

    fn put_items(&mut self, items: Vec<Item>) -> Done<u32> {
        if items.len() > MAX_SIZE {
            return Err(Cause::LongList);
        }
        self.owe(2 + items.len())?;
        self.lists.push(items);
        Ok((self.lists.len() - 1) as u32)
    }

    pub fn put_list(&mut self, items: Vec<Item>) -> Done<Item> {
        self.put_items(items).map(Item::List)
    }

    pub fn put_tuple(&mut self, items: Vec<Item>) -> Done<Item> {
        self.put_items(items).map(Item::Tuple)
    }

    pub fn put_range(&mut self, range: Span3) -> Done<Item> {
        self.owe(1)?;
        self.ranges.push(range);
        Ok(Item::Range((self.ranges.len() - 1) as u32))
    }

    pub fn range(&self, id: u32) -> Span3 {
        self.ranges[id as usize]
    }

    fn put_dict(&mut self, dict: Dict) -> Done<u32> {
        if dict.len() > MAX_SIZE {
            return Err(Cause::LongList);
        }
        self.owe(2 + 4 * dict.len())?;
        self.dicts.push(dict);
        Ok((self.dicts.len() - 1) as u32)
    }

    pub fn put_pairs(&mut self, pairs: &[(Item, Item)]) -> Done<Item> {
        let mut dict = Dict::default();
        for &(name, value) in pairs {
            dict.put(self.key(name, 0)?, name, value);
        }
        self.put_dict(dict).map(Item::Dict)
    }

    pub fn put_set(&mut self, items: &[Item]) -> Done<Item> {
        let mut dict = Dict::default();
        for &item in items {
            dict.put(self.key(item, 0)?, item, Item::None);
        }
        self.put_dict(dict).map(Item::Set)
    }

    /// Puts a new list or set into the place of an old one, which all its names see; any other value stays itself.
    pub fn put_into(&mut self, old: Item, new: Item) -> Item {
        match (old, new) {
            (Item::List(to), Item::List(from)) => {
                self.lists[to as usize] = std::mem::take(&mut self.lists[from as usize]);
                old
            }
            (Item::Set(to), Item::Set(from)) => {
                let new = std::mem::take(&mut self.dicts[from as usize]);
                self.dicts[to as usize].take_from(new);
                old
            }
            _ => new,
        }
    }

    /// Puts an entry into a dictionary or a set.
    pub fn put_entry(&mut self, id: u32, name: Item, value: Item) -> Done<()> {
        let key = self.key(name, 0)?;
        self.owe(4)?;
        let dict = &mut self.dicts[id as usize];
        dict.put(key, name, value);
        if dict.len() > MAX_SIZE {
            return Err(Cause::LongList);
        }
        Ok(())
    }

    /// The key of what cannot change.
    pub fn key(&mut self, item: Item, depth: usize) -> Done<Key> {
        Ok(match item {
            Item::Text(id) => {
                let text: Box<str> = self.text(id).into();
                self.owe(text.len() / 16)?;
                Key::Text(text)
            }
            Item::Tuple(_) if depth >= MAX_NESTED => return Err(Cause::Nested),
            Item::Tuple(id) => {
                let items = self.lists[id as usize].clone();
                self.owe(1 + items.len())?;
                let keys = items.into_iter().map(|i| self.key(i, depth + 1));
                Key::Tuple(keys.collect::<Done<_>>()?)
            }
            Item::List(_) | Item::Dict(_) | Item::Set(_) | Item::Range(_) => {
                return Err(Cause::Unhashable(item.words()));
            }
            Item::Float(f) => whole(f).map_or(Key::Float(f.to_bits()), Key::Int),
            _ => item.int().map_or(Key::None, Key::Int),
        })
    }

    /// A number, string or `None` as a value of expressions.
    #[inline]
    pub fn plain(&self, item: Item) -> Option<Value> {
        match item {
            Item::None => Some(Value::None),
            Item::Bool(b) => Some(Value::Bool(b)),
            Item::Int(i) => Some(Value::Int(i)),
            Item::Float(f) => Some(Value::Float(f)),
            Item::Text(id) => Some(Value::Str(self.text(id).to_owned())),
            _ => None,
        }
    }

    /// A value of expressions; a tuple is one.
    #[inline]
    pub fn item(&mut self, v: &Value) -> Done<Item> {
        Ok(match v {
            Value::None => Item::None,
            Value::Bool(b) => Item::Bool(*b),
            Value::Int(i) => Item::Int(*i),
            Value::Float(f) => Item::Float(*f),
            Value::Str(s) => self.put_text(s)?,
            Value::Tuple(items) => {
                let items: Vec<Item> = items.iter().map(|v| self.item(v)).collect::<Done<_>>()?;
                self.put_tuple(items)?
            }
        })
    }
}
