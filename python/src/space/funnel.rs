//! How filters prune a space, as dicts.

use super::functions::Function;
use greenup_space::{Funnel, Space};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// A row for each filter: expressions as they were counted, then functions; `asked` has the points before the first
/// function, and after each.
pub(super) fn rows<'py>(
    py: Python<'py>,
    space: &Space,
    found: &Funnel,
    functions: &[Function],
    asked: Option<(u64, &[u64])>,
) -> PyResult<Bound<'py, PyList>> {
    let out = PyList::empty(py);
    for row in &found.rows {
        let filter = &space.filters()[row.filter];
        let d = PyDict::new(py);
        d.set_item("filter", filter.name.as_str())?;
        d.set_item("strength", filter.strength.name())?;
        d.set_item("expression", filter.expression.as_str())?;
        d.set_item("because", filter.because.as_deref())?;
        d.set_item("before", row.before)?;
        d.set_item("after", row.after)?;
        d.set_item("estimate", row.estimate.map(|e| e.points))?;
        d.set_item("estimate_error", row.estimate.map(|e| e.error))?;
        out.append(d)?;
    }
    let Some((mut before, after)) = asked else {
        return Ok(out);
    };
    for (function, &after) in functions.iter().zip(after) {
        let d = PyDict::new(py);
        d.set_item("filter", function.name.as_str())?;
        d.set_item("strength", "hard")?;
        for key in ["expression", "because", "estimate", "estimate_error"] {
            d.set_item(key, py.None())?;
        }
        d.set_item("before", before)?;
        d.set_item("after", after)?;
        out.append(d)?;
        before = after;
    }
    Ok(out)
}
