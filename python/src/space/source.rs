//! What a space is made of: a text or a dict of values, and filters.

use super::functions::Function;
use crate::convert::{text_or_file, to_value};
use crate::errors::{SpaceError, hinted, of_application};
use greenup_command::facts;
use greenup_space::{
    Definition, Facts, FilterText, ParameterText, Space, Strength, Value, ValuesText, with_facts,
    with_line,
};
use greenup_tune::problem::ProblemFile;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PyList, PyRange, PySet, PyString, PyTuple};
use std::path::Path;

/// A space with its filters in Python, and the file that it is from.
pub(super) type Made = (Space, Vec<Function>, Option<String>);

/// Makes a space.
pub(super) fn make(
    source: &Bound<'_, PyAny>,
    filters: Option<&Bound<'_, PyAny>>,
    name: Option<String>,
    facts: Option<Facts>,
) -> PyResult<Made> {
    let (mut definition, facts, text, path) = match source.cast::<PyDict>() {
        Ok(values) => {
            let facts = host_facts("", facts)?;
            (parameters(values, &facts)?, facts, String::new(), None)
        }
        Err(_) => {
            let kind = source.get_type().name()?;
            let (text, path) = text_or_file(source).map_err(|e| {
                if !e.is_instance_of::<PyTypeError>(source.py()) {
                    return e;
                }
                PyTypeError::new_err(format!(
                    "a space is a dict of parameters, a file or its text, not {kind}"
                ))
            })?;
            let facts = host_facts(&text, facts)?;
            let read = Definition::read(&text, &facts).map_err(|e| fault(e, path.as_deref()))?;
            (read, facts, text, path)
        }
    };
    if let Some(name) = name {
        definition.name = name;
    }
    let mut functions = Vec::new();
    for (i, filter) in listed(filters)?.iter().enumerate() {
        let name = unused(&definition, i + 1);
        if let Ok(expression) = filter.cast::<PyString>() {
            let what = format!("filter `{name}`");
            let expression = with_facts(expression.to_str()?, &facts, &what);
            definition.filters.push(FilterText {
                name,
                expression: expression.map_err(|e| fault(e, None))?,
                strength: Strength::Hard,
                because: None,
            });
        } else if filter.is_callable() {
            let names: Vec<&str> = definition
                .parameters
                .iter()
                .map(|p| p.name.as_str())
                .collect();
            functions.push(Function::new(filter, name, &names)?);
        } else {
            return Err(PyTypeError::new_err(format!(
                "filter {}: an expression (a string) or a function is expected, not {}",
                i + 1,
                filter.get_type().name()?
            )));
        }
    }
    let space = Space::new(&definition).map_err(|e| fault(with_line(e, &text), path.as_deref()))?;
    Ok((space, functions, path))
}

fn fault(e: greenup_space::SpaceError, path: Option<&str>) -> PyErr {
    let named = path.map_or_else(String::new, |p| format!("{p}: "));
    hinted(
        SpaceError::new_err(format!("{named}{}", e.message)),
        e.hint.as_deref(),
    )
}

fn host_facts(text: &str, given: Option<Facts>) -> PyResult<Facts> {
    match given {
        Some(given) => Ok(given),
        None => facts::to_count(&ProblemFile::of(Path::new(""), text.to_owned()), None)
            .map_err(|e| of_application::<SpaceError>(&e)),
    }
}

/// The filters as a list; one alone needs no list.
fn listed<'py>(filters: Option<&Bound<'py, PyAny>>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let Some(filters) = filters else {
        return Ok(Vec::new());
    };
    if filters.is_instance_of::<PyString>() || filters.is_callable() {
        return Ok(vec![filters.clone()]);
    }
    if !filters.is_instance_of::<PyList>() && !filters.is_instance_of::<PyTuple>() {
        return Err(PyTypeError::new_err(format!(
            "filters: a list of expressions (strings) and functions is expected, not {}",
            filters.get_type().name()?
        )));
    }
    filters.try_iter()?.collect()
}

/// A name for the filter of this number that no other filter has.
fn unused(d: &Definition, number: usize) -> String {
    let mut name = format!("filter_{number}");
    while d.filters.iter().any(|f| f.name == name) {
        name.push('_');
    }
    name
}

