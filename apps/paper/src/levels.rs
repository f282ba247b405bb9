//! Costs of the levels of the memory hierarchy (thesis, table 6), from records of `greenup calibrate --levels --json`.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::si::si;
use greenup_report::table::{Cell, Header, Table};
use serde::Deserialize;

/// The table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Levels {
    /// JSON records, one a device.
    pub records: Vec<String>,
}

#[derive(Deserialize)]
struct Recorded {
    device: String,
    levels: Vec<Level>,
}

#[derive(Deserialize)]
struct Level {
    level: String,
    byte: Option<Cost>,
    access: Option<Cost>,
    latency_s: Option<f64>,
}

#[derive(Deserialize)]
struct Cost {
    time_s: f64,
    energy_j: Option<f64>,
}

impl Levels {
    /// A row a level of each device.
    ///
    /// # Errors
    /// A record is missing or not one of `greenup calibrate --levels`.
    pub fn table(&self, records: &Records) -> Result<Table, PaperError> {
        let number = |v: Option<f64>, unit: &str| match v {
            Some(v) => Cell::number(v, si(v, unit)),
            None => Cell::missing(),
        };
        let mut rows = Vec::new();
        for name in &self.records {
            let r: Recorded = serde_json::from_value(records.json(name)?)
                .map_err(|e| broken(std::path::Path::new(name), e))?;
            for l in &r.levels {
                let (byte, access) = (l.byte.as_ref(), l.access.as_ref());
                rows.push(vec![
                    Cell::text(&r.device),
                    Cell::text(&l.level),
                    number(byte.map(|c| 1.0 / c.time_s), "B/s"),
                    number(byte.and_then(|c| c.energy_j), "J"),
                    number(access.map(|c| 1.0 / c.time_s), "/s"),
                    number(access.and_then(|c| c.energy_j), "J"),
                    number(l.latency_s, "s"),
                ]);
            }
        }
        Ok(Table {
            caption: "Costs of the levels of memory, all cores together".into(),
            header: [
                ("device", ""),
                ("level", "shared memory for streams of a GPU's L1"),
                ("stream", "bytes read a second"),
                ("energy of a byte", "with constant power"),
                ("random accesses", "a second, each to another line"),
                ("energy of an access", "with constant power"),
                (
                    "latency",
                    "of an access that waits for the one before, one thread",
                ),
            ]
            .map(|(n, about)| Header::new(n, about))
            .to_vec(),
            rows,
        })
    }
}
