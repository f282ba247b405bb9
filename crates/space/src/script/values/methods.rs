//! Methods of lists, strings, dictionaries and sets.

use super::item::{Heap, Item};
use crate::error::closest;
use crate::script::error::{Cause, Done, MAX_SIZE};

const OF_LISTS: [&str; 11] = [
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse",
    "sort",
];
const OF_TUPLES: [&str; 2] = ["count", "index"];
const OF_TEXTS: [&str; 11] = [
    "count",
    "endswith",
    "find",
    "index",
    "join",
    "lower",
    "replace",
    "split",
    "startswith",
    "strip",
    "upper",
];
const OF_DICTS: [&str; 6] = ["get", "items", "keys", "pop", "setdefault", "values"];
const OF_SETS: [&str; 3] = ["add", "discard", "remove"];

fn methods(of: Item) -> &'static [&'static str] {
    match of {
        Item::List(_) => &OF_LISTS,
        Item::Tuple(_) => &OF_TUPLES,
        Item::Text(_) => &OF_TEXTS,
        Item::Dict(_) => &OF_DICTS,
        Item::Set(_) => &OF_SETS,
        _ => &[],
    }
}

/// Names of all methods.
pub fn names() -> impl Iterator<Item = &'static str> {
    let all: [&[&str]; 5] = [&OF_LISTS, &OF_TUPLES, &OF_TEXTS, &OF_DICTS, &OF_SETS];
    all.into_iter().flatten().copied()
}

fn arguments(name: &str, takes: &'static str, found: usize) -> Cause {
    let name = name.to_owned();
    Cause::Arguments { name, takes, found }
}

