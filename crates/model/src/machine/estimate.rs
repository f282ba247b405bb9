//! A constant with its interval and provenance.

use serde::{Deserialize, Serialize};

/// Where a number comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Label {
    /// Measured or fitted from measurements on this device.
    Measured,
    /// Printed in a publication.
    #[default]
    Published,
    /// Computed from printed numbers; the interval covers their rounding.
    Derived,
    /// A guess with a stated basis.
    Estimated,
}

impl Label {
    /// Name in machine files.
    pub fn name(self) -> &'static str {
        match self {
            Label::Measured => "measured",
            Label::Published => "published",
            Label::Derived => "derived",
            Label::Estimated => "estimated",
        }
    }
}

/// One constant with its interval (95 % for fits, rounding for derived numbers) and source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { value = 2.5e-6, source = \"…\" }"
)]
pub struct Estimate {
    /// Best estimate, SI units.
    pub value: f64,
    /// Lower end of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lo: Option<f64>,
    /// Upper end of the interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hi: Option<f64>,
    /// Provenance, if it differs from the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// Where the number comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Estimate {
    /// A value without interval and source.
    pub fn new(value: f64) -> Self {
        Self {
            value,
            lo: None,
            hi: None,
            label: None,
            source: None,
        }
    }

    /// A value with its interval.
    pub fn with_interval(value: f64, lo: f64, hi: f64) -> Self {
        Self {
            lo: Some(lo),
            hi: Some(hi),
            ..Self::new(value)
        }
    }

    /// Lower end of the interval, the value itself without one.
    pub fn low(&self) -> f64 {
        self.lo.unwrap_or(self.value)
    }

    /// Upper end of the interval, the value itself without one.
    pub fn high(&self) -> f64 {
        self.hi.unwrap_or(self.value)
    }

    /// Value and interval times a factor.
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            lo: self.lo.map(|x| x * factor),
            hi: self.hi.map(|x| x * factor),
            ..self.clone()
        }
    }
}

/// Where in the machine's intervals. Time and energy grow with every τ, ε and π₀ and fall with Δπ, so the lowest costs with the
/// highest Δπ bound every prediction from inside the box of intervals, and the reverse.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Value,
    Low,
    High,
}

impl End {
    pub(crate) fn of(self, e: &Estimate) -> f64 {
        match self {
            Self::Value => e.value,
            Self::Low => e.low(),
            Self::High => e.high(),
        }
    }

    pub(crate) fn of_usable_power(self, e: &Estimate) -> f64 {
        match self {
            Self::Value => e.value,
            Self::Low => e.high(),
            Self::High => e.low(),
        }
    }
}