fn parameters(from: &Bound<'_, PyDict>, facts: &Facts) -> PyResult<Definition> {
    let mut parameters = Vec::with_capacity(from.len());
    for (key, values) in from {
        let Ok(name) = key.extract::<String>() else {
            return Err(PyTypeError::new_err(format!(
                "the name of a parameter is a string, not {}",
                key.repr()?
            )));
        };
        let values = values_of(&format!("parameter `{name}`"), &values, facts)?;
        parameters.push(ParameterText { name, values });
    }
    Ok(Definition {
        name: "space".to_owned(),
        parameters,
        ..Definition::default()
    })
}

/// The values of a parameter: a range, an array, a list; or a string in the notation of spaces.
fn values_of(what: &str, given: &Bound<'_, PyAny>, facts: &Facts) -> PyResult<ValuesText> {
    if let Ok(text) = given.cast::<PyString>() {
        let text = with_facts(text.to_str()?, facts, what).map_err(|e| fault(e, None))?;
        return Ok(ValuesText::Text(text));
    }
    let empty = || {
        hinted(
            SpaceError::new_err(format!("{what} has no values")),
            Some("give at least one value"),
        )
    };
    if given.is_instance_of::<PyRange>() {
        if !given.is_truthy()? {
            return Err(empty());
        }
        let end = |i: i64| -> PyResult<i64> {
            let end = given.get_item(i)?;
            end.extract()
                .map_err(|_| PyValueError::new_err(format!("{what}: {end} does not fit 64 bits")))
        };
        let (first, last) = (end(0)?, end(-1)?);
        let step = if first == last {
            1
        } else {
            given.getattr("step")?.extract::<i64>()?
        };
        return Ok(ValuesText::Text(format!("{first} : {last} : {step}")));
    }
    let listed = list(what, given)?;
    let values = listed
        .try_iter()?
        .map(|v| to_value(what, &v?))
        .collect::<PyResult<Vec<_>>>()?;
    if values.is_empty() {
        return Err(empty());
    }
    check(what, &values)?;
    Ok(ValuesText::List(values))
}

/// Something whose order is that of its values; arrays as lists of Python's numbers.
fn list<'py>(what: &str, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let refused = given.is_instance_of::<PyDict>() || given.is_instance_of::<PyBytes>();
    let unordered = given.is_instance_of::<PySet>() || given.is_instance_of::<PyFrozenSet>();
    if refused || unordered || given.len().is_err() || given.try_iter().is_err() {
        let hint = match (unordered, given.try_iter().is_ok() && !refused) {
            (true, _) => "a set has no order: use sorted(…)",
            (_, true) => "make a list of it: list(…)",
            _ => "a parameter with one value is a list of one",
        };
        let kind = given.get_type().name()?;
        return Err(hinted(
            PyTypeError::new_err(format!(
                "{what}: a list, a range or an array of values is expected, not {kind}"
            )),
            Some(hint),
        ));
    }
    if let Ok(dimensions) = given.getattr("ndim").and_then(|n| n.extract::<usize>()) {
        if dimensions != 1 {
            return Err(PyValueError::new_err(format!(
                "{what}: an array of one dimension is expected, not {dimensions}"
            )));
        }
        return given.call_method0("tolist");
    }
    Ok(given.clone())
}

/// Refuses infinite numbers, and lists of several kinds: a filter would compare what cannot be compared. `None` may stand
/// with any.
fn check(what: &str, values: &[Value]) -> PyResult<()> {
    let mut first: Option<(&Value, &str)> = None;
    for v in values {
        if !finite(v) {
            return Err(PyValueError::new_err(format!("{what}: {v} is not finite")));
        }
        let kind = match v {
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Bool(_) => "a boolean",
            Value::Str(_) => "a string",
            Value::Tuple(_) => "a tuple",
            Value::None => continue,
        };
        match first {
            Some((other, before)) if before != kind => {
                return Err(hinted(
                    PyTypeError::new_err(format!(
                        "{what} has values of several types: {} is {before}, {} is {kind}",
                        other.literal(),
                        v.literal()
                    )),
                    Some("give values of one type; None may stand with any"),
                ));
            }
            Some(_) => {}
            None => first = Some((v, kind)),
        }
    }
    Ok(())
}

fn finite(v: &Value) -> bool {
    match v {
        Value::Float(x) => x.is_finite(),
        Value::Tuple(items) => items.iter().all(finite),
        _ => true,
    }
}
