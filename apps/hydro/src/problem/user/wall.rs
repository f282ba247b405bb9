//! Walls of problem files.

use super::ProblemFileError;
use crate::problem::Wall;
use serde::Deserialize;

/// A wall as the file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum WallText {
    /// `"free"`, `"fixed"`, or the direction of the normal.
    Word(String),
    Given {
        velocity: Vec<toml::Value>,
    },
}

impl WallText {
    pub(super) fn components(&self) -> usize {
        match self {
            Self::Word(_) => 0,
            Self::Given { velocity } => velocity.len(),
        }
    }
}

/// The wall of an attribute.
///
/// # Errors
/// It is of no known kind, or a velocity is neither a finite number nor "free".
pub(super) fn wall(number: u32, text: &WallText) -> Result<Wall, ProblemFileError> {
    match text {
        WallText::Word(w) => match w.as_str() {
            "free" => Ok(Wall::free()),
            "x" => Ok(Wall::normal(1)),
            "y" => Ok(Wall::normal(2)),
            "z" => Ok(Wall::normal(3)),
            "fixed" => Ok(Wall {
                constrained: [Some(0.0); 3],
                straight: false,
            }),
            _ => Err(ProblemFileError::Wall {
                number,
                text: w.clone(),
            }),
        },
        WallText::Given { velocity } => {
            let mut constrained = [None; 3];
            for (to, v) in constrained.iter_mut().zip(velocity) {
                *to = match v {
                    toml::Value::Float(x) if x.is_finite() => Some(*x),
                    toml::Value::Integer(i) => Some(*i as f64),
                    toml::Value::String(s) if s == "free" => None,
                    _ => return Err(ProblemFileError::WallVelocity(number)),
                };
            }
            Ok(Wall {
                constrained,
                straight: false,
            })
        }
    }
}
