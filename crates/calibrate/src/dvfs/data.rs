//! Power samples and their file form.

/// Clocks of processors and memories, MHz.
const CLOCKS_MHZ: std::ops::RangeInclusive<f64> = 1.0..=1e5;
/// Largest utilisation: counters of hardware exceed 1.
const MOST_USED: f64 = 2.0;
/// More components than any GPU or CPU names.
const MOST_COMPONENTS: f64 = 1000.0;

/// Power of one kernel at one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerSample {
    /// Mean power, W.
    pub power_w: f64,
    /// Core clock, MHz.
    pub core_mhz: f64,
    /// Memory clock, MHz.
    pub mem_mhz: f64,
    /// Utilisation of each component, 0…1, core domain first.
    pub utilisation: Vec<f64>,
}

/// Power samples of one device.
#[derive(Clone, Debug)]
pub struct PowerData {
    /// Default clocks of core and memory, MHz.
    pub default_mhz: (f64, f64),
    /// How many of the components are in the core domain; the rest are in the memory domain.
    pub core_components: usize,
    /// Names of the components, in the order of the utilisations.
    pub components: Vec<String>,
    /// The samples.
    pub samples: Vec<PowerSample>,
}

/// A file that is not power data.
#[derive(Debug, thiserror::Error)]
#[error("{file}, line {line}, column {column}: {cause}")]
pub struct PowerDataError {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong there.
    pub cause: String,
}

/// Reads power data: four header lines (number of domains, default clocks in MHz, components per
/// domain, component names), then rows `power,core MHz,memory MHz,utilisations…`, each with a name before it or not.
///
/// # Errors
/// The first invalid cell, with line and column.
pub fn parse(file: &str, text: &str) -> Result<PowerData, PowerDataError> {
    let err = |line: usize, column: usize, cause: String| PowerDataError {
        file: file.to_owned(),
        line,
        column,
        cause,
    };
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|l| l.split(',').map(str::trim).collect())
        .collect();
    let number = |line: usize, column: usize| -> Result<f64, PowerDataError> {
        let cell = lines
            .get(line)
            .and_then(|l| l.get(column))
            .ok_or_else(|| err(line + 1, column + 1, "a value is missing".into()))?;
        match cell.parse::<f64>() {
            Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
            Ok(x) => Err(err(
                line + 1,
                column + 1,
                format!("{x} must be finite and not negative"),
            )),
            Err(_) => Err(err(
                line + 1,
                column + 1,
                format!("`{cell}` is not a number"),
            )),
        }
    };
    if number(0, 0)? != 2.0 {
        return Err(err(1, 1, "the data must have two clock domains".into()));
    }
    let clock = |line: usize, column: usize| -> Result<f64, PowerDataError> {
        let mhz = number(line, column)?;
        if CLOCKS_MHZ.contains(&mhz) {
            return Ok(mhz);
        }
        let cause = format!("{mhz} is no clock in MHz: those are 1 to 100000");
        Err(err(line + 1, column + 1, cause))
    };
    let default_mhz = (clock(1, 0)?, clock(1, 1)?);
    let count = |column: usize| -> Result<usize, PowerDataError> {
        let n = number(2, column)?;
        if n.fract() == 0.0 && (1.0..=MOST_COMPONENTS).contains(&n) {
            return Ok(n as usize);
        }
        let cause =
            format!("invalid number of components {n}: a domain has 1 to {MOST_COMPONENTS}");
        Err(err(3, column + 1, cause))
    };
    let (core_components, of_memory) = (count(0)?, count(1)?);
    let total = core_components + of_memory;
    let components: Vec<String> = lines
        .get(3)
        .map(|l| l.iter().map(|&s| s.to_owned()).collect())
        .unwrap_or_default();
    if components.len() != total {
        let cause = format!(
            "line 3 says {total} components, and {} are named here",
            components.len()
        );
        return Err(err(4, 1, cause));
    }
    let twice = (0..total).find(|&i| components[..i].contains(&components[i]));
    if let Some(i) = twice {
        let cause = format!("two components are named `{}`", components[i]);
        return Err(err(4, i + 1, cause));
    }
    let share = |line: usize, column: usize| -> Result<f64, PowerDataError> {
        let u = number(line, column)?;
        if u <= MOST_USED {
            return Ok(u);
        }
        let cause = format!("{u} is no utilisation: those are shares, 0 to 1");
        Err(err(line + 1, column + 1, cause))
    };
    let mut samples = Vec::new();
    for (i, line) in lines.iter().enumerate().skip(4) {
        if line.iter().all(|c| c.is_empty()) {
            continue;
        }
        let width = line.len();
        // Samples of applications begin with a name.
        let first = usize::from(width == total + 4 && line[0].parse::<f64>().is_err());
        if width != total + 3 + first {
            let cause = format!(
                "the row has {width} values: power, two clocks and {total} utilisations are {}",
                total + 3
            );
            return Err(err(i + 1, width.min(total + 3), cause));
        }
        let power_w = number(i, first)?;
        if power_w == 0.0 {
            return Err(err(i + 1, first + 1, "invalid power: 0 W".into()));
        }
        samples.push(PowerSample {
            power_w,
            core_mhz: clock(i, first + 1)?,
            mem_mhz: clock(i, first + 2)?,
            utilisation: (first + 3..width)
                .map(|j| share(i, j))
                .collect::<Result<_, _>>()?,
        });
    }
    if samples.is_empty() {
        return Err(err(5, 1, "there are no samples".into()));
    }
    Ok(PowerData {
        default_mhz,
        core_components,
        components,
        samples,
    })
}
