//! Settings of a run: from flags, else from the problem file, else the defaults of the problem.

use crate::fem::element::Shape;
use crate::part::partition::Method;
use crate::problem::initial_state::Orders;
use crate::problem::{Defaults, Problem};
use crate::session::figures::FigureSettings;
use crate::session::help::{name, or};
use crate::time::integrator::Ode;
use clap::{Args, ValueEnum};
use greenup_app::{AppError, Result};
use greenup_device::{DeviceSpec, Usable};
use greenup_setting::setting;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Assembly of the operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assembly {
    /// Full assembly: force and mass matrices are stored (all zone shapes)
    #[default]
    Full,
    /// Partial assembly with sum factorisation (tensor-product elements only)
    Partial,
}

impl Assembly {
    /// Its name as the flag takes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Partial => "partial",
        }
    }
}

/// Help of `--problem`.
fn problems() -> String {
    let names = Problem::names();
    format!("Problem: {names}, or a file *.toml; `hydro list` shows the defaults of each")
}

/// Values of settings that neither the user nor the problem gives.
const PROBLEM: &str = "1";
const E0: f64 = 1.0;
const PERIOD: usize = 40;
const EVERY: usize = 100;
const SNAPSHOTS: usize = 10;

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    #[arg(long, value_name = "N|NAME|FILE", help = or(&problems(), PROBLEM))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Mesh: segment01, square01_quad, square01_tri, cube01_hex, rectangle01_quad, box01_hex, square_gresho, rt2D,
    /// saltzman01_quad, or the zones of a unit box such as 48x48; or a file, *.mesh of MFEM or *.msh of Gmsh
    /// [default: by problem]
    #[arg(long, value_name = "NAME|FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh: Option<String>,
    #[arg(long, value_name = "N", help = or("Number of uniform refinements",
        format!("by problem on its default mesh, else {}", Defaults::REFINE)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refine: Option<usize>,
    /// Final time [default: by problem]
    #[arg(long, allow_hyphen_values = true, value_name = "T")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_final: Option<f64>,
    /// Maximum number of time steps
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// Order of the kinematic space: positions and velocities [default: by problem]
    #[arg(long, value_name = "K")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<usize>,
    /// Order of the thermodynamic space: energies [default: --order minus 1]
    #[arg(long, value_name = "K")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_order: Option<usize>,
    #[arg(long, value_enum, help = or("Time integrator", name(&Ode::default())))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ode: Option<Ode>,
    /// Assembly of the operators [default: partial if the zones allow it]
    #[arg(long, value_enum)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assembly: Option<Assembly>,
    #[arg(long, value_name = "cpu|cuda[:N,M,...|:all][+cpu]", value_parser = |text: &str| DEVICES.parse(text),
        help = or("Device: cpu; cuda or cuda:N for a GPU; cuda:0,1 or cuda:all for several GPUs, a rank each; cuda+cpu \
                   to share the zones", DeviceSpec::default()))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceSpec>,
    /// Tuning parameters of the GPU kernels, e.g. zones=2,threads=128 [default: the fastest known]
    #[arg(long, value_name = "NAME=N,...")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernels: Option<String>,
    /// Time each part of the steps; on a GPU launched one by one
    #[arg(long)]
    #[serde(skip_serializing)]
    pub profile: bool,
    /// Share of the zones on the GPU with cuda+cpu [default: by speed]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Tune kernel parameters while running: one candidate per period, then the fastest
    #[arg(long)]
    #[serde(skip_serializing)]
    pub tune: bool,
    #[arg(long, value_name = "N", help = or("Steps of a period of --tune and of load balancing", PERIOD))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<usize>,
    #[arg(long, help = or("CFL number", Orders::default().cfl))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cfl: Option<f64>,
    #[arg(long, value_name = "TOL", help = or("Relative tolerance of the CG solves for accelerations",
        format!("{:e}", Orders::default().cg_tol)))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cg_tol: Option<f64>,
    #[arg(long, value_name = "N", help = or("Maximum number of CG iterations", Orders::default().cg_max))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cg_max: Option<usize>,
    #[arg(long, value_name = "E", help = or("Total energy of the Sedov problem in the whole space", E0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e0: Option<f64>,
    /// Write checkpoints to this file, also when stopped; `hydro restart` continues from it
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing)]
    pub checkpoint: Option<PathBuf>,
    #[arg(long, value_name = "N", help = or("Steps between checkpoints", EVERY))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<usize>,
    /// Write time, time step and energies of every step
    #[arg(long, value_name = "FILE.csv")]
    #[serde(skip_serializing)]
    pub history: Option<PathBuf>,
    /// Write the fields for ParaView into this folder: fields_*.vtu and run.pvd
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip_serializing)]
    pub vtu: Option<PathBuf>,
    #[arg(long, value_name = "N", help = or("Number of snapshots of the fields, after the initial one", SNAPSHOTS))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshots: Option<usize>,
    /// Draw a field of the final state: in 1D over x, in 2D on its mesh, in 3D on planes and the outer faces
    #[arg(long, value_name = "FILE.png|.svg|.pdf")]
    #[serde(skip_serializing)]
    pub png: Option<PathBuf>,
    #[command(flatten)]
    #[serde(skip)]
    pub figures: FigureSettings,
    /// Write the final fields over the radius as CSV, and draw them as .radial.png, with the exact solution if known
    #[arg(long = "radial", value_name = "FILE.csv")]
    #[serde(skip_serializing)]
    pub profile_file: Option<PathBuf>,
    /// Number of ranks, as threads of this process, that share the zones; `mpirun -np N` starts them as processes
    #[arg(long, value_name = "N", value_parser = greenup_process::threads::parse)]
    #[serde(skip)]
    pub ranks: Option<usize>,
    /// How a mesh from a file is dealt out to ranks
    #[arg(long, value_enum, default_value_t, value_name = "METHOD")]
    #[serde(skip)]
    pub partition: Method,
    /// Sum without rounding: the same digits on any number of ranks
    #[arg(long)]
    #[serde(skip)]
    pub reproducible: bool,
    /// Number of threads of all ranks of this process [default: all cores, shared by the ranks of a host]
    #[arg(long, value_name = "N", value_parser = greenup_process::threads::parse)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
    /// Mark of the run, which its outputs carry.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
}

