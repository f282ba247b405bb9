//! `greenup replay`.

mod many;
mod request;
mod steered;
mod table;

use crate::args::ReplayArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::print;
use greenup_report::provenance::Provenance;
use greenup_report::si::{si, three};
use greenup_report::table::Columns;
use greenup_report::text;
use greenup_study::pages::replay::{Repeated, figure, page};
use greenup_tune::replay::{Replay, Step};
use greenup_tune::search::Budget;
use greenup_tune::sweep::metric::own_value;
use greenup_tune::{Objective, Sweep};
use many::{Many, once, repeat};
use request::{ENDINGS, aimed, outputs};
use serde::Serialize;
use serde_json::json;
use std::time::Instant;

#[derive(Serialize)]
struct ReplayJson<'a> {
    recorded: String,
    strategy: &'a str,
    objective: String,
    seed: u64,
    #[serde(flatten)]
    found: &'a Replay,
}

pub fn run(args: &ReplayArgs) -> Result {
    let (recorded, budget) = match (args.recorded.as_slice(), args.budget.as_slice()) {
        ([recorded], [budget]) => (recorded, *budget),
        _ => return table::run(args),
    };
    let mut from = Provenance::of_process().seeded(Some(args.seed));
    let start = Instant::now();
    let to = outputs(args, &ENDINGS)?;
    let sweep = aimed(args, table::recorded(recorded)?)?;
    if let ([name], 1, None) = (args.strategy.as_slice(), args.seeds, &to) {
        return single(args, &sweep, budget, name);
    }
    let mut all: Vec<Repeated> = Vec::new();
    for name in &args.strategy {
        if !all.iter().any(|r| r.strategy == *name) {
            all.push(repeat(args, &sweep, budget, name)?);
        }
    }
    from.took("replay", start.elapsed().as_secs_f64());
    if let Some(to) = &to {
        draw(args, &sweep, &all, &from, to)?;
    }
    let found: Vec<Many> = all.iter().map(|r| Many::of(args, r)).collect();
    if args.json {
        return match found.as_slice() {
            [one] => print::json(one),
            several => print::json(&json!({ "strategies": several })),
        };
    }
    if !to.is_some_and(|to| to.is_stdout()) {
        for one in &found {
            print::line(one.sentence(&sweep));
        }
    }
    Ok(())
}

/// A value of the objective in its unit.
fn in_unit(sweep: &Sweep, objective: Objective, value: f64) -> String {
    let work = if sweep.facts.flops.is_some() {
        "flop/J"
    } else {
        "runs/J"
    };
    match objective {
        Objective::Time | Objective::TimeUnderPower(_) => si(value, "s"),
        Objective::Energy | Objective::EnergyUnderTime(_) => si(value, "J"),
        Objective::Edp => si(value, "J s"),
        Objective::Ed2p => si(value, "J s²"),
        Objective::FlopsPerWatt => si(1.0 / value, work),
        Objective::Weighted(_) => three(value),
        Objective::Metric(_) => three(own_value(value, sweep.facts.goal)),
    }
}

fn draw(
    args: &ReplayArgs,
    sweep: &Sweep,
    all: &[Repeated],
    from: &Provenance,
    to: &Output,
) -> Result {
    let objective = args.objective[0].to_string();
    if to.has_ending("html") || to.has_ending("htm") || to.is_stdout() {
        let mut page = page(sweep, &objective, all);
        page.provenance = from.facts();
        to.write(page.render()?.as_bytes())?;
        to.print_name();
        return Ok(());
    }
    let mut chart = figure(sweep, &objective, all);
    chart.origin = from.pairs();
    to.write_chart(&chart, &args.look.look())
}

/// One strategy once, with its trace.
fn single(args: &ReplayArgs, sweep: &Sweep, budget: Budget, name: &str) -> Result {
    let found = once(args, sweep, budget, (name, args.seed))?;
    if args.json {
        return print::json(&ReplayJson {
            recorded: args.recorded[0].display().to_string(),
            strategy: name,
            objective: args.objective[0].to_string(),
            seed: args.seed,
            found: &found,
        });
    }
    print::line(format!(
        "{}: {} configs on {}, {} evaluated by `{}`, {} failed; {} simulated",
        print::bold(&sweep.facts.name),
        sweep.trials.len(),
        sweep.facts.device,
        found.evaluations,
        name,
        found.failures,
        si(found.clock_s, "s")
    ));
    let Some(best) = &found.best else {
        let why = match args.objective[0] {
            Objective::TimeUnderPower(_) | Objective::EnergyUnderTime(_) => {
                "every trial failed or is beyond the bound: nothing was found"
            }
            _ => "every trial failed: nothing was found",
        };
        return Err(AppError::new(why).hint("give a larger --budget, or another --seed"));
    };
    let config = text::named(sweep.facts.parameters.iter().zip(&best.config));
    print::line(format!(
        "best {} = {} after {} evaluations, {:.2} % of the optimum of the recording",
        args.objective[0],
        in_unit(sweep, args.objective[0], best.value),
        best.evaluation,
        100.0 * found.fraction
    ));
    print::line(format!("  {}", config));
    let columns = Columns::<Step>::new()
        .text("evaluation", "", |s| s.evaluation.to_string())
        .si("clock", "", "s", |s| s.clock_s)
        .text("value", "", |s| in_unit(sweep, args.objective[0], s.value))
        .text("of optimum", "", |s| {
            format!("{:.2} %", 100.0 * found.optimum / s.value)
        });
    print::line("");
    print::table(&columns.table("", &found.trace));
    Ok(())
}
