//! Functions that a script may call: those of expressions, and some that only scripts have.

use super::item::{Heap, Item, Span3};
use crate::expr::{self, BinaryOp, OperatorError};
use crate::script::error::{Cause, Done, MAX_NESTED, MAX_SIZE};
use crate::value::Value;

/// Functions that only scripts have, and how many values they take at least and at most.
const OWN: [(&str, usize, usize); 10] = [
    ("dict", 0, 1),
    ("divisors", 1, 1),
    ("enumerate", 1, 2),
    ("list", 0, 1),
    ("powers_of_two", 2, 2),
    ("reversed", 1, 1),
    ("set", 0, 1),
    ("sum", 1, 2),
    ("tuple", 0, 1),
    ("zip", 1, usize::MAX),
];

/// Names of all functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    OWN.iter().map(|f| f.0).chain(expr::functions())
}

/// The function of this name, where it takes so many values; `None` where there is none.
pub fn find(name: &str, values: usize) -> Option<Result<&'static str, String>> {
    let short = name.strip_prefix("math.").unwrap_or(name);
    let found = names().find(|n| *n == short)?;
    Some(match OWN.iter().find(|f| f.0 == short) {
        Some(&(_, least, most)) if (least..=most).contains(&values) => Ok(found),
        Some(&(_, least, most)) => Err(expr::takes_not(name, least, most, values)),
        None => expr::takes(name, values, &[]).map(|()| found),
    })
}

