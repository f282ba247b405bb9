//! Where a number that a paper prints stands in a figure of ours, as data.

use serde::Deserialize;

/// Where a number of the paper stands in a figure of ours. It is the coordinate that is not given.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The figure of the item, from 1.
    #[serde(default = "first")]
    pub figure: usize,
    /// Its panel, from 1.
    #[serde(default = "first")]
    pub panel: usize,
    /// Horizontal position, in the unit of the axis; of a named axis the number of the name, from 0.
    pub x: Option<f64>,
    /// Vertical position.
    pub y: Option<f64>,
    /// Unit of the number in that of the axis.
    #[serde(default = "one")]
    pub times: f64,
    /// What is added to it then.
    #[serde(default)]
    pub plus: f64,
}

fn first() -> usize {
    1
}

fn one() -> f64 {
    1.0
}
