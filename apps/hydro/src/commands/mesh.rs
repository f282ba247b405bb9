//! `hydro mesh`: drawings of plane meshes, as in figures 2, 8 and 9 of the BLAST paper.

use crate::HydroError;
use crate::engine::State;
use crate::hydro::Hydro;
use crate::mesh::Mesh;
use crate::output::mesh_view::{degrees_of_freedom, parts, plane, shared};
use crate::session::checks::no_effect;
use crate::session::prepare::engine;
use crate::session::settings::Settings;
use crate::time::stepping::Clock;
use clap::{Args, ValueEnum};
use greenup_app::args::FigureArgs;
use greenup_app::output::{FIGURES, Output};
use greenup_app::{AppError, Result, interrupt};
use greenup_device::DeviceSpec;
use greenup_files::Outputs;
use greenup_report::mesh_figure::MeshFigure;
use greenup_report::provenance::Provenance;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  hydro mesh -o dofs.png\n  hydro mesh --show parts --mesh square01_quad --refine 2 --ranks 4 -o parts.svg"
)]
pub struct MeshArgs {
    /// What is drawn
    #[arg(long, value_enum, default_value_t)]
    show: Show,
    /// Problem that moves the mesh, as in `hydro run` [default: 0]
    #[arg(long, value_name = "N|NAME|FILE")]
    problem: Option<String>,
    /// Mesh in 2D, as in `hydro run`
    #[arg(long, value_name = "NAME|FILE", default_value = "2x2")]
    mesh: String,
    /// Number of uniform refinements; `parts` draws each of them
    #[arg(long, value_name = "N", default_value_t = 0)]
    refine: usize,
    /// Orders of the kinematic space, a drawing each with `dofs`; `shared` draws the first [default: 1,2,3]
    #[arg(long, value_name = "K,...", value_delimiter = ',')]
    orders: Vec<usize>,
    /// Time until which `dofs` moves the mesh [default: 0]
    #[arg(long, value_name = "T")]
    t_final: Option<f64>,
    /// Number of ranks of `parts` and `shared` [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    ranks: Option<u32>,
    /// Rank that `shared` draws [default: 1]
    #[arg(long, value_name = "N")]
    rank: Option<usize>,
    /// Figure, or the drawing as JSON
    #[arg(
        short,
        long,
        value_name = "FILE.svg|.png|.pdf|.json",
        default_value = "mesh.png"
    )]
    out: PathBuf,
    #[command(flatten)]
    look: FigureArgs,
}

/// What is drawn of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Show {
    /// Zones with the degrees of freedom of velocities and energies, for each order
    #[default]
    Dofs,
    /// Zones by rank, for each refinement
    Parts,
    /// Zones of a rank, the nodes that it shares, and the groups of ranks that share them
    Shared,
}

impl MeshArgs {
    fn orders(&self) -> &[usize] {
        match &self.orders[..] {
            [] => &[1, 2, 3],
            all => all,
        }
    }

    fn t_final(&self) -> f64 {
        self.t_final.unwrap_or(0.0)
    }

    fn ranks(&self) -> usize {
        self.ranks.unwrap_or(4) as usize
    }

    /// Refuses flags that change nothing of the drawing.
    fn only_with_effect(&self) -> Result {
        let (dofs, parts) = (self.show == Show::Dofs, self.show == Show::Parts);
        let whole = "`dofs` draws the whole mesh; add --show parts or --show shared";
        let zones = "`parts` draws zones, at the start";
        let needs = [
            (self.ranks.is_some() && dofs, "ranks", whole),
            (self.rank.is_some() && dofs, "rank", whole),
            (
                self.rank.is_some() && parts,
                "rank",
                "`parts` draws all ranks; add --show shared",
            ),
            (!self.orders.is_empty() && parts, "orders", zones),
            (self.problem.is_some() && parts, "problem", zones),
            (
                self.t_final.is_some() && !dofs,
                "t_final",
                "only `dofs` moves the mesh",
            ),
        ];
        match needs.into_iter().find(|(without, ..)| *without) {
            Some((_, name, why)) => Err(no_effect(name, why)),
            None => Ok(()),
        }
    }
}