/// Devices that a run can use.
pub const DEVICES: Usable = Usable::SEVERAL_OR_SHARED;
/// Endings of mesh files.
const MESH_FILES: [&str; 2] = [".mesh", ".msh"];
/// Maximum CFL number: longer steps are unstable in each problem.
const MAX_CFL: f64 = 10.0;
/// Maximum number of snapshots.
const MAX_SNAPSHOTS: usize = 100_000;

/// Settings that a checkpoint stores: what a restart takes from it where flags name no other.
macro_rules! remembered {
    ($($field:ident)*) => {
        /// Ids of the flags that a checkpoint remembers.
        pub const REMEMBERED: &[&str] = &[$(stringify!($field)),*];

        impl Settings {
            /// Completes the settings from those of a checkpoint.
            pub fn fill(&mut self, from: Self) {
                let to = self;
                fill!(to, from: $($field)* mark);
            }
        }
    };
}

/// Takes fields from other settings where these have none.
macro_rules! fill {
    ($to:ident, $from:ident: $($field:ident)*) => {
        $(if $to.$field.is_none() { $to.$field = $from.$field; })*
    };
}

remembered!(problem mesh refine t_final order energy_order ode assembly device kernels share period cfl cg_tol cg_max e0
            every snapshots threads);

impl Settings {
    /// The problem, and the settings completed by its file and its defaults.
    ///
    /// # Errors
    /// The problem does not exist, or its file has unknown keys or invalid values.
    pub fn resolved(&self) -> Result<(Problem, Self)> {
        let name = self.problem();
        let problem = Problem::of(name)?;
        let mut out = self.clone();
        if let Some(user) = problem.user() {
            let run: Self = user
                .run
                .clone()
                .try_into()
                .map_err(|e| AppError::new(format!("{name}: [run]: {e}")))?;
            run.check_table(name)?;
            run.only_with_effect(&problem)
                .map_err(|e| AppError::new(format!("{name}: [run]: {}", e.message)))?;
            let run = if self.mesh.is_none() {
                run.of_folder(name)?
            } else {
                run
            };
            out.profile |= run.profile;
            out.tune |= run.tune;
            fill!(out, run: mesh refine t_final steps order energy_order ode assembly device kernels share period cfl
                  cg_tol cg_max e0 every snapshots threads);
        }
        let defaults = problem.defaults();
        out.problem = Some(name.to_owned());
        let mesh = out.mesh.get_or_insert_with(|| defaults.mesh.to_owned());
        let refine = if mesh == defaults.mesh {
            defaults.refine
        } else {
            Defaults::REFINE
        };
        out.refine.get_or_insert(refine);
        out.t_final.get_or_insert(defaults.t_final);
        let order = *out.order.get_or_insert(defaults.order);
        out.energy_order.get_or_insert(order.saturating_sub(1));
        let (o, ode, e0) = (out.orders(), out.ode(), out.e0());
        self.on(&out).only_with_effect(&problem)?;
        out.ode.get_or_insert(ode);
        out.cfl.get_or_insert(o.cfl);
        out.cg_tol.get_or_insert(o.cg_tol);
        out.cg_max.get_or_insert(o.cg_max);
        if problem.point_energy(1.0) != problem.point_energy(2.0) {
            out.e0.get_or_insert(e0);
        }
        out.check()?;
        Ok((problem, out))
    }

