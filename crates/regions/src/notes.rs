//! What went wrong with regions, counted: a program is never stopped for it.

use crate::spin::lock_soon;
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Kinds of what can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// An end without a begin.
    NotOpen,
    /// An end while regions within were open.
    EndedByOuter,
    /// A thread or the process ended within a region.
    OpenAtEnd,
    /// No name.
    NoName,
    /// A name that was cut.
    Cut,
    /// More paths than are kept.
    TooMany,
    /// Nested too deeply.
    TooDeep,
    /// A begin or end in a signal handler that interrupted another one.
    Interrupted,
    /// Lines that could not be written.
    Lost,
    /// Whatever concerns the whole run.
    Run,
}

impl Note {
    fn text(self, count: u64, example: &str) -> String {
        let times = if count == 1 {
            "once".to_owned()
        } else {
            format!("{count} times")
        };
        match self {
            Self::NotOpen => {
                format!("end of `{example}` without a begin in the same thread, ignored ({times})")
            }
            Self::EndedByOuter => format!(
                "`{example}` was still open when a region around it ended, so it ended there ({times})"
            ),
            Self::OpenAtEnd => {
                format!("`{example}` was still open when its thread ended ({times})")
            }
            Self::NoName => format!("a region without a name: null pointer ({times})"),
            Self::Cut => format!("name longer than 256 bytes, cut: `{example}` ({times})"),
            Self::TooMany => format!(
                "more than 65536 different regions: `{example}` and others are counted together as \
                 `(other names)`; take numbers out of names"
            ),
            Self::TooDeep => format!(
                "regions nested deeper than 256, from `{example}` on, are not recorded ({times})"
            ),
            Self::Interrupted => {
                format!(
                    "a signal handler began or ended a region within another call, ignored ({times})"
                )
            }
            Self::Lost => format!("{count} lines were not written: {example}"),
            Self::Run => example.to_owned(),
        }
    }
}

/// Notes of a process.
#[derive(Default)]
pub struct Notes(Mutex<BTreeMap<(Note, String), u64>>);

/// Different examples of one kind that are kept.
const MOST_EXAMPLES: usize = 8;

impl Notes {
    /// Counts one more.
    pub fn add(&self, note: Note, example: impl FnOnce() -> String) {
        self.add_many(note, 1, example);
    }

    /// Counts several.
    pub fn add_many(&self, note: Note, count: u64, example: impl FnOnce() -> String) {
        let Some(mut notes) = lock_soon(&self.0) else {
            return;
        };
        let mut example = example();
        // A long name is cut for the message.
        if let Some((at, _)) = example.char_indices().nth(80).filter(|_| note != Note::Run) {
            example.truncate(at);
            example.push('…');
        }
        if let Some(n) = notes.get_mut(&(note, example.clone())) {
            *n += count;
            return;
        }
        let of_kind = notes.keys().filter(|(k, _)| *k == note).count();
        if of_kind >= MOST_EXAMPLES
            && let Some(last) = notes.iter_mut().rfind(|((k, _), _)| *k == note)
        {
            *last.1 += count;
            return;
        }
        notes.insert((note, example), count);
    }

    /// All as sentences.
    pub fn texts(&self) -> Vec<String> {
        let Some(notes) = lock_soon(&self.0) else {
            return Vec::new();
        };
        notes
            .iter()
            .map(|((kind, example), n)| kind.text(*n, example))
            .collect()
    }
}
