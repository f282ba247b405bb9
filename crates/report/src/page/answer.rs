//! What a page says before anything else.

use serde::Serialize;

/// The answer of a page, how sure it is, and what to do next; what stands between backticks is code. Numbers in it stand
/// below on the page too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// The answer in one sentence, then what a reader needs with it.
    pub says: Vec<String>,
    /// How sure it is, a sentence each.
    pub sure: Vec<String>,
    /// What to do next, a sentence each.
    pub next: Vec<String>,
}

impl Answer {
    /// An answer in one sentence each.
    pub fn new(says: impl Into<String>, sure: impl Into<String>, next: impl Into<String>) -> Self {
        let [says, sure, next] = [says.into(), sure.into(), next.into()].map(|s| vec![s]);
        Self { says, sure, next }
    }

    /// All sentences, in the order of the page.
    pub fn sentences(&self) -> impl Iterator<Item = &String> {
        self.says.iter().chain(&self.sure).chain(&self.next)
    }
}
