//! A tunable kernel, as its problem file describes it.

mod argument;
mod check;
mod command;
mod cuda;
mod data;
mod default;
mod error;
mod file;
mod idle;
mod maps;
mod measure;
mod of_config;
mod parse;
pub mod parts;
mod set;
mod setting;
mod textures;
mod unused;
mod written;

pub use check::{Check, Checking};
pub use cuda::Launch;
pub use data::{Argument, Data, ExpectedValues, Fill, Role, Tolerance, Type};
pub use error::{ConfigError, ProblemError, ValueError};
pub use file::ProblemFile;
pub use maps::Map;
pub use measure::{FinalRounds, Measure};
pub use set::set;
pub use textures::TextureOf;
pub use written::{Baseline, Build, Language, Returns, Setup};

use crate::command::Runnable;
use crate::command::template::{Texts, texts};

use argument::check_fill;
use cuda::{CompiledFilter, Launching};
use maps::Mapping;
use textures::Texturing;

use crate::objective::Objective;
use greenup_model::{Op, Work};
use greenup_space::expr::Expr;
use greenup_space::{Space, SpaceError, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The kernel whose results are right.
#[derive(Clone, Debug)]
pub struct Reference {
    /// Source files.
    pub sources: Vec<PathBuf>,
    /// Name of the function to call.
    pub entry: String,
    /// Largest error of floating-point numbers allowed, over the largest value of the array.
    pub tolerance: f64,
    /// The same of integers: 0 where the problem gives none.
    pub of_integers: f64,
}

/// A tunable kernel: its parameter space, sources, arguments, reference and measuring protocol.
///
/// ```
/// use greenup_space::Facts;
/// use greenup_tune::Problem;
///
/// let dir = tempfile::tempdir()?;
/// std::fs::write(dir.path().join("axpy.c"), "void axpy(void) {}")?;
/// let text = r#"
/// name = "axpy"
/// [parameters]
/// unroll = [1, 2, 4]
/// [build]
/// language = "c"
/// sources = ["axpy.c"]
/// entry = "axpy"
/// "#;
/// let problem = Problem::parse(text, "axpy.toml", dir.path(), &Facts::new(), &[])?;
/// assert_eq!(problem.space.names().collect::<Vec<_>>(), ["unroll"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Problem {
    /// Folder of the problem file; relative paths start here.
    pub dir: PathBuf,
    /// The search space.
    pub space: Arc<Space>,
    /// How kernels are built.
    pub build: Build,
    /// Arguments of the kernel.
    pub data: Vec<Data>,
    /// Host code that prepares the arguments after they are filled, once per data set.
    pub setup: Option<Setup>,
    /// Code whose results are right.
    pub reference: Option<Reference>,
    /// A command that checks what a kernel wrote.
    pub check: Option<Check>,
    /// Code that computes the same, for comparison.
    pub baseline: Option<Baseline>,
    /// The config before tuning, with which the best one is compared.
    pub default: Option<Vec<Value>>,
    /// What is minimised where the user names no objective.
    pub objective: Objective,
    /// How trials are measured.
    pub measure: Measure,
    /// The command that is tuned, where it is not a kernel.
    pub command: Option<Runnable>,
    /// The device of kernels in OpenCL. The caller sets it before tuning, as it is the one whose facts the space was read with.
    pub opencl: Option<greenup_device::opencl::Device>,
    work: Vec<(Op, Expr)>,
    launches: Vec<Launching>,
    maps: Vec<Mapping>,
    textures: Vec<Texturing>,
    compiled_filters: Vec<CompiledFilter>,
    /// What was written, by name.
    parts: BTreeMap<String, String>,
}

impl Problem {
    /// Fills the arrays that kernels only read with something else.
    ///
    /// # Errors
    /// The fill is invalid.
    pub fn fill_inputs(&mut self, fill: &str) -> Result<(), ConfigError> {
        let fill = fill
            .parse()
            .map_or_else(|_| Fill::Named(fill.to_owned()), Fill::Number);
        for d in &mut self.data {
            if let (Some(len), Role::In) = (d.len, d.role) {
                check_fill(&fill, d.kind, len)?;
                d.fill = fill.clone();
            }
        }
        Ok(())
    }

    /// The parts of its file that decide what a trial measures, by name.
    pub fn parts(&self) -> &BTreeMap<String, String> {
        &self.parts
    }

    /// Whether the best configs are compared with other code or another command.
    pub fn has_baseline(&self) -> bool {
        let of_command = |c: &Runnable| c.has_baseline();
        self.baseline.is_some() || self.command.as_ref().is_some_and(of_command)
    }

