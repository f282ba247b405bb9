//! Counters that wrap around or go backwards.

/// Turns a raw counter of limited range into a running total.
#[derive(Clone, Debug)]
pub struct Unwrap {
    /// Largest raw value, after which the counter restarts at 0; `None` when it is not known.
    range: Option<u64>,
    last: Option<u64>,
    total: u64,
}

/// The counter fell, and no wrap-around explains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WentBackwards {
    /// Counter before.
    pub from: u64,
    /// Counter after.
    pub to: u64,
}

impl Unwrap {
    /// A counter that wraps around at `range`; `None` if it never does.
    pub fn new(range: Option<u64>) -> Self {
        Self {
            range: range.filter(|&r| r > 0),
            last: None,
            total: 0,
        }
    }

    /// Adds a raw value; returns the total since the first.
    ///
    /// A fall counts as a wrap only when the range is known and the implied step is below half of
    /// it: two wraps between readings look like one.
    ///
    /// # Errors
    /// [`WentBackwards`] otherwise; the next value counts from the new one.
    pub fn push(&mut self, raw: u64) -> Result<u64, WentBackwards> {
        let Some(last) = self.last.replace(raw) else {
            return Ok(self.total);
        };
        if raw >= last {
            self.total += raw - last;
            return Ok(self.total);
        }
        match self.range {
            Some(range) if last <= range && range - last + raw < range / 2 => {
                self.total += range - last + raw;
                Ok(self.total)
            }
            _ => Err(WentBackwards {
                from: last,
                to: raw,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn backwards_is_an_error_without_a_range_or_with_a_huge_step() {
        let mut free = Unwrap::new(None);
        free.push(10).unwrap();
        assert_eq!(free.push(5), Err(WentBackwards { from: 10, to: 5 }));
        assert_eq!(free.push(7), Ok(2));
        let mut ranged = Unwrap::new(Some(1000));
        ranged.push(600).unwrap();
        assert!(ranged.push(500).is_err());
        assert!(Unwrap::new(Some(0)).push(3).is_ok());
    }

    proptest! {
        #[test]
        fn any_wrapping_counter_is_followed(steps in prop::collection::vec(0u64..499, 1..200), start in 0u64..1000) {
            let range = 1000;
            let mut unwrap = Unwrap::new(Some(range));
            let mut truth = start;
            unwrap.push(start % range).unwrap();
            for step in steps {
                truth += step;
                prop_assert_eq!(unwrap.push(truth % range).unwrap(), truth - start);
            }
        }
    }
}
