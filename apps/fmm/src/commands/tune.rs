//! `fmm tune`: points of a box and the way of V lists, chosen together.

use super::device::{engine, measured, meter};
use super::input::{Input, Loaded, RealName};
use super::{go_on, say, time};
use clap::Args;
use greenup_fmm::FmmError;
use greenup_fmm::operators::FINEST;
use greenup_fmm::plan::{M2l, Plan};
use greenup_fmm::real::Real;
use greenup_report::si::si;
use serde::Serialize;

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
    /// Print all as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    q: usize,
    m2l: M2l,
    seconds: f64,
    joules: Option<f64>,
    /// Shares of points against points, and of V lists.
    direct_s: f64,
    far_s: f64,
}

impl Row {
    fn way(&self) -> String {
        format!("{:?}", self.m2l).to_lowercase()
    }

    fn text(&self) -> String {
        let joules = self.joules.map_or_else(|| "-".to_owned(), |j| si(j, "J"));
        format!(
            "{:<10} {:>5} {:>9} {joules:>9} {:>9} {:>9}",
            self.way(),
            self.q,
            time(self.seconds),
            time(self.direct_s),
            time(self.far_s)
        )
    }
}

pub fn run(args: &TuneArgs) -> Result<(), FmmError> {
    args.input.pool()?;
    let loaded = args.input.load()?;
    match args.input.real {
        RealName::F32 => of::<f32>(args, &loaded),
        RealName::F64 => of::<f64>(args, &loaded),
    }
}

fn of<R: Real>(args: &TuneArgs, l: &Loaded) -> Result<(), FmmError> {
    let gpu = args.input.gpu()?;
    let mut meter = meter(gpu)?;
    let mut rows = Vec::new();
    if !args.json {
        say("m2l            q      time    energy    direct       far");
    }
    for m2l in [M2l::Fft, M2l::Compressed] {
        if m2l == M2l::Compressed && (gpu.is_some() || args.input.accuracy < FINEST) {
            continue;
        }
        for &q in &args.q {
            go_on()?;
            let plan = Plan::<R>::new(&l.sources, l.targets.as_ref(), &args.input.options(q, m2l))?;
            let (mut engine, _) = engine(&plan, gpu, "")?;
            engine.evaluate(&l.charges)?;
            let m = measured(&mut meter, &mut *engine)?;
            engine.evaluate(&l.charges)?;
            let p = engine.phases();
            let row = Row {
                q,
                m2l,
                seconds: m.time_s.median,
                joules: m.energy_j.map(|e| e.median),
                direct_s: p.direct_s,
                far_s: p.forward_s + p.product_s + p.back_s,
            };
            // At once, so that nothing is lost where somebody does not wait for the end.
            if !args.json {
                say(&row.text());
            }
            rows.push(row);
        }
    }
    if args.json {
        let text = serde_json::to_string_pretty(&rows).map_err(|e| FmmError(e.to_string()))?;
        say(&text);
        return Ok(());
    }
    if let Some(best) = rows.iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)) {
        say(&format!("fastest:  --q {} --m2l {}", best.q, best.way()));
    }
    let with = rows.iter().filter_map(|r| r.joules.map(|j| (j, r)));
    if let Some((_, best)) = with.min_by(|a, b| a.0.total_cmp(&b.0)) {
        say(&format!("greenest: --q {} --m2l {}", best.q, best.way()));
    }
    Ok(())
}
