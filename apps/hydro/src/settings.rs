//! What a run is asked for: flags, then what a problem file says, then the problem's defaults.

use clap::{Args, ValueEnum};
use greenup_hydro::HydroError;
use greenup_hydro::element::Shape;
use greenup_hydro::ode::Ode;
use greenup_hydro::output::Field;
use greenup_hydro::problem::{Defaults, Problem};
use greenup_hydro::start::Orders;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How the equations are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorKind {
    /// Full assembly: corner-force and mass matrices are stored; zones of any shape
    Full,
    /// Partial assembly with sum factorisation (tensor-product elements only)
    MatrixFree,
}

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// 0 Taylor–Green, 1 Sedov, 2 Sod, 3 triple point, 4 Gresho, 5 and 6 Riemann problems, 7 Rayleigh–Taylor; noh, saltzman;
    /// or a file *.toml. `hydro list` shows the mesh, final time and order that each has by default [default: 1]
    #[arg(long, value_name = "N|NAME|FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Built-in: segment01, square01_quad, square01_tri, cube01_hex, rectangle01_quad, box01_hex, square_gresho, rt2D,
    /// saltzman01_quad, or zones of the unit box such as 48x48; or a file, *.mesh of MFEM or *.msh of Gmsh
    /// [default: by problem]
    #[arg(long, value_name = "NAME|FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<String>,
    /// Times that each zone is halved along each direction [default: by problem on its default mesh, else 2]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refine: Option<usize>,
    /// Final time [default: by problem]
    #[arg(long, allow_hyphen_values = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_final: Option<f64>,
    /// Maximum number of steps in all
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Order of positions and velocities [default: by problem]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// Order of energies [default: --order less 1]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_order: Option<usize>,
    /// [default: rk4]
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ode: Option<Ode>,
    /// How the equations are evaluated [default: matrix-free where zones allow it]
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<OperatorKind>,
    /// cpu; cuda or cuda:N for a GPU; cuda+cpu shares the zones by speed [default: cpu]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Tuning parameters of the GPU kernels, such as zones=2,threads=128 [default: the fastest known]
    #[arg(long, value_name = "NAME=N,...")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernels: Option<String>,
    /// Time each part of the steps, on a GPU one by one
    #[arg(long)]
    #[serde(skip_serializing)]
    pub profile: bool,
    /// Share of the zones that the GPU keeps with cuda+cpu [default: by speed]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Try other kernels that compute the same while running, one a period, and keep the fastest
    #[arg(long)]
    #[serde(skip_serializing)]
    pub tune: bool,
    /// Steps of a period of --tune, and of shares between devices [default: 40]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<usize>,
    /// CFL number [default: 0.5]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cfl: Option<f64>,
    /// Relative tolerance of the solves for accelerations [default: 1e-12]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cg_tol: Option<f64>,
    /// Maximum iterations of a solve [default: 300]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cg_max: Option<usize>,
    /// Energy of Sedov's point in all of space [default: 1]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e0: Option<f64>,
    /// Write checkpoints to this file, to go on from with `hydro restart`; also when stopped
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing)]
    pub checkpoint: Option<PathBuf>,
    /// Steps between checkpoints [default: 100]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<usize>,
    /// Time, time step and energies of every step, as CSV
    #[arg(long, value_name = "FILE.csv")]
    #[serde(skip_serializing)]
    pub history: Option<PathBuf>,
    /// Write fields for ParaView into this folder: fields_*.vtu and run.pvd
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip_serializing)]
    pub vtu: Option<PathBuf>,
    /// Number of times at which they are written, after the start [default: 10]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<usize>,
    /// Draw the final state on its mesh
    #[arg(long, value_name = "FILE.png")]
    #[serde(skip_serializing)]
    pub png: Option<PathBuf>,
    /// What is drawn [default: density]
    #[arg(long, value_enum)]
    #[serde(skip)]
    pub field: Option<Field>,
    /// Fields over the distance from the origin as CSV, and beside it as .radial.png, with the exact solution where there is one
    #[arg(long = "radial", value_name = "FILE.csv")]
    #[serde(skip_serializing)]
    pub profile_file: Option<PathBuf>,
    /// Threads [default: all cores]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
}

/// Most files for ParaView.
const MOST_FRAMES: usize = 100_000;

/// Takes fields from other settings where these have none.
macro_rules! fill {
    ($to:ident, $from:ident: $($field:ident)*) => {
        $(if $to.$field.is_none() { $to.$field = $from.$field; })*
    };
}

impl Settings {
    /// The problem, and the settings with what its file and its defaults say.
    ///
    /// # Errors
    /// No such problem, a file with unknown keys, values that are not valid.
    pub fn resolved(&self) -> Result<(Problem, Self), HydroError> {
        self.resolved_with(Problem::defaults)
    }

    /// As [`Settings::resolved`], for checkpoints of a version in which all problems had the same defaults.
    ///
    /// # Errors
    /// As [`Settings::resolved`].
    pub fn resolved_as_before(&self) -> Result<(Problem, Self), HydroError> {
        self.resolved_with(|_| Defaults::GENERAL)
    }

