//! The page of a profiled run: kernels by energy and by time, on roofline and arch line, what binds, what to do.

mod figures;
mod kinds;
mod tables;

pub use figures::{roofline, shares, timeline};
pub use tables::{columns, cpu_counts, csv};

use crate::attribution::{Basis, GpuProfile, Profile};
use crate::cpu::{Cpu, Estimated};
use greenup_model::Machine;
use greenup_report::page::{Fact, Figure, Page, Section};
use greenup_report::si::{percent, si, three};
use greenup_setting::setting;

/// Draws the page; `model_of` gives the machine model by its name, for the lines of the rooflines.
pub fn page(p: &Profile, model_of: &dyn Fn(&str) -> Option<Machine>) -> Page {
    let mut sections = Vec::new();
    for (k, gpu) in p.gpus.iter().enumerate() {
        let suffix = if p.gpus.len() > 1 {
            format!("-{k}")
        } else {
            String::new()
        };
        let machine = gpu.machine.as_deref().and_then(model_of);
        sections.extend(of_gpu(gpu, machine.as_ref(), (&suffix, p.wall_s)));
    }
    sections.extend(p.cpu.as_ref().map(of_cpu));
    if !p.notes.is_empty() {
        sections.push(Section {
            id: "notes".into(),
            title: "Notes".into(),
            paragraphs: p.notes.clone(),
            ..Section::default()
        });
    }
    Page {
        title: format!("Profile of {}", short_command(&p.command)),
        subtitle: p.command.join(" "),
        answer: kinds::answer(p),
        headline: headline(p),
        sections,
        footer: match p.cpu {
            Some(_) => "Joules of kernels: the machine model's, scaled so that their sum is the meter's. Times: CUPTI.",
            None => "Joules of kernels: the machine model's, not measured. Times: ncu, each kernel alone on the GPU.",
        }
        .into(),
        provenance: Vec::new(),
        ..Page::default()
    }
}

/// The program's name, and that of its script.
fn short_command(command: &[String]) -> String {
    let base = |w: &String| w.rsplit('/').next().unwrap_or(w).to_owned();
    let script = |w: &&String| [".py", ".jl", ".sh", ".R"].iter().any(|e| w.ends_with(e));
    let mut words: Vec<String> = command.first().map(base).into_iter().collect();
    words.extend(command.iter().skip(1).find(script).map(base));
    words.join(" ")
}

fn headline(p: &Profile) -> Vec<Fact> {
    let name = if p.cpu.is_some() {
        "time"
    } else {
        "time of the kernels"
    };
    let mut out = vec![Fact::new(name, si(p.wall_s, "s"))];
    let several = p.gpus.len() > 1;
    for g in &p.gpus {
        let of = |what: &str| {
            if several {
                format!("{what}, {}", g.bus_id)
            } else {
                what.to_owned()
            }
        };
        match g.measured_j {
            Some(j) => {
                out.push(Fact::new(&of("GPU energy"), si(j, "J")));
                out.push(Fact::new(&of("mean power"), si(j / p.wall_s, "W")));
            }
            None => out.push(Fact::new(&of("GPU energy"), "not measured")),
        }
        let span = g.busy_s + g.gap_s;
        if span > 0.0 && p.cpu.is_some() {
            out.push(Fact::new(
                &of("GPU busy, from first to last work"),
                percent(g.busy_s / span),
            ));
        }
        if let Some(s) = g.scale {
            out.push(Fact::new(&of("measured / model"), three(s)));
        }
    }
    if let Some(j) = p.cpu.as_ref().and_then(|c| c.joules) {
        out.push(Fact::new("CPU energy", si(j, "J")));
    }
    out
}

/// The sum of the model and that of the meter, in words.
pub fn sums(g: &GpuProfile) -> String {
    let show = |j: f64| si(j, "J");
    match (g.measured_j, g.window.joules, g.model_j, g.scale) {
        (Some(all), Some(inside), Some(model), Some(scale)) => format!(
            "The meter ({}) counts {} in the whole run, {} of it from the first to the last work of the GPU ({} s to {} s). The \
             model of {} sums up to {} there ({:+.1} %), {} of it from counters. All energies below are scaled by {}, so that they add up to the meter's.",
            g.sensor.as_deref().unwrap_or("?"),
            show(all),
            show(inside),
            three(g.window.from_s),
            three(g.window.to_s),
            g.machine.as_deref().unwrap_or("?"),
            show(model),
            100.0 * (model / inside - 1.0),
            percent(g.counted_share),
            three(scale)
        ),
        (_, _, Some(model), _) => format!(
            "No joules were measured. The model's sum for the GPU {} is {}: an estimate.",
            kinds::span(g),
            show(model)
        ),
        (Some(all), ..) => format!(
            "The meter counts {} in the whole run. There is no energy model of this GPU: energy is attributed by time.",
            show(all)
        ),
        _ => "Neither joules nor an energy model: times alone.".to_owned(),
    }
}

