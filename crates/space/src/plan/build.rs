//! A written space becomes a [`Space`].

use super::graph::{CONSTANT, Graph, Id};
use super::lower::{Binding, Lowering, Symbols, unknown};
use super::op::{Bounds, Op, Type};
use super::order::{Link, order};
use crate::error::{ExprError, SpaceError};
use crate::expr::{
    BinaryOp, CompareOp, Domain, Expr, Kind, Scope, eval, eval_list, parse, parse_domain,
};
use crate::notation::{Definition, Facts, Strength, ValuesText, with_line};
use crate::script::Scripts;
use crate::value::Value;
use hashbrown::{HashMap, HashSet};

/// A parameter of a space, in declared order.
pub struct Param {
    pub name: String,
    pub kind: Type,
    /// Depth in the nest; `None` when it has one value only.
    pub level: Option<usize>,
    /// The values as written, where they are a list of their own.
    pub list: Option<Vec<(u64, Value)>>,
    /// Least and greatest value, where known.
    pub bounds: Bounds,
}

/// Where the values of a level come from.
pub enum DomainNodes {
    List(Vec<u64>),
    /// Stop included.
    Range {
        start: Id,
        stop: Id,
        step: Id,
    },
    Divisors(Id),
    /// An expression or a closure of earlier parameters.
    Dynamic {
        expr: Expr,
        /// Names and nodes of the parameters it uses.
        uses: Vec<(String, Id)>,
    },
}

/// A filter, cut into parts that are decidable at different depths.
pub struct Filter {
    pub name: String,
    pub expression: String,
    pub strength: Strength,
    pub because: Option<String>,
    /// The conjunction, part by part.
    pub parts: Vec<Part>,
}

/// A part of a filter that is tested on its own.
pub struct Part {
    /// Level at which it is decidable.
    pub level: i32,
    pub root: Id,
    /// Nodes that rise or fall where the part does: itself, or for an equality the two
    /// inequalities it stands for.
    pub edges: Vec<Id>,
}

impl Filter {
    /// Whether the filter was found true for every point without looking at any.
    pub fn always_true(&self, space: &Space) -> bool {
        self.parts
            .iter()
            .all(|p| space.graph.value(p.root) == Some(1))
    }
}

/// A space ready to be counted, enumerated, indexed and sampled.
pub struct Space {
    pub name: String,
    pub about: String,
    pub(crate) params: Vec<Param>,
    /// Declared index of the parameter of each level.
    pub(crate) levels: Vec<usize>,
    pub(crate) domains: Vec<DomainNodes>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) graph: Graph,
    pub(crate) symbols: Symbols,
    pub(crate) scripts: Option<Scripts>,
    constants: Vec<(String, Value)>,
    derived: Vec<(String, Expr)>,
}

/// Parsed, with names not yet resolved.
struct Parsed {
    domains: Vec<ParsedDomain>,
    filters: Vec<Expr>,
    derived: Vec<(String, Expr)>,
}

enum ParsedDomain {
    List(Vec<Value>),
    Expr(Domain, String),
}

type Built<T> = Result<T, SpaceError>;

impl Space {
    /// Reads and builds a space from a file's text, of any format.
    ///
    /// # Errors
    /// As [`Definition::read`] and [`Space::new`], with the line at fault.
    pub fn read(text: &str, facts: &Facts) -> Built<Self> {
        Self::new(&Definition::read(text, facts)?).map_err(|e| with_line(e, text))
    }

