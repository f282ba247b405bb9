//! `fmm tune`: points of a box and the way of V lists, chosen together.

use super::input::{Input, Loaded, RealName};
use super::say;
use clap::Args;
use greenup_fmm::FmmError;
use greenup_fmm::cpu::Cpu;
use greenup_fmm::operators::compressed::FINEST;
use greenup_fmm::plan::{M2l, Plan};
use greenup_fmm::real::Real;
use serde::Serialize;
use std::time::Instant;

#[derive(Args)]
pub struct TuneArgs {
    #[command(flatten)]
    input: Input,
    /// Most points of a box
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "16,32,64,96,128,192,256,384,512,1024"
    )]
    q: Vec<usize>,
    /// Evaluations of each; the median counts
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Print all as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    q: usize,
    m2l: M2l,
    seconds: f64,
    /// Shares of points against points, and of V lists.
    direct_s: f64,
    far_s: f64,
}

pub fn run(args: &TuneArgs) -> Result<(), FmmError> {
    args.input.pool();
    let loaded = args.input.load()?;
    match args.input.real {
        RealName::F32 => of::<f32>(args, &loaded),
        RealName::F64 => of::<f64>(args, &loaded),
    }
}

fn of<R: Real>(args: &TuneArgs, l: &Loaded) -> Result<(), FmmError> {
    let mut rows = Vec::new();
    for m2l in [M2l::Fft, M2l::Compressed] {
        if m2l == M2l::Compressed && args.input.accuracy < FINEST {
            continue;
        }
        for &q in &args.q {
            let plan = Plan::<R>::new(&l.sources, l.targets.as_ref(), &args.input.options(q, m2l))?;
            let mut engine = Cpu::new(&plan);
            engine.evaluate(&l.charges)?;
            let mut all = Vec::new();
            for _ in 0..args.repeat.max(1) {
                let t = Instant::now();
                engine.evaluate(&l.charges)?;
                let p = engine.phases;
                all.push((
                    t.elapsed().as_secs_f64(),
                    p.direct_s,
                    p.forward_s + p.product_s + p.back_s,
                ));
            }
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (seconds, direct_s, far_s) = all[all.len() / 2];
            rows.push(Row {
                q,
                m2l,
                seconds,
                direct_s,
                far_s,
            });
        }
    }
    if args.json {
        let text = serde_json::to_string_pretty(&rows).map_err(|e| FmmError(e.to_string()))?;
        say(&text);
        return Ok(());
    }
    say("m2l            q   seconds    direct       far");
    for r in &rows {
        say(&format!(
            "{:<10} {:>5} {:>9.4} {:>9.4} {:>9.4}",
            format!("{:?}", r.m2l).to_lowercase(),
            r.q,
            r.seconds,
            r.direct_s,
            r.far_s
        ));
    }
    if let Some(best) = rows.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)) {
        say(&format!(
            "fastest: --q {} --m2l {}",
            best.q,
            format!("{:?}", best.m2l).to_lowercase()
        ));
    }
    Ok(())
}
