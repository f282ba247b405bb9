//! `greenup machines`.

use crate::args::MachinesArgs;
use greenup_app::error::{AppError, Result};
use greenup_app::{machine, output, print};
use greenup_files::Outputs;
use greenup_model::map::Place;
use greenup_model::{Estimate, Machine, Op};
use greenup_report::map_figure;
use greenup_report::si::si;
use greenup_report::table::{Cell, Columns};
use serde::Serialize;

#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    machine: Machine,
    flop: Option<Op>,
    time_balance: Option<f64>,
    energy_balance: Option<f64>,
    best_flop_per_joule: Option<f64>,
    constant_share: Option<f64>,
    place: Option<Place>,
}

impl Listed {
    fn new(machine: Machine) -> Self {
        let flop = machine.main_flop();
        let roofline = flop.and_then(|f| machine.roofline(f, Op::Dram).ok());
        Self {
            time_balance: flop
                .and_then(|f| Some(machine.time_of(Op::Dram).ok()? / machine.time_of(f).ok()?)),
            energy_balance: roofline
                .map(|r| r.energy_balance())
                .filter(|b| b.is_finite()),
            best_flop_per_joule: roofline.map(|r| r.best_flop_per_joule()),
            constant_share: machine.constant_share().ok(),
            place: roofline.and_then(|r| Place::of(&r)),
            flop,
            machine,
        }
    }
}

pub fn run(args: &MachinesArgs) -> Result {
    if args.map {
        return map(args);
    }
    if let Some(name) = &args.name {
        let machine = machine::load(name)?;
        if args.json {
            return print::json(&Listed::new(machine));
        }
        return show(&machine);
    }
    let listed: Vec<Listed> = machine::all()?.into_iter().map(Listed::new).collect();
    if args.json {
        return print::json(&listed);
    }
    let rate = |m: &Machine, op: Op| m.time_of(op).ok().map(|t| 1.0 / t);
    let value = |e: &Option<Estimate>| e.as_ref().map(|e| e.value);
    let best = |l: &Listed, x: f64| {
        if l.machine.lacks_constant_power() {
            format!("≤ {}", si(x, "flop/J"))
        } else {
            si(x, "flop/J")
        }
    };
    let columns = Columns::<Listed>::new()
        .text("machine", "", |l| l.machine.name.clone())
        .cell("flop", "", |l| Cell::known(l.flop.map(|f| f.to_string())))
        .si("rate", "", "flop/s", |l| rate(&l.machine, l.flop?))
        .si("memory", "", "B/s", |l| rate(&l.machine, Op::Dram))
        .three("Bτ", "", |l| l.time_balance)
        .three("Bε", "", |l| l.energy_balance)
        .cell("best", "", |l| {
            Cell::shown(l.best_flop_per_joule, |x| best(l, x))
        })
        .cell("π₀", "", |l| {
            if l.machine.lacks_constant_power() {
                Cell::text("taken as 0")
            } else {
                Cell::si(value(&l.machine.constant_power_w), "W")
            }
        })
        .si("Δπ", "", "W", |l| value(&l.machine.usable_power_w))
        .percent("constant", "", |l| l.constant_share)
        .text("numbers", "", |l| l.machine.label.name().to_owned());
    print::table(&columns.table("", &listed));
    print::line("");
    if listed.iter().any(|l| l.machine.lacks_constant_power()) {
        print::line(
            "≤: constant power is not known and taken as 0, so the best flop/J is an upper bound.",
        );
    }
    print::line(
        "Bτ, Bε: time and energy balance, flop/B. `greenup machines NAME` shows sources and intervals.",
    );
    Ok(())
}

