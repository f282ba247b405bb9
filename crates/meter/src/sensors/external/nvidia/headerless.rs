//! `--format=csv,noheader`: the columns by what stands in them. A column of watts has its unit.

use crate::sensors::BusId;
use crate::sensors::external::line::{Numbered, Separator, lines};
use crate::sensors::external::stamp::clock_time;

/// Lines that are looked at.
const LOOKED_AT: usize = 4096;

fn is_watts(field: &str) -> bool {
    let number = field.strip_suffix('W').map(str::trim);
    number.is_some_and(|n| n.parse::<f64>().is_ok())
}

fn is_gpu(field: &str) -> bool {
    field.parse::<BusId>().is_ok() || field.starts_with("GPU-")
}

/// Whether it is the model of a GPU, and no state of one.
fn is_name(field: &str) -> bool {
    field.starts_with("NVIDIA ")
        || ["Tesla ", "GeForce ", "Quadro "]
            .iter()
            .any(|n| field.starts_with(n))
}

/// Whether numbers count the devices over and over: 0, 1, 2, 0, 1, 2.
fn counts(column: &[&str]) -> bool {
    let Some(n) = column.iter().skip(1).position(|f| *f == "0").map(|i| i + 1) else {
        return false;
    };
    n > 1
        && column.len() >= 2 * n
        && column
            .iter()
            .enumerate()
            .all(|(i, f)| f.parse() == Ok(i % n))
}

pub fn rewritten(text: &str) -> Option<Numbered> {
    let rows: Vec<Vec<&str>> = (lines(text).filter(|l| !l.trim().is_empty()).take(LOOKED_AT))
        .map(|l| Separator::Comma.split(l, None))
        .collect();
    let width = rows.first().map(Vec::len).filter(|n| *n > 2)?;
    let column = |i: usize| -> Vec<&str> {
        (rows.iter().filter(|r| r.len() == width).map(|r| r[i])).collect()
    };
    // A header has no time.
    let time = (0..width).find(|&i| clock_time(rows[0][i]).is_some())?;
    let watts: Vec<usize> = (0..width)
        .filter(|&i| column(i).into_iter().any(is_watts))
        .collect();
    let [power] = watts[..] else {
        return None;
    };
    let all = |i: usize, is: &dyn Fn(&str) -> bool| column(i).into_iter().all(is);
    let device = (0..width)
        .find(|&i| all(i, &is_gpu) || counts(&column(i)))
        .or_else(|| (0..width).find(|&i| all(i, &is_name)));
    let names = (0..width).map(|i| match i {
        i if i == time => "timestamp",
        i if i == power => "power.draw [W]",
        i if Some(i) == device => "gpu",
        _ => "-",
    });
    let header: Vec<&str> = names.collect();
    let lines = lines(text).enumerate().map(|(i, l)| (i + 1, l.to_owned()));
    Some(
        std::iter::once((1, header.join(",")))
            .chain(lines)
            .collect(),
    )
}
