//! Points, charges and options of a sum, from the command line.

use super::check_interrupt;
use crate::kernel::Kernel;
use crate::memory;
use crate::options::{M2l, Options};
use crate::points::{
    Distribution, Points, charges, charges_piece, files, generate, generate_piece,
};
use clap::{Args, ValueEnum};
use greenup_app::args::ThreadsArg;
use greenup_app::{AppError, Result, print};
use greenup_files::Outputs;
use std::path::{Path, PathBuf};

/// Interaction kernels by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KernelName {
    /// 1 / (4 π r)
    Laplace,
    /// exp(−κ r) / (4 π r)
    Yukawa,
    /// exp(i k r) / (4 π r)
    Helmholtz,
    /// Stokeslet: velocities of forces
    Stokes,
}

/// Precision of the computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PrecisionArg {
    F32,
    F64,
}

#[derive(Clone, Args)]
pub struct Input {
    /// Sources from a .csv or .npy file: columns x, y, z, and charges (else random), or as the header names them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["distribution", "n"])]
    pub points: Option<PathBuf>,
    /// Targets from a .csv or .npy file [default: the sources]
    #[arg(long, value_name = "FILE")]
    pub targets: Option<PathBuf>,
    /// Distribution of generated points
    #[arg(long, value_enum, default_value = "cube")]
    pub distribution: Distribution,
    /// Number of generated points
    #[arg(short, long, default_value_t = 100_000)]
    pub n: usize,
    /// Random seed of points and charges
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Interaction kernel
    #[arg(long, value_enum, default_value = "laplace")]
    pub kernel: KernelName,
    /// Inverse screening length of Yukawa [default: 1]
    #[arg(long)]
    pub kappa: Option<f64>,
    /// Wave number of Helmholtz [default: 1]
    #[arg(long)]
    pub k: Option<f64>,
    /// Viscosity of Stokes [default: 1]
    #[arg(long)]
    pub mu: Option<f64>,
    /// Accuracy: relative L2 error of the results over the targets; in f32 at least 5e-5, of gradients 5e-4 [default: 1e-6]
    #[arg(short, long)]
    pub accuracy: Option<f64>,
    /// Compute gradients too, to the same accuracy
    #[arg(long)]
    pub gradient: bool,
    /// Precision of the computation
    #[arg(long, value_enum, default_value = "f64")]
    pub precision: PrecisionArg,
    /// Surface order p: points along an edge of the surfaces [default: by the accuracy]
    #[arg(long, value_name = "P")]
    pub order: Option<usize>,
    #[command(flatten)]
    pub threads: ThreadsArg,
}

/// Points and charges.
pub struct Loaded {
    pub sources: Points,
    pub charges: Vec<f64>,
    pub targets: Option<Points>,
}

impl Input {
    /// The kernel with its parameter.
    pub fn kernel(&self) -> Kernel {
        match self.kernel {
            KernelName::Laplace => Kernel::Laplace,
            KernelName::Yukawa => Kernel::Yukawa {
                kappa: self.kappa.unwrap_or(1.0),
            },
            KernelName::Helmholtz => Kernel::Helmholtz {
                k: self.k.unwrap_or(1.0),
            },
            KernelName::Stokes => Kernel::Stokes {
                mu: self.mu.unwrap_or(1.0),
            },
        }
    }

    /// The accuracy that is asked for.
    pub fn accuracy(&self) -> f64 {
        self.accuracy.unwrap_or(1e-6)
    }

    /// Refuses parameters of another kernel: they would have no effect.
    fn check_parameters(&self) -> Result {
        for (flag, of, value) in [
            ("--kappa", KernelName::Yukawa, self.kappa),
            ("--k", KernelName::Helmholtz, self.k),
            ("--mu", KernelName::Stokes, self.mu),
        ] {
            if value.is_some() && self.kernel != of {
                let name = format!("{of:?}").to_lowercase();
                return Err(AppError::new(format!(
                    "{flag} is a parameter of --kernel {name}: {} has none of this name",
                    self.kernel().name()
                )));
            }
        }
        Ok(())
    }

