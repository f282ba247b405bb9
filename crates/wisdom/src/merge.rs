//! Entries of another store: new, better, worse.

use crate::entry::Entry;
use crate::store::Store;
use serde::Serialize;
use std::collections::HashMap;

/// An entry of another store next to the one here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "verdict")]
pub enum Verdict {
    /// There is none with its key.
    New,
    /// Its measured value is lower.
    Better {
        /// Its value over the one here.
        ratio: f64,
    },
    /// Its measured value is not lower.
    Worse {
        /// Its value over the one here.
        ratio: f64,
    },
    /// It is the same entry.
    Same,
}

/// Which of two entries with the same key stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefer {
    /// The one with the lower measured value.
    #[default]
    Better,
    /// The one that is imported.
    Imported,
    /// The one that is here.
    Kept,
}

impl Verdict {
    /// Compares an entry with the one of its key, if there is one.
    fn of(old: Option<&Entry>, new: &Entry) -> Self {
        let Some(old) = old else {
            return Self::New;
        };
        if old == new {
            return Self::Same;
        }
        let ratio = new.value() / old.value();
        if ratio < 1.0 {
            Self::Better { ratio }
        } else {
            Self::Worse { ratio }
        }
    }

    /// Whether the new entry takes the place of the old.
    pub fn takes(self, prefer: Prefer) -> bool {
        match self {
            Self::New => true,
            Self::Same => false,
            Self::Better { .. } => prefer != Prefer::Kept,
            Self::Worse { .. } => prefer == Prefer::Imported,
        }
    }

    /// In words.
    pub fn text(self) -> String {
        match self {
            Self::New => "new".into(),
            Self::Same => "same".into(),
            Self::Better { ratio } => format!("better, ×{ratio:.3}"),
            Self::Worse { ratio } => format!("no better, ×{ratio:.3}"),
        }
    }
}

/// Adds entries to a store; returns what each is, and whether it was taken.
pub fn merge(store: &mut Store, new: &[Entry], prefer: Prefer) -> Vec<(Verdict, bool)> {
    let mut places: HashMap<Vec<String>, usize> =
        (store.entries.iter().enumerate().map(|(i, e)| (e.key(), i))).collect();
    new.iter()
        .map(|e| {
            let place = places.entry(e.key()).or_insert(store.entries.len());
            let old = store.entries.get(*place);
            let verdict = Verdict::of(old, e);
            let taken = verdict.takes(prefer);
            match store.entries.get_mut(*place) {
                Some(old) if taken => *old = e.clone(),
                Some(_) => {}
                // A new one is always taken.
                None => store.entries.push(e.clone()),
            }
            (verdict, taken)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::entry;

    #[test]
    fn the_better_one_stays() {
        let mut store = Store::default();
        let at = |n, t| entry("p", "d", 2, n, t);
        assert_eq!(
            merge(&mut store, &[at(1, 2.0)], Prefer::Better),
            [(Verdict::New, true)]
        );
        let got = merge(
            &mut store,
            &[at(1, 1.0), at(1, 4.0), at(2, 1.0)],
            Prefer::Better,
        );
        assert_eq!(got[0], (Verdict::Better { ratio: 0.5 }, true));
        assert_eq!(got[1], (Verdict::Worse { ratio: 4.0 }, false));
        assert_eq!(got[2], (Verdict::New, true));
        assert_eq!(
            merge(&mut store, &[at(1, 1.0)], Prefer::Imported),
            [(Verdict::Same, false)]
        );
        assert!(merge(&mut store, &[at(1, 4.0)], Prefer::Imported)[0].1);
        assert!(!merge(&mut store, &[at(1, 1.0)], Prefer::Kept)[0].1);
        // An equal value: the one that is here, unless the user prefers the other.
        let mut equal = at(1, 4.0);
        equal.device.architecture = "x".into();
        let verdict = Verdict::Worse { ratio: 1.0 };
        for (prefer, taken) in [(Prefer::Better, false), (Prefer::Imported, true)] {
            let one = std::slice::from_ref(&equal);
            assert_eq!(merge(&mut store, one, prefer), [(verdict, taken)]);
        }
        // Of other sources: another problem, however fast.
        for t in [8.0, 0.5] {
            let mut other = at(1, t);
            other.provenance.sources = format!("x{t}");
            let one = std::slice::from_ref(&other);
            assert_eq!(
                merge(&mut store, one, Prefer::Better),
                [(Verdict::New, true)]
            );
        }
        assert_eq!(store.entries.len(), 4);
    }
}