fn of_gpu(
    g: &GpuProfile,
    machine: Option<&Machine>,
    (suffix, wall_s): (&str, f64),
) -> Vec<Section> {
    let counted = g.kernels.iter().any(|r| r.basis == Basis::Counters);
    let label = match (g.measured_j.is_some(), counted) {
        (true, true) => "derived",
        _ => "estimated",
    };
    let mut paragraphs = vec![sums(g)];
    if !counted && machine.is_some() {
        paragraphs.push(format!(
            "Kernels were not counted: the model takes time times the power of a class of kernels, which their names suggest. `{}` \
             counts operations and bytes.",
            setting("method").to("counters")
        ));
    }
    if let Some(hz) = g.clock_hz {
        let mut text = format!("Mean core clock {}.", si(hz, "Hz"));
        for (reason, share) in g.throttling.iter().filter(|(_, s)| *s > 0.02) {
            text.push_str(&format!(
                " Clock lowered by {reason} in {} of the readings.",
                percent(*share)
            ));
        }
        paragraphs.push(text);
    }
    let mut out = vec![Section {
        id: format!("energy{suffix}"),
        title: format!("Energy and time on {}", g.name),
        short: "Energy and time".into(),
        label: Some(label),
        paragraphs,
        figures: (timeline(g, wall_s).iter())
            .chain([&shares(g)])
            .map(|c| Figure::chart(c, "").wide())
            .collect(),
        tables: vec![kinds::kinds(g), tables::kernels(g), tables::others(g)],
        ..Section::default()
    }];
    if let Some(figure) = machine.and_then(|m| roofline(g, m)) {
        let above = figure.above_roof();
        let mut paragraphs = vec![
            "Lines: the machine model. Dots: kernels with counters; flops and bytes of one launch over its median time, and over its scaled energy.".to_owned(),
        ];
        if !above.is_empty() {
            // Their numbers in the tables: the names are long.
            let numbers = above.iter().map(|n| n.split('.').next().unwrap_or(n));
            let numbers: Vec<&str> = numbers.collect();
            paragraphs.push(format!(
                "Kernels above the roof, by their numbers in the tables: {}.",
                numbers.join(", ")
            ));
        }
        out.push(Section {
            id: format!("roofline{suffix}"),
            title: "Kernels on roofline and arch line".into(),
            short: "Roofline".into(),
            label: Some("derived"),
            paragraphs,
            figures: vec![Figure::chart(&figure.chart(), "").wide()],
            tables: vec![tables::work(g)],
            ..Section::default()
        });
    }
    out.push(Section {
        id: format!("launches{suffix}"),
        title: "Launches of each kernel, and what its energy rests on".into(),
        short: "Launches".into(),
        tables: vec![tables::times(g), tables::names(g)],
        folded: true,
        ..Section::default()
    });
    out
}

fn of_cpu(c: &Cpu) -> Section {
    let mut items = vec![
        Fact::new("time", si(c.wall_s, "s")),
        Fact::new("CPU time, user", si(c.user_s, "s")),
        Fact::new("CPU time, kernel", si(c.system_s, "s")),
        Fact::new("busy cores", three(c.cores)),
        Fact::new(
            "largest memory",
            c.memory_bytes
                .map_or_else(|| "unknown".into(), |b| si(b, "B")),
        ),
    ];
    items.extend(
        tables::cpu_counts(c)
            .into_iter()
            .map(|(n, v)| Fact::new(n, v)),
    );
    if let Some(j) = c.joules {
        items.push(Fact::new("energy, measured", si(j, "J")));
        items.push(Fact::new("sensor", c.sensor.clone().unwrap_or_default()));
    }
    if let Some(j) = c.model_j {
        items.push(Fact::new("energy by the model", si(j, "J")));
    }
    let mut paragraphs = vec![c.advice.clone()];
    if let Some(why) = &c.counts.missing {
        paragraphs.push(format!("No hardware counters: {why}."));
    }
    if c.dram == Estimated::LowerLimit {
        paragraphs.push(
            "Bytes of slow memory are a lower limit: pages that the program touched first."
                .to_owned(),
        );
    }
    Section {
        id: "cpu".into(),
        title: "CPU".into(),
        label: Some(if c.dram == Estimated::Counted {
            "measured"
        } else {
            "estimated"
        }),
        paragraphs,
        items,
        ..Section::default()
    }
}
