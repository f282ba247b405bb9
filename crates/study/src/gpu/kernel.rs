//! A kernel of a GPU's study: a problem of the tuner with a fixed config, and the work that the machine does for it.

use greenup_device::cuda::Gpu;
use greenup_files::{Cache, FileError};
use greenup_gemm::GemmError;
use greenup_model::{Op, Work};
use greenup_space::expr::parse;
use greenup_space::{Index, Limits, Stop, Value};
use greenup_tune::Problem;
use greenup_tune::problem::ProblemError;
use greenup_tune::session::device_facts;
use std::path::{Path, PathBuf};

/// Constants or parameters, and their values.
pub type Settings = &'static [(&'static str, i64)];

/// Where the files of a problem come from.
pub(super) enum Files {
    /// Names and texts, the problem file first.
    Here(&'static [(&'static str, &'static str)]),
    /// The DGEMM family.
    Gemm,
}

/// A kernel of the study.
pub struct GpuKernel {
    /// Short name, such as `triad`.
    pub name: &'static str,
    /// Operation in a phrase.
    pub about: &'static str,
    /// A library that computes the same, as the problem's baseline.
    pub library: Option<&'static str>,
    pub(super) files: Files,
    pub(super) constants: Settings,
    /// Values of all parameters; the first config that the GPU can run is taken.
    pub(super) configs: &'static [Settings],
    /// Operations and bytes of the machine in one run, as expressions of the problem; flops of the `[work]` table are
    /// those of the algorithm.
    pub(super) counts: &'static [(Op, &'static str)],
}

/// Why a kernel cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// Its files cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The files of the DGEMM family cannot be written.
    #[error(transparent)]
    Gemm(#[from] GemmError),
    /// Its problem is invalid.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// Its space cannot be enumerated.
    #[error(transparent)]
    Space(#[from] Stop),
    /// No config is for this GPU.
    #[error("this GPU can run none of its configs")]
    NoConfig,
    /// A count cannot be evaluated.
    #[error("the count of {op} cannot be evaluated: {cause}")]
    Count {
        /// The operation class.
        op: Op,
        /// What is wrong with it.
        cause: String,
    },
}

/// A kernel ready for a GPU: its problem, restricted to one config.
pub struct Prepared {
    /// The problem.
    pub problem: Problem,
    /// Its only point.
    pub index: Index,
    /// That config.
    pub config: Vec<Value>,
}

impl GpuKernel {
    /// Writes the files of the problem into `dir`; returns the problem file.
    fn unpack(&self, dir: &Path) -> Result<PathBuf, KernelError> {
        let Files::Here(files) = &self.files else {
            return Ok(greenup_gemm::gpu::unpack(dir)?);
        };
        for (name, text) in *files {
            let path = dir.join(name);
            // Private, as the files are compiled and run.
            Cache::open(path.parent().unwrap_or(dir))?;
            greenup_files::write(&path, text)?;
        }
        Ok(dir.join(files[0].0))
    }

    /// Unpacks the problem into `dir` and reads it with the first config that a GPU can run; `constants` replace those
    /// of the study.
    ///
    /// # Errors
    /// A file cannot be written, or no config is for this GPU.
    pub fn prepare(
        &self,
        dir: &Path,
        gpu: &Gpu,
        constants: &[(&str, i64)],
    ) -> Result<Prepared, KernelError> {
        let file = self.unpack(dir)?;
        for config in self.configs {
            let mut set: Vec<(String, toml::Value)> = Vec::new();
            for (name, value) in self.constants.iter().chain(constants).chain(*config) {
                set.retain(|(n, _)| n != name);
                set.push(((*name).to_owned(), toml::Value::Integer(*value)));
            }
            let problem = Problem::read_with(&file, &device_facts::of_gpu(gpu), &set)?;
            let index = Index::build(&problem.space, &Limits::default())?;
            if !index.is_empty() {
                let config = index.get(0).unwrap_or_default();
                return Ok(Prepared {
                    problem,
                    index,
                    config,
                });
            }
        }
        Err(KernelError::NoConfig)
    }

    /// Operations and bytes of the machine in one run.
    ///
    /// # Errors
    /// An expression of the counts is invalid.
    pub fn work(&self, prepared: &Prepared) -> Result<Work, KernelError> {
        let mut work = Work::new();
        for (op, text) in self.counts {
            let count = |cause: String| KernelError::Count { op: *op, cause };
            let e = parse(text).map_err(|e| count(e.message))?;
            let space = &prepared.problem.space;
            let value = (space.evaluate(&e, &prepared.config)).map_err(|e| count(e.message))?;
            let n = value.as_float().ok_or_else(|| count(value.to_string()))?;
            work.add(*op, n).map_err(|e| count(e.to_string()))?;
        }
        Ok(work)
    }
}