    /// With the mesh file of the table `[run]` from the folder of the problem file `name`.
    ///
    /// # Errors
    /// There is no such file.
    fn of_folder(mut self, name: &str) -> Result<Self> {
        let folder = Path::new(name).parent().unwrap_or(Path::new(""));
        let is_file = |m: &&String| MESH_FILES.iter().any(|e| m.ends_with(e));
        let Some(mesh) = self.mesh.as_ref().filter(is_file) else {
            return Ok(self);
        };
        let file = folder.join(mesh);
        if !file.exists() {
            let text = format!("{name}: [run]: mesh: there is no file {}", file.display());
            return Err(AppError::new(text)
                .hint("a path in a problem file is relative to the folder of that file"));
        }
        self.mesh = Some(file.to_string_lossy().into_owned());
        Ok(self)
    }

    /// Refuses keys of the table `[run]` that name files to write: those come from the user alone.
    fn check_table(&self, name: &str) -> Result {
        let problem = self.problem.as_ref().map(PathBuf::from);
        let mark = self.mark.as_ref().map(PathBuf::from);
        let named = |name| format!("use {}", setting(name));
        for (key, file, fix) in [
            ("checkpoint", &self.checkpoint, named("checkpoint")),
            ("history", &self.history, named("history")),
            ("vtu", &self.vtu, named("vtu")),
            ("png", &self.png, named("png")),
            ("profile_file", &self.profile_file, named("radial")),
            ("problem", &problem, "the file is the problem".to_owned()),
            ("mark", &mark, "runs mark themselves".to_owned()),
        ] {
            if file.is_some() {
                return Err(AppError::new(format!(
                    "{name}: [run]: `{key}`: a problem file names no outputs; {fix}"
                )));
            }
        }
        Ok(())
    }

    /// Checks the values.
    ///
    /// # Errors
    /// A value is invalid.
    pub fn check(&self) -> Result {
        for (name, x) in [
            ("t_final", self.t_final()),
            ("cfl", self.orders().cfl),
            ("cg_tol", self.orders().cg_tol),
            ("e0", self.e0()),
        ] {
            if !(x > 0.0 && x.is_finite()) {
                let given = setting(name).to(x);
                return Err(AppError::new(format!("{given}: it must be above 0")));
            }
        }
        for (name, n, max) in [
            ("refine", self.refine(), 12),
            ("snapshots", self.snapshots(), MAX_SNAPSHOTS),
        ] {
            if n > max {
                let given = setting(name).to(n);
                return Err(AppError::new(format!("{given}: at most {max}")));
            }
        }
        let Orders {
            cg_tol,
            cg_max,
            cfl,
            ..
        } = self.orders();
        if cfl > MAX_CFL {
            return Err(AppError::new(format!(
                "{}: at most {MAX_CFL}; explicit steps are stable up to about 1",
                setting("cfl").to(cfl)
            )));
        }
        if cg_tol >= 1.0 {
            return Err(AppError::new(format!(
                "{}: it must be below 1, as it is relative",
                setting("cg_tol").to(cg_tol)
            )));
        }
        if cg_max == 0 {
            let given = setting("cg_max").to(0);
            return Err(AppError::new(format!("{given}: at least 1")));
        }
        DEVICES.check(self.device())?;
        Ok(self.figures.check()?)
    }

