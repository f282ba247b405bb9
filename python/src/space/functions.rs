//! Filters that are Python functions: how they are called, and the index of the points that they keep.

use crate::convert::value;
use crate::errors::{SpaceError, hinted};
use greenup_space::{Index, Limits, Stop, Value};
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Points about which functions are asked at most: some minutes.
const MOST: u64 = 100_000_000;
/// Points between two looks at signals; memoized answers run no Python code, which would look itself.
const LOOK: usize = 4096;

/// A function of a point that tells whether it is kept.
pub(super) struct Function {
    pub name: String,
    call: Py<PyAny>,
    takes: Takes,
    /// What to look at if it raises.
    hint: Option<String>,
}

/// What a function is called with.
enum Takes {
    /// The point, a dict.
    Point,
    /// Parameters of the space by position in it: those passed by position, and those by name.
    Parameters(Vec<usize>, Vec<usize>),
}

impl Function {
    /// Finds out how it is called: with those parameters of the space that its arguments name, else with the point.
    pub fn new(call: &Bound<'_, PyAny>, numbered: String, names: &[&str]) -> PyResult<Self> {
        let name = call.getattr("__name__").and_then(|n| n.extract::<String>());
        let name = name.ok().filter(|n| n != "<lambda>").unwrap_or(numbered);
        let (takes, hint) = takes(call, &name, names)?;
        Ok(Self {
            name,
            call: call.clone().unbind(),
            takes,
            hint,
        })
    }

    /// Whether it keeps a point of the space.
    fn holds(&self, py: Python<'_>, names: &[&str], point: &[Value]) -> PyResult<bool> {
        let call = self.call.bind(py);
        let answer = match &self.takes {
            Takes::Point => call.call1((dict(py, names, point)?,)),
            Takes::Parameters(by_position, by_name) => {
                let args = by_position.iter().map(|&i| value(py, &point[i]));
                let args = PyTuple::new(py, args.collect::<PyResult<Vec<_>>>()?)?;
                let kwargs = PyDict::new(py);
                for &i in by_name {
                    kwargs.set_item(names[i], value(py, &point[i])?)?;
                }
                call.call(args, Some(&kwargs))
            }
        };
        let truth = answer.and_then(|a| {
            if a.is_none() {
                Ok(None)
            } else {
                a.is_truthy().map(Some)
            }
        });
        match truth {
            Ok(Some(truth)) => Ok(truth),
            Ok(None) => Err(hinted(
                SpaceError::new_err(format!("filter `{}` returned None", self.name)),
                Some("return True for a point to keep, and False for others"),
            )),
            // Ctrl-C and the end of the interpreter are no faults of the filter.
            Err(e) if !e.is_instance_of::<PyException>(py) => Err(e),
            Err(e) => {
                let at = dict(py, names, point)?;
                let text = format!("filter `{}` raised {e} at {at}", self.name);
                let error = hinted(SpaceError::new_err(text), self.hint.as_deref());
                error.set_cause(py, Some(e));
                Err(error)
            }
        }
    }

    /// The answer depends on these parameters alone.
    fn key<'py>(&self, py: Python<'py>, point: &[Value]) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match &self.takes {
            Takes::Parameters(a, b) if a.len() + b.len() < point.len() => {
                let key = a.iter().chain(b).map(|&i| value(py, &point[i]));
                PyTuple::new(py, key.collect::<PyResult<Vec<_>>>()?).map(Some)
            }
            _ => Ok(None),
        }
    }
}

fn dict<'py>(py: Python<'py>, names: &[&str], point: &[Value]) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (name, v) in names.iter().zip(point) {
        out.set_item(name, value(py, v)?)?;
    }
    Ok(out)
}

