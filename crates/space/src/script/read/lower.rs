//! Names of one function to slots, and its expressions to nodes.

use super::tree::{Kind, Loop, Node, Target};
use crate::error::{ExprError, Span, closest};
use crate::expr::{Expr, ExprKind, Form, OfScript, takes_not};
use crate::script::values::functions;
use crate::script::values::item::Item;
use crate::value::Value;

/// Operations within each other at most, in one expression.
const MAX_HEIGHT: usize = 100;

/// Loops of one comprehension at most.
const MAX_LOOPS: usize = 8;

/// What a function is called by.
pub struct Signature {
    pub name: String,
    pub parameters: Vec<String>,
    pub defaults: Vec<Item>,
}

/// What all functions of a script share.
#[derive(Default)]
pub struct Shared {
    pub signatures: Vec<Signature>,
    pub texts: Vec<Box<str>>,
    pub tuples: Vec<Vec<Item>>,
}

impl Shared {
    /// A tuple of constants.
    pub fn tuple(&mut self, items: Vec<Item>) -> Item {
        self.tuples.push(items);
        Item::Tuple((self.tuples.len() - 1) as u32)
    }

    /// A constant; a tuple is none, since a list is written as one.
    pub fn constant(&mut self, v: &Value) -> Option<Item> {
        Some(match v {
            Value::None => Item::None,
            Value::Bool(b) => Item::Bool(*b),
            Value::Int(i) => Item::Int(*i),
            Value::Float(f) => Item::Float(*f),
            Value::Str(s) => {
                self.texts.push(s.as_str().into());
                Item::Text((self.texts.len() - 1) as u32)
            }
            Value::Tuple(_) => return None,
        })
    }
}

/// The names of the function that is read.
pub struct Names<'a> {
    pub shared: &'a mut Shared,
    pub slots: Vec<String>,
    /// Where each name stands first, and whether it is assigned anywhere.
    seen: Vec<(Span, bool)>,
    /// Names of comprehensions, innermost last.
    inner: Vec<(String, usize)>,
    calls: Vec<(String, Span)>,
    /// Levels of the deepest expression.
    pub height: usize,
}

type Lowered<T = Node> = Result<T, ExprError>;

impl<'a> Names<'a> {
    pub fn new(shared: &'a mut Shared, parameters: &[String]) -> Self {
        Self {
            shared,
            slots: parameters.to_vec(),
            seen: vec![(Span::default(), true); parameters.len()],
            inner: Vec::new(),
            calls: Vec::new(),
            height: 0,
        }
    }

    fn slot(&mut self, name: &str, span: Span, assigned: bool) -> Lowered<usize> {
        check_name(name, span)?;
        let slot = match self.slots.iter().position(|n| n == name) {
            Some(slot) => slot,
            None => {
                self.slots.push(name.to_owned());
                self.seen.push((span, false));
                self.slots.len() - 1
            }
        };
        self.seen[slot].1 |= assigned;
        Ok(slot)
    }

    /// Each name is assigned somewhere, and no call is one of a variable.
    pub fn check(&self) -> Lowered<()> {
        let unknown = self
            .slots
            .iter()
            .zip(&self.seen)
            .find(|(_, (_, assigned))| !assigned);
        if let Some((name, (span, _))) = unknown {
            let own = |n: &str, s: &(Span, bool)| s.1 && !n.ends_with(' ');
            let assigned = self.slots.iter().zip(&self.seen).filter(|(n, s)| own(n, s));
            let own = self.shared.signatures.iter().any(|s| s.name == *name);
            let message = if own || functions::names().any(|f| f == name) {
                format!("`{name}` is a function: call it, as in `{name}(…)`")
            } else {
                let nearest = closest(name, assigned.map(|(n, _)| n.as_str()));
                let hint = nearest
                    .map(|n| format!(": did you mean `{n}`?"))
                    .unwrap_or_default();
                format!("`{name}` is not known here{hint}")
            };
            return Err(ExprError::new(message, *span));
        }
        match self
            .calls
            .iter()
            .find(|(name, _)| self.slots.contains(name))
        {
            Some((name, span)) => Err(ExprError::new(
                format!(
                    "`{name}` is a value here, so that it cannot be called: choose another name"
                ),
                *span,
            )),
            None => Ok(()),
        }
    }