pub fn mesh(args: &MeshArgs) -> Result {
    args.only_with_effect()?;
    settings(args, 1).resolved()?;
    let t_final = args.t_final();
    if !(t_final >= 0.0 && t_final.is_finite()) {
        return Err(AppError::new(format!("--t-final {t_final}: 0 or more")));
    }
    opened(args, args.refine)?;
    let mut outputs = Outputs::new();
    let endings = [FIGURES[0], FIGURES[1], FIGURES[2], "json"];
    let out = Output::file(&mut outputs, &args.out, &endings)?;
    let provenance = Provenance::of_process();
    let figure = match args.show {
        Show::Dofs => dofs(args)?,
        Show::Parts => {
            let all = (0..=args.refine)
                .map(|n| Ok((n, opened(args, n)?)))
                .collect::<Result<Vec<_>>>()?;
            parts(&all, args.ranks())?
        }
        Show::Shared => {
            let order = args.orders().first().copied().unwrap_or(2);
            let (mesh, h, state) = start(args, order)?;
            shared(&mesh, (&h, &state), (args.ranks(), args.rank.unwrap_or(1)))?
        }
    };
    write(&out, &figure, &provenance, args)
}

/// Most zones of a drawing.
const MOST_ZONES: f64 = 1e6;

/// The mesh, if it is not too large to draw.
fn opened(args: &MeshArgs, refine: usize) -> std::result::Result<Mesh, HydroError> {
    Mesh::open_if(&args.mesh, refine, &mut |_, zones| {
        if zones <= MOST_ZONES {
            return Ok(());
        }
        Err(HydroError::Setting(format!(
            "{zones:.0} zones are too many for a drawing: at most {MOST_ZONES:.0}; use a smaller --refine"
        )))
    })
}

fn write(out: &Output, figure: &MeshFigure, provenance: &Provenance, args: &MeshArgs) -> Result {
    if out.has_ending("json") {
        let text = serde_json::to_vec(&json!({"provenance": provenance, "figure": figure}))?;
        out.write(&text)?;
        out.print_name();
        return Ok(());
    }
    let mut chart = figure.chart();
    chart.origin = provenance.pairs();
    out.write_chart(&chart, &args.look.look())
}

fn settings(args: &MeshArgs, order: usize) -> Settings {
    Settings {
        problem: Some(args.problem.clone().unwrap_or_else(|| "0".into())),
        mesh: Some(args.mesh.clone()),
        refine: Some(args.refine),
        order: Some(order),
        ..Settings::default()
    }
}

fn start(args: &MeshArgs, order: usize) -> Result<(Mesh, Hydro, State)> {
    let (problem, s) = settings(args, order).resolved()?;
    let mesh = opened(args, args.refine)?;
    plane(&mesh)?;
    let (h, state) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
    Ok((mesh, h, state))
}

fn dofs(args: &MeshArgs) -> Result<MeshFigure> {
    let mut states = Vec::new();
    for order in args.orders() {
        let (_, h, state) = start(args, *order)?;
        states.push(moved(args, h, state, *order)?);
    }
    let title = match args.t_final() {
        t if t > 0.0 => format!("Zones and degrees of freedom at t = {t}"),
        _ => "Zones and degrees of freedom".into(),
    };
    Ok(degrees_of_freedom(&title, &states))
}

/// The problem with its state at the final time.
fn moved(args: &MeshArgs, h: Hydro, state: State, order: usize) -> Result<(Arc<Hydro>, State)> {
    let h = Arc::new(h);
    if args.t_final() <= 0.0 {
        return Ok((h, state));
    }
    let mut by = engine(&h, &settings(args, order), &DeviceSpec::Cpu)?;
    let mut clock = Clock::new(by.start(&state)?, h.cfl)?;
    let until = (args.t_final(), None);
    clock.advance(
        &mut *by,
        h.cfl,
        until,
        interrupt::flag(),
        &mut |_, _| Ok(()),
    )?;
    let state = by.state()?;
    Ok((h, state))
}
