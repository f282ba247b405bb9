//! Progress bars on standard error, hidden where it is no terminal and by `-q`.

use crate::print::{self, Level};
use greenup_meter::Observer;
use greenup_process::interrupt;
use greenup_report::si::si;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A bar of `steps` steps, named `unit` ("snapshots"), with the time left.
pub fn bar(steps: u64, unit: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(steps).with_message(unit);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% {msg}, {eta} left") {
        bar.set_style(style);
    }
    if !print::shows(Level::Normal) {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar
}

/// A sign of life of work whose length is not known, with the time that it took so far.
pub fn spinner(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(what);
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}: {elapsed}") {
        bar.set_style(style);
    }
    if !print::shows(Level::Normal) {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    } else if !bar.is_hidden() {
        // A thread, which is not started where no terminal shows it.
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    bar
}

/// Shows what an [`Observer`] is told as bars, and cancels when the user interrupts.
pub struct Bars {
    bar: Mutex<ProgressBar>,
    /// The stage under way and when it began, for those who want details.
    stage: Mutex<Option<(String, Instant)>>,
}

impl Default for Bars {
    fn default() -> Self {
        Self::new()
    }
}

impl Bars {
    /// No bar yet.
    pub fn new() -> Self {
        Self {
            bar: Mutex::new(ProgressBar::hidden()),
            stage: Mutex::new(None),
        }
    }

    /// Draws nothing and only cancels.
    pub fn quiet() -> impl Observer {
        Quiet
    }

    /// Prints how long the stage took that ends now, and notes which begins.
    fn next_stage(&self, next: Option<(&str, usize)>) {
        let Ok(mut stage) = self.stage.lock() else {
            return;
        };
        if let Some((name, start)) = stage.take() {
            print::detail(|| format!("{name}: took {}", si(start.elapsed().as_secs_f64(), "s")));
        }
        if let Some((name, steps)) = next {
            print::detail(|| match steps {
                0 => format!("{name}: begins"),
                n => format!("{name}: begins, {n} steps"),
            });
            *stage = Some((name.to_owned(), Instant::now()));
        }
    }

    fn with(&self, f: impl FnOnce(&mut ProgressBar)) {
        if let Ok(mut bar) = self.bar.lock() {
            f(&mut bar);
        }
    }
}

/// Cancels when the user interrupts.
struct Quiet;

impl Observer for Quiet {
    fn cancelled(&self) -> bool {
        interrupt::requested()
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
            *bar = ProgressBar::hidden();
            if steps == 0 && name == "warm-up" {
                return;
            }
            self.next_stage(Some((name, steps)));
            if !print::shows(Level::Normal) {
                return;
            }
            *bar = ProgressBar::with_draw_target(
                (steps > 0).then_some(steps as u64),
                ProgressDrawTarget::stderr_with_hz(8),
            );
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar.set_prefix(print::printable(name).into_owned());
            if steps > 0 {
                bar.enable_steady_tick(Duration::from_millis(250));
            }
        });
    }

    fn step(&self, what: &str) {
        self.with(|bar| {
            if !bar.is_hidden() {
                bar.set_message(print::printable(what).into_owned());
                bar.inc(1);
            }
        });
    }

    fn note(&self, text: &str) {
        self.with(|bar| {
            // A hidden bar would swallow it.
            if bar.is_hidden() {
                print::note(text);
            } else {
                bar.println(print::printable(text));
            }
        });
    }

    fn cancelled(&self) -> bool {
        interrupt::requested()
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.with(|bar| bar.finish_and_clear());
        self.next_stage(None);
    }
}