    /// Builds the space.
    ///
    /// # Errors
    /// What is wrong with it, with the expression at fault: syntax, unknown or doubled names,
    /// cycles, values of the wrong type, an empty or doubled list.
    pub fn new(d: &Definition) -> Built<Self> {
        let scripts = d.script.as_deref().map(Scripts::new).transpose()?;
        check_names(d)?;
        let parsed = parse_all(d)?;
        let constants: HashMap<&str, &Value> =
            d.constants.iter().map(|(n, v)| (n.as_str(), v)).collect();
        let params: HashMap<&str, usize> = d
            .parameters
            .iter()
            .enumerate()
            .map(|(i, p)| (p.name.as_str(), i))
            .collect();
        let uses = Uses::new(d, &parsed, &constants, &params)?;
        let lists = static_lists(d, &parsed, &uses, scripts.as_ref())?;
        let symbols = symbols(d, &lists, &parsed);
        let (chain, fixed) = levels(d, &parsed, &uses, &lists)?;

        let mut space = Self {
            name: d.name.clone(),
            about: d.about.clone(),
            params: Vec::with_capacity(d.parameters.len()),
            levels: chain.clone(),
            domains: Vec::with_capacity(chain.len()),
            filters: Vec::with_capacity(d.filters.len()),
            graph: Graph::default(),
            symbols,
            scripts,
            constants: d.constants.clone(),
            derived: parsed.derived.clone(),
        };
        let mut level_of = vec![None; d.parameters.len()];
        for (level, &p) in chain.iter().enumerate() {
            level_of[p] = Some(level);
        }
        for (i, p) in d.parameters.iter().enumerate() {
            let (kind, list) = match &lists[i] {
                Some(values) => {
                    let (kind, list) = typed(values, &space.symbols);
                    (kind, Some(list))
                }
                None => (Type::Int, None),
            };
            space.params.push(Param {
                name: p.name.clone(),
                kind,
                level: level_of[i],
                bounds: list
                    .as_deref()
                    .map_or(Bounds::ANY, |l| list_bounds(kind, l)),
                list,
            });
        }
        let mut names: HashMap<String, Binding> = d
            .constants
            .iter()
            .map(|(n, v)| (n.clone(), Binding::Constant(v.clone())))
            .collect();
        for (n, e) in &parsed.derived {
            names.insert(n.clone(), Binding::Derived(e.clone()));
        }
        let mut done = HashMap::new();
        for &p in &fixed {
            let bits = space.params[p].list.as_ref().map_or(0, |l| l[0].0);
            let id = space.graph.constant(bits, space.params[p].kind);
            names.insert(space.params[p].name.clone(), Binding::Param(id));
        }
        for (level, &p) in chain.iter().enumerate() {
            let domain =
                space.lower_domain(&parsed.domains[p], p, &mut done, &names, &uses.domain[p])?;
            space.domains.push(domain);
            let param = &space.params[p];
            let id = space.graph.param(level as u32, param.kind, param.bounds);
            names.insert(param.name.clone(), Binding::Param(id));
        }
        for (f, e) in d.filters.iter().zip(&parsed.filters) {
            let mut lowering = Lowering {
                graph: &mut space.graph,
                names: &names,
                symbols: &space.symbols,
                done: &mut done,
            };
            let root = lowering
                .truth(e)
                .map_err(|e| e.within(&format!("filter `{}`", f.name), &f.expression))?;
            let parts = split(&mut space.graph, root);
            space.filters.push(Filter {
                name: f.name.clone(),
                expression: f.expression.clone(),
                strength: f.strength,
                because: f.because.clone(),
                parts,
            });
        }
        Ok(space)
    }

