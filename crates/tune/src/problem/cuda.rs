//! What a problem says of its kernels in CUDA or OpenCL: their launches, and which compiled ones are worth
//! measuring.

use super::error::ValueError;
use super::written::{Build, Language, LaunchText};
use greenup_device::cuda::Shape;
use greenup_space::expr::{Expr, parse};
use serde::{Deserialize, Serialize};

/// A launch of a config.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Name of the kernel.
    pub kernel: String,
    /// Grid, blocks and shared memory.
    pub shape: Shape,
}

/// A launch as expressions.
pub(super) struct Launching {
    pub(super) kernel: String,
    pub(super) grid: [Option<Expr>; 3],
    pub(super) block: [Option<Expr>; 3],
    pub(super) shared: Option<Expr>,
    pub(super) when: Option<Expr>,
}

/// A filter on what compiling gave.
pub(super) struct CompiledFilter {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) keep: Expr,
    pub(super) because: Option<String>,
}

pub(super) fn expression(v: &toml::Value, what: &str) -> Result<Expr, ValueError> {
    let text = match v {
        toml::Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    parse(&text).map_err(|e| ValueError::Expression {
        what: what.to_owned(),
        text,
        cause: e.message,
    })
}

/// The condition under which a launch or a view of an array is there.
pub(super) fn condition(when: Option<&String>) -> Result<Option<Expr>, ValueError> {
    when.map(|text| expression(&text.as_str().into(), "when"))
        .transpose()
}

pub(super) fn launches(
    build: &Build,
    written: &[LaunchText],
) -> Result<Vec<Launching>, ValueError> {
    match (build.language, written.is_empty()) {
        (Language::Cuda | Language::OpenCl, true) => return Err(ValueError::NoLaunch),
        (Language::Cuda | Language::OpenCl, false) | (Language::Command, true) => {}
        (_, false) => return Err(ValueError::LaunchWithoutCuda),
        (_, true) if build.entry.is_empty() => return Err(ValueError::NoEntry),
        (_, true) => {}
    }
    written
        .iter()
        .map(|l| {
            let three = |v: &[toml::Value], what: &str| -> Result<[Option<Expr>; 3], ValueError> {
                if v.is_empty() || v.len() > 3 {
                    return Err(ValueError::Numbers {
                        what: what.to_owned(),
                        kernel: l.kernel.clone(),
                    });
                }
                let mut out = [None, None, None];
                for (slot, v) in out.iter_mut().zip(v) {
                    *slot = Some(expression(v, what)?);
                }
                Ok(out)
            };
            Ok(Launching {
                kernel: l.kernel.clone(),
                grid: three(&l.grid, "grid")?,
                block: three(&l.block, "block")?,
                shared: (l.shared.as_ref())
                    .map(|v| expression(v, "shared"))
                    .transpose()?,
                when: condition(l.when.as_ref())?,
            })
        })
        .collect()
}

pub(super) fn compiled_filters(written: &toml::Table) -> Result<Vec<CompiledFilter>, ValueError> {
    written
        .iter()
        .map(|(name, v)| {
            let (text, because) = match v {
                toml::Value::String(s) => (s.as_str(), None),
                toml::Value::Table(t) => (
                    t.get("keep").and_then(toml::Value::as_str).unwrap_or(""),
                    t.get("because").and_then(toml::Value::as_str),
                ),
                _ => ("", None),
            };
            Ok(CompiledFilter {
                name: name.clone(),
                text: text.to_owned(),
                keep: parse(text).map_err(|e| ValueError::Filter {
                    name: name.clone(),
                    text: text.to_owned(),
                    cause: e.message,
                })?,
                because: because.map(str::to_owned),
            })
        })
        .collect()
}
