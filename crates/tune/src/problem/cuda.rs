//! What a problem says of its kernels in CUDA or OpenCL: their launches, and which compiled ones are worth
//! measuring.

use super::ConfigError;
use super::Problem;
use super::error::ValueError;
use super::written::{Build, Language, LaunchText};
use greenup_device::cuda::Shape;
use greenup_space::Value;
use greenup_space::expr::{Expr, Scope, eval, parse};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    kernel: String,
    grid: [Option<Expr>; 3],
    block: [Option<Expr>; 3],
    shared: Option<Expr>,
    when: Option<Expr>,
}

/// A filter on what compiling gave.
pub(super) struct CompiledFilter {
    name: String,
    text: String,
    keep: Expr,
    because: Option<String>,
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

impl Problem {
    /// What a run of a config launches, in this order.
    ///
    /// # Errors
    /// A number of blocks, threads or bytes is invalid.
    pub fn launches(&self, config: &[Value]) -> Result<Vec<Launch>, ConfigError> {
        let number = |e: &Option<Expr>, default: i64| -> Result<u32, ConfigError> {
            let n = match e {
                None => default,
                Some(e) => {
                    let v = self.space.evaluate(e, config)?;
                    v.as_int()
                        .ok_or_else(|| ConfigError::Launch(v.to_string()))?
                }
            };
            u32::try_from(n).map_err(|_| ConfigError::Launch(n.to_string()))
        };
        let mut out = Vec::new();
        for l in &self.launches {
            if !self.applies(l.when.as_ref(), config)? {
                continue;
            }
            let three = |v: &[Option<Expr>; 3]| -> Result<[u32; 3], ConfigError> {
                Ok([number(&v[0], 1)?, number(&v[1], 1)?, number(&v[2], 1)?])
            };
            out.push(Launch {
                kernel: l.kernel.clone(),
                shape: Shape {
                    grid: three(&l.grid)?,
                    block: three(&l.block)?,
                    shared: number(&l.shared, 0)?,
                },
            });
        }
        Ok(out)
    }

    /// Whether a condition holds; what has none applies always.
    pub(super) fn applies(
        &self,
        when: Option<&Expr>,
        config: &[Value],
    ) -> Result<bool, ConfigError> {
        Ok(match when {
            None => true,
            Some(e) => self.space.evaluate(e, config)?.truth(),
        })
    }

    /// Whether a launch has dynamic shared memory, of whatever size.
    pub(crate) fn launches_share(&self) -> bool {
        self.launches.iter().any(|l| l.shared.is_some())
    }

    /// Why a compiled config is not worth measuring, by `[compiled]`; `facts` are what compiling
    /// gave: registers, shared_bytes, spill_bytes, threads, blocks, occupancy.
    ///
    /// # Errors
    /// A filter cannot be evaluated.
    pub fn rejects(
        &self,
        config: &[Value],
        facts: &BTreeMap<String, f64>,
    ) -> Result<Option<String>, ConfigError> {
        if self.compiled_filters.is_empty() {
            return Ok(None);
        }
        let own = self.values(config)?;
        let names = |n: &str| -> Option<Value> {
            match facts.get(n) {
                Some(&x) if x.fract() == 0.0 => Some(Value::Int(x as i64)),
                Some(&x) => Some(Value::Float(x)),
                None => own.iter().find(|(k, _)| k == n).map(|(_, v)| v.clone()),
            }
        };
        for k in &self.compiled_filters {
            let v = eval(&k.keep, &Scope::new(&names)).map_err(|e| ConfigError::Filter {
                name: k.name.clone(),
                message: e.message,
            })?;
            if !v.truth() {
                let why = k.because.as_deref().unwrap_or(&k.text);
                return Ok(Some(format!("{}: {why}", k.name)));
            }
        }
        Ok(None)
    }
}