    fn lower_domain(
        &mut self,
        parsed: &ParsedDomain,
        p: usize,
        done: &mut HashMap<String, Id>,
        names: &HashMap<String, Binding>,
        uses: &[usize],
    ) -> Built<DomainNodes> {
        if let Some(list) = &self.params[p].list {
            return Ok(DomainNodes::List(list.iter().map(|(b, _)| *b).collect()));
        }
        let ParsedDomain::Expr(domain, text) = parsed else {
            return Ok(DomainNodes::List(Vec::new()));
        };
        let what = format!("parameter `{}`", self.params[p].name);
        let mut lowering = Lowering {
            graph: &mut self.graph,
            names,
            symbols: &self.symbols,
            done,
        };
        let mut int = |e: &Expr| -> Result<Id, ExprError> {
            let id = lowering.value(e)?;
            if lowering.graph.node(id).kind != Type::Int {
                return Err(ExprError::new(
                    "a range that depends on parameters is of integers",
                    e.span,
                ));
            }
            Ok(id)
        };
        let lowered = match domain {
            Domain::Range { start, stop, step } => (|| {
                let (start, stop) = (int(start)?, int(stop)?);
                let step = match step {
                    Some(e) => int(e)?,
                    None => int(&Expr::from(Value::Int(1)))?,
                };
                Ok(DomainNodes::Range { start, stop, step })
            })(),
            Domain::Values(e) => match &e.kind {
                Kind::Call(f, args) if f == "divisors" && args.len() == 1 => {
                    int(&args[0]).map(DomainNodes::Divisors)
                }
                _ => Ok(DomainNodes::Dynamic {
                    expr: e.clone(),
                    uses: uses
                        .iter()
                        .filter_map(|&q| {
                            let name = &self.params[q].name;
                            match names.get(name) {
                                Some(Binding::Param(id)) => Some((name.clone(), *id)),
                                _ => None,
                            }
                        })
                        .collect(),
                }),
            },
        };
        let domain = lowered.map_err(|e: ExprError| e.within(&what, text))?;
        let b = |id: Id| self.graph.node(id).bounds;
        self.params[p].bounds = match &domain {
            DomainNodes::Range { start, stop, step } => {
                let (s, e, t) = (b(*start), b(*stop), b(*step));
                if t.lo >= 1 {
                    Bounds::ints(s.lo, e.hi.max(s.lo))
                } else if t.hi <= -1 {
                    Bounds::ints(e.lo.min(s.hi), s.hi)
                } else {
                    Bounds::ints(s.lo.min(e.lo), s.hi.max(e.hi))
                }
            }
            DomainNodes::Divisors(of) => {
                let of = b(*of);
                Bounds::ints(1, of.hi.max(of.lo.saturating_neg()).max(1))
            }
            _ => Bounds::ANY,
        };
        Ok(domain)
    }

