//! Which intensities the colours of an image span.

/// Most decades between percentiles that were asked for.
const DECADES: f64 = 12.0;
/// Percentiles and most decades of the default.
const DEFAULT: (f64, f64, f64) = (1.0, 99.9, 6.0);

/// Ends of the colours.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ColourRange {
    /// The brightest intensities, and at most six decades below them: neither few dark pixels nor few bright ones decide on
    /// the colours of all others.
    #[default]
    Brightest,
    /// Percentiles of the positive intensities, at most twelve decades.
    Percentiles(f64, f64),
    /// The largest intensity, and this many decades below it.
    Decades(f64),
    /// These intensities.
    Ends(f64, f64),
}

impl ColourRange {
    /// Parses percentiles: `LO,HI` or `LO:HI`.
    ///
    /// # Errors
    /// They are not two numbers from 0 to 100, the lower first.
    pub fn percentiles(text: &str) -> Result<Self, crate::GisaxsError> {
        match pair(text) {
            Some((lo, hi)) if 0.0 <= lo && lo < hi && hi <= 100.0 => Ok(Self::Percentiles(lo, hi)),
            _ => Err(
                format!("invalid percentiles \"{text}\": write LO,HI with 0 ≤ LO < HI ≤ 100")
                    .into(),
            ),
        }
    }

    /// What the colours span, for the reader of an image; `None` where the bar says it.
    pub fn note(self) -> Option<String> {
        let (_, top, decades) = DEFAULT;
        match self {
            Self::Brightest => Some(format!(
                "Colours end at percentile {top} of the intensities and at most {decades} decades below it."
            )),
            Self::Percentiles(lo, hi) => Some(format!(
                "Colours span the percentiles {lo} to {hi} of the positive intensities; those beyond have the colours of \
                 the ends."
            )),
            Self::Decades(_) | Self::Ends(..) => None,
        }
    }

    /// Parses the ends: `MIN,MAX` or `MIN:MAX`.
    ///
    /// # Errors
    /// They are not two positive numbers, the lower first.
    pub fn ends(text: &str) -> Result<Self, crate::GisaxsError> {
        match pair(text) {
            Some((lo, hi)) if 0.0 < lo && lo < hi && hi.is_finite() => Ok(Self::Ends(lo, hi)),
            _ => Err(format!("invalid range \"{text}\": write MIN,MAX with 0 < MIN < MAX").into()),
        }
    }

    /// Parses a number of decades.
    ///
    /// # Errors
    /// It is not a number from 0.1 to 300.
    pub fn decades(text: &str) -> Result<Self, crate::GisaxsError> {
        match text.parse::<f64>() {
            Ok(n) if (0.1..=300.0).contains(&n) => Ok(Self::Decades(n)),
            _ => Err("use a number from 0.1 to 300".into()),
        }
    }

    /// Lower and upper end for these intensities. Where none is positive the ends have no meaning.
    pub fn over(self, values: &[f64]) -> (f64, f64) {
        if let Self::Ends(lo, hi) = self {
            return (lo, hi);
        }
        let mut all: Vec<f64> = (values.iter().copied())
            .filter(|v| *v > 0.0 && v.is_finite())
            .collect();
        all.sort_by(f64::total_cmp);
        let Some(&top) = all.last() else {
            return (0.1, 1.0);
        };
        let below = |decades: f64| (top * 10_f64.powf(-decades)).max(f64::MIN_POSITIVE);
        let between = |lo: f64, hi: f64, decades: f64| {
            let at = |p: f64| all[((p / 100.0 * all.len() as f64) as usize).min(all.len() - 1)];
            let top = at(hi);
            let least = top * 10_f64.powf(-decades);
            // Colours of a constant image: a decade below it.
            (at(lo).max(least).max(f64::MIN_POSITIVE).min(0.1 * top), top)
        };
        match self {
            Self::Brightest => between(DEFAULT.0, DEFAULT.1, DEFAULT.2),
            Self::Percentiles(lo, hi) => between(lo, hi, DECADES),
            Self::Decades(n) => (below(n).min(0.99 * top), top),
            Self::Ends(lo, hi) => (lo, hi),
        }
    }
}

/// Two numbers in one text.
fn pair(text: &str) -> Option<(f64, f64)> {
    let (a, b) = text.split_once([',', ':'])?;
    Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
}

/// The level of an intensity between the ends, by logarithms; 0 for those that are not positive.
pub fn level((lo, hi): (f64, f64), v: f64) -> f64 {
    if v > 0.0 {
        (v / lo).log10() / (hi / lo).log10()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_span_the_data() {
        let data = |values: &[f64]| ColourRange::default().over(values);
        assert_eq!(data(&[0.0, f64::NAN]), (0.1, 1.0));
        assert_eq!(data(&[1e3]), (1e2, 1e3));
        let (lo, hi) = data(&[1e-20, 1.0, 1e3]);
        assert!((lo / 1e-3 - 1.0).abs() < 1e-9 && hi == 1e3);
        let asked = ColourRange::Percentiles(1.0, 99.9).over(&[1e-20, 1.0, 1e3]);
        assert!((asked.0 / 1e-9 - 1.0).abs() < 1e-9 && asked.1 == 1e3);
        // A hundredth of the pixels may be darker than the scale.
        let mut many = vec![1e-5];
        many.extend((0..199).map(|k| 1.0 + f64::from(k)));
        assert_eq!(data(&many), (2.0, 199.0));
        // A thousandth may be brighter.
        let mut bright: Vec<f64> = (0..5000).map(|k| 1.0 + f64::from(k)).collect();
        bright[0] = 1e9;
        assert_eq!(data(&bright), (52.0, 4997.0));
        assert_eq!(
            ColourRange::Percentiles(0.0, 100.0).over(&bright),
            (2.0, 1e9)
        );
        assert_eq!(ColourRange::Decades(3.0).over(&[5.0, 1e4]), (10.0, 1e4));
        assert_eq!(ColourRange::Ends(2.0, 3.0).over(&[]), (2.0, 3.0));
        assert_eq!(
            (level((1.0, 100.0), 10.0), level((1.0, 100.0), 0.0)),
            (0.5, 0.0)
        );
    }

    #[test]
    fn ranges_are_positive_and_rise() {
        assert_eq!(
            ColourRange::ends("1e-2, 5").unwrap(),
            ColourRange::Ends(0.01, 5.0)
        );
        assert_eq!(
            ColourRange::ends("1e-2:5").unwrap(),
            ColourRange::Ends(0.01, 5.0)
        );
        let percentiles = ColourRange::percentiles("5, 99.5").unwrap();
        assert!(
            percentiles
                .note()
                .unwrap()
                .contains("percentiles 5 to 99.5")
        );
        for bad in ["5", "-1,5", "5,5", "9,5", "5,101", "nan,5"] {
            assert!(ColourRange::percentiles(bad).is_err(), "{bad}");
        }
        for bad in [
            "", "1", "1,1", "0,1", "-1,2", "2,1", "nan,1", "1,nan", "1,inf", "1,2,3",
        ] {
            assert!(ColourRange::ends(bad).is_err(), "{bad}");
        }
        assert!(ColourRange::decades("3").is_ok());
        for bad in ["0", "-1", "nan", "x", "1e3"] {
            assert!(ColourRange::decades(bad).is_err(), "{bad}");
        }
    }
}
