//! Ranges of numbers in one text: `FROM:TO:N`, both ends included.

/// Numbers that a text names.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<f64>);

/// Most numbers of a range.
const MOST: usize = 1 << 24;

impl std::str::FromStr for Numbers {
    type Err = String;

    /// Reads a number, `FROM:TO:N` or a list `A,B,C`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("\"{text}\" is not a number, FROM:TO:N or A,B,...");
        let number = |s: &str| s.trim().parse::<f64>().ok().filter(|x| x.is_finite());
        let all = match text.split(':').collect::<Vec<_>>()[..] {
            [list] => list.split(',').map(number).collect(),
            [_, _, _] => {
                let (from, to, n) = ends(text).ok_or_else(wrong)?;
                if !(2..=MOST).contains(&n) {
                    return Err(format!(
                        "\"{text}\": N = {n} must be a whole number from 2 to {MOST}"
                    ));
                }
                let step = (to - from) / (n - 1) as f64;
                let at = |k: usize| {
                    if k == n - 1 {
                        to
                    } else {
                        from + step * k as f64
                    }
                };
                Some((0..n).map(at).collect())
            }
            _ => None,
        };
        all.map(Self).ok_or_else(wrong)
    }
}

/// The parts of `FROM:TO:N`.
pub fn ends(text: &str) -> Option<(f64, f64, usize)> {
    let number = |s: &str| s.trim().parse::<f64>().ok().filter(|x| x.is_finite());
    match text.split(':').collect::<Vec<_>>()[..] {
        [from, to, n] => Some((number(from)?, number(to)?, n.trim().parse().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_both_ends() {
        let read = |text: &str| text.parse::<Numbers>().map(|n| n.0);
        assert_eq!(read("0:1:5").unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0]);
        assert_eq!(read("1:-1:3").unwrap(), [1.0, 0.0, -1.0]);
        assert_eq!(
            (read("0.2").unwrap(), read("1, 2,4").unwrap()),
            (vec![0.2], vec![1.0, 2.0, 4.0])
        );
        assert_eq!(read("0:0.3:4").unwrap()[3], 0.3);
        for bad in [
            "",
            "0:1",
            "0:1:x",
            "0:1:1",
            "0:1:2.5",
            "0:inf:3",
            "1,,2",
            "0:1:2:3",
            "0:1:99999999",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
