//! What a run is asked for: flags, and what a problem's page says where they do not.

use clap::{Args, ValueEnum};
use greenup_hydro::HydroError;
use greenup_hydro::ode::Ode;
use greenup_hydro::output::Field;
use greenup_hydro::problem::Problem;
use greenup_hydro::start::Orders;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How the equations are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorKind {
    /// Corner forces and mass matrices are stored; any shape of zones
    Full,
    /// Sums of factors; quadrilaterals and hexahedra
    MatrixFree,
}

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// 0 Taylor–Green, 1 Sedov, 2 Sod, 3 triple point, 4 Gresho, 5 and 6 Riemann problems, 7 Rayleigh–Taylor; noh, saltzman;
    /// or a file *.toml [default: 1]
    #[arg(long, value_name = "N|NAME|FILE")]
    pub problem: Option<String>,
    /// Built-in: segment01, square01_quad, square01_tri, cube01_hex, rectangle01_quad, box01_hex, square_gresho, rt2D,
    /// saltzman01_quad, or zones of the unit box such as 48x48; or a file, *.mesh of MFEM or *.msh of Gmsh
    /// [default: square01_quad]
    #[arg(long, value_name = "NAME|FILE")]
    pub mesh: Option<String>,
    /// Times that each zone is halved along each direction [default: 2]
    #[arg(long)]
    pub refine: Option<usize>,
    /// End [default: 0.6]
    #[arg(long, allow_hyphen_values = true)]
    pub t_final: Option<f64>,
    /// At most so many steps in all
    #[arg(long)]
    pub steps: Option<usize>,
    /// Order of places and velocities [default: 2]
    #[arg(long)]
    pub order: Option<usize>,
    /// Order of energies [default: one less than the other]
    #[arg(long)]
    pub energy_order: Option<usize>,
    /// [default: rk4]
    #[arg(long, value_enum)]
    pub ode: Option<Ode>,
    /// How the equations are evaluated [default: matrix-free where zones allow it]
    #[arg(long, value_enum)]
    pub operator: Option<OperatorKind>,
    /// cpu; cuda or cuda:N for a GPU; cuda+cpu shares the zones out by speed [default: cpu]
    #[arg(long)]
    pub device: Option<String>,
    /// Choices of the GPU's kernels, such as zones=2,threads=128 [default: what was found best]
    #[arg(long, value_name = "NAME=N,...")]
    pub kernels: Option<String>,
    /// Time each part of the steps, on a GPU one by one
    #[arg(long)]
    pub profile: bool,
    /// Share of the zones that the GPU keeps with cuda+cpu [default: by speed]
    #[arg(long)]
    pub share: Option<f64>,
    /// Try other ways to compute the same while running, one a period, and keep the fastest
    #[arg(long)]
    pub tune: bool,
    /// Steps of a period of --tune, and of shares between devices [default: 40]
    #[arg(long, value_name = "N")]
    pub period: Option<usize>,
    /// Courant's number [default: 0.5]
    #[arg(long)]
    pub cfl: Option<f64>,
    /// Relative tolerance of the solves for accelerations [default: 1e-12]
    #[arg(long)]
    pub cg_tol: Option<f64>,
    /// Most iterations of a solve [default: 300]
    #[arg(long)]
    pub cg_max: Option<usize>,
    /// Energy of Sedov's point in all of space [default: 1]
    #[arg(long)]
    pub e0: Option<f64>,
    /// Keep the run in this file, to go on from with `hydro restart`; also when stopped
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Steps between checkpoints [default: 100]
    #[arg(long, value_name = "N")]
    pub every: Option<usize>,
    /// Time, time step and energies of every step, as CSV
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// Write fields for ParaView into this folder: fields_*.vtu and run.pvd
    #[arg(long, value_name = "FOLDER")]
    pub vtu: Option<PathBuf>,
    /// Times at which they are written, beside the start [default: 10]
    #[arg(long, value_name = "N")]
    pub frames: Option<usize>,
    /// Draw the end on its mesh
    #[arg(long, value_name = "FILE")]
    pub png: Option<PathBuf>,
    /// What is drawn [default: density]
    #[arg(long, value_enum)]
    #[serde(skip)]
    pub field: Option<Field>,
    /// Fields over the distance from the origin as CSV, and beside it as .radial.png, with the exact solution where there is one
    #[arg(long = "radial", value_name = "FILE")]
    pub profile_file: Option<PathBuf>,
    /// Threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
}

impl Settings {
    /// The problem, and the settings with what its page says.
    ///
    /// # Errors
    /// No such problem, or a page with keys that are none.
    pub fn resolved(&self) -> Result<(Problem, Self), HydroError> {
        let name = self.problem.as_deref().unwrap_or("1");
        let problem = Problem::of(name)?;
        let mut out = self.clone();
        if let Some(user) = problem.user() {
            let page: Self = user
                .run
                .clone()
                .try_into()
                .map_err(|e| HydroError(format!("{name}: [run]: {e}")))?;
            macro_rules! fill {
                ($($field:ident)*) => { $(if out.$field.is_none() { out.$field = page.$field; })* };
            }
            fill!(mesh refine t_final steps order energy_order ode operator device kernels share period cfl cg_tol cg_max e0 checkpoint
                  every history vtu frames png profile_file threads);
        }
        for (name, x) in [
            ("--t-final", out.t_final()),
            ("--cfl", out.orders().cfl),
            ("--cg-tol", out.orders().cg_tol),
            ("--e0", out.e0()),
        ] {
            if !(x > 0.0 && x.is_finite()) {
                return Err(HydroError(format!("{name} {x}: it must be above 0")));
            }
        }
        if out.refine() > 12 {
            return Err(HydroError(format!("--refine {}: at most 12", out.refine())));
        }
        Ok((problem, out))
    }

    pub fn mesh(&self) -> &str {
        self.mesh.as_deref().unwrap_or("square01_quad")
    }

    pub fn refine(&self) -> usize {
        self.refine.unwrap_or(2)
    }

    pub fn t_final(&self) -> f64 {
        self.t_final.unwrap_or(0.6)
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

    pub fn orders(&self) -> Orders {
        let kinematic = self.order.unwrap_or(2);
        Orders {
            kinematic,
            energy: self.energy_order.unwrap_or(kinematic.saturating_sub(1)),
            cg_tol: self.cg_tol.unwrap_or(1e-12),
            cg_max: self.cg_max.unwrap_or(300),
            cfl: self.cfl.unwrap_or(0.5),
        }
    }
}
