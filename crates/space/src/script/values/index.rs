//! Indices and slices.

use super::item::{Heap, Item};
use crate::script::error::{Cause, Done};

impl Heap<'_> {
    pub fn length(&mut self, of: Item) -> Done<usize> {
        self.weigh(of)?;
        Ok(match of {
            Item::List(id) | Item::Tuple(id) => self.lists[id as usize].len(),
            Item::Range(id) => self.range(id).len(),
            Item::Text(id) => self.text(id).chars().count(),
            _ => return Err(Cause::NoElements(of.words())),
        })
    }

    /// An index as a number.
    pub fn index(&mut self, index: Item) -> Done<i64> {
        match index.int() {
            Some(i) => Ok(i),
            None => Err(Cause::IndexKind(self.named(index))),
        }
    }

    /// A value in a message: as it is written, or what kind it is.
    pub fn named(&self, item: Item) -> String {
        self.plain(item)
            .map_or_else(|| item.words().to_owned(), |v| v.literal())
    }

    /// The place of an element, counted from the end where the index is negative.
    pub fn place(&mut self, of: Item, index: Item) -> Done<usize> {
        let length = self.length(of)?;
        let index = self.index(index)?;
        let place = if index < 0 {
            index.checked_add(length as i64)
        } else {
            Some(index)
        };
        place
            .and_then(|p| usize::try_from(p).ok())
            .filter(|p| *p < length)
            .ok_or(Cause::Index { index, length })
    }

    #[inline]
    pub fn element(&mut self, of: Item, index: Item) -> Done<Item> {
        match of {
            Item::List(id) | Item::Tuple(id) => {
                let place = self.place(of, index)?;
                Ok(self.lists[id as usize][place])
            }
            Item::Dict(id) => {
                let key = self.key(index, 0)?;
                match self.dicts[id as usize].get(&key) {
                    Some(v) => Ok(v),
                    None => Err(Cause::Key(self.show(index, true)?)),
                }
            }
            Item::Range(id) => {
                let place = self.place(of, index)?;
                Ok(Item::Int(self.range(id).get(place)))
            }
            Item::Text(id) => {
                let place = self.place(of, index)?;
                self.owe(place / 16)?;
                let c: Option<char> = self.text(id).chars().nth(place);
                self.put_text(c.unwrap_or_default().encode_utf8(&mut [0; 4]))
            }
            _ => Err(Cause::NoElements(of.words())),
        }
    }

    pub fn set_element(&mut self, of: Item, index: Item, value: Item) -> Done<()> {
        match of {
            Item::List(id) => {
                let place = self.place(of, index)?;
                self.lists[id as usize][place] = value;
                Ok(())
            }
            Item::Dict(id) => self.put_entry(id, index, value),
            Item::Tuple(_) | Item::Text(_) | Item::Range(_) => Err(Cause::Fixed(of.words())),
            _ => Err(Cause::NoElements(of.words())),
        }
    }

    /// `of[from:to:step]`.
    pub fn slice(&mut self, of: Item, bounds: [Option<Item>; 3]) -> Done<Item> {
        let length = self.length(of)? as i64;
        let mut bound = |i: usize| match bounds[i] {
            None | Some(Item::None) => Ok(None),
            Some(b) => self.index(b).map(Some),
        };
        let step = bound(2)?.unwrap_or(1);
        if step == 0 {
            return Err(Cause::ZeroStep("slice"));
        }
        // Going down, a slice ends before the first element.
        let (least, most) = if step > 0 {
            (0, length)
        } else {
            (-1, length - 1)
        };
        let clamp = |b: i64| {
            if b < 0 {
                b.saturating_add(length).max(least)
            } else {
                b.min(most)
            }
        };
        let from = bound(0)?.map_or(if step > 0 { least } else { most }, clamp);
        let to = bound(1)?.map_or(if step > 0 { most } else { least }, clamp);
        let mut places = Vec::new();
        let mut i = from;
        while (step > 0 && i < to) || (step < 0 && i > to) {
            places.push(i as usize);
            i = i.saturating_add(step);
        }
        self.owe(places.len())?;
        if let Item::Text(id) = of {
            let all: Vec<char> = self.text(id).chars().collect();
            self.owe(all.len() / 8)?;
            let text: String = places.into_iter().map(|p| all[p]).collect();
            return self.put_text(&text);
        }
        let items = match of {
            Item::List(id) | Item::Tuple(id) => {
                let all = &self.lists[id as usize];
                places.into_iter().map(|p| all[p]).collect()
            }
            _ => {
                let all = self.elements(of)?;
                places.into_iter().map(|p| all[p]).collect()
            }
        };
        self.put_like(of, items)
    }
}
