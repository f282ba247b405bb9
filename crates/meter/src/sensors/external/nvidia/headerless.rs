//! `--format=csv,noheader`: the columns by what stands in them. A column of watts has its unit.

use crate::sensors::BusId;
use crate::sensors::external::line::{Numbered, Separator, lines};
use crate::sensors::external::stamp::clock_time;
use crate::sensors::external::trace_clock::round;

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
pub fn is_name(field: &str) -> bool {
    field.starts_with("NVIDIA ")
        || ["Tesla ", "GeForce ", "Quadro "]
            .iter()
            .any(|n| field.starts_with(n))
}

/// A node has fewer GPUs.
const DEVICES: u32 = 64;

/// Numbers that count devices over and over: 0, 1, 2, 0, 1, 2, or 3, 5, 3, 5. Some lines may be lost. The greatest, and how many
/// there are.
fn counts(column: &[&str]) -> Option<(u32, usize)> {
    let numbers: Vec<u32> = (column.iter().map(|f| f.parse().ok())).collect::<Option<_>>()?;
    let first = numbers.first()?;
    let n = 1 + numbers.iter().skip(1).position(|d| d == first)?;
    let greatest = *numbers.iter().max()?;
    let mut different = numbers.clone();
    different.sort_unstable();
    different.dedup();
    let again = numbers.iter().zip(&numbers[n..]);
    let same = again.filter(|(a, b)| a == b).count();
    let is_it = n > 1
        && numbers.len() >= 2 * n
        && different.len() == n
        && greatest < DEVICES
        && 10 * same >= 9 * (numbers.len() - n);
    is_it.then_some((greatest, n))
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
    // Temperatures of two GPUs may count too: indexes are smaller. Those of one alternate, but its lines come at even times.
    let times: Vec<f64> = (column(time).into_iter())
        .filter_map(|t| Some(clock_time(t)?.seconds))
        .collect();
    let index = || {
        let all = (0..width).filter_map(|i| {
            let (greatest, n) = counts(&column(i))?;
            let from_zero = greatest as usize == n - 1;
            (from_zero || round(&times) == Some(n)).then_some((greatest, i))
        });
        all.min().map(|(_, i)| i)
    };
    let device = (0..width)
        .find(|&i| all(i, &is_gpu))
        .or_else(index)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_of_devices_are_known_by_their_order() {
        let of = |rows: &[&str]| {
            let all: Vec<&str> = rows.iter().flat_map(|r| r.split(' ')).collect();
            counts(&all)
        };
        let many = "0 1 ".repeat(30);
        let many = many.trim();
        for (rows, found) in [
            (&["0 1 2 0 1 2"][..], Some((2, 3))),
            (&["2 3 2 3 2 3"], Some((3, 2))),
            (&["1", many], Some((1, 2))),
            (&[many, "1", many], Some((1, 2))),
            (&["0 1"], None),
            (&["0 0 0 0"], None),
            (&["0 7 0 0 7 7 0 7 0"], None),
            (&["0 1 2 0 2 1 1 0 2"], None),
            (&["400 100 400 100"], None),
            (&["0 x 0 x"], None),
        ] {
            assert_eq!(of(rows), found, "{rows:?}");
        }
    }

    #[test]
    fn a_temperature_is_no_index() {
        let line = |i: u32, gpu: u32| {
            format!(
                "2026/11/28 08:59:{:02}.00{gpu}, {}, {gpu}, 100.00 W\n",
                20 + i,
                45 + 7 * gpu
            )
        };
        let text: String = (0..10).flat_map(|i| [line(i, 0), line(i, 1)]).collect();
        assert_eq!(
            rewritten(&text).unwrap()[0].1,
            "timestamp,-,gpu,power.draw [W]"
        );
        // Of one GPU, at even times, with its index and without.
        for index in ["0, ", ""] {
            let line = |i: u32| {
                format!(
                    "2026/11/28 08:59:{:02}.000, {index}{}, 100.00 W\n",
                    20 + i,
                    45 + i % 2
                )
            };
            let text: String = (0..20).map(line).collect();
            assert!(!rewritten(&text).unwrap()[0].1.contains("gpu"), "{text}");
        }
    }
}
