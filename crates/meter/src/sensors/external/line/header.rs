//! Headers: which column holds what.

use super::error::{LineError, shown};
use super::unit::{Unit, time_factor, value_unit};

/// The powers of a GPU that `nvidia-smi` tells, the first of them taken where there are several.
pub const POWERS: [&str; 3] = ["power.draw.instant", "power.draw", "power.draw.average"];

/// Where the fields are.
#[derive(Clone, Debug)]
pub struct Columns {
    pub time: usize,
    pub value: usize,
    pub device: Option<usize>,
    pub count: usize,
    /// Whether the header ends with a separator: a column without a name may follow.
    pub spare: bool,
    pub time_factor: f64,
    pub unit: Option<Unit>,
}

impl Columns {
    /// Without a header.
    pub const UNNAMED: Self = Self {
        time: 0,
        value: 1,
        device: None,
        count: 2,
        spare: false,
        time_factor: 1.0,
        unit: None,
    };

    /// Whether so many fields, the last of them this one, are those of the columns. Some meters end each line with a separator.
    pub fn fit(&self, fields: &[&str]) -> bool {
        let one_more = fields.len() == self.count + 1;
        let last_is_empty = fields.last().is_some_and(|f| f.is_empty());
        fields.len() == self.count || one_more && (self.spare || last_is_empty)
    }

    /// The columns that a header names; `None` for other words.
    /// `wanted` is the column of power, by its name without its unit.
    pub fn of(
        line: &str,
        mut fields: &[&str],
        wanted: Option<&str>,
    ) -> Result<Option<Self>, LineError> {
        let mut spare = false;
        if let [named @ .., ""] = fields {
            (fields, spare) = (named, true);
        }
        let (mut time, mut device) = (None, None);
        let (mut powers, mut energies) = (Vec::new(), Vec::new());
        for (i, field) in fields.iter().enumerate() {
            match column(field)? {
                Column::Time(factor) if time.is_none() => time = Some((i, factor)),
                Column::Value(unit @ Some(Unit::Energy(_))) => energies.push((i, unit)),
                Column::Value(unit) => powers.push((i, unit)),
                // Several devices may have the same name.
                Column::Device if device.is_none_or(|at| is_name(fields[at])) => device = Some(i),
                _ => {}
            }
        }
        // A meter that prints both counts the energy of its power.
        let mut values = if powers.is_empty() { energies } else { powers };
        if let Some(wanted) = wanted {
            values.retain(|(i, _)| bare(fields[*i]).eq_ignore_ascii_case(wanted));
            if values.is_empty() && time.is_some() {
                return Err(LineError::NoColumn(shown(line), wanted.to_owned()));
            }
        }
        let place = |i: usize| POWERS.iter().position(|n| *n == bare(fields[i]));
        // Those of a whole module hold that of the GPU.
        let module = |i: usize| bare(fields[i]).starts_with("module.");
        if values.iter().any(|(i, _)| !module(*i)) {
            values.retain(|(i, _)| !module(*i));
        }
        if values.len() > 1 && values.iter().all(|(i, _)| place(*i).is_some()) {
            values.sort_by_key(|(i, _)| place(*i));
            values.truncate(1);
        }
        if let [(a, _), (b, _), ..] = values[..]
            && time.is_some()
        {
            return Err(LineError::Several(shown(fields[a]), shown(fields[b])));
        }
        let value = values.first().copied();
        // Words that a meter prints first may hold a name too; a header has several fields.
        if fields.len() < 2 || time.is_none() && value.is_none() {
            return Ok(None);
        }
        let (Some((time, time_factor)), Some((value, unit))) = (time, value) else {
            // Of a sentence the fields are its words.
            if !line.contains([',', ';', '\t']) {
                return Ok(None);
            }
            return Err(match time {
                None => LineError::NoTime(shown(line)),
                Some(_) => LineError::NoPower(shown(line)),
            });
        };
        Ok(Some(Self {
            time,
            value,
            device,
            count: fields.len(),
            spare,
            time_factor,
            unit,
        }))
    }
}

