//! What layers leave for later: texts over the plotting area, and tips.

use crate::chart::canvas::{Anchor, Type};

/// What is drawn over the plotting area after it: texts of bars and cells.
pub(super) struct Later {
    pub(super) at: (f64, f64),
    pub(super) anchor: Anchor,
    pub(super) kind: Type,
    pub(super) text: String,
}

pub(super) fn tip(tips: &mut Vec<String>, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    tips.push(text.to_owned());
    format!(" data-t=\"{}\"", tips.len() - 1)
}