    /// The targets of an assignment or a loop.
    pub fn target(&mut self, e: &Expr) -> Lowered<Target> {
        shallow(e)?;
        match &e.kind {
            ExprKind::Name(n) => Ok(Target::Slot(self.slot(n, e.span, true)?)),
            ExprKind::Index(of, index) => {
                let (of, index) = (self.expr(of)?, self.expr(index)?);
                Ok(Target::Element(of.into(), index.into(), e.span.from))
            }
            ExprKind::Tuple(items) | ExprKind::List(items) if !items.is_empty() => {
                let all = items.iter().map(|i| self.target(i));
                Ok(Target::Unpack(all.collect::<Lowered<_>>()?, e.span.from))
            }
            ExprKind::Script(s) if matches!(**s, OfScript::Slice { .. }) => Err(ExprError::new(
                "a slice cannot be assigned to: write a loop",
                e.span,
            )),
            _ => Err(ExprError::new("nothing can be assigned to this", e.span)),
        }
    }

    pub fn expr(&mut self, e: &Expr) -> Lowered {
        self.height = self.height.max(shallow(e)?);
        self.lower(e)
    }

    fn all(&mut self, items: &[Expr]) -> Lowered<Vec<Node>> {
        items.iter().map(|e| self.lower(e)).collect()
    }

    fn lower(&mut self, e: &Expr) -> Lowered {
        let kind = match &e.kind {
            ExprKind::Literal(v) => {
                let constant = self.shared.constant(v);
                Kind::Constant(constant.ok_or_else(|| ExprError::new("no constant", e.span))?)
            }
            ExprKind::Name(n) => match self.inner.iter().rev().find(|(name, _)| name == n) {
                Some((_, slot)) => Kind::Slot(*slot),
                None => Kind::Slot(self.slot(n, e.span, false)?),
            },
            ExprKind::Unary(op, a) => Kind::Unary(*op, self.lower(a)?.into()),
            ExprKind::Binary(op, a, b) => {
                Kind::Binary(*op, (self.lower(a)?, self.lower(b)?).into())
            }
            ExprKind::Compare(first, rest) => {
                let first = self.lower(first)?.into();
                let rest = rest.iter().map(|(op, e)| Ok((*op, self.lower(e)?)));
                Kind::Compare(first, rest.collect::<Lowered<_>>()?)
            }
            ExprKind::All(items) => Kind::All(self.all(items)?),
            ExprKind::Any(items) => Kind::Any(self.all(items)?),
            ExprKind::IfElse {
                condition,
                then,
                otherwise,
            } => {
                let parts = [
                    self.lower(condition)?,
                    self.lower(then)?,
                    self.lower(otherwise)?,
                ];
                Kind::IfElse(parts.into())
            }
            ExprKind::List(items) => Kind::List(self.all(items)?),
            ExprKind::Tuple(items) => Kind::Tuple(self.all(items)?),
            ExprKind::Set(items) => Kind::Set(self.all(items)?),
            ExprKind::Index(of, index) => Kind::Index((self.lower(of)?, self.lower(index)?).into()),
            ExprKind::Call(name, args) => self.call(name, args, e.span)?,
            ExprKind::Comprehension { .. } => return Err(ExprError::new("no list", e.span)),
            ExprKind::Script(s) => self.of_script(s, e.span)?,
        };
        Ok(Node {
            at: e.span.from,
            kind,
        })
    }

    fn of_script(&mut self, e: &OfScript, span: Span) -> Lowered<Kind> {
        Ok(match e {
            OfScript::Method { of, name, args } => {
                if !crate::script::values::methods::names().any(|n| n == name) {
                    let hint = closest(name, crate::script::values::methods::names());
                    let hint = hint
                        .map(|n| format!(": did you mean `{n}`?"))
                        .unwrap_or_default();
                    return Err(ExprError::new(
                        format!("there is no method `{name}`{hint}"),
                        span,
                    ));
                }
                Kind::Method(self.lower(of)?.into(), name.clone(), self.all(args)?)
            }
            OfScript::Slice { of, bounds } => {
                let of = self.lower(of)?;
                let mut parts = [None, None, None];
                for (part, bound) in parts.iter_mut().zip(bounds) {
                    *part = bound.as_ref().map(|b| self.lower(b)).transpose()?;
                }
                Kind::Slice((of, parts).into())
            }
            OfScript::Dict(items) => {
                let pairs = items
                    .iter()
                    .map(|(k, v)| Ok((self.lower(k)?, self.lower(v)?)));
                Kind::Dict(pairs.collect::<Lowered<_>>()?)
            }
            OfScript::Comprehension { form, item, loops } => {
                self.comprehension(*form, item, loops)?
            }
        })
    }