    /// Names of the parameters in declared order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.params.iter().map(|p| p.name.as_str())
    }

    /// Names of the parameters in the order of the nest, outermost first; parameters with one
    /// value have no loop.
    pub fn nest(&self) -> impl ExactSizeIterator<Item = &str> {
        self.levels.iter().map(|&p| self.params[p].name.as_str())
    }

    pub fn filters(&self) -> &[Filter] {
        &self.filters
    }

    pub fn constants(&self) -> &[(String, Value)] {
        &self.constants
    }

    /// The values of one parameter when they depend on no other.
    pub fn list_of(&self, param: usize) -> Option<Vec<Value>> {
        self.params[param]
            .list
            .as_ref()
            .map(|l| l.iter().map(|(_, v)| v.clone()).collect())
    }

    /// Derived values of a point (parameters in declared order), by name.
    ///
    /// # Errors
    /// A derived value that has no value at this point.
    pub fn derived(&self, point: &[Value]) -> Built<Vec<(String, Value)>> {
        self.derived
            .iter()
            .map(|(n, e)| {
                let v = self
                    .evaluate(e, point)
                    .map_err(|e| SpaceError::new(format!("derived value `{n}`: {}", e.message)))?;
                Ok((n.clone(), v))
            })
            .collect()
    }

    /// Any expression of constants, parameters and derived values at a point.
    ///
    /// # Errors
    /// Unknown names and values that do not exist at this point.
    pub fn evaluate(&self, e: &Expr, point: &[Value]) -> Result<Value, ExprError> {
        let names = |n: &str| self.named(n, point, 0);
        eval(
            e,
            &Scope {
                names: &names,
                scripts: self.scripts.as_ref(),
            },
        )
    }

    fn named(&self, name: &str, point: &[Value], depth: usize) -> Option<Value> {
        if let Some(i) = self.params.iter().position(|p| p.name == name) {
            return point.get(i).cloned();
        }
        if let Some((_, v)) = self.constants.iter().find(|(n, _)| n == name) {
            return Some(v.clone());
        }
        let (_, e) = self.derived.iter().find(|(n, _)| n == name)?;
        if depth > self.derived.len() {
            return None;
        }
        let names = |n: &str| self.named(n, point, depth + 1);
        eval(e, &Scope::new(&names)).ok()
    }

    /// The values of a dynamic domain, with the parameters it uses given by name.
    pub(crate) fn dynamic(&self, expr: &Expr, known: &[(&str, Value)]) -> Result<Vec<u64>, String> {
        let names = |n: &str| self.named_with(n, known, 0);
        let scope = Scope {
            names: &names,
            scripts: self.scripts.as_ref(),
        };
        eval_list(expr, &scope)
            .map_err(|e| e.message)?
            .iter()
            .map(|v| {
                v.as_int().map(|i| i as u64).ok_or_else(|| {
                    format!("a list that depends on parameters holds integers, not {v}")
                })
            })
            .collect()
    }

    fn named_with(&self, name: &str, known: &[(&str, Value)], depth: usize) -> Option<Value> {
        if let Some((_, v)) = known.iter().find(|(n, _)| *n == name) {
            return Some(v.clone());
        }
        if let Some((_, v)) = self.constants.iter().find(|(n, _)| n == name) {
            return Some(v.clone());
        }
        let (_, e) = self.derived.iter().find(|(n, _)| n == name)?;
        if depth > self.derived.len() {
            return None;
        }
        let names = |n: &str| self.named_with(n, known, depth + 1);
        eval(e, &Scope::new(&names)).ok()
    }

    /// A word of a parameter as a value.
    pub(crate) fn decode(&self, param: usize, bits: u64) -> Value {
        let p = &self.params[param];
        if let Some(list) = &p.list
            && let Some((_, v)) = list.iter().find(|(b, _)| *b == bits)
        {
            return v.clone();
        }
        match p.kind {
            Type::Int => Value::Int(bits as i64),
            Type::Float => Value::Float(f64::from_bits(bits)),
            Type::Symbol => self
                .symbols
                .value(bits)
                .cloned()
                .unwrap_or(Value::Int(bits as i64)),
        }
    }

    /// A value of a parameter as a word; `None` when it can be no value of it.
    pub(crate) fn encode(&self, param: usize, v: &Value) -> Option<u64> {
        let p = &self.params[param];
        if let Some(list) = &p.list {
            return list.iter().find(|(_, k)| k == v).map(|(b, _)| *b);
        }
        match v.as_int() {
            Some(i) => Some(i as u64),
            None => v
                .as_float()
                .filter(|f| f.trunc() == *f && f.abs() < 9e15)
                .map(|f| f as i64 as u64),
        }
    }
}

fn check_names(d: &Definition) -> Built<()> {
    let mut seen: HashMap<&str, &str> = HashMap::new();
    let all = d
        .constants
        .iter()
        .map(|(n, _)| (n.as_str(), "constant"))
        .chain(d.parameters.iter().map(|p| (p.name.as_str(), "parameter")))
        .chain(d.derived.iter().map(|(n, _)| (n.as_str(), "derived value")));
    for (name, what) in all {
        let mut chars = name.chars();
        let word = chars
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !word {
            return Err(SpaceError::new(format!("`{name}` is no name for a {what}"))
                .hint("a name is of letters, digits and `_`, and starts with no digit"));
        }
        if let Some(earlier) = seen.insert(name, what) {
            return Err(SpaceError::new(format!(
                "`{name}` is declared twice: as a {earlier} and as a {what}"
            )));
        }
    }
    if d.parameters.is_empty() {
        return Err(SpaceError::new("the space has no parameters"));
    }
    let mut filters = HashSet::new();
    for f in &d.filters {
        if !filters.insert(f.name.as_str()) {
            return Err(SpaceError::new(format!(
                "two filters are named `{}`",
                f.name
            )));
        }
    }
    Ok(())
}

