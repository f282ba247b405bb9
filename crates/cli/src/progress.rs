//! Progress bars on standard error, and the user's wish to stop.

use crate::interrupt;
use greenup_meter::Observer;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Mutex;
use std::time::Duration;

/// Turns observations into a bar; hidden when standard error is no terminal.
pub struct Bars {
    bar: Mutex<ProgressBar>,
}

impl Bars {
    pub fn new() -> Self {
        Self {
            bar: Mutex::new(ProgressBar::hidden()),
        }
    }

    fn with(&self, f: impl FnOnce(&mut ProgressBar)) {
        if let Ok(mut bar) = self.bar.lock() {
            f(&mut bar);
        }
    }
}

impl Observer for Bars {
    fn stage(&self, name: &str, steps: usize) {
        let style = if steps > 0 {
            "{prefix:>12} {bar:32} {pos}/{len} {elapsed} (left {eta}) {msg}"
        } else {
            "{prefix:>12} {spinner} {pos} runs {elapsed} {msg}"
        };
        self.with(|bar| {
            bar.finish_and_clear();
            if steps == 0 && name == "warm-up" {
                *bar = ProgressBar::hidden();
                return;
            }
            *bar = ProgressBar::with_draw_target(
                (steps > 0).then_some(steps as u64),
                ProgressDrawTarget::stderr_with_hz(8),
            );
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar.set_prefix(name.to_owned());
            if steps > 0 {
                bar.enable_steady_tick(Duration::from_millis(250));
            }
        });
    }

    fn step(&self, what: &str) {
        self.with(|bar| {
            if !bar.is_hidden() {
                bar.set_message(what.to_owned());
                bar.inc(1);
            }
        });
    }

    fn note(&self, text: &str) {
        self.with(|bar| match bar.is_hidden() {
            // A hidden bar would swallow it.
            true => crate::out::note(text),
            false => bar.println(text),
        });
    }

    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.with(|bar| bar.finish_and_clear());
    }
}
