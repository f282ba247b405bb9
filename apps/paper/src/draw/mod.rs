//! Our figure of an item: small renderers fed by data.

mod caption;
mod chart;

use crate::fmm::{Counts, Energies, TreeLists};
use crate::hydro::HydroFigure;
use crate::platforms;
use crate::scattering;
use crate::sweeps::searches::{Predicted, Strategies};
use crate::sweeps::tiling;
use greenup_model::Op;
use greenup_study::pages::sweep::metrics::Metric;
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