fn parse_all(d: &Definition) -> Built<Parsed> {
    let mut parsed = Parsed {
        domains: Vec::with_capacity(d.parameters.len()),
        filters: Vec::with_capacity(d.filters.len()),
        derived: Vec::with_capacity(d.derived.len()),
    };
    for p in &d.parameters {
        parsed.domains.push(match &p.values {
            ValuesText::List(values) => ParsedDomain::List(values.clone()),
            ValuesText::Text(text) => ParsedDomain::Expr(
                parse_domain(text)
                    .map_err(|e| e.within(&format!("parameter `{}`", p.name), text))?,
                text.clone(),
            ),
        });
    }
    for (name, text) in &d.derived {
        let e = parse(text).map_err(|e| e.within(&format!("derived value `{name}`"), text))?;
        parsed.derived.push((name.clone(), e));
    }
    for f in &d.filters {
        parsed.filters.push(
            parse(&f.expression)
                .map_err(|e| e.within(&format!("filter `{}`", f.name), &f.expression))?,
        );
    }
    Ok(parsed)
}

/// Which parameters each expression depends on, derived values seen through.
struct Uses {
    domain: Vec<Vec<usize>>,
    filter: Vec<Vec<usize>>,
}

impl Uses {
    fn new(
        d: &Definition,
        parsed: &Parsed,
        constants: &HashMap<&str, &Value>,
        params: &HashMap<&str, usize>,
    ) -> Built<Self> {
        let mut resolver = Resolver {
            derived: parsed
                .derived
                .iter()
                .map(|(n, e)| (n.as_str(), e))
                .collect(),
            texts: d
                .derived
                .iter()
                .map(|(n, t)| (n.as_str(), t.as_str()))
                .collect(),
            constants,
            params,
            known: HashMap::new(),
            path: Vec::new(),
        };
        for (name, _) in &parsed.derived {
            resolver.derived(name)?;
        }
        let mut domain = Vec::new();
        for (p, parsed) in d.parameters.iter().zip(&parsed.domains) {
            let what = || format!("parameter `{}`", p.name);
            domain.push(match parsed {
                ParsedDomain::List(_) => Vec::new(),
                ParsedDomain::Expr(Domain::Values(e), text) => resolver.of(e, &what, text)?,
                ParsedDomain::Expr(Domain::Range { start, stop, step }, text) => {
                    let mut all = resolver.of(start, &what, text)?;
                    all.extend(resolver.of(stop, &what, text)?);
                    if let Some(step) = step {
                        all.extend(resolver.of(step, &what, text)?);
                    }
                    all.sort_unstable();
                    all.dedup();
                    all
                }
            });
        }
        let mut filter = Vec::new();
        for (f, e) in d.filters.iter().zip(&parsed.filters) {
            filter.push(resolver.of(e, &|| format!("filter `{}`", f.name), &f.expression)?);
        }
        Ok(Self { domain, filter })
    }
}

struct Resolver<'a> {
    derived: HashMap<&'a str, &'a Expr>,
    texts: HashMap<&'a str, &'a str>,
    constants: &'a HashMap<&'a str, &'a Value>,
    params: &'a HashMap<&'a str, usize>,
    known: HashMap<&'a str, Vec<usize>>,
    path: Vec<&'a str>,
}

