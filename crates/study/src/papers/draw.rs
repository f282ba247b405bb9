//! Our figure of an item: small renderers fed by data.

use super::PaperError;
use super::charts;
use super::fmm::{Counts, Energies, TreeLists};
use super::hydro::HydroFigure;
use super::platforms;
use super::recorded;
use super::records::{Records, broken, machine};
use super::scattering;
use super::searches::{Predicted, Strategies};
use super::tiling;
use crate::pages::pruning;
use crate::pages::sweep::heat::{Axes, heat};
use crate::pages::sweep::metrics::{self, Metric};
use crate::pages::sweep::{figures, findings};
use crate::pages::{applications, cap_errors, comparison, scaling, throttling};
use crate::scaling::published;
use greenup_calibrate::record;
use greenup_model::map::Place;
use greenup_model::{Machine, Op};
use greenup_report::chart::{Chart, Unit};
use greenup_report::map_figure::map;
use greenup_report::roofline_figure::RooflineFigure;
use greenup_report::roofline_parts::Line;
use greenup_report::scaling_figure::{self, Panel};
use greenup_tune::trial::scaling::Scaling;
use serde::Deserialize;

/// A renderer with its input.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Draw {
    /// Roofline, arch line and power line of machines, with the points of a record of microbenchmarks.
    Roofline {
        /// Machines; `N*NAME` for several of one.
        machines: Vec<String>,
        /// The flop class.
        flop: Op,
        /// From and to, flop/B.
        intensity: (f64, f64),
        /// Microbenchmarks, as `greenup calibrate` writes them.
        points: Option<String>,
        /// Without constant power and cap.
        #[serde(default)]
        bare: bool,
    },
    /// One panel a machine, its usable power divided by each of `k`.
    Capped(platforms::panels::Panels),
    /// Lines of machines with measured dots.
    Lines(platforms::lines::Lines),
    /// Errors with and without the power cap.
    CapErrors(platforms::caps::Platforms),
    /// Boxes, arrows and labels.
    Blocks(platforms::diagram::Blocks),
    /// Blocks, stripes, warps and threads of a config of the GEMM family.
    Tiling(tiling::Tiling),
    /// Performance over flops a byte, with f½.
    Half(platforms::half::Half),
    /// Power over clock, voltage and temperature.
    Transistors(platforms::transistors::Transistors),
    /// Slowdown of flops and of memory operations.
    Throttling {
        /// Machines, one panel each.
        machines: Vec<String>,
        /// The flop class.
        flop: Op,
        /// From and to, flop/B.
        intensity: (f64, f64),
    },
    /// Speedup and greenup of trading work for communication.
    Tradeoffs(platforms::bounds::Bounds),
    /// Balances of machines in time and energy.
    Balances {
        /// Machines.
        machines: Vec<String>,
        /// The flop class.
        flop: Op,
    },
    /// The dimensionless map of machines.
    Map {
        /// Machines.
        machines: Vec<String>,
        /// The flop class.
        flop: Op,
    },
    /// Configs by performance and efficiency with their convex hull; by rank without energies.
    Plane {
        /// The sweep.
        record: String,
    },
    /// Correlations with a quantity.
    Correlations {
        /// The sweep.
        record: String,
        /// `performance`, `efficiency` or `product`.
        with: With,
    },
    /// Metrics against performance and efficiency.
    Metrics {
        /// The sweep.
        record: String,
        /// The metrics, a row each.
        metrics: Vec<Metric>,
    },
    /// Selected configs over problem size.
    Sizes {
        /// The sweep.
        record: String,
        /// Its configs over size where that is another record, of another device.
        scaling: Option<String>,
    },
    /// Time over two parameters.
    Heat {
        /// The sweep.
        record: String,
        /// Along x.
        x: String,
        /// Along y.
        y: String,
    },
    /// Quartiles of performance for each value of each parameter.
    Boxes {
        /// The sweep.
        record: String,
    },
    /// Search strategies on a recorded sweep.
    Replay {
        /// The sweep.
        record: String,
        /// Their names.
        strategies: Vec<String>,
        /// Share of the configs that is measured.
        budget: f64,
        /// Number of repetitions.
        seeds: u64,
    },
    /// Search strategies on recorded sweeps, from a table.
    Strategies(Strategies),
    /// Predicted against measured times of the configs of sweeps.
    Predicted(Predicted),
    /// How filters prune a search space.
    Pruning {
        /// The file.
        record: String,
    },
    /// Energies of applications from counters.
    Applications {
        /// Their names.
        names: Vec<String>,
        /// Folder of their sweeps.
        sweeps: String,
        /// The machine.
        machine: String,
    },
    /// Published scaling studies with the model.
    Published {
        /// Their names.
        studies: Vec<String>,
    },
    /// Time over one parameter.
    OverParameter(scattering::OverParameter),
    /// Maps of a JSON record side by side.
    Maps(scattering::Maps),
    /// Speedup and efficiency over threads or GPUs.
    Speedups(scattering::Speedups),
    /// A figure of hydrodynamics.
    Hydro(HydroFigure),
    /// U, V, W and X lists of a box.
    TreeLists(TreeLists),
    /// Instructions or data of evaluations of the FMM by kind.
    Counts(Counts),
    /// Errors of predicted energies with the spread of the measured ones.
    Energies(Energies),
    /// Curves through numbers of a JSON record.
    Curves {
        /// A JSON record.
        record: String,
        /// Pointer to a list of objects.
        #[serde(default)]
        rows: String,
        /// Pointer to x in an object.
        x: String,
        /// Title of the x axis.
        x_label: String,
        /// Pointer to y in an object.
        y: String,
        /// Title of the y axis.
        y_label: String,
        /// Unit of y.
        #[serde(default)]
        unit: String,
        /// Pointers to the parts of the curve's name in an object.
        series: Vec<String>,
    },
}

