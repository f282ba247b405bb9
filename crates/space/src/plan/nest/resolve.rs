//! Which parameters each expression depends on, and the nest that follows from it.

use crate::error::{ExprError, SpaceError};
use crate::expr::{
    BinaryOp, CompareOp, Domain, Expr, ExprKind, Functions, LISTS, takes, takes_not,
};

use crate::notation::Definition;
use crate::plan::graph::lower::unknown;
use crate::plan::nest::order::{Link, order};
use crate::plan::read::parsed::{Parsed, ParsedDomain};
use crate::value::Value;
use hashbrown::HashMap;

type Built<T> = Result<T, SpaceError>;

/// Which parameters each expression depends on, derived values seen through.
pub struct Uses {
    pub domain: Vec<Vec<usize>>,
    pub filter: Vec<Vec<usize>>,
}

impl Uses {
    pub fn new(
        d: &Definition,
        parsed: &Parsed,
        constants: &HashMap<&str, &Value>,
        params: &HashMap<&str, usize>,
        scripts: Option<&dyn Functions>,
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
            scripts,
            known: HashMap::new(),
            heights: HashMap::new(),
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

/// Refuses a call of a function that is not there, or takes another number of values, also where no point reaches it.
fn calls(e: &Expr, scripts: Option<&dyn Functions>) -> Result<(), ExprError> {
    let scripted = scripts.map(Functions::names).unwrap_or_default();
    let known = |name: &str, values: usize| {
        if let Some(s) = scripts.filter(|_| scripted.contains(&name)) {
            return s.takes(name, values);
        }
        match LISTS.iter().find(|l| l.0 == name) {
            Some((_, n)) if *n == values => Ok(()),
            Some((_, n)) => Err(takes_not(name, *n, *n, values)),
            None => takes(name, values, &scripted),
        }
    };
    let mut left = vec![e];
    while let Some(e) = left.pop() {
        if let ExprKind::Call(name, args) = &e.kind {
            known(name, args.len()).map_err(|m| ExprError::new(m, e.span))?;
        }
        e.children(&mut |child| left.push(child));
    }
    Ok(())
}

/// Maximum nesting of operations through derived values; evaluation recurses as deep.
const MAX_CHAIN: usize = 600;

struct Resolver<'a> {
    derived: HashMap<&'a str, &'a Expr>,
    texts: HashMap<&'a str, &'a str>,
    constants: &'a HashMap<&'a str, &'a Value>,
    params: &'a HashMap<&'a str, usize>,
    /// Functions of the script.
    scripts: Option<&'a dyn Functions>,
    known: HashMap<&'a str, Vec<usize>>,
    /// Operations within each other, derived values seen through.
    heights: HashMap<&'a str, usize>,
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
        calls(e, self.scripts).map_err(|e| e.within(&what(), text))?;
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
        let mut below = 0;
        e.names(&mut |n, _| below = below.max(self.heights.get(n).copied().unwrap_or(0)));
        let height = 1 + e.height() + below;
        if height > MAX_CHAIN {
            return Err(SpaceError::new(format!(
                "derived value `{name}`: more than {MAX_CHAIN} operations within each other, through the derived values that it uses"
            ))
            .hint("write the repeated part as one expression, or as a function of the script"));
        }
        self.heights.insert(name, height);
        self.known.insert(name, found.clone());
        Ok(found)
    }
}

/// The nest: parameters with more than one value, in order of choice; and the fixed ones.
pub fn levels(
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
        ExprKind::Compare(a, rest) if rest.len() == 1 && rest[0].0 == CompareOp::Eq => {
            if matches!(a.kind, ExprKind::Binary(BinaryOp::Mod, ..)) {
                0.3
            } else {
                1.0 / widest
            }
        }
        ExprKind::Compare(..) => 0.6,
        ExprKind::All(items) => items.iter().map(|i| keeps(i, widest)).product(),
        _ => 0.8,
    }
}
