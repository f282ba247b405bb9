//! An element of an array.

/// An element. Integers keep all their digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Of a floating-point type.
    Real(f64),
    /// Of an integer type.
    Whole(i128),
}

impl Number {
    /// |x − y|, of integers exactly before it is rounded.
    pub(super) fn distance(self, other: Self) -> f64 {
        match (self, other) {
            (Self::Whole(x), Self::Whole(y)) => (x - y).unsigned_abs() as f64,
            (x, y) => (x.value() - y.value()).abs(),
        }
    }

    /// Rounded to the nearest `f64`.
    pub(super) fn value(self) -> f64 {
        match self {
            Self::Real(x) => x,
            Self::Whole(x) => x as f64,
        }
    }

    pub(super) fn is_nan(self) -> bool {
        matches!(self, Self::Real(x) if x.is_nan())
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Real(x) => write!(f, "{x:e}"),
            Self::Whole(x) => write!(f, "{x}"),
        }
    }
}
