//! Entries of another store: new, better, worse.

use crate::entry::Entry;
use crate::store::Store;
use serde::Serialize;

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
    /// It was measured with other sources of the kernel, so that values say less.
    Other {
        /// Its value over the one here.
        ratio: f64,
    },
}

/// Which of two entries with the same key stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefer {
    /// The one with the lower measured value.
    #[default]
    Better,
    /// The same, but the new one if it was measured with other sources, as these are the ones in use now.
    Current,
    /// The one that is imported.
    Imported,
    /// The one that is here.
    Kept,
}

impl Verdict {
    /// Compares an entry with those of a store.
    pub fn of(store: &Store, new: &Entry) -> Self {
        let Some(old) = store.entries.iter().find(|e| e.same_key(new)) else {
            return Self::New;
        };
        if old == new {
            return Self::Same;
        }
        let ratio = new.value() / old.value();
        if old.provenance.sources != new.provenance.sources {
            return Self::Other { ratio };
        }
        match ratio < 1.0 {
            true => Self::Better { ratio },
            false => Self::Worse { ratio },
        }
    }

    /// Whether the new entry takes the place of the old.
    pub fn takes(self, prefer: Prefer) -> bool {
        match self {
            Self::New => true,
            Self::Same => false,
            Self::Better { .. } => prefer != Prefer::Kept,
            Self::Worse { .. } => prefer == Prefer::Imported,
            Self::Other { ratio } => match prefer {
                Prefer::Better => ratio < 1.0,
                Prefer::Current | Prefer::Imported => true,
                Prefer::Kept => false,
            },
        }
    }

    /// In words.
    pub fn text(self) -> String {
        match self {
            Self::New => "new".into(),
            Self::Same => "same".into(),
            Self::Better { ratio } => format!("better, ×{ratio:.3}"),
            Self::Worse { ratio } => format!("no better, ×{ratio:.3}"),
            Self::Other { ratio } => format!("other sources, ×{ratio:.3}"),
        }
    }
}

/// Adds entries to a store; returns what each is, and whether it was taken.
pub fn merge(store: &mut Store, new: &[Entry], prefer: Prefer) -> Vec<(Verdict, bool)> {
    new.iter()
        .map(|e| {
            let verdict = Verdict::of(store, e);
            let taken = verdict.takes(prefer);
            if taken {
                store.keep(e.clone());
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
        // Of other sources: only a search of the sources in use replaces a better one.
        let mut other = at(1, 8.0);
        other.provenance.sources = "x".into();
        let verdict = Verdict::Other { ratio: 2.0 };
        for (prefer, taken) in [
            (Prefer::Better, false),
            (Prefer::Kept, false),
            (Prefer::Current, true),
        ] {
            let one = std::slice::from_ref(&other);
            assert_eq!(merge(&mut store, one, prefer), [(verdict, taken)]);
        }
    }
}
