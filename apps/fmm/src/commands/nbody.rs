//! `fmm nbody`: gravity in time, with its energy.

use super::{go_on, note, say};
use clap::Args;
use greenup_app::interrupt;
use greenup_files::Outputs;
use greenup_fmm::FmmError;
use greenup_fmm::kernel::Kernel;
use greenup_fmm::memory;
use greenup_fmm::nbody::{Bodies, Energies};
use greenup_fmm::points::{Distribution, files, generate};
use greenup_report::scaling_figure::{Panel, Series, over_time};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write as _;
use std::path::PathBuf;

#[derive(Args)]
pub struct NbodyArgs {
    /// Bodies of equal masses that add up to 1; G is 1
    #[arg(short, long, default_value_t = 20_000)]
    n: usize,
    #[arg(long, value_enum, default_value = "cube")]
    distribution: Distribution,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long, default_value_t = 100)]
    steps: usize,
    #[arg(long, default_value_t = 1e-3)]
    dt: f64,
    /// Start on circles about the z axis, at this part of their speed
    #[arg(long, default_value_t = 0.7)]
    spin: f64,
    /// Relative L2 error of forces
    #[arg(short, long, default_value_t = 1e-5)]
    accuracy: f64,
    #[arg(short, long, default_value_t = 100)]
    q: usize,
    /// Energies over time: .csv or .png
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The bodies at the end: .csv, .npy or .vtu
    #[arg(long, value_name = "FILE")]
    bodies: Option<PathBuf>,
}

pub fn run(args: &NbodyArgs) -> Result<(), FmmError> {
    if !(args.dt.is_finite() && args.dt != 0.0) {
        return Err(FmmError(format!(
            "--dt {}: take a time step, such as 1e-3",
            args.dt
        )));
    }
    if args.n == 0 {
        return Err(FmmError("no bodies: take -n from 1 on".to_owned()));
    }
    let mut outputs = Outputs::new();
    if let Some(path) = &args.out {
        outputs.file(path, &["csv", "png"])?;
    }
    if let Some(path) = &args.bodies {
        outputs.file(path, &files::WRITTEN)?;
    }
    memory::check_points::<f64>(Kernel::Laplace, true, args.n, args.n)?;
    let mut places = generate(args.distribution, args.n, args.seed);
    for x in &mut places.x {
        let mean = x.iter().sum::<f64>() / x.len().max(1) as f64;
        x.iter_mut().for_each(|x| *x -= mean);
    }
    let mut bodies = Bodies::new(places, args.accuracy, args.q)?;
    bodies.spin(args.spin);
    let bar = ProgressBar::new(args.steps as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} step {pos}/{len}, {eta} left") {
        bar.set_style(style);
    }
    let mut all = vec![bodies.energies(0.0)];
    for step in 1..=args.steps {
        bodies.step(args.dt)?;
        all.push(bodies.energies(step as f64 * args.dt));
        bar.inc(1);
        if interrupt::requested() {
            note("stopped; what is done is kept");
            break;
        }
    }
    bar.finish_and_clear();
    let saving = interrupt::saving();
    keep(args, &bodies, &all)?;
    drop(saving);
    let (first, last) = (all[0], all[all.len() - 1]);
    let worst = all
        .iter()
        .map(|e| ((e.total() - first.total()) / first.total()).abs())
        .fold(0.0, f64::max);
    say(&format!(
        "{} bodies, {} steps to t = {:.4}: energy {:.9} to {:.9}, largest drift {worst:.2e}",
        args.n,
        all.len() - 1,
        last.t,
        first.total(),
        last.total()
    ));
    go_on()
}

fn keep(args: &NbodyArgs, bodies: &Bodies, all: &[Energies]) -> Result<(), FmmError> {
    if let Some(path) = &args.bodies {
        let numbers: Vec<f64> = bodies.velocities.iter().flatten().copied().collect();
        files::write(
            path,
            &bodies.places,
            &["velocity_x", "velocity_y", "velocity_z"],
            &numbers,
        )?;
        note(&format!("wrote {}", path.display()));
    }
    let Some(path) = &args.out else {
        return Ok(());
    };
    let bytes = match greenup_files::outputs::ending(path, &["csv", "png"])?.as_str() {
        "csv" => {
            let mut text = String::from("t,kinetic,potential,total\n");
            for e in all {
                let _ = writeln!(
                    text,
                    "{:e},{:e},{:e},{:e}",
                    e.t,
                    e.kinetic,
                    e.potential,
                    e.total()
                );
            }
            text.into_bytes()
        }
        _ => picture(all)?,
    };
    greenup_files::write(path, bytes)?;
    note(&format!("wrote {}", path.display()));
    Ok(())
}

fn picture(all: &[Energies]) -> Result<Vec<u8>, FmmError> {
    let first = all[0].total().abs();
    let series = |name: &str, value: &dyn Fn(&Energies) -> f64| Series {
        name: name.to_owned(),
        points: all
            .iter()
            .map(|e| (e.t, value(e), value(e), value(e)))
            .collect(),
    };
    let panels = [
        Panel {
            label: "energy".into(),
            unit: String::new(),
            series: vec![
                series("kinetic, or drift", &|e| e.kinetic),
                series("minus potential", &|e| -e.potential),
                series("minus total", &|e| -e.total()),
            ],
        },
        Panel {
            label: "relative drift".into(),
            unit: String::new(),
            series: vec![series("drift", &|e| {
                (e.total() - all[0].total()).abs() / first
            })],
        },
    ];
    let svg = over_time("energy of bodies over time", "time", &panels);
    greenup_report::png::png(&svg, 1.5).map_err(|e| FmmError(e.to_string()))
}
