//! The expressions of a written space as trees, and its names checked.

use crate::error::SpaceError;
use crate::expr::{Domain, Expr, parse, parse_domain, reserved};
use crate::notation::{Definition, ValuesText};
use crate::value::Value;
use hashbrown::{HashMap, HashSet};

type Built<T> = Result<T, SpaceError>;

/// Parsed, with names not yet resolved.
pub struct Parsed {
    pub domains: Vec<ParsedDomain>,
    pub filters: Vec<Expr>,
    pub derived: Vec<(String, Expr)>,
}

#[allow(clippy::large_enum_variant)] // one a parameter
pub enum ParsedDomain {
    List(Vec<Value>),
    Expr(Domain, String),
}

pub fn parse_all(d: &Definition) -> Built<Parsed> {
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

pub fn check_names(d: &Definition) -> Built<()> {
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
            return Err(
                SpaceError::new(format!("invalid name for a {what}: `{name}`"))
                    .hint("a name is of letters, digits and `_`, and starts with no digit"),
            );
        }
        if reserved(name) {
            return Err(SpaceError::new(format!(
                "invalid name for a {what}: `{name}` has a meaning of its own in expressions"
            ))
            .hint(format!("rename it, for example to `{name}_`")));
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
