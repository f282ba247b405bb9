//! What papers draw of many machines: small panels, pairs, bounds, tables.
//!
//! | module | contents |
//! |---|---|
//! | [`panels`] | one panel a machine over intensity, with measured dots where there are records |
//! | [`lines`] | roofline, arch line and power line of machines with their dots |
//! | [`caps`] | errors with and without the power cap |
//! | [`transistors`] | power over clock, voltage and temperature |
//! | [`half`] | Hockney's f½ |
//! | [`diagram`] | boxes and arrows as data |
//! | [`bounds`] | work for communication: points, bounds, regions |
//! | [`tables`] | symbols and constants as tables |

pub mod bounds;
pub mod caps;
pub mod diagram;
pub mod half;
pub mod lines;
pub mod panels;
pub mod tables;
pub mod transistors;

use crate::PaperError;
use crate::records::{Records, broken, machine};
use greenup_calibrate::Record;
use greenup_calibrate::record;
use greenup_model::{Machine, Op};
use greenup_report::roofline_parts::Point;
use greenup_study::pages::comparison;
use serde::Deserialize;
use std::path::Path;

/// Microbenchmarks of a machine, for dots.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The machine: shipped, `N*NAME`, or a file of the repository.
    pub machine: String,
    /// Its name in the figure.
    pub name: String,
    /// The flop class.
    pub flop: Op,
    /// The microbenchmarks, as `greenup calibrate` writes them.
    pub record: String,
}

impl Measured {
    /// Measured points of the class on the whole device.
    ///
    /// # Errors
    /// The record is missing or broken.
    pub fn points(&self, records: &Records) -> Result<Vec<Point>, PaperError> {
        Ok(comparison::points(&read(records, &self.record)?, self.flop))
    }
}

/// Microbenchmarks of a record.
///
/// # Errors
/// It is missing or broken.
pub fn read(records: &Records, name: &str) -> Result<Vec<Record>, PaperError> {
    let path = records.path(name)?;
    record::read(&path).map_err(|e| broken(&path, e))
}

/// A shipped machine or a machine file of the repository; several of it as `47*arndale-gpu`, under a bound on its power in watts
/// as `gtx-titan@140`.
///
/// # Errors
/// There is none, it is broken, or the bound is below its constant power.
pub fn machine_of(records: &Records, name: &str) -> Result<Machine, PaperError> {
    let none = || PaperError::NoMachine(name.to_owned());
    if let Some((of, watts)) = name.split_once('@') {
        let w: f64 = watts.parse().map_err(|_| none())?;
        let m = machine_of(records, of)?;
        return Ok(Machine {
            name: format!("{} at {w} W", m.name),
            title: format!("{} at {w} W", m.title),
            ..m.power_bounded(w)?
        });
    }
    let (copies, of) = match name.split_once('*') {
        Some((n, of)) => (Some(n.parse::<f64>().map_err(|_| none())?), of),
        None => (None, name),
    };
    if !of.ends_with(".toml") {
        return machine(name);
    }
    let text = records.text(of)?;
    let one = Machine::from_toml(&text).map_err(|e| broken(Path::new(of), e))?;
    Ok(match copies {
        Some(n) => Machine {
            name: format!("{n} × {}", one.name),
            title: format!("{n} × {}", one.title),
            ..one.cluster(n)?
        },
        None => one,
    })
}