    /// Whether figures are drawn, which need the state of the whole.
    pub fn draws(&self) -> bool {
        let f = &self.figures;
        let files = [
            &self.png,
            &self.profile_file,
            &f.line_out,
            &f.html,
            &f.animation,
        ];
        files.iter().any(|file| file.is_some())
    }

    /// Input files of the run, with the settings that name them.
    pub fn input_files(&self) -> Vec<(&'static str, &str)> {
        let file = |name: &&str, endings: &[&str]| endings.iter().any(|e| name.ends_with(e));
        let problem = self.problem.as_deref().filter(|p| file(p, &[".toml"]));
        let mesh = self.mesh.as_deref().filter(|m| file(m, &MESH_FILES));
        let problem = problem.map(|p| ("problem", p));
        problem
            .into_iter()
            .chain(mesh.map(|m| ("mesh", m)))
            .collect()
    }

    /// File of the figure of the profile.
    pub fn profile_drawing(&self) -> Option<PathBuf> {
        Some(self.profile_file.as_ref()?.with_extension("radial.png"))
    }

    /// The settings as flags and values.
    ///
    /// # Errors
    /// One cannot be written as JSON.
    pub fn flags(&self) -> Result<Vec<(String, String)>> {
        let all = serde_json::to_value(self)?;
        let all = all.as_object().into_iter().flatten();
        let one = |(name, value): (&String, &Value)| {
            let text = value.as_str().map(str::to_owned);
            let flag = format!("--{}", name.replace('_', "-"));
            (flag, text.unwrap_or_else(|| value.to_string()))
        };
        Ok(all.filter(|(name, _)| *name != "mark").map(one).collect())
    }

    pub fn problem(&self) -> &str {
        self.problem.as_deref().unwrap_or(PROBLEM)
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
        self.ode.unwrap_or_default()
    }

    pub fn e0(&self) -> f64 {
        self.e0.unwrap_or(E0)
    }

    /// Steps of a period of tuning and of load balancing.
    pub fn period(&self) -> usize {
        self.period.unwrap_or(PERIOD).max(1)
    }

    pub fn every(&self) -> usize {
        self.every.unwrap_or(EVERY).max(1)
    }

    pub fn snapshots(&self) -> usize {
        self.snapshots.unwrap_or(SNAPSHOTS).max(1)
    }

    /// Time between snapshots.
    pub fn snapshots_every(&self) -> f64 {
        self.t_final() / self.snapshots() as f64
    }

    pub fn device(&self) -> &DeviceSpec {
        self.device.as_ref().unwrap_or(&DeviceSpec::Cpu)
    }

    /// Whether the run uses full assembly.
    pub fn is_full(&self, shape: Shape) -> bool {
        match self.assembly {
            Some(kind) => kind == Assembly::Full,
            None => !shape.tensor(),
        }
    }

    pub fn orders(&self) -> Orders {
        let usual = Orders::default();
        let kinematic = self.order.unwrap_or(usual.kinematic);
        Orders {
            kinematic,
            energy: self.energy_order.unwrap_or(kinematic.saturating_sub(1)),
            cg_tol: self.cg_tol.unwrap_or(usual.cg_tol),
            cg_max: self.cg_max.unwrap_or(usual.cg_max),
            cfl: self.cfl.unwrap_or(usual.cfl),
        }
    }
}