/// The name of a column without its unit.
fn bare(field: &str) -> &str {
    field.split(['[', '(']).next().unwrap_or(field).trim()
}

/// Whether a column of devices holds their model.
fn is_name(field: &str) -> bool {
    bare(field).to_lowercase().ends_with("name")
}

enum Column {
    Time(f64),
    Value(Option<Unit>),
    Device,
    Unknown,
}

/// What a name of a header stands for: `power.draw [W]`, `time_ms`, `P (mW)`, `watts`.
fn column(field: &str) -> Result<Column, LineError> {
    let field = field.trim();
    // A unit in brackets.
    if let Some((name, rest)) = field.split_once(['[', '(']) {
        let (name, unit) = (name.trim(), rest.trim_end_matches([']', ')']).trim());
        let power = value_unit(unit).filter(|_| !is_bound(name));
        return match named(name, Some(unit))? {
            // Whatever it is called, it is a power.
            Column::Unknown if power.is_some() => Ok(Column::Value(power)),
            known => Ok(known),
        };
    }
    if let Some(unit) = value_unit(field) {
        return Ok(Column::Value(Some(unit)));
    }
    if let Some(factor) = time_factor(field) {
        return Ok(Column::Time(factor));
    }
    // A unit as the last word, as `power_mw`, `cpu_w` and `Power mW` have it.
    if let Some((name, unit)) = field.rsplit_once(['_', '.', ' ', '/', '-']) {
        let power = value_unit(unit);
        match named(name, None)? {
            Column::Unknown if power.is_some() && !is_bound(name) => {
                return Ok(Column::Value(power));
            }
            Column::Unknown => {}
            _ if power.is_some() || time_factor(unit).is_some() => return named(name, Some(unit)),
            _ => {}
        }
    }
    named(field, None)
}

/// Whether a column bounds or describes a power instead of measuring it.
fn is_bound(name: &str) -> bool {
    let other = [
        "limit",
        "cap",
        "max",
        "min",
        "state",
        "mode",
        "management",
        "factor",
    ];
    let small = name.to_lowercase();
    small
        .split(['_', '.', ' ', '/', '-'])
        .any(|p| other.contains(&p))
}

fn named(name: &str, unit: Option<&str>) -> Result<Column, LineError> {
    let small = name.to_lowercase().replace(['_', ' ', '-', '/'], ".");
    let parts: Vec<&str> = small.split('.').collect();
    let (first, last) = (parts[0], parts[parts.len() - 1]);
    if is_bound(name) {
        return Ok(Column::Unknown);
    }
    let unit = unit.filter(|u| !u.is_empty());
    let wrong = |u: &str| LineError::HeaderUnit(shown(u));
    let value = |default: Option<Unit>| match unit {
        None => Ok(Column::Value(default)),
        Some(u) => value_unit(u)
            .map(|u| Column::Value(Some(u)))
            .ok_or_else(|| wrong(u)),
    };
    let is_device = matches!(
        small.as_str(),
        "index"
            | "gpu"
            | "device"
            | "uuid"
            | "name"
            | "channel"
            | "socket"
            | "pci.bus"
            | "pci.bus.id"
    ) || matches!(first, "gpu" | "device")
        && matches!(last, "name" | "uuid" | "id" | "index" | "serial");
    match (first, last) {
        _ if is_device => Ok(Column::Device),
        // A capital T is a temperature.
        ("t", "t") if name != "t" => Ok(Column::Unknown),
        ("time" | "timestamp" | "t" | "date" | "datetime" | "elapsed" | "seconds" | "epoch", _)
        | (_, "time" | "timestamp") => match unit {
            None => Ok(Column::Time(1.0)),
            Some(u) => time_factor(u).map(Column::Time).ok_or_else(|| wrong(u)),
        },
        ("power" | "p" | "pwr" | "watts" | "value" | "reading" | "draw", _)
        | (_, "power" | "draw" | "watts") => value(None),
        ("energy" | "e" | "joules", _) | (_, "energy" | "joules" | "consumption") => {
            value(Some(Unit::Energy(1.0)))
        }
        _ => Ok(Column::Unknown),
    }
}
