//! The Sedov problem after a few steps, ready to be measured.

use super::cases::Case;
use super::row::Row;
use crate::engine::Engine;
use crate::hydro::Hydro;
use crate::mesh::Mesh;
use crate::session::checks;
use crate::session::prepare::engine;
use crate::session::settings::{Assembly, Settings};
use crate::time::stepping::Clock;
use crate::tuning::cost_model::of_part;
use greenup_app::study::{self, Bench, Case as _, Trial};
use greenup_app::{Result, interrupt};
use greenup_device::DeviceSpec;
use greenup_model::{Machine, predict};
use std::sync::Arc;

/// Steps before a measurement.
const STEPS_BEFORE: usize = 5;

/// The problem with its engine.
pub struct Prepared {
    /// Its order and assembly.
    pub of: (usize, Assembly),
    hydro: Arc<Hydro>,
    engine: Box<dyn Engine>,
    /// The time step of the measured work.
    dt: f64,
    /// Number of velocities and energies.
    unknowns: usize,
}

impl Prepared {
    /// Sets up the problem and takes a few steps.
    pub fn new(case: &Case, device: &DeviceSpec) -> Result<Self> {
        let name = &case.mesh;
        let s = Settings {
            mesh: Some(name.clone()),
            refine: Some(0),
            order: Some(case.order),
            assembly: Some(case.assembly),
            device: Some(device.clone()),
            cg_tol: Some(1e-8),
            ..Settings::default()
        };
        let (problem, s) = s.resolved()?;
        let mesh = Mesh::open_if(name, 0, &mut |shape, zones| checks::size(&s, shape, zones))?;
        let (hydro, state) = Hydro::new(&mesh, problem, &s.orders(), s.e0())?;
        let hydro = Arc::new(hydro);
        let mut engine = engine(&hydro, &s, s.device())?;
        let rate = engine.start(&state)?;
        let mut clock = Clock::new(rate, hydro.cfl)?;
        // A few steps, so that the fluid moves.
        clock.advance(
            &mut *engine,
            hydro.cfl,
            (f64::MAX, Some(STEPS_BEFORE)),
            interrupt::flag(),
            &mut |_, _| Ok(()),
        )?;
        Ok(Self {
            of: (case.order, case.assembly),
            hydro,
            engine,
            dt: 0.3 * clock.dt,
            unknowns: state.v.len() + state.e.len(),
        })
    }

    /// Measures a case, and predicts it; `None` if the user interrupts.
    pub fn row(
        &mut self,
        case: &Case,
        bench: &mut Bench,
        machine: Option<&Machine>,
    ) -> Result<Option<(Trial, Row)>> {
        let engine = &mut *self.engine;
        let measured = bench.measure(&mut || match case.part {
            Some(part) => engine.part(part),
            None => engine.step(self.dt).and_then(|_| engine.accept()),
        })?;
        let Some(measured) = measured else {
            return Ok(None);
        };
        let m = measured.measurement;
        let trial = study::trial(case.configs().remove(0), std::slice::from_ref(&m));
        let timings = engine.timings();
        let iterations = timings.iterations / timings.solves.max(1) as f64;
        let predicted = machine
            .zip(case.part)
            .filter(|_| case.assembly == Assembly::Partial)
            .and_then(|(m, part)| predict(m, &of_part(&self.hydro, part, iterations)).ok())
            .map(|p| (p.time_s, p.energy_j));
        let joules = m.energy_j.map(|e| e.median);
        let row = Row {
            order: case.order,
            assembly: case.assembly,
            work: case.work.to_owned(),
            zones: self.hydro.space.zones,
            unknowns: self.unknowns,
            seconds: m.time_s.median,
            seconds_error: m.time_s.relative_error(),
            watts: m.power_w.map(|w| w.median),
            joules,
            device: case.device.clone(),
            host_watts: measured.host_w,
            joules_per_unknown: joules
                .filter(|_| case.work == "step")
                .map(|j| j / self.unknowns as f64),
            predicted,
            trace: measured.trace,
        };
        Ok(Some((trial, row)))
    }
}
