//! `greenup analyze`.

use crate::args::AnalyzeArgs;
use crate::commands::machines::picture;
use crate::error::{CliError, Result};
use crate::{error, out};
use greenup_report::page::{Cell, Fact, Figure, Header, Page, Section, Table};
use greenup_report::si::{percent, si, three};
use greenup_report::sweep_figure::{Dot, Scatter, SignedBar, signed_bars};
use greenup_tune::Sweep;
use greenup_tune::analyze::{Analysis, Correlation, Learnt, Model, Row, analyze};
use greenup_tune::sweep::{read_any, to_csv, to_t4};

pub fn run(args: &AnalyzeArgs) -> Result {
    let mut sweep = read_any(&args.sweep).map_err(|e| CliError::new(e.to_string()))?;
    if let Some(f) = args.flops {
        sweep.facts.flops = Some(f);
    }
    let a = analyze(&sweep, args.sample, args.seed).map_err(|m| {
        CliError::new(format!("{}: {m}", args.sweep.display()))
            .hint("every failure and its message stand in trials.csv of the sweep")
    })?;
    if let Some(dir) = &args.out {
        write(&a, &sweep, dir)?;
    }
    if args.json {
        return out::json(&a);
    }
    print(&a, &sweep);
    Ok(())
}

fn config(sweep: &Sweep, r: &Row) -> String {
    sweep
        .facts
        .parameters
        .iter()
        .zip(&sweep.trials[r.trial].config)
        .map(|(n, v)| format!("{n}={v}"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn rate(a: &Analysis, r: &Row) -> String {
    si(r.performance, a.unit)
}

fn efficiency(a: &Analysis, r: &Row) -> Option<String> {
    Some(si(r.efficiency?, a.unit.trim_end_matches("/s")) + "/J")
}

fn model(m: Model) -> &'static str {
    match m {
        Model::Forest => "forest",
        Model::GaussianProcess => "Gaussian process",
        Model::Both => "forest and Gaussian process",
    }
}

fn print(a: &Analysis, sweep: &Sweep) {
    out::line(format!(
        "{} on {}: {} trials, {} failed",
        out::bold(&a.name),
        a.device,
        a.trials,
        a.failed
    ));
    let f = &a.rows[a.fastest];
    let of = |r: &Row| {
        [
            Some(si(r.time_s, "s")),
            r.energy_j.map(|e| si(e, "J")),
            Some(rate(a, r)),
            efficiency(a, r),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("  ")
    };
    out::line(format!(
        "fastest   {}\n          {}",
        of(f),
        config(sweep, f)
    ));
    if let Some(g) = a.greenest.map(|g| &a.rows[g]) {
        out::line(format!(
            "greenest  {}\n          {}",
            of(g),
            config(sweep, g)
        ));
        for line in headline(a) {
            out::line(format!("  {line}"));
        }
    } else {
        out::note("no energy in this sweep: time only");
    }
    if let Some(front) = &a.front {
        out::line(format!("\nPareto front, {} points:", front.points.len()));
        let rows = front
            .points
            .iter()
            .map(|p| {
                let r = &a.rows[p.row];
                vec![
                    config(sweep, r),
                    si(r.time_s, "s"),
                    si(r.energy_j.unwrap_or(f64::NAN), "J"),
                    alpha(p.alpha),
                ]
            })
            .collect();
        out::table(&["config", "time", "energy", "wins for α"], rows);
    }
    out::line(
        "\ncorrelation with performance, efficiency and their product (* moves between them):",
    );
    let coefficient = |x: Option<f64>| x.map_or_else(String::new, |v| format!("{v:+.3}"));
    let rows = a
        .correlations
        .iter()
        .map(|c| {
            vec![
                format!("{}{}", c.name, if c.mover { " *" } else { "" }),
                coefficient(Some(c.performance)),
                coefficient(c.efficiency),
                coefficient(c.product),
            ]
        })
        .collect();
    out::table(&["", "performance", "efficiency", "product"], rows);
    out::line("\nshare of the variation that each parameter explains:");
    let rows = a
        .parameters
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let share = |v: Option<&Vec<f64>>| {
                v.and_then(|v| v.get(i))
                    .map_or_else(String::new, |x| percent(*x))
            };
            vec![
                p.clone(),
                share(Some(&a.importance_time)),
                share(a.importance_energy.as_ref()),
            ]
        })
        .collect();
    out::table(&["parameter", "time", "energy"], rows);
    for (what, l) in [("time", &a.learnt_time), ("energy", &a.learnt_energy)] {
        if let Some(l) = l {
            out::line(learnt(what, l));
        }
    }
}

fn learnt(what: &str, l: &Learnt) -> String {
    format!(
        "{what} of all configs from a sample of {}: mean error {} on the {} others (median {}, {}); best of the sample and its {} favourites: {} of the optimum",
        l.sample,
        percent(l.mean_error),
        l.held_out,
        percent(l.median_error),
        model(l.model),
        l.tried,
        percent(l.best_fraction)
    )
}

fn alpha(a: Option<(f64, f64)>) -> String {
    a.map_or_else(
        || "none".to_owned(),
        |(lo, hi)| format!("{} … {}", three(lo), three(hi)),
    )
}

/// The findings of sections 3.2 to 3.4 in sentences.
fn headline(a: &Analysis) -> Vec<String> {
    let mut out = Vec::new();
    let f = &a.rows[a.fastest];
    let Some(g) = a.greenest.map(|g| &a.rows[g]) else {
        return out;
    };
    let (Some(ef), Some(eg)) = (f.energy_j, g.energy_j) else {
        return out;
    };
    out.push(format!(
        "the greenest takes {} less energy and {} more time than the fastest",
        percent(1.0 - eg / ef),
        percent(g.time_s / f.time_s - 1.0)
    ));
    if let Some(q) = &a.quadrants {
        let n = a.rows.len() as f64;
        out.push(format!(
            "{} configs ({}) are faster than the greenest, {} ({}) greener than the fastest, {} both",
            q.right,
            percent(q.right as f64 / n),
            q.above,
            percent(q.above as f64 / n),
            q.both
        ));
    }
    if let Some(s) = &a.spread_at_performance {
        out.push(format!(
            "as fast as the greenest, energy may be up to {} higher (hull)",
            percent(s.high / s.low - 1.0)
        ));
    }
    if let Some(s) = &a.spread_at_efficiency {
        out.push(format!(
            "as green as the fastest, a run may take up to {} longer (hull)",
            percent(s.high / s.low - 1.0)
        ));
    }
    out
}

fn scatter(a: &Analysis, sweep: &Sweep) -> Option<Scatter> {
    let greenest = a.greenest?;
    Some(Scatter {
        title: format!("{}: efficiency against performance", a.name),
        x_label: "performance".into(),
        y_label: "efficiency".into(),
        x_unit: a.unit.into(),
        y_unit: format!("{}/J", a.unit.trim_end_matches("/s")),
        dots: a
            .rows
            .iter()
            .map(|r| Dot {
                x: r.performance,
                y: r.efficiency.unwrap_or(f64::NAN),
                tip: format!("{} | {}", config(sweep, r), si(r.time_s, "s")),
                colour: 0,
            })
            .collect(),
        hull: a
            .hull
            .as_ref()
            .map(|h| h.corners.clone())
            .unwrap_or_default(),
        fastest: Some(a.fastest),
        greenest: Some(greenest),
        legend: Vec::new(),
    })
}

/// Fig. 9: the plane coloured by a metric above or below its mean.
fn split_scatter(a: &Analysis, sweep: &Sweep, name: &str, mean: f64) -> Option<String> {
    let p = a.parameters.iter().position(|n| n == name);
    let mut s = scatter(a, sweep)?;
    for (d, r) in s.dots.iter_mut().zip(&a.rows) {
        let t = &sweep.trials[r.trial];
        let v = match p {
            Some(p) => t.config[p].as_float(),
            None => t.metrics.get(name).copied(),
        };
        d.colour = usize::from(v.is_some_and(|v| v <= mean));
    }
    s.title = format!("split by {name}");
    s.hull = Vec::new();
    s.fastest = None;
    s.greenest = None;
    s.legend = vec![
        format!("above {}", three(mean)),
        format!("at or below {}", three(mean)),
    ];
    Some(s.svg(460.0, 340.0))
}

fn bars(title: &str, list: &[Correlation], value: impl Fn(&Correlation) -> Option<f64>) -> String {
    let mut bars: Vec<SignedBar> = list
        .iter()
        .filter_map(|c| {
            Some(SignedBar {
                name: c.name.clone(),
                value: value(c)?,
                marked: c.mover,
                tip: format!("{} {:+.4}", c.name, value(c)?),
            })
        })
        .collect();
    bars.sort_by(|a, b| a.value.total_cmp(&b.value));
    signed_bars(title, &bars)
}

fn write(a: &Analysis, sweep: &Sweep, dir: &std::path::Path) -> Result {
    if let Some(s) = scatter(a, sweep) {
        picture(&dir.join("plane.svg"), &s.svg(900.0, 620.0))?;
        picture(&dir.join("plane.png"), &s.svg(900.0, 620.0))?;
    }
    error::write(
        &dir.join("analysis.json"),
        serde_json::to_string_pretty(a)?.as_bytes(),
    )?;
    error::write(&dir.join("results-t4.json"), to_t4(sweep).text.as_bytes())?;
    let path = dir.join("trials.csv");
    let file = std::fs::File::create(&path).map_err(|e| error::cannot_write(&path, &e))?;
    to_csv(sweep, file).map_err(|e| CliError::new(format!("{}: {e}", path.display())))?;
    let page = page(a, sweep).render()?;
    let path = dir.join("report.html");
    error::write(&path, page.as_bytes())?;
    out::note(format!("wrote {}", path.display()));
    Ok(())
}

fn page(a: &Analysis, sweep: &Sweep) -> Page {
    let f = &a.rows[a.fastest];
    let mut winners = vec![winner(a, sweep, "fastest", f)];
    if let Some(g) = a.greenest {
        winners.push(winner(a, sweep, "greenest", &a.rows[g]));
    }
    let mut sections = vec![Section {
        id: "winners".into(),
        title: "The winners".into(),
        label: Some("measured"),
        paragraphs: headline(a),
        figures: scatter(a, sweep)
            .map(|s| Figure {
                svg: s.svg(900.0, 620.0),
                caption: "Each dot is a config. The hull encloses what was found; the dashed lines go through the fastest and the greenest.".into(),
            })
            .into_iter()
            .collect(),
        tables: vec![Table {
            caption: String::new(),
            header: headers(&["", "config", "time", "energy", "performance", "efficiency"]),
            rows: winners,
        }],
        ..Section::default()
    }];
    if let Some(front) = &a.front {
        sections.push(Section {
            id: "front".into(),
            title: "Time against energy".into(),
            label: Some("measured"),
            paragraphs: vec!["No other config beats these in both. A config wins for those weights α that minimise α·t/t₀ + (1 − α)·e/e₀, with t₀ and e₀ the least time and energy found.".into()],
            tables: vec![Table {
                caption: "Pareto front".into(),
                header: headers(&["config", "time", "energy", "wins for α"]),
                rows: front
                    .points
                    .iter()
                    .map(|p| {
                        let r = &a.rows[p.row];
                        let e = r.energy_j.unwrap_or(f64::NAN);
                        vec![
                            Cell::text(config(sweep, r)),
                            Cell::number(r.time_s, si(r.time_s, "s")),
                            Cell::number(e, si(e, "J")),
                            Cell::text(alpha(p.alpha)),
                        ]
                    })
                    .collect(),
            }],
            ..Section::default()
        });
    }
    let mut figures = vec![Figure {
        svg: bars("with performance", &a.correlations, |c| Some(c.performance)),
        caption: String::new(),
    }];
    if a.greenest.is_some() {
        for (title, value) in [
            (
                "with efficiency",
                (|c: &Correlation| c.efficiency) as fn(&Correlation) -> Option<f64>,
            ),
            ("with performance × efficiency", |c| c.product),
        ] {
            figures.push(Figure {
                svg: bars(title, &a.correlations, value),
                caption: String::new(),
            });
        }
    }
    sections.push(Section {
        id: "correlations".into(),
        title: "What goes with it".into(),
        label: Some("derived"),
        paragraphs: vec!["Pearson's coefficient of every parameter and metric. Bold: it stands elsewhere for efficiency than for performance.".into()],
        figures,
        ..Section::default()
    });
    let mut strongest: Vec<_> = a.splits.iter().collect();
    strongest.sort_by(|x, y| {
        let gap = |s: &greenup_tune::analyze::Split| (s.performance.0 / s.performance.1).ln().abs();
        gap(y).total_cmp(&gap(x))
    });
    sections.push(Section {
        id: "splits".into(),
        title: "Above and below the mean".into(),
        label: Some("derived"),
        figures: strongest
            .iter()
            .take(6)
            .filter_map(|s| {
                Some(Figure {
                    svg: split_scatter(a, sweep, &s.name, s.mean)?,
                    caption: String::new(),
                })
            })
            .collect(),
        tables: vec![Table {
            caption: "Means of the configs above and below the mean of each".into(),
            header: headers(&[
                "",
                "mean",
                "above",
                "below",
                "performance above",
                "below",
                "efficiency above",
                "below",
            ]),
            rows: a
                .splits
                .iter()
                .map(|s| {
                    let p = |v: f64| Cell::number(v, si(v, a.unit));
                    let e = |v: Option<f64>| match v {
                        Some(v) => Cell::number(v, si(v, a.unit.trim_end_matches("/s")) + "/J"),
                        None => Cell::text("–"),
                    };
                    vec![
                        Cell::text(&s.name),
                        Cell::number(s.mean, three(s.mean)),
                        Cell::number(s.above as f64, s.above.to_string()),
                        Cell::number(s.below as f64, s.below.to_string()),
                        p(s.performance.0),
                        p(s.performance.1),
                        e(s.efficiency.map(|e| e.0)),
                        e(s.efficiency.map(|e| e.1)),
                    ]
                })
                .collect(),
        }],
        ..Section::default()
    });
    let share = |v: Option<&Vec<f64>>, i: usize| match v.and_then(|v| v.get(i)) {
        Some(x) => Cell::number(*x, percent(*x)),
        None => Cell::text("–"),
    };
    sections.push(Section {
        id: "importance".into(),
        title: "Which parameters matter, and how well a sample tells".into(),
        label: Some("derived"),
        paragraphs: [("time", &a.learnt_time), ("energy", &a.learnt_energy)]
            .into_iter()
            .filter_map(|(what, l)| Some(learnt(what, l.as_ref()?)))
            .collect(),
        tables: vec![Table {
            caption: "Share of the variation that each parameter explains".into(),
            header: headers(&["parameter", "time", "energy"]),
            rows: a
                .parameters
                .iter()
                .enumerate()
                .map(|(i, p)| {
                    vec![
                        Cell::text(p),
                        share(Some(&a.importance_time), i),
                        share(a.importance_energy.as_ref(), i),
                    ]
                })
                .collect(),
        }],
        ..Section::default()
    });
    let mut facts = vec![
        Fact::new("trials", a.trials.to_string()),
        Fact::new("failed", a.failed.to_string()),
        Fact::new("fastest", si(f.time_s, "s")),
    ];
    if let Some(e) = a.greenest.and_then(|g| a.rows[g].energy_j) {
        facts.push(Fact::new("greenest", si(e, "J")));
    }
    Page {
        title: format!("{}: a tuning sweep", a.name),
        subtitle: a.device.clone(),
        headline: facts,
        sections,
        footer: sweep
            .facts
            .more
            .iter()
            .map(|(k, v)| format!("{k}: {v}"))
            .collect::<Vec<_>>()
            .join(" · "),
    }
}

fn headers(names: &[&str]) -> Vec<Header> {
    names.iter().map(|n| Header::new(n, "")).collect()
}

fn winner(a: &Analysis, sweep: &Sweep, name: &str, r: &Row) -> Vec<Cell> {
    let optional = |v: Option<f64>, text: Option<String>| match (v, text) {
        (Some(v), Some(t)) => Cell::number(v, t),
        _ => Cell::text("–"),
    };
    vec![
        Cell::text(name),
        Cell::text(config(sweep, r)),
        Cell::number(r.time_s, si(r.time_s, "s")),
        optional(r.energy_j, r.energy_j.map(|e| si(e, "J"))),
        Cell::number(r.performance, rate(a, r)),
        optional(r.efficiency, efficiency(a, r)),
    ]
}
