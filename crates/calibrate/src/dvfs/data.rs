//! Power samples and their file form.

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
/// domain, component names), then rows `power,core MHz,memory MHz,utilisations…`.
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
    let core_components = number(2, 0)? as usize;
    let total = core_components + number(2, 1)? as usize;
    let components: Vec<String> = lines
        .get(3)
        .map(|l| l.iter().map(|&s| s.to_owned()).collect())
        .unwrap_or_default();
    let mut samples = Vec::new();
    for (i, line) in lines.iter().enumerate().skip(4) {
        if line.iter().all(|c| c.is_empty()) {
            continue;
        }
        // The names may lump components together; the rows decide how many there are.
        let width = line.len();
        if width < 4
            || samples
                .first()
                .is_some_and(|s: &PowerSample| s.utilisation.len() + 3 != width)
        {
            return Err(err(i + 1, width, format!("the row has {width} values")));
        }
        let power_w = number(i, 0)?;
        if power_w == 0.0 {
            return Err(err(i + 1, 1, "invalid power: 0 W".into()));
        }
        samples.push(PowerSample {
            power_w,
            core_mhz: number(i, 1)?,
            mem_mhz: number(i, 2)?,
            utilisation: (3..width).map(|j| number(i, j)).collect::<Result<_, _>>()?,
        });
    }
    let width = samples.first().map_or(0, |s| s.utilisation.len());
    if width == 0 {
        return Err(err(5, 1, "there are no samples".into()));
    }
    Ok(PowerData {
        default_mhz: (number(1, 0)?, number(1, 1)?),
        core_components: if width == total {
            core_components
        } else {
            width - 1
        },
        components,
        samples,
    })
}