    fn comprehension(
        &mut self,
        form: Form,
        item: &Expr,
        loops: &[crate::expr::Loop],
    ) -> Lowered<Kind> {
        if loops.len() > MAX_LOOPS {
            let message =
                format!("more than {MAX_LOOPS} loops in one list: write them as statements");
            return Err(ExprError::new(message, item.span));
        }
        let outer = self.inner.len();
        let mut all = Vec::new();
        for l in loops {
            let source = self.lower(&l.source)?;
            let target = self.inner_target(&l.target)?;
            let conditions = self.all(&l.conditions)?;
            let size: usize = l.conditions.iter().map(Expr::size).sum();
            all.push(Loop {
                target,
                source,
                conditions,
                steps: steps(size + item.size()),
            });
        }
        let item = self.lower(item)?;
        self.inner.truncate(outer);
        Ok(Kind::Comprehension(form, item.into(), all))
    }

    /// The names of a comprehension are its own.
    fn inner_target(&mut self, e: &Expr) -> Lowered<Target> {
        match &e.kind {
            ExprKind::Name(n) => {
                check_name(n, e.span)?;
                self.slots.push(format!("{n} "));
                self.seen.push((e.span, true));
                self.inner.push((n.clone(), self.slots.len() - 1));
                Ok(Target::Slot(self.slots.len() - 1))
            }
            ExprKind::Tuple(items) => {
                let all = items.iter().map(|i| self.inner_target(i));
                Ok(Target::Unpack(all.collect::<Lowered<_>>()?, e.span.from))
            }
            _ => Err(ExprError::new("names are expected after `for`", e.span)),
        }
    }

    fn call(&mut self, name: &str, args: &[Expr], span: Span) -> Lowered<Kind> {
        let fail = |m: String| ExprError::new(m, span);
        let lowered = self.all(args)?;
        self.calls.push((name.to_owned(), span));
        if let Some(i) = self.shared.signatures.iter().position(|s| s.name == name) {
            takes(&self.shared.signatures[i], args.len()).map_err(fail)?;
            return Ok(Kind::Call(i, lowered));
        }
        match functions::find(name, args.len()) {
            Some(found) => Ok(Kind::Function(found.map_err(fail)?, lowered)),
            None => Err(fail(match name {
                "print" => "scripts print nothing: `print` is not available".into(),
                "open" | "input" | "eval" | "exec" | "__import__" => {
                    format!("scripts reach nothing outside: `{name}` is not available")
                }
                _ => {
                    let mut known: Vec<&str> = functions::names().collect();
                    known.extend(self.shared.signatures.iter().map(|s| s.name.as_str()));
                    let hint = closest(name, known);
                    let hint = hint
                        .map(|n| format!(": did you mean `{n}`?"))
                        .unwrap_or_default();
                    format!("unknown function `{name}`{hint}")
                }
            })),
        }
    }
}

/// Whether a function takes so many values; if not, why.
pub fn takes(f: &Signature, values: usize) -> Result<(), String> {
    let most = f.parameters.len();
    let least = most - f.defaults.len();
    if (least..=most).contains(&values) {
        return Ok(());
    }
    Err(takes_not(&f.name, least, most, values))
}

/// Words of Python that are no names, and those that expressions have as values.
pub fn check_name(name: &str, span: Span) -> Lowered<()> {
    const WORDS: [&str; 21] = [
        "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
        "except", "finally", "from", "global", "import", "nonlocal", "pass", "raise", "return",
        "while", "yield",
    ];
    if WORDS.contains(&name) || ["try", "with"].contains(&name) {
        return Err(ExprError::new(
            format!("`{name}` is no name: a value is expected here"),
            span,
        ));
    }
    if name.contains('.') {
        let message = format!("`{name}`: attributes are not available in scripts");
        return Err(ExprError::new(message, span));
    }
    Ok(())
}

/// Steps of an expression of so many nodes.
pub fn steps(nodes: usize) -> u64 {
    1 + nodes as u64 / 8
}

/// The height of an expression, which is limited: evaluation recurses.
fn shallow(e: &Expr) -> Lowered<usize> {
    match e.height() {
        h if h <= MAX_HEIGHT => Ok(h),
        _ => Err(ExprError::new(
            format!("more than {MAX_HEIGHT} operations within each other: name parts of it"),
            e.span,
        )),
    }
}
