//! Tables, figures and the self-contained page. Knows nothing of devices or sensors: it draws
//! what it is given.
//!
//! | module | what it holds |
//! |---|---|
//! | [`si`] | numbers with SI prefixes |
//! | [`svg`], [`axis`] | a small SVG layer and its log₂ and linear axes |
//! | [`roofline_parts`] | what it shows |
//! | [`roofline_figure`] | roofline, arch line and power line side by side |
//! | [`bar_figure`] | measured against predicted, split by what costs |
//! | [`map_figure`] | the dimensionless map of machines |
//! | [`pruning_figure`] | how filters prune a search space |
//! | [`sweep_figure`] | figures of a tuning sweep |
//! | [`heat_figure`] | a value over two parameters |
//! | [`share_figure`] | energies of many cases, split |
//! | [`scaling_figure`] | series over problem size or time |
//! | [`png`] | SVG → PNG with embedded fonts |
//! | [`page`] | the HTML page |
//! | [`npy`] | NumPy's array files |
//! | [`vtu`] | unstructured grids for ParaView |

pub mod axis;
pub mod bar_figure;
pub mod heat_figure;
pub mod map_figure;
pub mod npy;
pub mod page;
pub mod png;
pub mod pruning_figure;
pub mod roofline_figure;
mod roofline_marks;
pub mod roofline_parts;
pub mod scaling_figure;
pub mod share_figure;
pub mod si;
pub mod svg;
pub mod sweep_figure;
pub mod vtu;