    fn resolved_with(
        &self,
        defaults: impl Fn(&Problem) -> Defaults,
    ) -> Result<(Problem, Self), HydroError> {
        let name = self.problem.as_deref().unwrap_or("1");
        let problem = Problem::of(name)?;
        let mut out = self.clone();
        if let Some(user) = problem.user() {
            let page: Self = user
                .run
                .clone()
                .try_into()
                .map_err(|e| HydroError(format!("{name}: [run]: {e}")))?;
            fill!(out, page: mesh refine t_final steps order energy_order ode operator device kernels share period cfl
                  cg_tol cg_max e0 checkpoint every history vtu frames png profile_file threads);
        }
        let own = defaults(&problem);
        out.problem = Some(name.to_owned());
        let mesh = out.mesh.get_or_insert_with(|| own.mesh.to_owned());
        let refine = if mesh == own.mesh {
            own.refine
        } else {
            Defaults::REFINE
        };
        out.refine.get_or_insert(refine);
        out.t_final.get_or_insert(own.t_final);
        let order = *out.order.get_or_insert(own.order);
        out.energy_order.get_or_insert(order.saturating_sub(1));
        out.ode.get_or_insert(Ode::Rk4);
        out.cfl.get_or_insert(0.5);
        out.cg_tol.get_or_insert(1e-12);
        out.cg_max.get_or_insert(300);
        out.e0.get_or_insert(1.0);
        out.check()?;
        Ok((problem, out))
    }

    /// # Errors
    /// A value that is not valid.
    pub fn check(&self) -> Result<(), HydroError> {
        for (name, x) in [
            ("--t-final", self.t_final()),
            ("--cfl", self.orders().cfl),
            ("--cg-tol", self.orders().cg_tol),
            ("--e0", self.e0()),
        ] {
            if !(x > 0.0 && x.is_finite()) {
                return Err(HydroError(format!("{name} {x}: it must be above 0")));
            }
        }
        for (name, n, most) in [
            ("--refine", self.refine(), 12),
            ("--frames", self.frames(), MOST_FRAMES),
        ] {
            if n > most {
                return Err(HydroError(format!("{name} {n}: at most {most}")));
            }
        }
        Ok(())
    }

    /// Fills what is not given from what a checkpoint remembers.
    pub fn fill(&mut self, from: Self) {
        let to = self;
        fill!(to, from: problem mesh refine t_final order energy_order ode operator device kernels share period cfl cg_tol
              cg_max e0 every frames threads);
    }

    /// Files that decide a run, with the flags that name them.
    pub fn input_files(&self) -> Vec<(&'static str, &str)> {
        let file = |name: &&str, endings: &[&str]| endings.iter().any(|e| name.ends_with(e));
        let problem = self.problem.as_deref().filter(|p| file(p, &[".toml"]));
        let mesh = self.mesh.as_deref().filter(|m| file(m, &[".mesh", ".msh"]));
        let problem = problem.map(|p| ("--problem", p));
        problem
            .into_iter()
            .chain(mesh.map(|m| ("--mesh", m)))
            .collect()
    }

    /// Where the profile is drawn.
    pub fn profile_drawing(&self) -> Option<PathBuf> {
        Some(self.profile_file.as_ref()?.with_extension("radial.png"))
    }

    pub fn mesh(&self) -> &str {
        self.mesh.as_deref().unwrap_or(Defaults::GENERAL.mesh)
    }

    pub fn refine(&self) -> usize {
        self.refine.unwrap_or(Defaults::REFINE)
    }

    pub fn t_final(&self) -> f64 {
        self.t_final.unwrap_or(Defaults::GENERAL.t_final)
    }

    pub fn ode(&self) -> Ode {
        self.ode.unwrap_or(Ode::Rk4)
    }

    pub fn e0(&self) -> f64 {
        self.e0.unwrap_or(1.0)
    }

    pub fn every(&self) -> usize {
        self.every.unwrap_or(100).max(1)
    }

    pub fn frames(&self) -> usize {
        self.frames.unwrap_or(10).max(1)
    }

    pub fn device(&self) -> &str {
        self.device.as_deref().unwrap_or("cpu")
    }

    /// Whether matrices are stored.
    pub fn is_full(&self, shape: Shape) -> bool {
        match self.operator {
            Some(kind) => kind == OperatorKind::Full,
            None => !shape.tensor(),
        }
    }

    pub fn orders(&self) -> Orders {
        let kinematic = self.order.unwrap_or(Defaults::GENERAL.order);
        Orders {
            kinematic,
            energy: self.energy_order.unwrap_or(kinematic.saturating_sub(1)),
            cg_tol: self.cg_tol.unwrap_or(1e-12),
            cg_max: self.cg_max.unwrap_or(300),
            cfl: self.cfl.unwrap_or(0.5),
        }
    }
}
