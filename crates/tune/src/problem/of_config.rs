//! What the kernels of a config take: launches, tensor maps and textures; how its results are checked, and whether it is
//! worth measuring.

use super::check::{Checking, OUTPUTS};
use super::cuda::Launch;
use super::maps::Map;
use super::textures::TextureOf;
use super::{ConfigError, Problem};
use greenup_device::cuda::{MapShape, Shape};
use greenup_space::Value;
use greenup_space::expr::{Expr, Scope, eval};
use std::collections::BTreeMap;
use std::path::Path;

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
    fn applies(&self, when: Option<&Expr>, config: &[Value]) -> Result<bool, ConfigError> {
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

    /// The tensor maps that a config's kernels take behind the arguments.
    ///
    /// # Errors
    /// A size is not a positive integer.
    pub fn maps(&self, config: &[Value]) -> Result<Vec<Map>, ConfigError> {
        let mut out = Vec::new();
        for m in &self.maps {
            if !self.applies(m.when.as_ref(), config)? {
                continue;
            }
            let numbers = |v: &[Expr]| -> Result<Vec<u64>, ConfigError> {
                v.iter()
                    .map(|e| {
                        let v = self.space.evaluate(e, config)?;
                        v.as_int()
                            .and_then(|n| u64::try_from(n).ok())
                            .filter(|n| *n > 0)
                            .ok_or_else(|| ConfigError::TensorMap(v.to_string()))
                    })
                    .collect()
            };
            out.push(Map {
                argument: m.argument,
                shape: MapShape {
                    element: m.element,
                    sizes: numbers(&m.sizes)?,
                    steps: numbers(&m.steps)?,
                    cut: numbers(&m.cut)?,
                    swizzle: m.swizzle,
                },
            });
        }
        Ok(out)
    }

    /// The textures that a config's kernels take behind the arguments and the tensor maps.
    ///
    /// # Errors
    /// A texel has not 4, 8 or 16 bytes.
    pub fn textures(&self, config: &[Value]) -> Result<Vec<TextureOf>, ConfigError> {
        let mut out = Vec::new();
        for t in &self.textures {
            if !self.applies(t.when.as_ref(), config)? {
                continue;
            }
            let texel = self.space.evaluate(&t.texel, config)?;
            let texel = match texel.as_int() {
                Some(n @ (4 | 8 | 16)) => n.unsigned_abs(),
                _ => return Err(ConfigError::Texel(texel.to_string())),
            };
            out.push(TextureOf {
                argument: t.argument,
                texel,
            });
        }
        Ok(out)
    }

    /// The check of a config, with its outputs in a folder; `None` without a `[check]`.
    ///
    /// # Errors
    /// A derived value does not exist for the config.
    pub fn checking(
        &self,
        config: &[Value],
        outputs: &Path,
    ) -> Result<Option<Checking>, ConfigError> {
        let Some(check) = &self.check else {
            return Ok(None);
        };
        let mut values = self.texts(config)?;
        values.insert(OUTPUTS.to_owned(), outputs.display().to_string());
        Ok(Some(Checking {
            words: check.words.filled(&values),
            dir: self.absolute_dir(),
            outputs: outputs.to_owned(),
            timeout_s: check.timeout_s,
        }))
    }
}
