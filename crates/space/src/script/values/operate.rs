//! Operators: those of expressions for numbers and strings, and the same for what only scripts have.

use super::item::{Heap, Item};
use crate::expr::{self, BinaryOp, CompareOp, OperatorError, UnaryOp};
use crate::script::error::{Cause, Done, MAX_NESTED, MAX_SIZE};
use crate::value::{Value, whole};

impl Heap<'_> {
    pub fn truth(&self, item: Item) -> bool {
        match item {
            Item::Unset | Item::None => false,
            Item::Bool(b) => b,
            Item::Int(i) => i != 0,
            Item::Float(f) => f != 0.0,
            Item::Text(id) => !self.text(id).is_empty(),
            Item::Tuple(id) | Item::List(id) => !self.lists[id as usize].is_empty(),
            Item::Range(id) => self.range(id).len() != 0,
            Item::Dict(id) | Item::Set(id) => self.dicts[id as usize].len() != 0,
        }
    }

    pub fn unary(&mut self, op: UnaryOp, a: Item) -> Done<Item> {
        if op == UnaryOp::Not {
            return Ok(Item::Bool(!self.truth(a)));
        }
        let v = self.plain(a).unwrap_or(Value::Tuple(Vec::new()));
        match expr::unary(op, &v) {
            Err(OperatorError::Type { operator, .. }) => Err(OperatorError::Type {
                operator,
                operand: a.words(),
            }
            .into()),
            r => self.item(&r?),
        }
    }

    #[inline]
    pub fn binary(&mut self, op: BinaryOp, a: Item, b: Item) -> Done<Item> {
        if let (Item::Int(x), Item::Int(y)) = (a, b) {
            return Ok(match expr::of_ints(op, x, y)? {
                Value::Float(f) => Item::Float(f),
                v => v.as_int().map_or(Item::None, Item::Int),
            });
        }
        self.weigh(a)?;
        self.weigh(b)?;
        match (self.plain(a), self.plain(b)) {
            (Some(x), Some(y)) => self.item(&expr::binary(op, &x, &y)?),
            _ => self.of_lists(op, a, b),
        }
    }

    fn of_lists(&mut self, op: BinaryOp, a: Item, b: Item) -> Done<Item> {
        let wrong = || OperatorError::Types {
            operator: op.symbol(),
            left: a.words(),
            right: b.words(),
        };
        match (op, a, b) {
            (BinaryOp::Add, Item::List(x), Item::List(y))
            | (BinaryOp::Add, Item::Tuple(x), Item::Tuple(y)) => {
                let (x, y) = (&self.lists[x as usize], &self.lists[y as usize]);
                let both = x.iter().chain(y).copied().collect();
                self.put_like(a, both)
            }
            (BinaryOp::Mul, Item::List(id) | Item::Tuple(id), times)
            | (BinaryOp::Mul, times, Item::List(id) | Item::Tuple(id)) => {
                let times = usize::try_from(times.int().ok_or_else(wrong)?).unwrap_or(0);
                let items = &self.lists[id as usize];
                if items.len().saturating_mul(times) > MAX_SIZE {
                    return Err(Cause::LongList);
                }
                let many = items.repeat(if items.is_empty() { 0 } else { times });
                let like = if a.int().is_some() { b } else { a };
                self.put_like(like, many)
            }
            (_, Item::Set(x), Item::Set(y)) => {
                // Of what is equal, as 1 and 1.0, `&` takes that of the smaller set.
                let sizes = [x, y].map(|id| self.dicts[id as usize].len());
                let (a, b) = match op == BinaryOp::BitAnd && sizes[1] <= sizes[0] {
                    true => (b, a),
                    false => (a, b),
                };
                let other = self.elements(b)?;
                let own = self.elements(a)?;
                let mut out = Vec::new();
                for &item in &own {
                    let both = self.contains(b, item)?;
                    let stays = match op {
                        BinaryOp::BitAnd => both,
                        BinaryOp::Sub | BinaryOp::BitXor => !both,
                        BinaryOp::BitOr => true,
                        _ => return Err(wrong().into()),
                    };
                    if stays {
                        out.push(item);
                    }
                }
                if matches!(op, BinaryOp::BitOr | BinaryOp::BitXor) {
                    for &item in &other {
                        if op == BinaryOp::BitOr || !self.contains(a, item)? {
                            out.push(item);
                        }
                    }
                }
                self.put_set(&out)
            }
            _ => Err(wrong().into()),
        }
    }

    /// A list, or a tuple where `like` is one.
    pub fn put_like(&mut self, like: Item, items: Vec<Item>) -> Done<Item> {
        match like {
            Item::Tuple(_) => self.put_tuple(items),
            _ => self.put_list(items),
        }
    }

    #[inline]
    pub fn compare(&mut self, op: CompareOp, a: Item, b: Item) -> Done<bool> {
        if let (Item::Int(x), Item::Int(y)) = (a, b) {
            match op {
                CompareOp::Eq => return Ok(x == y),
                CompareOp::Ne => return Ok(x != y),
                CompareOp::Lt => return Ok(x < y),
                CompareOp::Le => return Ok(x <= y),
                CompareOp::Gt => return Ok(x > y),
                CompareOp::Ge => return Ok(x >= y),
                _ => {}
            }
        }
        self.weigh(a)?;
        self.weigh(b)?;
        match (op, a, b) {
            (CompareOp::Eq, ..) => self.equal(a, b, 0),
            (CompareOp::Ne, ..) => self.equal(a, b, 0).map(|e| !e),
            (CompareOp::In, ..) => self.contains(b, a),
            (CompareOp::NotIn, ..) => self.contains(b, a).map(|c| !c),
            _ => match (self.plain(a), self.plain(b)) {
                (Some(x), Some(y)) => Ok(expr::compare(op, &x, &y)?),
                _ => self.order_of_lists(op, a, b, 0),
            },
        }
    }

    fn order_of_lists(&mut self, op: CompareOp, a: Item, b: Item, depth: usize) -> Done<bool> {
        if depth > MAX_NESTED {
            return Err(Cause::Nested);
        }
        match (op, a, b) {
            (CompareOp::Is, ..) => Ok(a == b),
            (CompareOp::IsNot, ..) => Ok(a != b),
            (_, Item::List(x), Item::List(y)) | (_, Item::Tuple(x), Item::Tuple(y)) => {
                let (x, y) = (x as usize, y as usize);
                self.owe(1 + self.lists[x].len().min(self.lists[y].len()) / 8)?;
                for i in 0..self.lists[x].len().min(self.lists[y].len()) {
                    let (p, q) = (self.lists[x][i], self.lists[y][i]);
                    if !self.equal(p, q, 0)? {
                        return match (self.plain(p), self.plain(q)) {
                            (Some(p), Some(q)) => Ok(expr::compare(op, &p, &q)?),
                            _ => self.order_of_lists(op, p, q, depth + 1),
                        };
                    }
                }
                let lengths = (self.lists[x].len() as i64, self.lists[y].len() as i64);
                self.compare(op, Item::Int(lengths.0), Item::Int(lengths.1))
            }
            _ => Err(OperatorError::NoOrder {
                left: a.words(),
                right: b.words(),
            }
            .into()),
        }
    }

    pub fn equal(&mut self, a: Item, b: Item, depth: usize) -> Done<bool> {
        if depth > MAX_NESTED {
            return Err(Cause::Nested);
        }
        match (a, b) {
            (Item::Text(x), Item::Text(y)) => {
                let same = self.text(x) == self.text(y);
                self.owe(self.text(x).len() / 64)?;
                Ok(same)
            }
            (Item::List(x), Item::List(y)) | (Item::Tuple(x), Item::Tuple(y)) => {
                let (x, y) = (x as usize, y as usize);
                if x == y || self.lists[x].len() != self.lists[y].len() {
                    return Ok(x == y);
                }
                self.owe(self.lists[x].len())?;
                for i in 0..self.lists[x].len() {
                    if !self.equal(self.lists[x][i], self.lists[y][i], depth + 1)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Item::Range(x), Item::Range(y)) => {
                let (x, y) = (self.range(x), self.range(y));
                let n = x.len();
                let ends = n == 0 || (x.get(0), x.get(n - 1)) == (y.get(0), y.get(n - 1));
                Ok(n == y.len() && ends)
            }
            (Item::Dict(x), Item::Dict(y)) | (Item::Set(x), Item::Set(y)) => {
                let entries: Vec<_> = self.dicts[x as usize].entries().collect();
                self.owe(1 + entries.len())?;
                if entries.len() != self.dicts[y as usize].len() {
                    return Ok(false);
                }
                for (name, value) in entries {
                    let key = self.key(name, 0)?;
                    match self.dicts[y as usize].get(&key) {
                        Some(other) if self.equal(value, other, depth + 1)? => {}
                        _ => return Ok(false),
                    }
                }
                Ok(true)
            }
            _ => match (self.plain(a), self.plain(b)) {
                (Some(x), Some(y)) => Ok(expr::compare(CompareOp::Eq, &x, &y)?),
                _ => Ok(false),
            },
        }
    }

    fn contains(&mut self, all: Item, v: Item) -> Done<bool> {
        match all {
            Item::List(id) | Item::Tuple(id) => {
                let id = id as usize;
                self.owe(self.lists[id].len() / 8)?;
                for i in 0..self.lists[id].len() {
                    if self.equal(self.lists[id][i], v, 0)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Item::Range(id) => {
                let range = self.range(id);
                let place = match v {
                    Item::Float(f) => whole(f),
                    _ => v.int(),
                };
                Ok(match place {
                    Some(i) if range.len() != 0 => {
                        let from = i128::from(i) - i128::from(range.0);
                        let step = i128::from(range.2);
                        from % step == 0 && (0..range.len() as i128).contains(&(from / step))
                    }
                    _ => false,
                })
            }
            Item::Dict(id) | Item::Set(id) => {
                let key = self.key(v, 0)?;
                Ok(self.dicts[id as usize].get(&key).is_some())
            }
            _ => match (self.plain(v), self.plain(all)) {
                (Some(x), Some(y @ Value::Str(_))) => Ok(expr::compare(CompareOp::In, &x, &y)?),
                (None, Some(Value::Str(_))) => Err(OperatorError::NotText(v.words()).into()),
                _ => Err(OperatorError::NotIterable(all.words()).into()),
            },
        }
    }

    /// A value of expressions with all that it holds; `None` for what they do not have.
    pub fn value(&mut self, item: Item, depth: usize) -> Done<Result<Value, &'static str>> {
        if depth > MAX_NESTED {
            return Err(Cause::Nested);
        }
        match item {
            Item::Tuple(_) | Item::List(_) | Item::Range(_) | Item::Set(_) => {
                let mut out = Vec::new();
                for item in self.elements(item)? {
                    match self.value(item, depth + 1)? {
                        Ok(v) => out.push(v),
                        wrong => return Ok(wrong),
                    }
                }
                Ok(Ok(Value::Tuple(out)))
            }
            _ => {
                self.owe(1)?;
                self.weigh(item)?;
                Ok(self.plain(item).ok_or(item.words()))
            }
        }
    }

    /// In ascending order; what has no order with its neighbour is an error.
    pub fn sorted(&mut self, items: Vec<Item>) -> Done<Vec<Item>> {
        if items.len() < 2 {
            return Ok(items);
        }
        self.owe(items.len() * 4)?;
        let mut pairs = Vec::with_capacity(items.len());
        for item in items {
            let v = self.value(item, 0)?;
            pairs.push((
                v.map_err(|kind| OperatorError::NoOrder {
                    left: kind,
                    right: kind,
                })?,
                item,
            ));
        }
        pairs.sort_by(|a, b| a.0.order(&b.0));
        for pair in pairs.windows(2) {
            self.compare(CompareOp::Lt, pair[0].1, pair[1].1)?;
        }
        Ok(pairs.into_iter().map(|(_, item)| item).collect())
    }

    fn set_items(&mut self, id: u32) -> Done<Vec<Item>> {
        let items: Vec<Item> = self.dicts[id as usize].entries().map(|(k, _)| k).collect();
        let mut pairs = Vec::with_capacity(items.len());
        for item in items {
            if let Ok(v) = self.value(item, 0)? {
                pairs.push((v, item));
            }
        }
        pairs.sort_by(|a, b| a.0.order(&b.0));
        Ok(pairs.into_iter().map(|(_, item)| item).collect())
    }

    /// The elements: those of a set in ascending order, as in expressions; the keys of a dictionary.
    pub fn elements(&mut self, item: Item) -> Done<Vec<Item>> {
        let out: Vec<Item> = match item {
            Item::List(id) | Item::Tuple(id) => self.lists[id as usize].clone(),
            Item::Range(id) => {
                let range = self.range(id);
                if range.len() > MAX_SIZE {
                    return Err(Cause::LongList);
                }
                (0..range.len()).map(|i| Item::Int(range.get(i))).collect()
            }
            Item::Text(id) => {
                let all: Vec<char> = self.text(id).chars().collect();
                let mut buffer = [0; 4];
                let one = |c: char| self.put_text(c.encode_utf8(&mut buffer));
                all.into_iter().map(one).collect::<Done<_>>()?
            }
            Item::Dict(id) => self.dicts[id as usize].entries().map(|(k, _)| k).collect(),
            Item::Set(id) => self.set_items(id)?,
            _ => return Err(Cause::NoElements(item.words())),
        };
        self.owe(1 + out.len())?;
        Ok(out)
    }

    /// The least or the greatest value, the first of equal ones.
    pub fn extreme(&mut self, items: Vec<Item>, which: &str) -> Done<Item> {
        let op = if which == "min" {
            CompareOp::Lt
        } else {
            CompareOp::Gt
        };
        let mut items = items.into_iter();
        let none = || Cause::Function(format!("`{which}` of no values"));
        let mut best = items.next().ok_or_else(none)?;
        for item in items {
            if self.compare(op, item, best)? {
                best = item;
            }
        }
        Ok(best)
    }
}
