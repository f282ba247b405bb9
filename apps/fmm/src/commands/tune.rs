//! `fmm tune`: ncrit and the M2L method, chosen together.

mod row;

use super::input::{Input, Loaded, PrecisionArg};
use super::measure::{measured, meter};
use super::{check_interrupt, drawing, tune_figure, wisdom};
use crate::operators::FINEST;
use crate::options::M2l;
use crate::plan::Plan;
use crate::precision::Real;
use crate::session::engines::engine;
use clap::Args;
use greenup_app::args::{DeviceArg, FigureArgs};
use greenup_app::output::Output;
use greenup_app::{Result, print};
use greenup_report::provenance::Provenance;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

pub use row::MeasuredSetting;
use row::Repetition;

/// Evaluations of a setting whose parts are timed.
const REPETITIONS: usize = 3;

#[derive(Args)]
#[command(after_help = "Example:\n  fmm tune -n 1000000 -a 1e-4 --figure ncrit.html")]
pub struct TuneArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    device: DeviceArg,
    /// Values of ncrit (maximum number of points per leaf) to try
    #[arg(
        long,
        value_name = "N,...",
        value_delimiter = ',',
        default_value = "16,32,64,96,128,192,256,384,512,1024"
    )]
    ncrit: Vec<usize>,
    /// Draw time and energy over ncrit: an HTML page or a figure
    #[arg(long, value_name = "FILE.html|.svg|.png|.pdf")]
    figure: Option<PathBuf>,
    /// Print the measurements as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: FigureArgs,
}

pub fn run(args: &TuneArgs) -> Result {
    args.input.threads.start()?;
    let mut outputs = args.input.check_output(None)?;
    let figure = drawing::check(&mut outputs, args.figure.as_deref())?;
    let loaded = args.input.load()?;
    match args.input.precision {
        PrecisionArg::F32 => tune_in::<f32>(args, &loaded, figure.as_ref()),
        PrecisionArg::F64 => tune_in::<f64>(args, &loaded, figure.as_ref()),
    }
}

fn tune_in<R: Real>(args: &TuneArgs, l: &Loaded, figure: Option<&Output>) -> Result {
    let mut provenance = Provenance::of_process().seeded(Some(args.input.seed));
    let begin = Instant::now();
    let device = &args.device.device;
    let mut meter = meter(device)?;
    let mut rows = Vec::new();
    if !args.json {
        print::line("m2l        ncrit      time    energy       P2P       M2L");
    }
    for m2l in [M2l::Fft, M2l::Compressed] {
        if m2l == M2l::Compressed && (device.gpu().is_some() || args.input.accuracy() < FINEST) {
            continue;
        }
        for &ncrit in &args.ncrit {
            check_interrupt()?;
            let options = args.input.options(ncrit, m2l);
            let plan = Plan::<R>::new(&l.sources, l.targets.as_ref(), &options)?;
            let (mut engine, _) = engine(Arc::new(plan), device, "")?;
            engine.evaluate(&l.charges)?;
            let m = measured(&mut meter, &mut *engine)?;
            let mut repetitions = Vec::new();
            for _ in 0..REPETITIONS {
                let start = Instant::now();
                engine.evaluate(&l.charges)?;
                let whole_s = start.elapsed().as_secs_f64();
                repetitions.push(Repetition::new(whole_s, engine.phases()));
            }
            let near = Repetition::nearest(&repetitions, m.time_s.median);
            let row = MeasuredSetting {
                ncrit,
                m2l,
                time_s: m.time_s.median,
                energy_j: m.energy_j.map(|e| e.median),
                p2p_s: near.p2p_s,
                m2l_s: near.m2l_s,
                other_s: near.other_s,
            };
            // At once, so that nothing is lost if the command is stopped.
            if !args.json {
                print::line(row.text());
            }
            rows.push(row);
        }
    }
    provenance.took("measurements", begin.elapsed().as_secs_f64());
    if let Some(to) = figure {
        tune_figure::drawing(&rows).write(to, &args.look.look(), &provenance)?;
    }
    let points = l.sources.len();
    if args.json {
        print::json(&json!({"provenance": provenance, "rows": rows}))?;
        return wisdom::keep(&args.input, device, points, &rows);
    }
    let show = |name: &str, row: &MeasuredSetting| {
        print::line(format!(
            "{name:<15} --ncrit {} --m2l {}",
            row.ncrit,
            row.method()
        ));
    };
    if let Some(best) = rows.iter().min_by(|a, b| a.time_s.total_cmp(&b.time_s)) {
        show("fastest:", best);
    }
    let with = rows.iter().filter_map(|r| r.energy_j.map(|j| (j, r)));
    if let Some((_, best)) = with.min_by(|a, b| a.0.total_cmp(&b.0)) {
        show("lowest energy:", best);
    }
    wisdom::keep(&args.input, device, points, &rows)
}
