//! Tables, figures and the self-contained page. Knows nothing of devices or sensors: it draws what it is given.
//!
//! | module | what it holds |
//! |---|---|
//! | [`chart`] | charts: description, layout for a width, drawing as SVG, PNG and for pages |
//! | [`roofline_figure`], [`roofline_parts`] | roofline, arch line and power line side by side |
//! | [`bar_figure`] | a row a kernel: fraction of roof, parts of its energy |
//! | [`bar_rows`] | named rows of horizontal bars |
//! | [`map_figure`] | the dimensionless map of machines |
//! | [`pruning_figure`] | how filters prune a search space |
//! | [`sweep_figure`] | figures of a tuning sweep |
//! | [`best_figure`] | the best so far of a search, over its trials |
//! | [`dumbbell_figure`] | named rows with a dot a series |
//! | [`parallel_figure`] | configs as lines through the values of their parameters |
//! | [`box_figure`] | quartiles and whiskers for each value of each parameter |
//! | [`cost_figure`] | what cases cost: time, energy and power by input and setting |
//! | [`replay_figure`] | search strategies beside each other |
//! | [`residual_figure`] | what a model misses of each benchmark |
//! | [`heat_figure`] | a value over two parameters |
//! | [`share_figure`] | energies of many cases, split |
//! | [`mesh_figure`] | plane meshes: zones by group, with nodes |
//! | [`lists_figure`] | U, V, W and X lists of a box of an octree |
//! | [`diagram`] | shapes, arrows, dots and labels without axes |
//! | [`scaling_figure`] | series over problem size or time |
//! | [`page`] | the HTML page |
//! | [`table`] | tables: columns described once; pages, terminals, CSV and Markdown |
//! | [`provenance`] | where, when and by which program results were made |
//! | [`mod@version`] | version, commit, target and features of this program |
//! | [`text`] | configs and large numbers as text |
//! | [`si`] | numbers with SI prefixes |
//! | [`png`] | SVG → PNG with embedded fonts |
//! | [`npy`] | NumPy's array files |
//! | [`vtu`] | unstructured grids for ParaView |

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod chart;
mod figures;
mod formats;
pub mod page;
pub mod provenance;
pub mod table;
pub mod text;
pub mod version;

pub use chart::{axis::si, files::png};
pub use figures::roofline::{figure as roofline_figure, parts as roofline_parts};
pub use figures::{
    bar_figure, bar_rows, best_figure, box_figure, cost_figure, diagram, dumbbell_figure,
    heat_figure, lists_figure, map_figure, mesh_figure, parallel_figure, pruning_figure,
    replay_figure, residual_figure, scaling_figure, share_figure, sweep_figure,
};
pub use formats::{npy, npz, vtu};
