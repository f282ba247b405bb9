//! `--intensity`.

/// Help of a list of intensities.
pub const INTENSITIES: &str = "Intensities, flop/B: a list I,J,…, or FROM:TO by powers of two, or FROM:TO:N for N values in \
    equal ratios";
/// Help where only the ends of a list matter.
pub const RANGE: &str =
    "Range of intensities, flop/B: FROM:TO; of a list I,J,… the least and the greatest";

/// Most values of a list.
const MOST: usize = 10_000;

/// Intensities in flop/B, as typed: `2`, `0.25,1,4`, `0.25:64` or `0.25:64:9`.
#[derive(Clone, Debug, PartialEq)]
pub struct Intensities(pub Vec<f64>);

impl Intensities {
    /// The least and the greatest.
    pub fn span(&self) -> (f64, f64) {
        let ends = (f64::INFINITY, 0.0_f64);
        (self.0.iter()).fold(ends, |(lo, hi), i| (lo.min(*i), hi.max(*i)))
    }
}

/// Reads them.
pub fn intensities(text: &str) -> Result<Intensities, String> {
    let wrong = || "give positive numbers in flop/B: 2, 0.25,1,4, 0.25:64 or 0.25:64:9".to_owned();
    let number = |t: &str| {
        (t.trim().parse().ok())
            .filter(|x: &f64| x.is_finite() && *x > 0.0)
            .ok_or_else(wrong)
    };
    let parts: Vec<&str> = text.split(':').collect();
    let (from, to, n) = match parts[..] {
        [list] => {
            let list: Vec<f64> = list.split(',').map(number).collect::<Result<_, _>>()?;
            return Ok(Intensities(list));
        }
        [from, to] => (number(from)?, number(to)?, None),
        [from, to, n] => {
            let n = n.trim().parse::<usize>().map_err(|_| wrong())?;
            (number(from)?, number(to)?, Some(n))
        }
        _ => return Err(wrong()),
    };
    if from >= to {
        return Err(format!(
            "{from} is not less than {to}: give the smaller one first"
        ));
    }
    let list = match n {
        Some(n @ 2..=MOST) => {
            let step = (to / from).ln() / (n - 1) as f64;
            let inner = (1..n - 1).map(|k| from * (step * k as f64).exp());
            std::iter::once(from).chain(inner).chain([to]).collect()
        }
        Some(_) => return Err(format!("give from 2 to {MOST} values")),
        None => std::iter::successors(Some(from), |i| Some(2.0 * i))
            .take_while(|i| *i < to)
            .chain([to])
            .collect(),
    };
    Ok(Intensities(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_a_list_and_a_range() {
        let of = |text: &str| intensities(text).unwrap().0;
        assert_eq!(of("2"), [2.0]);
        assert_eq!(of("4, 0.25"), [4.0, 0.25]);
        assert_eq!(of("0.25:2"), [0.25, 0.5, 1.0, 2.0]);
        assert_eq!(of("1:5"), [1.0, 2.0, 4.0, 5.0]);
        assert_eq!(of("1:16:2"), [1.0, 16.0]);
        let nine = of("1:256:9");
        assert!((nine[3] - 8.0).abs() < 1e-12 && nine.len() == 9, "{nine:?}");
        assert_eq!(intensities("4,0.25,1").unwrap().span(), (0.25, 4.0));
        for bad in [
            "",
            "0",
            "-1",
            "x",
            "nan",
            "1,,2",
            "8:1",
            "1:1",
            "1:2:1",
            "1:2:x",
            "1:2:3:4",
            "1:2:20000",
        ] {
            assert!(intensities(bad).is_err(), "{bad}");
        }
    }
}
