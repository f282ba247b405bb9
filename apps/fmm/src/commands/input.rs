//! Points, charges and what is wanted of them, from the command line.

use clap::{Args, ValueEnum};
use greenup_files::Outputs;
use greenup_fmm::FmmError;
use greenup_fmm::kernel::Kernel;
use greenup_fmm::memory;
use greenup_fmm::plan::{M2l, Options};
use greenup_fmm::points::{Distribution, Points, charges, files, generate};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    Laplace,
    Yukawa,
    Helmholtz,
    Stokes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RealName {
    F32,
    F64,
}

#[derive(Clone, Args)]
pub struct Input {
    /// Sources from a .csv or .npy file: x, y, z, and charges where there are
    #[arg(long, value_name = "FILE", conflicts_with_all = ["distribution", "n"])]
    pub points: Option<PathBuf>,
    /// Targets from a file [default: the sources themselves]
    #[arg(long, value_name = "FILE")]
    pub targets: Option<PathBuf>,
    /// Or points by themselves
    #[arg(long, value_enum, default_value = "cube")]
    pub distribution: Distribution,
    /// How many
    #[arg(short, long, default_value_t = 100_000)]
    pub n: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[arg(long, value_enum, default_value = "laplace")]
    pub kernel: KernelName,
    /// Yukawa's inverse length
    #[arg(long, default_value_t = 1.0)]
    pub kappa: f64,
    /// Helmholtz' wave number
    #[arg(long, default_value_t = 1.0)]
    pub k: f64,
    /// Stokes' viscosity
    #[arg(long, default_value_t = 1.0)]
    pub mu: f64,
    /// Relative L2 error
    #[arg(short, long, default_value_t = 1e-6)]
    pub accuracy: f64,
    /// Gradients too, to the same error
    #[arg(long)]
    pub gradient: bool,
    #[arg(long, value_enum, default_value = "f64")]
    pub real: RealName,
    /// Points on an edge of the surfaces, instead of an accuracy
    #[arg(long)]
    pub edge: Option<usize>,
    /// Threads [default: all cores]
    #[arg(long, value_parser = greenup_app::threads::parse)]
    pub threads: Option<usize>,
    /// cpu, or cuda or cuda:N for a GPU
    #[arg(long, default_value = "cpu")]
    pub device: String,
}

/// What was read or made.
pub struct Loaded {
    pub sources: Points,
    pub charges: Vec<f64>,
    pub targets: Option<Points>,
}

impl Input {
    pub fn kernel(&self) -> Kernel {
        match self.kernel {
            KernelName::Laplace => Kernel::Laplace,
            KernelName::Yukawa => Kernel::Yukawa { kappa: self.kappa },
            KernelName::Helmholtz => Kernel::Helmholtz { k: self.k },
            KernelName::Stokes => Kernel::Stokes { mu: self.mu },
        }
    }

    pub fn options(&self, most: usize, m2l: M2l) -> Options {
        Options {
            kernel: self.kernel(),
            tolerance: self.accuracy,
            gradient: self.gradient,
            most,
            m2l,
            edge: self.edge,
        }
    }

    /// # Errors
    /// A file that is none, or has charges of another number than the kernel takes.
    pub fn load(&self) -> Result<Loaded, FmmError> {
        let d = self.kernel().inputs();
        if self.points.is_none() {
            self.check_points(self.n, if self.targets.is_none() { self.n } else { 0 })?;
        }
        let (sources, own) = match &self.points {
            None => (generate(self.distribution, self.n, self.seed), None),
            Some(path) => {
                let (points, own, columns) = files::read(path)?;
                if columns != 0 && columns != d {
                    return Err(FmmError(format!(
                        "{}: {columns} columns after x, y, z: {} takes {d}",
                        path.display(),
                        self.kernel().name()
                    )));
                }
                (points, (columns > 0).then_some(own))
            }
        };
        let charges = own.unwrap_or_else(|| charges(sources.len() * d, false, self.seed));
        let targets = self.targets.as_ref().map(|p| files::read(p)).transpose()?;
        super::go_on()?;
        Ok(Loaded {
            sources,
            charges,
            targets: targets.map(|t| t.0),
        })
    }

    /// Sets the threads of this process.
    ///
    /// # Errors
    /// The system does not start so many.
    pub fn pool(&self) -> Result<(), FmmError> {
        let Some(n) = self.threads else {
            return Ok(());
        };
        // The first pool of the process.
        rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build_global()
            .map_err(|e| FmmError(format!("{n} threads cannot be started: {e}")))
    }

    /// Checks an output before any work: its name, and that it spares the inputs.
    ///
    /// # Errors
    /// It cannot be written, has another ending, or is an input.
    pub fn check_output(&self, out: Option<&Path>) -> Result<(), FmmError> {
        let mut outputs = Outputs::new();
        for input in self.points.iter().chain(&self.targets) {
            outputs.input(input);
        }
        if let Some(path) = out {
            outputs.file(path, &files::WRITTEN)?;
        }
        Ok(())
    }

    /// Refuses more points than memory holds.
    ///
    /// # Errors
    /// They do not fit.
    fn check_points(&self, sources: usize, targets: usize) -> Result<(), FmmError> {
        let (kernel, gradient) = (self.kernel(), self.gradient);
        match self.real {
            RealName::F32 => memory::check_points::<f32>(kernel, gradient, sources, targets),
            RealName::F64 => memory::check_points::<f64>(kernel, gradient, sources, targets),
        }
    }

    /// The number of a GPU; `None` is the CPU.
    ///
    /// # Errors
    /// No such word.
    pub fn gpu(&self) -> Result<Option<usize>, FmmError> {
        match self.device.as_str() {
            "cpu" => Ok(None),
            "cuda" => Ok(Some(0)),
            d => d
                .strip_prefix("cuda:")
                .and_then(|n| n.parse().ok())
                .map(Some)
                .ok_or_else(|| FmmError(format!("there is no device {d}: cpu, cuda or cuda:N"))),
        }
    }
}

/// Most points of a box where nobody says: what suits CPUs and GPUs.
pub fn usual_most(gpu: bool, real: RealName, gradient: bool) -> usize {
    match (gpu, real) {
        (true, _) => 256,
        (false, RealName::F32) => 160,
        (false, RealName::F64) => {
            if gradient {
                100
            } else {
                120
            }
        }
    }
}