fn show(m: &Machine) -> Result {
    print::line(format!("{}  {}", print::bold(&m.name), m.title));
    for text in std::iter::once(&m.about).filter(|a| !a.is_empty()) {
        print::line(text);
    }
    for source in &m.sources {
        print::line(format!("source: {source}"));
    }
    let mut rows = Vec::new();
    let mut add =
        |name: String, e: &Estimate, unit: &str| rows.push((name, e.clone(), unit.to_owned()));
    if let Some(p) = &m.constant_power_w {
        add("constant power π₀".into(), p, "W");
    }
    if let Some(p) = &m.usable_power_w {
        add("usable power Δπ".into(), p, "W");
    }
    for (op, c) in &m.cost {
        if let Some(t) = &c.time_s {
            add(format!("{op} τ"), t, &format!("s/{}", op.unit_name()));
        }
        if let Some(e) = &c.energy_j {
            add(format!("{op} ε"), e, &format!("J/{}", op.unit_name()));
        }
    }
    for (constants, of) in [
        (m.network.as_ref().map(|n| n.constants()), "network"),
        (m.link.as_ref().map(|l| l.constants()), "link"),
    ] {
        for (name, unit, e) in constants.into_iter().flatten() {
            add(format!("{of}: {name}"), e, unit);
        }
    }
    for (name, unit, e) in m.host.iter().flat_map(|h| h.constants()) {
        add(format!("host: {name}"), &e, unit);
    }
    print::line("");
    let columns = Columns::<(String, Estimate, String)>::new()
        .text("constant", "", |r| r.0.clone())
        .cell("value", "", |(_, e, unit)| Cell::si(e.value, unit))
        .cell("interval", "", |(_, e, unit)| {
            Cell::range(e.lo.zip(e.hi), unit)
        })
        .text("numbers", "", |(_, e, _)| {
            e.label.unwrap_or(m.label).name().to_owned()
        })
        .text("from", "", |r| r.1.source.clone().unwrap_or_default());
    print::table(&columns.table("", rows));
    if let Some(n) = &m.network {
        print::line(format!("devices of a node: {}", n.devices_per_node));
    }
    for (k, v) in &m.facts {
        print::line(format!("{k}: {v}"));
    }
    for w in &m.warnings {
        print::warn(w);
    }
    Ok(())
}

#[derive(Serialize)]
struct Placed {
    name: String,
    #[serde(flatten)]
    place: Place,
    distance: f64,
    workload_distance: f64,
}

fn map(args: &MachinesArgs) -> Result {
    let mut outputs = Outputs::new();
    if let Some(file) = args.name.as_deref().and_then(greenup_app::machine::file) {
        outputs.input(file);
    }
    let figure = output::figure(&mut outputs, args.out.as_deref(), args.json)?;
    let mut places: Vec<(String, Place)> = Vec::new();
    let mut left_out = Vec::new();
    for machine in machine::all()? {
        match Listed::new(machine) {
            Listed {
                place: Some(p),
                machine,
                ..
            } => places.push((machine.name, p)),
            Listed { machine, .. } => left_out.push(machine.name),
        }
    }
    let from = match &args.name {
        Some(name) => Listed::new(machine::load(name)?).place.ok_or_else(|| {
            AppError::new(format!("`{name}` has no place: a coordinate is not finite"))
        })?,
        None => match places.first() {
            Some((_, p)) => *p,
            None => {
                return Err(AppError::new("no machine has a place on the map"));
            }
        },
    };
    let mut placed: Vec<Placed> = places
        .iter()
        .map(|(name, p)| Placed {
            name: name.clone(),
            place: *p,
            distance: from.distance(p),
            workload_distance: from.workload_distance(p),
        })
        .collect();
    placed.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    if let Some(to) = &figure {
        let chart = map_figure::map("Machines by their dimensionless groups", &places);
        to.write_chart(&chart, &args.look.look())?;
    }
    if args.json {
        return print::json(&placed);
    }
    if figure.is_some_and(|to| to.is_stdout()) {
        return Ok(());
    }
    let two = |x: f64| format!("{x:.2}");
    let columns = Columns::<Placed>::new()
        .text("machine", "", |p| p.name.clone())
        .shown("balance", "", two, |p| p.place.balance)
        .shown("power", "", two, |p| p.place.power)
        .shown("efficiency", "", two, |p| p.place.efficiency)
        .shown("log₂ Bτ", "", two, |p| p.place.time_balance)
        .shown("distance", "", two, |p| p.distance)
        .shown("with Bτ", "", two, |p| p.workload_distance);
    print::table(&columns.table("", placed));
    print::line("");
    print::line(
        "Coordinates are log₂ of Bε/Bτ, Δπ/(πflop + πmem) and the capped η; distances in octaves from the first row.",
    );
    if !left_out.is_empty() {
        print::warn(format!(
            "no place for {}: an energy cost is 0 or unknown",
            left_out.join(", ")
        ));
    }
    Ok(())
}