impl Heap<'_> {
    pub fn method(&mut self, of: Item, name: &str, args: &[Item]) -> Done<Item> {
        if !methods(of).contains(&name) {
            return Err(Cause::Method {
                of: of.words(),
                name: name.to_owned(),
                nearest: closest(name, methods(of).iter().copied()),
            });
        }
        match of {
            Item::List(id) => self.of_list(id as usize, of, name, args),
            Item::Text(id) => self.of_text(id, name, args),
            Item::Dict(id) => self.of_dict(id, name, args),
            Item::Set(id) => self.of_set(id, name, args),
            _ => self.search(of, name, args),
        }
    }

    fn search(&mut self, of: Item, name: &str, args: &[Item]) -> Done<Item> {
        let [wanted] = args else {
            return Err(arguments(name, "one value", args.len()));
        };
        let mut count = 0;
        for (i, item) in self.elements(of)?.into_iter().enumerate() {
            if self.equal(item, *wanted, 0)? {
                if name != "count" {
                    return Ok(Item::Int(i as i64));
                }
                count += 1;
            }
        }
        match name {
            "count" => Ok(Item::Int(count)),
            _ => Err(Cause::Absent("the value is not there")),
        }
    }

    /// Adds elements at the end of a list.
    pub fn extend(&mut self, id: usize, items: Vec<Item>) -> Done<()> {
        if self.lists[id].len() + items.len() > MAX_SIZE {
            return Err(Cause::LongList);
        }
        self.owe(items.len())?;
        self.lists[id].extend(items);
        Ok(())
    }

    fn of_list(&mut self, id: usize, of: Item, name: &str, args: &[Item]) -> Done<Item> {
        match (name, args) {
            ("append", [v]) => self.extend(id, vec![*v])?,
            ("extend", [all]) => {
                let items = self.elements(*all)?;
                self.extend(id, items)?;
            }
            ("insert", [i, v]) => {
                let i = self.index(*i)?;
                let length = self.lists[id].len() as i64;
                let place = if i < 0 {
                    i.saturating_add(length).max(0)
                } else {
                    i.min(length)
                };
                self.extend(id, vec![*v])?;
                self.owe((length - place) as usize / 8)?;
                self.lists[id][place as usize..].rotate_right(1);
            }
            ("pop", [] | [_]) => {
                let last = args.first().copied().unwrap_or(Item::Int(-1));
                let place = self.place(of, last)?;
                self.owe((self.lists[id].len() - place) / 8)?;
                return Ok(self.lists[id].remove(place));
            }
            ("remove", [_]) => {
                if let Item::Int(place) = self.search(of, "index", args)? {
                    self.lists[id].remove(place as usize);
                }
            }
            ("sort", []) => {
                let items = self.elements(of)?;
                self.lists[id] = self.sorted(items)?;
            }
            ("reverse", []) => {
                self.owe(self.lists[id].len() / 8)?;
                self.lists[id].reverse();
            }
            ("clear", []) => self.lists[id].clear(),
            ("copy", []) => {
                let items = self.elements(of)?;
                return self.put_list(items);
            }
            ("index" | "count", [_]) => return self.search(of, name, args),
            ("insert", _) => return Err(arguments(name, "a place and a value", args.len())),
            ("pop", _) => return Err(arguments(name, "at most one place", args.len())),
            ("append" | "extend" | "remove" | "index" | "count", _) => {
                return Err(arguments(name, "one value", args.len()));
            }
            _ => return Err(arguments(name, "no values", args.len())),
        }
        Ok(Item::None)
    }

    fn of_text(&mut self, id: u32, name: &str, args: &[Item]) -> Done<Item> {
        let own = self.text(id).to_owned();
        self.owe(own.len() / 8)?;
        if let ("join", [all]) = (name, args) {
            let mut out = String::new();
            for (i, part) in self.elements(*all)?.into_iter().enumerate() {
                let Item::Text(part) = part else {
                    return Err(Cause::ArgumentKind {
                        name: name.to_owned(),
                        takes: "strings",
                        found: part.words(),
                    });
                };
                if i > 0 {
                    out.push_str(&own);
                }
                out.push_str(self.text(part));
                if out.len() > MAX_SIZE {
                    return Err(Cause::LongText);
                }
            }
            return self.put_text(&out);
        }
        let mut texts = Vec::with_capacity(args.len());
        for a in args {
            let Item::Text(part) = a else {
                return Err(Cause::ArgumentKind {
                    name: name.to_owned(),
                    takes: "a string",
                    found: a.words(),
                });
            };
            self.weigh(*a)?;
            texts.push(self.text(*part).to_owned());
        }
        let place = |part: &String| {
            let at = own.find(part.as_str())?;
            Some(own[..at].chars().count() as i64)
        };
        let made = match (name, texts.as_slice()) {
            ("upper", []) => own.to_uppercase(),
            ("lower", []) => own.to_lowercase(),
            ("strip", []) => own.trim().to_owned(),
            ("strip", [ends]) => own.trim_matches(|c| ends.contains(c)).to_owned(),
            ("replace", [from, to]) => {
                let parts = own.matches(from.as_str()).count();
                if own.len().saturating_add(parts.saturating_mul(to.len())) > 2 * MAX_SIZE {
                    return Err(Cause::LongText);
                }
                own.replace(from.as_str(), to)
            }
            ("startswith", [part]) => return Ok(Item::Bool(own.starts_with(part.as_str()))),
            ("endswith", [part]) => return Ok(Item::Bool(own.ends_with(part.as_str()))),
            ("count", [part]) => return Ok(Item::Int(own.matches(part.as_str()).count() as i64)),
            ("find", [part]) => return Ok(Item::Int(place(part).unwrap_or(-1))),
            ("index", [part]) => {
                let absent = Cause::Absent("the string is not there");
                return place(part).map(Item::Int).ok_or(absent);
            }
            ("split", [] | [_]) => {
                let parts: Vec<&str> = match texts.first() {
                    None => own.split_whitespace().collect(),
                    Some(at) if at.is_empty() => {
                        return Err(Cause::Absent("`split` takes no empty string"));
                    }
                    Some(at) => own.split(at.as_str()).collect(),
                };
                let parts = parts.into_iter().map(|p| self.put_text(p));
                let parts = parts.collect::<Done<Vec<Item>>>()?;
                return self.put_list(parts);
            }
            ("upper" | "lower", _) => return Err(arguments(name, "no values", args.len())),
            ("replace", _) => return Err(arguments(name, "two strings", args.len())),
            ("strip" | "split", _) => {
                return Err(arguments(name, "at most one string", args.len()));
            }
            _ => return Err(arguments(name, "one value", args.len())),
        };
        self.put_text(&made)
    }

    fn of_dict(&mut self, id: u32, name: &str, args: &[Item]) -> Done<Item> {
        let entries: Vec<(Item, Item)> = match name {
            "keys" | "values" | "items" => self.dicts[id as usize].entries().collect(),
            _ => Vec::new(),
        };
        match (name, args) {
            ("keys" | "values", []) => {
                let of = |(k, v)| if name == "keys" { k } else { v };
                let items = entries.into_iter().map(of).collect();
                self.put_list(items)
            }
            ("items", []) => {
                let pairs = entries.into_iter().map(|(k, v)| self.put_tuple(vec![k, v]));
                let pairs = pairs.collect::<Done<Vec<Item>>>()?;
                self.put_list(pairs)
            }
            ("get" | "pop" | "setdefault", [key] | [key, _]) => {
                let name_of = self.key(*key, 0)?;
                let found = match name {
                    "pop" => self.dicts[id as usize].take(&name_of),
                    _ => self.dicts[id as usize].get(&name_of),
                };
                let other = args.get(1).copied();
                match (found, name) {
                    (Some(v), _) => Ok(v),
                    (None, "pop") if other.is_none() => Err(Cause::Key(self.show(*key, true)?)),
                    (None, "setdefault") => {
                        let v = other.unwrap_or(Item::None);
                        self.put_entry(id, *key, v)?;
                        Ok(v)
                    }
                    (None, _) => Ok(other.unwrap_or(Item::None)),
                }
            }
            ("keys" | "values" | "items", _) => Err(arguments(name, "no values", args.len())),
            _ => Err(arguments(
                name,
                "a key and a value for its absence",
                args.len(),
            )),
        }
    }

    fn of_set(&mut self, id: u32, name: &str, args: &[Item]) -> Done<Item> {
        let [v] = args else {
            return Err(arguments(name, "one value", args.len()));
        };
        if name == "add" {
            let key = self.key(*v, 0)?;
            if self.dicts[id as usize].get(&key).is_none() {
                self.put_entry(id, *v, Item::None)?;
            }
            return Ok(Item::None);
        }
        let key = self.key(*v, 0)?;
        match self.dicts[id as usize].take(&key) {
            None if name == "remove" => Err(Cause::Absent("the value is not there")),
            _ => Ok(Item::None),
        }
    }
}
