//! The steps of a run: kernels are tuned, load is balanced, outputs are written, progress is shown.

use crate::HydroError;
use crate::commands::run::saving::Saving;
use crate::commands::run::tuned::Tuned;
use crate::engine::Engine;
use crate::session::Session;
use crate::session::run::Run;
use crate::time::stepping::{Clock, Termination};
use crate::tuning::tuner::{Next, Tuner};
use greenup_app::interrupt;
use greenup_app::progress::bar;
use greenup_report::si::three;
use indicatif::ProgressBar;
use std::time::Instant;

/// What the steps of a run need and leave.
pub struct Steps {
    bar: ProgressBar,
    begin: Instant,
    /// When the last step ended.
    stepped: Instant,
    /// Steps of a period of tuning and of load balancing.
    period: usize,
    tuned: Tuned,
    tuner: Option<Tuner>,
    /// The candidate that the tuner kept.
    winner: Option<usize>,
    /// What the report says of them.
    pub messages: Vec<String>,
}

impl Steps {
    /// Prepares the steps, with kernels that an earlier run tuned.
    ///
    /// # Errors
    /// A file of wisdom is invalid, or the device is lost.
    pub fn new(session: &mut Session) -> greenup_app::Result<Self> {
        let run = &session.run;
        let begin = Instant::now();
        let period = run.settings.period();
        let tuner = (run.settings.tune).then(|| Tuner::new(session.engine.candidates(), period));
        let tuned = Tuned::new(run)?;
        let mut messages = run.hydro.notes.clone();
        messages.extend(tuned.choose(run, &mut *session.engine)?);
        Ok(Self {
            bar: bar(1000, ""),
            begin,
            stepped: Instant::now(),
            period,
            tuned,
            tuner,
            winner: None,
            messages,
        })
    }

    /// Takes all steps.
    ///
    /// # Errors
    /// Zones invert, an output cannot be written, or the device is lost.
    pub fn take(
        &mut self,
        session: &mut Session,
        saving: &mut Saving,
    ) -> std::result::Result<(), Termination> {
        let s = &session.run.settings;
        let (end, balances) = (s.t_final(), s.share.is_none());
        let until = (end, s.steps);
        session.take_steps(until, interrupt::flag(), &mut |c, engine| {
            self.tune(engine)?;
            if balances && c.steps.is_multiple_of(self.period) {
                let message = engine.balance()?;
                self.say(message);
            }
            self.bar.set_position((1000.0 * c.t / end) as u64);
            let shown = !self.bar.is_hidden() && c.steps.is_multiple_of(10);
            if let Some(energies) = saving.step(c, shown, engine)? {
                self.show(c, saving.run.drift(energies));
            }
            self.stepped = Instant::now();
            Ok(())
        })
    }

    /// Passes the time of a step to the tuner.
    fn tune(&mut self, engine: &mut dyn Engine) -> Result<(), HydroError> {
        let step_s = self.stepped.elapsed().as_secs_f64();
        match self.tuner.as_mut().map(|t| t.step(step_s)) {
            None | Some(Next::Same) => Ok(()),
            Some(Next::Try(n)) => engine.choose(n),
            Some(Next::Keep(n, message)) => {
                engine.choose(n)?;
                self.winner = Some(n);
                self.say(Some(message));
                Ok(())
            }
        }
    }

    fn say(&mut self, message: Option<String>) {
        if let Some(message) = message {
            self.bar.println(&message);
            self.messages.push(message);
        }
    }

    fn show(&self, c: &Clock, drift: Option<f64>) {
        let drift = drift.map_or_else(String::new, |d| format!(", drift {d:.1e}"));
        self.bar.set_message(format!(
            "step {}, t {}, dt {:.3e}{drift}",
            c.steps,
            three(c.t),
            c.dt
        ));
    }

    /// Ends the progress and keeps the kernels that were tuned; returns the duration of the steps, s.
    pub fn finish(&self, run: &Run) -> f64 {
        self.bar.finish_and_clear();
        if run.ranks.size() == 1
            && let (Some(n), Some(tuner)) = (self.winner, &self.tuner)
        {
            self.tuned.keep(run, tuner, n);
        }
        self.begin.elapsed().as_secs_f64()
    }
}
