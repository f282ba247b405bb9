//! Progress and cancellation, so that nothing below the command prints or reads signals.

/// Receives progress and decides whether to continue.
pub trait Observer: Sync {
    /// A stage of `steps` steps begins.
    fn stage(&self, _name: &str, _steps: usize) {}
    /// One step of the stage is done; `what` names it.
    fn step(&self, _what: &str) {}
    /// A message for the user.
    fn note(&self, _text: &str) {}
    /// Whether the user wants to stop (Ctrl-C).
    fn cancelled(&self) -> bool {
        false
    }
}

/// Watches nothing and never cancels.
pub struct Silent;

impl Observer for Silent {}
