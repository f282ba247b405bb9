//! One module a figure.

pub mod bar_figure;
pub mod bar_rows;
pub mod best_figure;
pub mod box_figure;
pub mod cost_figure;
pub mod diagram;
pub mod dumbbell_figure;
pub mod heat_figure;
pub mod lists_figure;
pub mod map_figure;
pub mod mesh_figure;
pub mod parallel_figure;
pub mod pruning_figure;
pub mod replay_figure;
pub mod residual_figure;
pub mod roofline;
pub mod scaling_figure;
pub mod share_figure;
pub mod sweep_figure;