fn takes(call: &Bound<'_, PyAny>, name: &str, names: &[&str]) -> PyResult<(Takes, Option<String>)> {
    let py = call.py();
    let inspect = py.import("inspect")?;
    let signature = match inspect.call_method1("signature", (call,)) {
        Ok(signature) => signature,
        // Some builtins have none.
        Err(e) if e.is_instance_of::<PyValueError>(py) || e.is_instance_of::<PyTypeError>(py) => {
            return Ok((Takes::Point, None));
        }
        Err(e) => return Err(e),
    };
    let empty = inspect.getattr("Parameter")?.getattr("empty")?;
    let (mut by_position, mut by_name) = (Vec::new(), Vec::new());
    let mut unknown: Vec<String> = Vec::new();
    let (mut takes_one, mut takes_names) = (false, false);
    // Arguments by position that come after one that is left out cannot be passed.
    let mut gap = false;
    for p in signature
        .getattr("parameters")?
        .call_method0("values")?
        .try_iter()?
    {
        let p = p?;
        let argument: String = p.getattr("name")?.extract()?;
        let kind: String = p.getattr("kind")?.getattr("name")?.extract()?;
        let required = p.getattr("default")?.is(&empty);
        match (kind.as_str(), names.iter().position(|n| *n == argument)) {
            ("VAR_POSITIONAL", _) => takes_one = true,
            ("VAR_KEYWORD", _) => takes_names = true,
            ("POSITIONAL_ONLY", Some(i)) if !gap => by_position.push(i),
            ("POSITIONAL_OR_KEYWORD" | "KEYWORD_ONLY", Some(i)) => by_name.push(i),
            _ => {
                gap |= kind == "POSITIONAL_ONLY";
                takes_one |= kind != "KEYWORD_ONLY";
                if required {
                    unknown.push(argument);
                }
            }
        }
    }
    if takes_names && by_position.is_empty() && unknown.is_empty() {
        return Ok((
            Takes::Parameters(Vec::new(), (0..names.len()).collect()),
            None,
        ));
    }
    let named = by_position.len() + by_name.len();
    match unknown.first() {
        None if named > 0 => Ok((Takes::Parameters(by_position, by_name), None)),
        None if takes_one => Ok((Takes::Point, None)),
        Some(one) if named == 0 && unknown.len() == 1 && takes_one => {
            let hint =
                format!("its argument `{one}` is the whole point, as no parameter has this name");
            Ok((Takes::Point, Some(hint)))
        }
        Some(one) => Err(hinted(
            SpaceError::new_err(format!(
                "filter `{name}`: the space has no parameter `{one}`"
            )),
            Some(&format!(
                "a filter takes parameters by their names ({}), or one argument: the point",
                names.join(", ")
            )),
        )),
        None => Err(hinted(
            SpaceError::new_err(format!("filter `{name}` takes no arguments")),
            Some("a filter takes parameters by their names, or one argument: the point"),
        )),
    }
}

/// The points of an index that the functions keep; and how many remain after each function.
pub(super) fn keep(
    py: Python<'_>,
    whole: &Index,
    functions: &[Function],
    limits: &Limits,
    stopped: fn(Stop) -> PyErr,
) -> PyResult<(Index, Vec<u64>)> {
    if whole.len() > MOST {
        return Err(hinted(
            SpaceError::new_err(format!(
                "the filter `{}` is a function, which would be asked about {} points: at most {MOST} are possible",
                functions[0].name,
                whole.len()
            )),
            Some("write filters as expressions, which are counted without asking about each point"),
        ));
    }
    let names: Vec<&str> = whole.space().names().collect();
    let memos: Vec<Bound<'_, PyDict>> = functions.iter().map(|_| PyDict::new(py)).collect();
    let mut after = vec![0; functions.len()];
    let mut asked = 0_usize;
    let kept = whole.keep(limits, |point| {
        asked += 1;
        if asked.is_multiple_of(LOOK) {
            py.check_signals().map_err(Ended::Python)?;
        }
        for ((function, memo), after) in functions.iter().zip(&memos).zip(&mut after) {
            let answer = match function.key(py, point)? {
                None => function.holds(py, &names, point)?,
                Some(key) => match memo.get_item(&key)? {
                    Some(known) => known.is_truthy()?,
                    None => {
                        let answer = function.holds(py, &names, point)?;
                        memo.set_item(key, answer)?;
                        answer
                    }
                },
            };
            if !answer {
                return Ok(false);
            }
            *after += 1;
        }
        Ok(true)
    });
    match kept {
        Ok(index) => Ok((index, after)),
        Err(Ended::Python(e)) => Err(e),
        Err(Ended::Engine(e)) => Err(stopped(e)),
    }
}

enum Ended {
    Engine(Stop),
    Python(PyErr),
}

impl From<Stop> for Ended {
    fn from(e: Stop) -> Self {
        Self::Engine(e)
    }
}

impl From<PyErr> for Ended {
    fn from(e: PyErr) -> Self {
        Self::Python(e)
    }
}
