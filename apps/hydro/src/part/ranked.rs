//! An engine whose zones are advanced by several ranks, each with an engine of its own. All ranks call the same methods. States
//! are those of the part.

use super::numbering::Whole;
use crate::HydroError;
use crate::engine::{Engine, Part, State, Timings};
use crate::hydro::Hydro;
use greenup_ranks::{Exact, sum_exact};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The engine of a rank's part.
pub struct Ranked {
    inner: Box<dyn Engine>,
    whole: Arc<Whole>,
    part: Arc<Hydro>,
    exact: bool,
    /// Set by a signal to this process.
    interrupt: &'static AtomicBool,
    /// Whether a rank was asked to stop: all know it after the same step.
    stop: Arc<AtomicBool>,
}

impl Ranked {
    /// An engine for the part of this rank. With `exact`, energies are summed without rounding.
    pub fn new(
        whole: Arc<Whole>,
        (part, inner): (Arc<Hydro>, Box<dyn Engine>),
        exact: bool,
        interrupt: &'static AtomicBool,
    ) -> Self {
        Self {
            inner,
            whole,
            part,
            exact,
            interrupt,
            stop: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Whether a rank was asked to stop; the same on all ranks after each step.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// The largest rate of all ranks, and whether one was asked to stop.
    fn agreed(&self, rate: f64) -> f64 {
        let asked = f64::from(u8::from(self.interrupt.load(Ordering::Relaxed)));
        let mut all = [rate, asked];
        self.whole.ranks.max(&mut all);
        self.stop.store(all[1] > 0.0, Ordering::Relaxed);
        all[0]
    }
}

impl Engine for Ranked {
    fn start(&mut self, s: &State) -> Result<f64, HydroError> {
        let rate = self.inner.start(s)?;
        Ok(self.agreed(rate))
    }

    fn step(&mut self, dt: f64) -> Result<f64, HydroError> {
        let rate = self.inner.step(dt)?;
        Ok(self.agreed(rate))
    }

    fn accept(&mut self) -> Result<(), HydroError> {
        self.inner.accept()
    }

    fn reject(&mut self) -> Result<f64, HydroError> {
        let rate = self.inner.reject()?;
        Ok(self.agreed(rate))
    }

    fn state(&mut self) -> Result<State, HydroError> {
        self.inner.state()
    }

    fn energy_coefficients(&mut self) -> Result<Cow<'_, [f64]>, HydroError> {
        self.inner.energy_coefficients()
    }

    fn energy_norm(&mut self) -> Result<f64, HydroError> {
        let squares: Vec<f64> = {
            let e = self.inner.energy_coefficients()?;
            e.iter().map(|e| e * e).collect()
        };
        let Whole {
            ranks,
            zones,
            energies,
            ..
        } = &*self.whole;
        Ok(Whole::sum(&**ranks, zones, *energies, &squares).sqrt())
    }

    fn energies(&mut self) -> Result<(f64, f64), HydroError> {
        if !self.exact {
            let (internal, kinetic) = self.inner.energies()?;
            let mut all = [internal, kinetic];
            self.whole.ranks.sum(&mut all);
            return Ok(all.into());
        }
        let s = self.inner.state()?;
        let mut sums = [Exact::default(), Exact::default()];
        for z in 0..self.part.space.zones {
            let (internal, kinetic) = self.part.zone_energies(&s, z);
            sums[0].add(internal);
            sums[1].add(kinetic);
        }
        sum_exact(&*self.whole.ranks, &mut sums);
        Ok((sums[0].value(), sums[1].value()))
    }

    fn timings(&self) -> Timings {
        self.inner.timings()
    }

    fn part(&mut self, part: Part) -> Result<(), HydroError> {
        self.inner.part(part)
    }
}
