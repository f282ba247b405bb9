//! `gisaxs mesh`.

use super::summary;
use crate::mesh::{Bicontinuous, ENDINGS};
use clap::{Args, Subcommand};
use greenup_app::Result;
use greenup_app::args::ThreadsArg;
use greenup_app::print::lossy;
use greenup_files::Outputs;
use greenup_files::outputs::ending;
use greenup_report::provenance::Provenance;
use serde_json::json;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
#[command(
    after_help = "Example:\n  gisaxs mesh bicontinuous --triangles 5e4 --size 80 80 80 -o blend.stl"
)]
pub struct MeshArgs {
    #[command(subcommand)]
    shape: MeshShape,
}

#[derive(Subcommand)]
enum MeshShape {
    /// A bicontinuous blend of two phases in a box, such as the active layer of a polymer solar cell. Its surface is where a
    /// random sum of plane waves of one wavelength crosses a level, closed by the faces of the box
    Bicontinuous(BicontinuousArgs),
}

#[derive(Args)]
#[command(
    after_help = "Example:\n  gisaxs mesh bicontinuous --triangles 5e4 --size 80 80 80 -o blend.stl"
)]
struct BicontinuousArgs {
    /// Number of triangles, within a few per cent; up to 1e7
    #[arg(long, value_name = "N", value_parser = count)]
    triangles: usize,
    /// Edges of the box along x, y and z, nm; x = y = 0 is its middle, z = 0 its base
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], default_values_t = Bicontinuous::default().size)]
    size: Vec<f64>,
    /// Wavelength of all waves, nm: the distance from a domain to the next
    #[arg(long, value_name = "NM", default_value_t = Bicontinuous::default().wavelength)]
    wavelength: f64,
    /// Volume fraction of the phase that the surface bounds
    #[arg(long, value_name = "SHARE", default_value_t = Bicontinuous::default().fraction)]
    fraction: f64,
    /// Number of plane waves
    #[arg(long, value_name = "N", default_value_t = Bicontinuous::default().waves)]
    waves: usize,
    /// Seed of their directions and phases
    #[arg(long, value_name = "N", default_value_t = Bicontinuous::default().seed)]
    seed: u64,
    #[command(flatten)]
    threads: ThreadsArg,
    /// Output file: stl or ply (binary, single precision), or obj (text)
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// A whole number, also as 7.5e6.
fn count(text: &str) -> std::result::Result<usize, String> {
    let n: f64 = text.parse().unwrap_or(0.0);
    if (1.0..=1e15).contains(&n) && n.fract() == 0.0 {
        Ok(n as usize)
    } else {
        Err("use a positive whole number, such as 200000 or 7.5e6".into())
    }
}

pub fn mesh(args: &MeshArgs) -> Result {
    let MeshShape::Bicontinuous(args) = &args.shape;
    let mut provenance = Provenance::of_process();
    Outputs::new().file(&args.out, &ENDINGS)?;
    let format = ending(&args.out, &ENDINGS)?;
    args.threads.start()?;
    let start = Instant::now();
    let blend = Bicontinuous {
        size: [args.size[0], args.size[1], args.size[2]],
        wavelength: args.wavelength,
        fraction: args.fraction,
        waves: args.waves,
        seed: args.seed,
    };
    let mesh = blend.mesh(args.triangles)?;
    mesh.check()?;
    let seconds = start.elapsed().as_secs_f64();
    provenance.took("mesh", seconds);
    greenup_files::write_by(&args.out, |file| {
        let mut to = BufWriter::new(file);
        mesh.write(&format, &mut to)?;
        to.flush()
    })?;
    let volume = mesh.volume();
    let fraction = volume / blend.size.iter().product::<f64>();
    let (triangles, vertices) = (mesh.triangles.len(), mesh.vertices.len());
    summary(
        args.json,
        &json!({
            "triangles": triangles, "vertices": vertices, "area": mesh.area(), "volume": volume, "fraction": fraction,
            "seconds": seconds, "file": lossy(&args.out), "provenance": provenance,
        }),
        &format!(
            "{triangles} triangles, closed; volume {volume:.6} nm³ ({:.2} % of the box), {seconds:.1} s: {}",
            100.0 * fraction,
            args.out.display()
        ),
    );
    Ok(())
}
