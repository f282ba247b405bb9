//! The chart of an item.

use super::{Draw, With};
use crate::PaperError;
use crate::charts;
use crate::platforms;
use crate::records::{Records, broken, machine};
use crate::sweeps::recorded;
use greenup_calibrate::record;
use greenup_model::map::Place;
use greenup_model::{Machine, Op};
use greenup_report::chart::{Chart, Unit};
use greenup_report::map_figure::map;
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::Line;
use greenup_report::scaling_figure::{self, Panel};
use greenup_scaling::pages::prediction;
use greenup_scaling::published;
use greenup_study::pages::pruning;
use greenup_study::pages::sweep::figures;
use greenup_study::pages::sweep::heat::{Axes, heat};
use greenup_study::pages::sweep::{metrics, plane};
use greenup_study::pages::{applications, cap_errors, comparison, throttling};
use greenup_tune::trial::scaling::Scaling;

fn all(names: &[String]) -> Result<Vec<Machine>, PaperError> {
    names.iter().map(|n| machine(n)).collect()
}

impl Draw {
    /// The chart.
    ///
    /// # Errors
    /// A record is missing or lacks what the figure needs.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let lacks = |record: &str, what: &str| {
            Ok::<_, PaperError>(broken(&records.path(record)?, format!("it has no {what}")))
        };
        Ok(match self {
            Self::Roofline {
                machines,
                flop,
                intensity,
                points,
                bare,
            } => {
                let machines = all(machines)?;
                let mut lines = (machines.iter())
                    .map(|m| Line::of(m, *flop))
                    .collect::<Result<Vec<_>, _>>()?;
                if *bare {
                    for line in &mut lines {
                        line.roofline.pi0 = 0.0;
                        line.roofline.dpi = None;
                        line.corners = None;
                    }
                }
                let mut dots = match points {
                    Some(r) => {
                        let path = records.path(r)?;
                        let read = record::read(&path).map_err(|e| broken(&path, e))?;
                        comparison::points(&read, *flop)
                    }
                    None => Vec::new(),
                };
                dots.iter_mut().for_each(|p| p.calibration = true);
                let names: Vec<&str> = (machines.iter())
                    .map(|m| {
                        if machines.len() > 1 {
                            &m.name
                        } else {
                            &m.title
                        }
                        .as_str()
                    })
                    .collect();
                RooflineFigure {
                    title: format!("{} ({flop})", names.join(", ")),
                    lines,
                    points: dots,
                    intensity: *intensity,
                    label_points: false,
                }
                .chart()
            }
            Self::Capped(panels) => panels.chart(records)?,
            Self::Lines(lines) => lines.chart(records)?,
            Self::Blocks(blocks) => blocks.chart(),
            Self::Tiling(tiling) => tiling.chart(records)?,
            Self::OverParameter(o) => o.chart(records)?,
            Self::Maps(m) => m.chart(records)?,
            Self::Speedups(s) => s.chart(records)?,
            Self::Half(half) => half.chart(records)?,
            Self::Transistors(t) => t.chart(records)?,
            Self::CapErrors(p) => cap_errors::figure(
                "Errors of the model with and without the power cap",
                &platforms::caps::devices(records, &p.platforms)?,
            ),
            Self::Throttling {
                machines,
                flop,
                intensity,
            } => {
                let machines = (all(machines)?.iter())
                    .map(|m| Ok((m.title.clone(), m.roofline(*flop, Op::Dram)?)))
                    .collect::<Result<Vec<_>, PaperError>>()?;
                throttling::figure(&machines, *intensity)
            }
            Self::Tradeoffs(bounds) => bounds.chart()?,
            Self::Balances { machines, flop } => charts::balances(&all(machines)?, *flop)?,
            Self::Map { machines, flop } => {
                let mut places = Vec::new();
                for m in all(machines)? {
                    if let Some(place) = Place::of_machine(&m, *flop)? {
                        places.push((m.name, place));
                    }
                }
                map("Machines by balance, power and efficiency", &places)
            }
            Self::Plane { record } => {
                let s = records.sweep(record)?;
                match plane::scatter(&s.analysis, &s.sweep) {
                    Some(scatter) => scatter.chart(),
                    None => plane::ranking(&s.analysis, &s.sweep).chart(),
                }
            }
            Self::Correlations { record, with } => {
                let s = records.sweep(record)?;
                let (title, value): (_, fn(&greenup_tune::analyze::Correlation) -> _) = match with {
                    With::Performance => ("with performance", |c| Some(c.performance)),
                    With::Efficiency => ("with efficiency", |c| c.efficiency),
                    With::Product => ("with performance × efficiency", |c| c.product),
                };
                figures::bars(&format!("Correlation {title}"), &s.analysis, value)
            }
            Self::Metrics {
                record,
                metrics: of,
            } => {
                let s = records.sweep(record)?;
                match metrics::rows(&s.analysis, &s.sweep, of) {
                    Some(chart) => chart,
                    None => return Err(lacks(record, "such metrics")?),
                }
            }
            Self::Sizes { record, scaling } => {
                let s = records.sweep(record)?;
                let path =
                    (scaling.clone()).unwrap_or_else(|| format!("{record}/{}", Scaling::FILE));
                let sizes: Scaling = serde_json::from_value(records.json(&path)?)
                    .map_err(|e| broken(std::path::Path::new(&path), e))?;
                figures::scaling(&s.analysis, &sizes)
            }
            Self::Heat { record, x, y } => {
                let axes = Axes {
                    x: x.clone(),
                    y: y.clone(),
                };
                heat(&records.sweep(record)?.sweep, &axes)?.chart()
            }
            Self::Boxes { record } => {
                let s = records.sweep(record)?;
                let unit = ("performance", s.analysis.unit, usize::MAX);
                greenup_study::pages::sweep::parameters::distributions(
                    &s.analysis,
                    &s.sweep,
                    unit,
                    |r| Some(r.performance),
                )
            }
            Self::Replay {
                record,
                strategies,
                budget,
                seeds,
            } => recorded::replayed(records, record, strategies, *budget, *seeds)?,
            Self::Pruning { record } => {
                let path = records.path(record)?;
                let facts = greenup_space::Facts::default();
                let drawn = pruning::of_text(&records.text(record)?, &facts);
                drawn.map_err(|e| broken(&path, e))?.chart()
            }
            Self::Applications {
                names,
                sweeps,
                machine,
            } => applications::figure(&*records.explained(names, sweeps, machine)?),
            Self::TreeLists(lists) => lists.chart(records)?,
            Self::Counts(counts) => counts.chart(records)?,
            Self::Strategies(strategies) => strategies.chart(records)?,
            Self::Predicted(predicted) => predicted.chart(records)?,
            Self::Energies(energies) => energies.chart(records)?,
            Self::Published { studies } => {
                let known = published::all()?;
                let mut beside = Vec::new();
                for s in known.into_iter().filter(|s| studies.contains(&s.name)) {
                    let m = machine(&s.machine)?;
                    beside.push(s.beside(&m)?);
                }
                if beside.len() != studies.len() {
                    let name = studies.join(", ");
                    return Err(PaperError::NoValue(format!("the studies {name}")));
                }
                prediction::published_figure(&beside)
            }
            Self::Hydro(h) => h.chart(records)?,
            Self::Curves {
                record,
                rows,
                x,
                x_label,
                y,
                y_label,
                unit,
                series,
            } => {
                let json = records.json(record)?;
                let curves = recorded::curves(json.pointer(rows), (x, y), series);
                if curves.is_empty() {
                    return Err(lacks(record, "such rows")?);
                }
                let panel = Panel {
                    label: y_label.clone(),
                    unit: unit.clone(),
                    series: curves,
                };
                scaling_figure::over_time(y_label, x_label, Unit::None, &[panel])
            }
        })
    }
}