impl Heap<'_> {
    pub fn function(&mut self, name: &'static str, args: &[Item]) -> Done<Item> {
        let integer = |heap: &Self, i: usize| -> Done<i64> {
            args[i].int().ok_or_else(|| {
                let wrong = format!("an integer is expected, not {}", heap.named(args[i]));
                Cause::Function(wrong)
            })
        };
        match (name, args) {
            ("len", [Item::Dict(id) | Item::Set(id)]) => {
                Ok(Item::Int(self.dicts[*id as usize].len() as i64))
            }
            ("len", [of]) => self.length(*of).map(|n| Item::Int(n as i64)),
            ("range", _) => {
                let (start, stop) = match args {
                    [_] => (0, integer(self, 0)?),
                    _ => (integer(self, 0)?, integer(self, 1)?),
                };
                let step = if args.len() > 2 { integer(self, 2)? } else { 1 };
                if step == 0 {
                    return Err(Cause::ZeroStep("range"));
                }
                self.put_range(Span3(start, stop, step))
            }
            ("sum", [_, Item::Text(_)]) => {
                Err(Cause::Absent("`sum` adds no strings: write `''.join(…)`"))
            }
            ("sum", [of, ..]) => {
                let items = self.elements(*of)?;
                let mut sum = args.get(1).copied().unwrap_or(Item::Int(0));
                for (i, item) in items.into_iter().enumerate() {
                    match (sum, item) {
                        // The list so far is nobody else's after the first sum.
                        (Item::List(id), Item::List(_)) if i > 0 => {
                            let more = self.elements(item)?;
                            self.extend(id as usize, more)?;
                        }
                        _ => sum = self.binary(BinaryOp::Add, sum, item)?,
                    }
                }
                Ok(sum)
            }
            ("min" | "max", [of]) => {
                let items = self.elements(*of)?;
                self.extreme(items, name)
            }
            ("min" | "max", _) => self.extreme(args.to_vec(), name),
            ("any" | "all", [of]) => {
                let stop = name == "any";
                let items = self.elements(*of)?;
                let found = items.into_iter().any(|i| self.truth(i) == stop);
                Ok(Item::Bool(found == stop))
            }
            ("bool", [v]) => Ok(Item::Bool(self.truth(*v))),
            ("str", [v]) => {
                let text = self.show(*v, false)?;
                self.put_text(&text)
            }
            ("list" | "tuple" | "set" | "sorted" | "reversed", _) => {
                let mut items = match args {
                    [of] => self.elements(*of)?,
                    _ => Vec::new(),
                };
                match name {
                    "tuple" => self.put_tuple(items),
                    "set" => self.put_set(&items),
                    "sorted" => {
                        let items = self.sorted(items)?;
                        self.put_list(items)
                    }
                    _ => {
                        if name == "reversed" {
                            items.reverse();
                        }
                        self.put_list(items)
                    }
                }
            }
            ("dict", _) => {
                let mut pairs = Vec::new();
                match args {
                    [Item::Dict(id)] => pairs.extend(self.dicts[*id as usize].entries()),
                    [of] => {
                        for pair in self.elements(*of)? {
                            match self.elements(pair)?[..] {
                                [key, value] => pairs.push((key, value)),
                                _ => {
                                    return Err(Cause::Absent(
                                        "`dict` takes pairs of a key and a value",
                                    ));
                                }
                            }
                        }
                    }
                    _ => {}
                }
                self.put_pairs(&pairs)
            }
            ("enumerate", _) => {
                let first = if args.len() > 1 { integer(self, 1)? } else { 0 };
                let mut out = Vec::new();
                for (i, item) in self.elements(args[0])?.into_iter().enumerate() {
                    let number = first.checked_add(i as i64).ok_or(OperatorError::Overflow)?;
                    out.push(self.put_tuple(vec![Item::Int(number), item])?);
                }
                self.put_list(out)
            }
            ("zip", _) => {
                let all: Vec<Vec<Item>> = args
                    .iter()
                    .map(|a| self.elements(*a))
                    .collect::<Done<_>>()?;
                let mut out = Vec::new();
                for i in 0..all.iter().map(Vec::len).min().unwrap_or(0) {
                    out.push(self.put_tuple(all.iter().map(|items| items[i]).collect())?);
                }
                self.put_list(out)
            }
            _ => self.of_values(name, args),
        }
    }

    /// A function of numbers and strings, as in expressions.
    fn of_values(&mut self, name: &'static str, args: &[Item]) -> Done<Item> {
        let mut values = Vec::with_capacity(args.len());
        for a in args {
            let wrong = || format!("a number is expected, not {}", a.words());
            self.weigh(*a)?;
            values.push(self.plain(*a).ok_or_else(|| Cause::Function(wrong()))?);
        }
        let list = expr::list_of_values(name, &values).map_err(Cause::Function)?;
        match list {
            Some(list) => {
                let items = list.into_iter().map(Item::Int).collect();
                self.put_list(items)
            }
            None => {
                let v = expr::of_values(name, values).map_err(Cause::Function)?;
                self.item(&v)
            }
        }
    }

    /// The text of a value as Python prints it; strings in quotes where it is `within` another.
    pub fn show(&mut self, item: Item, within: bool) -> Done<String> {
        let mut out = String::new();
        self.write(item, within, 0, &mut out)?;
        Ok(out)
    }

    fn write(&mut self, item: Item, within: bool, depth: usize, out: &mut String) -> Done<()> {
        if depth > MAX_NESTED {
            return Err(Cause::Nested);
        }
        let (open, close) = match item {
            Item::Tuple(_) => ('(', ')'),
            Item::List(_) => ('[', ']'),
            Item::Dict(_) | Item::Set(_) => ('{', '}'),
            Item::Range(id) => {
                let r = self.range(id);
                let step = if r.2 == 1 {
                    String::new()
                } else {
                    format!(", {}", r.2)
                };
                out.push_str(&format!("range({}, {}{step})", r.0, r.1));
                return Ok(());
            }
            _ => {
                let v = self.plain(item).unwrap_or(Value::None);
                match v {
                    Value::Str(_) if within => out.push_str(&v.literal()),
                    v => out.push_str(&v.to_string()),
                }
                return if out.len() > MAX_SIZE {
                    Err(Cause::LongText)
                } else {
                    Ok(())
                };
            }
        };
        let items = self.elements(item)?;
        if items.is_empty() && matches!(item, Item::Set(_)) {
            out.push_str("set()");
            return Ok(());
        }
        out.push(open);
        for (i, one) in items.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.write(*one, true, depth + 1, out)?;
            if let Item::Dict(id) = item {
                let key = self.key(*one, 0)?;
                out.push_str(": ");
                let value = self.dicts[id as usize].get(&key).unwrap_or(Item::None);
                self.write(value, true, depth + 1, out)?;
            }
        }
        if matches!(item, Item::Tuple(_)) && items.len() == 1 {
            out.push(',');
        }
        out.push(close);
        Ok(())
    }
}