    /// Options of a plan.
    pub fn options(&self, ncrit: usize, m2l: M2l) -> Options {
        Options {
            kernel: self.kernel(),
            tolerance: self.accuracy(),
            gradient: self.gradient,
            ncrit,
            m2l,
            order: self.order,
        }
    }

    /// Reads or generates the points and charges.
    pub fn load(&self) -> Result<Loaded> {
        self.check_parameters()?;
        let d = self.kernel().inputs();
        if self.points.is_none() {
            self.check_points(self.n, if self.targets.is_none() { self.n } else { 0 })?;
        }
        let (sources, read) = match &self.points {
            None => (generate(self.distribution, self.n, self.seed), None),
            Some(path) => {
                let table = files::read(path)?;
                if table.columns != 0 && table.columns != d {
                    return Err(AppError::new(format!(
                        "{}: {} columns after x, y, z: {} takes {d}",
                        path.display(),
                        table.columns,
                        self.kernel().name()
                    )));
                }
                (table.points, (table.columns > 0).then_some(table.charges))
            }
        };
        let charges = read.unwrap_or_else(|| {
            if let Some(path) = &self.points {
                print::note(format!(
                    "{} has no charges: they are random, between -1 and 1 (--seed {})",
                    path.display(),
                    self.seed
                ));
            }
            charges(sources.len() * d, false, self.seed)
        });
        let targets = self.targets.as_ref().map(|p| files::read(p)).transpose()?;
        if let (Some(path), Some(t)) = (&self.targets, &targets)
            && t.columns > 0
        {
            print::note(format!(
                "{}: targets have no charges; the columns after x, y, z are not used",
                path.display()
            ));
        }
        check_interrupt()?;
        Ok(Loaded {
            sources,
            charges,
            targets: targets.map(|t| t.points),
        })
    }

    /// A rank's piece of the points and charges. Each rank reads a file as a whole.
    pub fn load_piece(&self, rank: usize, ranks: usize) -> Result<(Points, Vec<f64>)> {
        let d = self.kernel().inputs();
        let of = |n: usize| {
            let at = |rank: usize| (n as u128 * rank as u128 / ranks as u128) as usize;
            at(rank)..at(rank + 1)
        };
        if self.points.is_none() {
            self.check_parameters()?;
            let piece = of(self.n);
            self.check_points(piece.len(), piece.len())?;
            let charged = piece.start * d..piece.end * d;
            return Ok((
                generate_piece(self.distribution, piece, self.seed),
                charges_piece(charged, false, self.seed),
            ));
        }
        let all = self.load()?;
        let piece = of(all.sources.len());
        let points = Points {
            x: all.sources.x.map(|x| x[piece.clone()].to_vec()),
        };
        Ok((points, all.charges[piece.start * d..piece.end * d].to_vec()))
    }

    /// Checks an output before any work: its name, and that it is not an input. Further outputs can be checked with
    /// what it returns.
    pub fn check_output(&self, out: Option<&Path>) -> Result<Outputs> {
        let mut outputs = Outputs::new();
        for input in self.points.iter().chain(&self.targets) {
            outputs.input(input);
        }
        if let Some(path) = out {
            outputs.file(path, &files::WRITTEN)?;
        }
        Ok(outputs)
    }

    /// Checks that points and results fit into memory.
    fn check_points(&self, sources: usize, targets: usize) -> Result {
        let (kernel, gradient) = (self.kernel(), self.gradient);
        match self.precision {
            PrecisionArg::F32 => memory::check_points::<f32>(kernel, gradient, sources, targets)?,
            PrecisionArg::F64 => memory::check_points::<f64>(kernel, gradient, sources, targets)?,
        }
        Ok(())
    }
}
