//! Flags of the figures of a run.

use crate::HydroError;
use crate::mesh::Bounds;
use crate::output::{Field, Line, MeshLines, Region, Slice, Surface, View, drawable};
use crate::session::help::{name, or};
use clap::Args;
use greenup_app::args::FigureArgs;
use greenup_setting::setting;
use std::path::PathBuf;

/// Frames of an animation after the first, unless the user says how many.
const FRAMES: u64 = 50;
/// Most frames of an animation.
const MAX_FRAMES: u64 = 500;

/// What figures show and where they go; none of it is in checkpoints.
#[derive(Args, Clone, Debug, Default)]
pub struct FigureSettings {
    #[arg(long, value_enum, help = or("Field of --png and --animation", name(&Field::default())))]
    pub field: Option<Field>,
    /// Logarithmic colours; in 1D a logarithmic axis
    #[arg(long)]
    pub log_color: bool,
    /// Values of the first and the last colour [default: the least and the greatest value]
    #[arg(long, value_name = "LO:HI", allow_hyphen_values = true, value_parser = color_range)]
    pub color_range: Option<(f64, f64)>,
    /// Edges of the zones in pictures; auto draws them if zones are wide enough
    #[arg(long, value_enum, default_value_t)]
    pub mesh_lines: MeshLines,
    /// Plane through a 3D mesh, e.g. z=0.5 (repeatable) [default: three planes, one of those that look alike, and the outer faces]
    #[arg(long = "slice", value_name = "AXIS=VALUE")]
    pub slices: Vec<Slice>,
    /// Draw the outer faces of a 3D mesh alone, with light, as one picture
    #[arg(long, conflicts_with = "slices")]
    pub surface: bool,
    /// Mirror the surface at x = 0, y = 0 and z = 0, without the eighth before the viewer
    #[arg(long, requires = "surface")]
    pub mirror: bool,
    /// Zones of the surface: an expression of x, y, z and r at their centres, e.g. "r < 0.8" [default: all]
    #[arg(
        long,
        requires = "surface",
        value_name = "EXPRESSION",
        allow_hyphen_values = true
    )]
    pub only: Option<Region>,
    /// Line of --line-out, e.g. x=0:1,y=0.5 (repeatable); a coordinate without a value is 0 [default: along x through
    /// the middle]
    #[arg(long = "line", value_name = "x=FROM:TO,y=VALUE,...")]
    pub lines: Vec<Line>,
    /// Write the final fields along lines as CSV, and draw them as .line.png, with the exact solution if known
    #[arg(long, value_name = "FILE.csv")]
    pub line_out: Option<PathBuf>,
    /// Draw the run as an animation with one range of colours; .gif and .mp4 need ffmpeg
    #[arg(long, value_name = "FILE.png|.gif|.mp4")]
    pub animation: Option<PathBuf>,
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MAX_FRAMES),
        help = or("Frames of --animation after the initial one", FRAMES))]
    pub animation_frames: Option<u64>,
    /// Write an HTML page of the run: picture, line-outs, exact solution, settings
    #[arg(long, value_name = "FILE.html")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub look: FigureArgs,
}

fn color_range(text: &str) -> std::result::Result<(f64, f64), String> {
    let ends = text.split_once(':').and_then(|(a, b)| {
        let number = |t: &str| t.trim().parse().ok().filter(|v: &f64| v.is_finite());
        Some((number(a)?, number(b)?))
    });
    ends.filter(|(a, b)| a < b)
        .ok_or_else(|| "use LO:HI with LO below HI, e.g. 0.1:4".into())
}

impl FigureSettings {
    /// What pictures show.
    pub fn view(&self, e0: f64) -> View {
        View {
            field: self.field.unwrap_or_default(),
            log: self.log_color,
            range: self.color_range,
            mesh_lines: self.mesh_lines,
            slices: self.slices.clone(),
            surface: self.shown_surface(),
            e0,
        }
    }

    fn shown_surface(&self) -> Option<Surface> {
        self.surface.then(|| Surface {
            mirror: self.mirror,
            only: self.only.clone(),
        })
    }

    /// File of the figure of the line-outs.
    pub fn line_drawing(&self) -> Option<PathBuf> {
        Some(self.line_out.as_ref()?.with_extension("line.png"))
    }

    /// Number of frames after the initial one.
    pub fn frames(&self) -> usize {
        self.animation_frames.unwrap_or(FRAMES) as usize
    }

    /// Checks the settings by themselves.
    ///
    /// # Errors
    /// Logarithmic colours begin at or below zero.
    pub fn check(&self) -> std::result::Result<(), HydroError> {
        match self.color_range {
            Some((lo, hi)) if self.log_color && lo <= 0.0 => Err(HydroError::Output(format!(
                "{}: logarithmic colours begin above 0",
                setting("color_range").to(format_args!("{lo}:{hi}"))
            ))),
            _ => Ok(()),
        }
    }

    /// Checks what is to be drawn of a mesh.
    ///
    /// # Errors
    /// A plane or a line is not in it.
    pub fn check_mesh(&self, mesh: &Bounds) -> std::result::Result<(), HydroError> {
        drawable(mesh, &self.slices, self.shown_surface().as_ref())?;
        self.lines.iter().try_for_each(|l| l.check(mesh))
    }
}