/// What correlations are with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum With {
    /// Flop/s.
    Performance,
    /// Flop/J.
    Efficiency,
    /// Their product.
    Product,
}

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
                match figures::scatter(&s.analysis, &s.sweep) {
                    Some(scatter) => scatter.chart(),
                    None => figures::ranking(&s.analysis, &s.sweep).chart(),
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
                crate::pages::sweep::parameters::distributions(&s.analysis, &s.sweep, unit, |r| {
                    Some(r.performance)
                })
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
                scaling::published_figure(&beside)
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

    /// What the figure shows beyond its axes.
    ///
    /// # Errors
    /// A record is missing.
    pub fn caption(&self, records: &Records) -> Result<String, PaperError> {
        Ok(match self {
            Self::Plane { record } => {
                let s = records.sweep(record)?;
                let fast = &s.analysis.rows[s.analysis.fastest];
                format!(
                    "{} configs on {}. Fastest: {}.",
                    s.analysis.rows.len(),
                    s.sweep.facts.device,
                    findings::config(&s.sweep, fast)
                )
            }
            Self::Roofline {
                points: Some(p), ..
            } => format!("Dots: microbenchmarks of {p}."),
            Self::Capped(p) if !p.measured.is_empty() => {
                let of: Vec<&str> = p.measured.iter().map(|m| m.record.as_str()).collect();
                format!(
                    "Lines: the model with the machines' constants. Dots: microbenchmarks of {}.",
                    of.join(", ")
                )
            }
            Self::Lines(l) => {
                let of: Vec<&str> = l
                    .machines
                    .iter()
                    .filter_map(|m| m.record.as_deref())
                    .collect();
                match of.is_empty() {
                    true => "Computed by the model from the machines' constants.".into(),
                    false => format!("Dots: microbenchmarks of {}.", of.join(", ")),
                }
            }
            Self::Capped(_)
            | Self::Throttling { .. }
            | Self::Tradeoffs(_)
            | Self::Balances { .. } => {
                "Computed by the model from the machines' published constants.".into()
            }
            Self::Hydro(h) => h.caption(),
            Self::TreeLists(lists) => lists.caption(records)?,
            Self::Energies(energies) => energies.caption(records)?,
            Self::Metrics { .. } => {
                "The third panel of each row is the plane of performance and efficiency.".into()
            }
            _ => String::new(),
        })
    }
}