    /// Whether results are compared with what is right, or checked by a command.
    pub fn verified(&self) -> bool {
        match &self.command {
            Some(command) => command.verified(),
            None => {
                self.reference.is_some()
                    || self.check.is_some()
                    || self.data.iter().any(|d| d.answer.is_some())
            }
        }
    }

    /// Whether an objective can be computed, as far as the problem tells.
    ///
    /// # Errors
    /// It is a metric that the problem does not have.
    pub fn knows(&self, objective: Objective) -> Result<(), ValueError> {
        check_objective(self.command.as_ref(), objective)
    }

    /// Whether its kernels run on a GPU by CUDA.
    pub fn on_gpu(&self) -> bool {
        self.build.language == Language::Cuda
    }

    /// The work of one run with a config.
    ///
    /// # Errors
    /// A count cannot be evaluated or is not a valid count.
    pub fn work(&self, config: &[Value]) -> Result<Work, ConfigError> {
        let mut out = Work::new();
        for (op, e) in &self.work {
            let count = (self.space.evaluate(e, config)?)
                .as_float()
                .ok_or_else(|| ConfigError::Work(format!("the count of `{op}` is not a number")))?;
            out.add(*op, count)
                .map_err(|e| ConfigError::Work(e.to_string()))?;
        }
        Ok(out)
    }

    /// Flops of one run with a config, where the file tells.
    pub fn flops(&self, config: &[Value]) -> Option<f64> {
        let work = self.work(config).ok()?;
        Some(work.flops()).filter(|f| *f > 0.0)
    }

    /// Largest errors that the reference allows.
    pub fn tolerance(&self) -> Tolerance {
        (self.reference.as_ref()).map_or_else(Tolerance::default, |r| Tolerance {
            real: r.tolerance,
            whole: r.of_integers,
        })
    }

    /// Whether operation counts are given.
    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// Every constant, parameter and derived value of a config.
    ///
    /// # Errors
    /// A derived value that does not exist for the config.
    pub fn values(&self, config: &[Value]) -> Result<Vec<(String, Value)>, SpaceError> {
        let parameters = self.space.names().map(str::to_owned);
        Ok((self.space.constants().iter().cloned())
            .chain(parameters.zip(config.iter().cloned()))
            .chain(self.space.derived(config)?)
            .collect())
    }

    /// The same as texts by name.
    pub(crate) fn texts(&self, config: &[Value]) -> Result<Texts, SpaceError> {
        Ok(texts(&self.values(config)?))
    }

    /// The folder of the problem file from the root.
    pub(crate) fn absolute_dir(&self) -> PathBuf {
        std::path::absolute(&self.dir).unwrap_or_else(|_| self.dir.clone())
    }

    /// `-DNAME=value` for every constant, parameter and derived value of a config.
    ///
    /// # Errors
    /// A derived value that does not exist for the config.
    pub fn defines(&self, config: &[Value]) -> Result<Vec<String>, SpaceError> {
        Ok((self.values(config)?.into_iter())
            .map(|(n, v)| match v {
                Value::Bool(b) => format!("-D{n}={}", i32::from(b)),
                v => format!("-D{n}={v}"),
            })
            .collect())
    }
}

/// Whether an objective that is a metric is one of the command.
fn check_objective(command: Option<&Runnable>, objective: Objective) -> Result<(), ValueError> {
    let Objective::Metric(name) = objective else {
        return Ok(());
    };
    let known: Vec<&str> = command.iter().flat_map(|c| c.metrics()).collect();
    if known.contains(&name) {
        return Ok(());
    }
    Err(ValueError::Command {
        what: format!("objective `{objective}`"),
        cause: if known.is_empty() {
            format!("[run.metrics.{name}] says where it is; there is none")
        } else {
            format!("the metrics are {}", known.join(", "))
        },
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Problem, ProblemError};
    use greenup_space::Facts;

    /// A problem of one empty kernel, with parameters, arguments and what else a text says.
    pub(crate) fn one_kernel(language: &str, more: &str) -> Result<Problem, ProblemError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("k.cu"), "").unwrap();
        let launch = match language {
            "cuda" => "[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [32]\n",
            _ => "entry = \"k\"\n",
        };
        let text =
            format!("[build]\nlanguage = \"{language}\"\nsources = [\"k.cu\"]\n{launch}{more}");
        Problem::parse(&text, "problem.toml", dir.path(), &Facts::new(), &[])
    }
}
