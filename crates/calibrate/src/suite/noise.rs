//! What disturbed a device while it was measured, what was repeated, and what could not be measured cleanly.

use crate::record::Record;
use crate::roof::not_clean;
use greenup_device::load::Shares;
use greenup_model::Op;
use serde::Serialize;

/// Share of the cores' time that other programs and a hypervisor may take before a device counts as disturbed.
pub const BUSY: f64 = 0.05;
/// Known work below this share of its best rate tells that the machine is slower than it can be.
pub const SLOW: f64 = 0.92;

/// What a banner begins with.
pub const DISTURBED: &str = "Disturbed while it was measured";

/// A measurement that was repeated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeated {
    /// Name of the microbenchmark or kernel.
    pub what: String,
    /// How often.
    pub times: usize,
    /// Why, in words.
    pub why: String,
}

/// A number that could not be measured cleanly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotClean {
    /// The operation class or kernel.
    pub what: String,
    /// Why, in words.
    pub why: String,
}

/// What disturbed a device, and what came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Noise {
    /// Whether other programs took more than a twentieth of the cores' time, known work changed its speed by more than
    /// 8 %, or a number could not be measured cleanly.
    pub disturbed: bool,
    /// Measurements that were repeated.
    pub repeated: Vec<Repeated>,
    /// What could not be measured cleanly; such rates are lower bounds.
    pub not_clean: Vec<NotClean>,
    /// Share of the cores' time that other programs used; `None` where the system does not tell.
    pub others_share: Option<f64>,
    /// Share of the cores' time that a hypervisor gave to other virtual machines.
    pub stolen_share: Option<f64>,
    /// Speed of known work in its slower moments over its best: the lowest tenth.
    pub slow_share: Option<f64>,
}

impl Noise {
    /// Notes the shares of others over the whole time.
    pub fn others(&mut self, shares: Option<Shares>) {
        self.others_share = shares.map(|s| s.others);
        self.stolen_share = shares.map(|s| s.stolen);
        self.settle();
    }

    /// Counts repetitions.
    pub fn repeated(&mut self, what: &str, times: usize, why: &str) {
        if times > 0 {
            self.repeated.push(Repeated {
                what: what.to_owned(),
                times,
                why: why.to_owned(),
            });
        }
    }

    /// Notes what is not clean, once.
    pub fn not_clean(&mut self, what: &str, why: &str) {
        if self.not_clean.iter().all(|n| n.what != what) {
            self.not_clean.push(NotClean {
                what: what.to_owned(),
                why: why.to_owned(),
            });
        }
        self.settle();
    }

    /// Notes the classes whose roofs rest on records that were disturbed, in place of those noted before.
    pub fn roofs(&mut self, records: &[Record]) {
        self.not_clean.retain(|n| n.what.parse::<Op>().is_err());
        for (op, why) in not_clean(records) {
            self.not_clean(op.name(), &why);
        }
        self.settle();
    }

    /// Decides whether the device was disturbed.
    pub fn settle(&mut self) {
        let taken = self.others_share.unwrap_or(0.0) + self.stolen_share.unwrap_or(0.0);
        self.disturbed =
            taken > BUSY || self.slow_share.is_some_and(|s| s < SLOW) || !self.not_clean.is_empty();
    }

    /// Whether a class or kernel could not be measured cleanly.
    pub fn is_not_clean(&self, what: &str) -> bool {
        self.not_clean.iter().any(|n| n.what == what)
    }

    /// What a reader must know before the numbers; `None` if nothing disturbed the device.
    pub fn banner(&self) -> Option<String> {
        if !self.disturbed {
            return None;
        }
        let percent = |s: f64| format!("{:.0} %", 100.0 * s);
        let mut causes = Vec::new();
        if let Some(s) = self.others_share.filter(|s| *s > BUSY) {
            causes.push(format!(
                "other programs used {} of the cores' time",
                percent(s)
            ));
        }
        if let Some(s) = self.stolen_share.filter(|s| *s > 0.01) {
            causes.push(format!("the hypervisor took {} of it", percent(s)));
        }
        if let Some(s) = self.slow_share.filter(|s| *s < SLOW) {
            causes.push(format!(
                "known work fell to {} of its best rate",
                percent(s)
            ));
        }
        let mut text = String::from(DISTURBED);
        if !causes.is_empty() {
            text.push_str(&format!(": {}", causes.join("; ")));
        }
        text.push('.');
        let repeated: usize = self.repeated.iter().map(|r| r.times).sum();
        if repeated > 0 {
            text.push_str(&format!(" {repeated} measurements were repeated."));
        }
        if self.not_clean.is_empty() {
            text.push_str(" The roofs are rates of undisturbed passes.");
        } else {
            let names: Vec<&str> = self.not_clean.iter().map(|n| n.what.as_str()).collect();
            text.push_str(&format!(
                " Not measured cleanly, so rates are lower bounds and times upper bounds: {}. Measure again on a quiet machine.",
                names.join(", ")
            ));
        }
        if self.others_share.is_some_and(|s| s > BUSY) {
            text.push_str(" What shares a core or a cache with a pass slows it unseen: undisturbed ones may be below the roof too.");
        }
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_says_what_a_reader_must_know() {
        let mut noise = Noise::default();
        noise.others(Some(Shares {
            others: 0.04,
            stolen: 0.005,
        }));
        noise.repeated("read L2", 1, "another program took its cores");
        assert!(!noise.disturbed && noise.banner().is_none());
        noise.others(Some(Shares {
            others: 0.48,
            stolen: 0.0,
        }));
        let text = noise.banner().unwrap();
        assert!(text.contains("48 % of the cores' time") && text.contains("undisturbed passes"));
        assert!(text.contains("slows it unseen"));
        noise.not_clean("l3", "x");
        noise.not_clean("l3", "y");
        assert_eq!(noise.not_clean.len(), 1);
        assert!(noise.is_not_clean("l3") && !noise.is_not_clean("l2"));
        assert!(
            noise
                .banner()
                .unwrap()
                .contains("lower bounds and times upper bounds: l3.")
        );
        // Known work alone tells it too.
        let mut slow = Noise {
            slow_share: Some(0.7),
            ..Noise::default()
        };
        slow.settle();
        assert!(slow.banner().unwrap().contains("70 % of its best rate"));
    }
}
