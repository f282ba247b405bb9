//! Which numbers of a worker can be measurements.

/// Refuses times of which one is none, or no times.
///
/// # Errors
/// What is wrong, in words.
pub(crate) fn measured(times_s: &[f64]) -> Result<(), String> {
    if times_s.is_empty() {
        Err("no time".into())
    } else {
        each(times_s)
    }
}

/// The same of times that need not be there.
///
/// # Errors
/// As [`measured`].
pub(crate) fn each(times_s: &[f64]) -> Result<(), String> {
    match times_s.iter().find(|t| !positive(**t)) {
        Some(t) => Err(format!(
            "a time of {t} s, which must be positive and finite"
        )),
        None => Ok(()),
    }
}

/// Refuses an energy that is none.
///
/// # Errors
/// As [`measured`].
pub(crate) fn energy(joules: Option<f64>) -> Result<(), String> {
    match joules.filter(|j| !positive(*j)) {
        Some(j) => Err(format!(
            "an energy of {j} J, which must be positive and finite"
        )),
        None => Ok(()),
    }
}

fn positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positive_finite_numbers_are_measurements() {
        assert_eq!(measured(&[1e-300, 2.0]), Ok(()));
        assert_eq!((each(&[]), energy(None)), (Ok(()), Ok(())));
        assert!(measured(&[]).is_err());
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(measured(&[1.0, wrong]).is_err(), "{wrong}");
            assert!(energy(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
