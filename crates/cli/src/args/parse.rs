//! Values with units, as typed on the command line.

use greenup_app::args::duration;
use greenup_meter::interleaved::Accepted;
use greenup_model::Op;
use greenup_tune::search::Budget;

/// What the name of an OpenCL device begins with, where devices of both kinds are one text.
pub const OPENCL: &str = "opencl";

/// `cuda`, `cuda:1` or, where nothing runs, `cuda:h200`: the GPU's number or name. `opencl`, `opencl:0.1`: as it is.
pub fn gpu(text: &str) -> Result<String, String> {
    match text.split_once(':') {
        None if text == "cuda" => Ok("0".into()),
        Some(("cuda", which)) if !which.is_empty() => Ok(which.into()),
        None if text == OPENCL => Ok(text.into()),
        Some((OPENCL, which)) if !which.is_empty() => Ok(text.into()),
        _ => Err("use cuda, cuda:N, opencl or opencl:PLATFORM.DEVICE".into()),
    }
}

/// `100`, `60s`, `10m`, `5%`.
pub fn budget(text: &str) -> Result<Budget, String> {
    let wrong = || "give a number of trials (100), a time (60s, 10m) or a share (5%)".to_owned();
    let positive = |t: &str| {
        t.trim()
            .parse::<f64>()
            .ok()
            .filter(|x| *x > 0.0 && x.is_finite())
            .ok_or_else(wrong)
    };
    if text.ends_with(['s', 'm', 'h']) {
        return (duration(text).map(Budget::Seconds)).map_err(|_| wrong());
    }
    if let Some(s) = text.strip_suffix('%') {
        return positive(s).map(|x| Budget::Share(x / 100.0));
    }
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(Budget::Evaluations(n)),
        _ => Err(wrong()),
    }
}

/// Resamples of a bootstrap, which are all held in memory.
pub fn resamples(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(n) if n <= 1_000_000 => Ok(n),
        _ => Err("give a whole number of at most 1000000".into()),
    }
}

/// Points of a sample, which are all held in memory.
pub fn sample(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(n) if n <= 10_000_000 => Ok(n),
        _ => Err("give a whole number of at most 10000000; --points writes all".into()),
    }
}

/// Rounds of a comparison.
pub fn rounds(text: &str) -> Result<usize, String> {
    match text.trim().parse::<usize>() {
        Ok(n @ 1..=1000) => Ok(n),
        _ => Err("give a whole number from 1 to 1000".into()),
    }
}

/// `1,2`, or `all-non-zero`.
pub fn accepted(text: &str) -> Result<Accepted, String> {
    if text == "all-non-zero" {
        return Ok(Accepted::All);
    }
    let codes = text
        .split(',')
        .map(|c| c.trim().parse::<u8>().map(i32::from));
    (codes.collect::<Result<_, _>>().map(Accepted::Codes)).map_err(|_| {
        "give exit codes from 0 to 255, like 1,2, or all-non-zero, which accepts signals too".into()
    })
}

/// `1%` or `0.01`.
pub fn share(text: &str) -> Result<f64, String> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(d) => (d, 0.01),
        None => (text, 1.0),
    };
    match digits.trim().parse::<f64>() {
        Ok(x) if x > 0.0 && x * scale < 1.0 => Ok(x * scale),
        _ => Err("give a share between 0 and 1, like 1% or 0.01".into()),
    }
}

/// `f32=1e12`.
pub fn op_count(text: &str) -> Result<(Op, f64), String> {
    let (name, count) = text
        .split_once('=')
        .ok_or_else(|| "give NAME=COUNT, like f32=1e12".to_owned())?;
    let op: Op = name
        .parse()
        .map_err(|e: greenup_model::op::UnknownOp| e.to_string())?;
    let count: f64 = count
        .parse()
        .map_err(|_| format!("`{count}` is not a number"))?;
    if !count.is_finite() || count < 0.0 {
        return Err(format!("{count} must be finite and not negative"));
    }
    Ok((op, count))
}

/// `n=1024`: any value of our notation; what is none is a string.
pub fn constant(text: &str) -> Result<(String, toml::Value), String> {
    let (name, value) = text
        .split_once('=')
        .ok_or_else(|| "give NAME=VALUE, like n=1024".to_owned())?;
    let read = |value: &str| {
        let mut t = format!("v = {value}").parse::<toml::Table>().ok()?;
        t.remove("v")
    };
    // Several values, for a parameter, need no brackets.
    let value = read(value)
        .or_else(|| read(&format!("[{value}]")).filter(|_| value.contains(',')))
        .unwrap_or_else(|| toml::Value::String(value.to_owned()));
    Ok((name.trim().to_owned(), value))
}

/// Constants that grow together, and the values they take.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizes {
    pub names: Vec<String>,
    pub values: Vec<i64>,
}

/// `n=256,512` or `m+n=256,512`.
pub fn sizes(text: &str) -> Result<Sizes, String> {
    let wrong = || "give NAME=V,V,… with whole numbers, like n=256,512,1024".to_owned();
    let (names, values) = text.split_once('=').ok_or_else(wrong)?;
    let names: Vec<String> = names.split('+').map(|n| n.trim().to_owned()).collect();
    let mut values: Vec<i64> = values
        .split(',')
        .map(|v| v.trim().parse().map_err(|_| wrong()))
        .collect::<Result<_, _>>()?;
    values.sort_unstable();
    values.dedup();
    if names.iter().any(String::is_empty) || values.iter().any(|v| *v < 1) {
        return Err(wrong());
    }
    Ok(Sizes { names, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_units() {
        assert_eq!(share("1%"), Ok(0.01));
        assert!(share("0").is_err() && share("200%").is_err());
        assert!(op_count("f32=nan").is_err() && op_count("f32").is_err());
        assert_eq!(budget("5%"), Ok(Budget::Share(0.05)));
        assert_eq!(budget("60s"), Ok(Budget::Seconds(60.0)));
        assert_eq!(budget("1h30m"), Ok(Budget::Seconds(5400.0)));
        assert!(budget("m").is_err() && budget("0s").is_err());
        assert_eq!(constant("n=7"), Ok(("n".into(), toml::Value::Integer(7))));
        assert_eq!(budget("300ms"), Ok(Budget::Seconds(0.3)));
        let codes = Accepted::Codes(vec![1, 23]);
        assert_eq!(accepted("1, 23"), Ok(codes));
        assert_eq!(accepted("all-non-zero"), Ok(Accepted::All));
        assert!(
            ["", "one", "256", "-9"]
                .iter()
                .all(|t| accepted(t).is_err())
        );
        assert!(resamples("1000000000").is_err() && resamples("400") == Ok(400));
        assert!(sample("1000000000000").is_err() && sample("5") == Ok(5));
        assert!(constant("n").is_err());
        let s = sizes("m+n=512, 256").unwrap();
        assert_eq!((s.names.len(), s.values), (2, vec![256, 512]));
        assert!(sizes("n=").is_err() && sizes("=4").is_err() && sizes("n=0").is_err());
    }
}