impl<'a> Resolver<'a> {
    fn of(&mut self, e: &Expr, what: &dyn Fn() -> String, text: &str) -> Built<Vec<usize>> {
        let mut found = Vec::new();
        let mut missing = None;
        let mut through = Vec::new();
        e.names(&mut |n, span| {
            if let Some(&p) = self.params.get(n) {
                found.push(p);
            } else if let Some((&n, _)) = self.derived.get_key_value(n) {
                through.push(n);
            } else if !self.constants.contains_key(n) && missing.is_none() {
                missing = Some((n.to_owned(), span));
            }
        });
        if let Some((name, span)) = missing {
            let known: Vec<String> = self
                .params
                .keys()
                .chain(self.derived.keys())
                .chain(self.constants.keys())
                .map(|s| (*s).to_owned())
                .collect();
            return Err(unknown(&name, &known, span).within(&what(), text));
        }
        for n in through {
            found.extend(self.derived(n)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn derived(&mut self, name: &str) -> Built<Vec<usize>> {
        if let Some(known) = self.known.get(name) {
            return Ok(known.clone());
        }
        let Some((&name, &e)) = self.derived.get_key_value(name) else {
            return Ok(Vec::new());
        };
        if let Some(at) = self.path.iter().position(|n| *n == name) {
            let mut cycle = self.path[at..].join("` -> `");
            cycle.push_str(&format!("` -> `{name}"));
            return Err(SpaceError::new(format!(
                "derived values depend on each other: `{cycle}`"
            )));
        }
        if self.path.len() > 200 {
            return Err(SpaceError::new(
                "derived values depend on each other more than 200 deep",
            ));
        }
        self.path.push(name);
        let text = self.texts.get(name).copied().unwrap_or_default();
        let found = self.of(e, &|| format!("derived value `{name}`"), text)?;
        self.path.pop();
        self.known.insert(name, found.clone());
        Ok(found)
    }
}

/// The values of each parameter that depends on no other; `None` for the rest, and for ranges of
/// integers, which need no list.
fn static_lists(
    d: &Definition,
    parsed: &Parsed,
    uses: &Uses,
    scripts: Option<&Scripts>,
) -> Built<Vec<Option<Vec<Value>>>> {
    let names = |n: &str| {
        d.constants
            .iter()
            .find(|(k, _)| k == n)
            .map(|(_, v)| v.clone())
            .or_else(|| {
                let (_, e) = parsed.derived.iter().find(|(k, _)| k == n)?;
                let constants = |n: &str| {
                    d.constants
                        .iter()
                        .find(|(k, _)| k == n)
                        .map(|(_, v)| v.clone())
                };
                eval(e, &Scope::new(&constants)).ok()
            })
    };
    let scope = Scope {
        names: &names,
        scripts,
    };
    let mut lists = Vec::new();
    for (i, p) in d.parameters.iter().enumerate() {
        let what = format!("parameter `{}`", p.name);
        let list = match &parsed.domains[i] {
            ParsedDomain::List(v) => Some(v.clone()),
            ParsedDomain::Expr(..) if !uses.domain[i].is_empty() => None,
            ParsedDomain::Expr(Domain::Values(e), text) => {
                Some(eval_list(e, &scope).map_err(|e| e.within(&what, text))?)
            }
            ParsedDomain::Expr(Domain::Range { start, stop, step }, text) => {
                static_range(start, stop, step.as_ref(), &scope)
                    .map_err(|e| e.within(&what, text))?
            }
        };
        if let Some(list) = &list {
            check_list(list, &what)?;
        }
        lists.push(list);
    }
    Ok(lists)
}

/// Ranges of integers with more values than this stay ranges.
const LIST_AT_MOST: i128 = 4096;

fn static_range(
    start: &Expr,
    stop: &Expr,
    step: Option<&Expr>,
    scope: &Scope,
) -> Result<Option<Vec<Value>>, ExprError> {
    let (a, b) = (eval(start, scope)?, eval(stop, scope)?);
    let c = step.map_or(Ok(Value::Int(1)), |e| eval(e, scope))?;
    let span = step.unwrap_or(stop).span;
    if let (Some(a), Some(b), Some(c)) = (a.as_int(), b.as_int(), c.as_int()) {
        if c == 0 {
            return Err(ExprError::new("the step of the range is 0", span));
        }
        let count = (i128::from(b) - i128::from(a)) / i128::from(c) + 1;
        if count > LIST_AT_MOST {
            return Ok(None);
        }
        let values = (0..count)
            .map_while(|k| i64::try_from(i128::from(a) + k * i128::from(c)).ok())
            .filter(|v| if c > 0 { *v <= b } else { *v >= b })
            .map(Value::Int)
            .collect();
        return Ok(Some(values));
    }
    let number = |v: &Value, e: &Expr| {
        v.as_float()
            .ok_or_else(|| ExprError::new("a range is of numbers", e.span))
    };
    let (a, b) = (number(&a, start)?, number(&b, stop)?);
    let c = number(&c, step.unwrap_or(stop))?;
    let count = ((b - a) / c + 1e-9).floor() + 1.0;
    if c == 0.0 || !count.is_finite() || count > 1e6 {
        return Err(ExprError::new(
            "the range has no end or more than a million values",
            span,
        ));
    }
    Ok(Some(
        (0..count.max(0.0) as u64)
            .map(|k| Value::Float(a + k as f64 * c))
            .collect(),
    ))
}

fn check_list(list: &[Value], what: &str) -> Built<()> {
    let mut seen = HashSet::with_capacity(list.len());
    for v in list {
        let key = match (v.as_int(), v) {
            (Some(i), _) => i.to_string(),
            (None, Value::Float(f)) if f.is_nan() => {
                return Err(SpaceError::new(format!("{what}: NaN is no value")));
            }
            (None, Value::Float(f)) if f.trunc() == *f && f.abs() < 9e15 => (*f as i64).to_string(),
            (None, Value::Float(f)) => format!("{f:?}"),
            (None, v) => format!("'{v}"),
        };
        if !seen.insert(key) {
            return Err(
                SpaceError::new(format!("{what}: the value {v} stands there twice"))
                    .hint("take one of them out: every point of a space is counted once"),
            );
        }
    }
    Ok(())
}

/// The kind of a list and its values as words.
fn typed(values: &[Value], symbols: &Symbols) -> (Type, Vec<(u64, Value)>) {
    let kind = if values.iter().all(|v| v.as_int().is_some()) {
        Type::Int
    } else if values.iter().all(|v| v.as_float().is_some()) {
        Type::Float
    } else {
        Type::Symbol
    };
    let word = |v: &Value| match kind {
        Type::Int => v.as_int().unwrap_or(0) as u64,
        Type::Float => v.as_float().unwrap_or(0.0).to_bits(),
        Type::Symbol => symbols.get(v).unwrap_or(u64::MAX),
    };
    (kind, values.iter().map(|v| (word(v), v.clone())).collect())
}

fn list_bounds(kind: Type, list: &[(u64, Value)]) -> Bounds {
    match kind {
        Type::Int => {
            let ints = list.iter().map(|(b, _)| *b as i64);
            match (ints.clone().min(), ints.max()) {
                (Some(lo), Some(hi)) => Bounds::ints(lo, hi),
                _ => Bounds::ANY,
            }
        }
        Type::Float => {
            let floats = list.iter().map(|(b, _)| f64::from_bits(*b));
            Bounds::floats(
                floats.clone().fold(f64::INFINITY, f64::min),
                floats.fold(f64::NEG_INFINITY, f64::max),
            )
        }
        Type::Symbol => Bounds::ANY,
    }
}

/// Every string and every value of a mixed list or constant.
fn symbols(d: &Definition, lists: &[Option<Vec<Value>>], parsed: &Parsed) -> Symbols {
    let mut all = Vec::new();
    for list in lists.iter().flatten() {
        if list.iter().any(|v| matches!(v, Value::Str(_))) {
            all.extend(list.iter().cloned());
        }
    }
    all.extend(
        d.constants
            .iter()
            .filter(|(_, v)| matches!(v, Value::Str(_)))
            .map(|(_, v)| v.clone()),
    );
    fn literals(e: &Expr, out: &mut Vec<Value>) {
        if let Kind::Literal(v @ Value::Str(_)) = &e.kind {
            out.push(v.clone());
        }
        e.children(&mut |c| literals(c, out));
    }
    for e in parsed
        .filters
        .iter()
        .chain(parsed.derived.iter().map(|(_, e)| e))
    {
        literals(e, &mut all);
    }
    for domain in &parsed.domains {
        match domain {
            ParsedDomain::Expr(Domain::Values(e), _) => literals(e, &mut all),
            ParsedDomain::Expr(Domain::Range { start, stop, step }, _) => {
                for e in [Some(start), Some(stop), step.as_ref()]
                    .into_iter()
                    .flatten()
                {
                    literals(e, &mut all);
                }
            }
            ParsedDomain::List(_) => {}
        }
    }
    Symbols::new(all)
}

/// The nest: parameters with more than one value, in order of choice; and the fixed ones.
fn levels(
    d: &Definition,
    parsed: &Parsed,
    uses: &Uses,
    lists: &[Option<Vec<Value>>],
) -> Built<(Vec<usize>, Vec<usize>)> {
    let is_fixed = |p: usize| lists[p].as_ref().is_some_and(|l| l.len() == 1);
    let fixed: Vec<usize> = (0..d.parameters.len()).filter(|&p| is_fixed(p)).collect();
    let free: Vec<usize> = (0..d.parameters.len()).filter(|&p| !is_fixed(p)).collect();
    let mut at = vec![usize::MAX; d.parameters.len()];
    for (i, &p) in free.iter().enumerate() {
        at[p] = i;
    }
    let local = |list: &[usize]| -> Vec<usize> {
        list.iter()
            .map(|&p| at[p])
            .filter(|&i| i != usize::MAX)
            .collect()
    };
    // A dependent range of unknown length: a guess.
    const DEPENDENT: f64 = 48.0;
    let sizes: Vec<f64> = free
        .iter()
        .map(|&p| {
            lists[p]
                .as_ref()
                .map_or(DEPENDENT, |l| l.len().max(1) as f64)
        })
        .collect();
    let before: Vec<Vec<usize>> = free.iter().map(|&p| local(&uses.domain[p])).collect();
    let links: Vec<Link> = parsed
        .filters
        .iter()
        .zip(&uses.filter)
        .map(|(e, params)| {
            let params = local(params);
            let widest = params.iter().map(|&i| sizes[i]).fold(1.0, f64::max);
            Link {
                keeps: keeps(e, widest),
                params,
            }
        })
        .collect();
    let order = order(&sizes, &before, &links).map_err(|cycle| {
        let names: Vec<&str> = cycle
            .iter()
            .map(|&i| d.parameters[free[i]].name.as_str())
            .collect();
        SpaceError::new(format!(
            "the values of these parameters depend on each other in a circle: {}",
            names.join(", ")
        ))
    })?;
    Ok((order.into_iter().map(|i| free[i]).collect(), fixed))
}

/// Guess of the share of points that a filter keeps.
fn keeps(e: &Expr, widest: f64) -> f64 {
    match &e.kind {
        Kind::Compare(a, rest) if rest.len() == 1 && rest[0].0 == CompareOp::Eq => {
            if matches!(a.kind, Kind::Binary(BinaryOp::Mod, ..)) {
                0.3
            } else {
                1.0 / widest
            }
        }
        Kind::Compare(..) => 0.6,
        Kind::All(items) => items.iter().map(|i| keeps(i, widest)).product(),
        _ => 0.8,
    }
}

/// Cuts a conjunction into parts, each with the level at which it is tested. A part that may have
/// no value waits for the parts written before it, which may guard it.
fn split(graph: &mut Graph, root: Id) -> Vec<Part> {
    let mut roots = Vec::new();
    let mut stack = vec![root];
    while let Some(id) = stack.pop() {
        if graph.node(id).op == Op::And {
            let [a, b, _] = graph.node(id).args;
            stack.push(b);
            stack.push(a);
        } else {
            roots.push(id);
        }
    }
    let mut deepest = CONSTANT;
    let mut parts = Vec::with_capacity(roots.len());
    for root in roots {
        let n = *graph.node(root);
        deepest = deepest.max(n.level);
        let [a, b, _] = n.args;
        let le = match n.op {
            Op::Eq if graph.node(a).kind == Type::Int => Some(Op::Le),
            Op::FloatEq => Some(Op::FloatLe),
            _ => None,
        };
        parts.push(Part {
            level: if n.may_fail { deepest } else { n.level },
            root,
            edges: match le {
                Some(le) => vec![
                    graph.apply(le, &[a, b], Type::Int),
                    graph.apply(le, &[b, a], Type::Int),
                ],
                None => vec![root],
            },
        });
    }
    parts
}
