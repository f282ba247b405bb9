//! `greenup roofline`.

use crate::args::RooflineArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::output::Output;
use greenup_app::{machine, print};
use greenup_calibrate::record;
use greenup_files::Outputs;
use greenup_model::{Machine, Op};
use greenup_report::provenance::Provenance;
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::Line;
use greenup_setting::shell::quoted;
use greenup_study::pages::comparison::{page, points};

pub fn run(args: &RooflineArgs) -> Result {
    let mut outputs = Outputs::new();
    let machines: Vec<Machine> = args
        .machine
        .iter()
        .map(|name| machine::input(name, &mut outputs))
        .collect::<std::result::Result<_, _>>()?;
    if let Some(path) = &args.sweep {
        outputs.input(path);
    }
    let endings = ["svg", "png", "pdf", "html", "htm"];
    let to = Output::new(&mut outputs, &args.out, &endings)?;
    let flop = match args.flop {
        Some(op) => op,
        None => [Op::F64, Op::F32]
            .into_iter()
            .find(|op| machines.iter().all(|m| m.time_of(*op).is_ok()))
            .ok_or_else(|| {
                AppError::new("these machines share no flop class").hint("name one with --flop")
            })?,
    };
    let (lo, hi) = args.intensity.span();
    if lo >= hi {
        return Err(
            AppError::new(format!("a range from {lo} to {hi} flop/B is empty"))
                .hint("give --intensity FROM:TO, like 0.0625:512"),
        );
    }
    let lines = machines
        .iter()
        .map(|m| Line::of(m, flop))
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let mut points = match &args.sweep {
        Some(path) => points(&record::read(path)?, flop),
        None => Vec::new(),
    };
    if args.sweep.is_some() && points.is_empty() {
        print::warn(format!(
            "no record of the sweep has both `{flop}` and `dram` counts at full occupancy"
        ));
    }
    // More than a few are a sweep of microbenchmarks.
    let many = points.len() > 12;
    if many {
        points.iter_mut().for_each(|p| p.calibration = true);
    }
    let figure = RooflineFigure {
        title: args.title.clone().unwrap_or_else(|| {
            let names: Vec<&str> = machines.iter().map(|m| m.title.as_str()).collect();
            format!("{} ({flop})", names.join(" · "))
        }),
        label_points: !many,
        lines,
        points,
        intensity: (lo, hi),
    };
    let above = figure.above_roof();
    if !above.is_empty() {
        print::warn(format!(
            "{} of {} points lie above the roof: {}",
            above.len(),
            figure.points.len(),
            above.join(", ")
        ));
    }
    if !(to.has_ending("html") || to.has_ending("htm")) {
        return to.write_chart(&figure.chart(), &args.look.look());
    }
    let named: Vec<String> = args.machine.iter().map(|name| quoted(name)).collect();
    let mut page = page(&figure, &machines, &named, flop);
    page.provenance = Provenance::of_process().facts();
    to.write(page.render()?.as_bytes())?;
    to.print_name();
    Ok(())
}
