//! Energy of the steps: of the host by its sensor, or of each rank's GPU by its counter.

use crate::session::run::Run;
use crate::session::settings::Settings;
use greenup_app::{AppError, Result, print, sensors};
use greenup_device::cuda::Gpu;
use greenup_meter::Sensor;
use greenup_meter::choose::{Chosen, Target};
use greenup_meter::energy::of_work;
use serde::Serialize;
use std::time::Instant;

/// Duration of the load that shows whether a sensor of the host follows it, s.
const PROBE_S: f64 = 0.3;

/// What measures the energy.
pub enum Energy {
    /// The sensor of the host.
    Host(Chosen),
    /// The counter of a GPU.
    Counter(Box<dyn Sensor>),
    Nothing,
}

/// Energy of the steps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Measured {
    /// Energy, J.
    pub energy_j: Option<f64>,
    /// Id of the sensor.
    pub sensor: Option<String>,
    /// Why a sensor gave none.
    pub missing: Option<String>,
}

impl Energy {
    /// Shortest steps whose energy a counter knows: it is updated every tenth of a second at best, s.
    const SHORTEST_S: f64 = 1.0;

    /// Refuses a sensor that would have no effect.
    ///
    /// # Errors
    /// One is named, and the steps run on GPUs or in several ranks.
    pub fn check(s: &Settings, named: Option<&str>) -> Result {
        let refused = |why: &str| Err(AppError::new(format!("--sensor: {why}")));
        match named {
            None | Some("none") => Ok(()),
            Some(_) if !s.device().gpus((0, 1), Gpu::count()).is_empty() => {
                refused("energies of GPUs are those of their own counters")
            }
            Some(_) if s.ranks.is_some_and(|n| n > 1) => refused(
                "a sensor of the host cannot tell several ranks apart; --threads uses its cores",
            ),
            Some(_) => Ok(()),
        }
    }

    /// The best one for a run.
    ///
    /// # Errors
    /// The named sensor cannot be used, or the driver fails.
    pub fn of(run: &Run, named: Option<&str>) -> Result<Self> {
        let off = named == Some("none");
        Ok(match run.device.gpu() {
            Some(_) if off => Self::Nothing,
            Some(n) => {
                let counter = Gpu::all()?.get(n).and_then(sensors::energy_counter);
                counter.map_or(Self::Nothing, Self::Counter)
            }
            None if off || run.ranks.size() > 1 => Self::Nothing,
            None => Self::Host(sensors::sensors(named, Target::Host, PROBE_S)?),
        })
    }

    /// Takes the steps.
    pub fn of_steps<T>(&mut self, steps: impl FnOnce() -> T) -> (T, Measured) {
        match self {
            Self::Host(chosen) => {
                let sensor = chosen.main();
                let (out, energy) = of_work(chosen, steps);
                let missing = energy.as_ref().err().cloned();
                if let (Some(id), Some(why)) = (&sensor, &missing) {
                    print::detail(|| format!("no energy of the steps by {id}: {why}"));
                }
                let energy_j = energy.ok();
                (
                    out,
                    Measured {
                        energy_j,
                        sensor,
                        missing,
                    },
                )
            }
            Self::Counter(counter) => {
                let mut value = || Some(counter.read().ok()?.value);
                let (start, before) = (Instant::now(), value());
                let out = steps();
                let long = start.elapsed().as_secs_f64() >= Self::SHORTEST_S;
                let energy_j = value().zip(before).map(|(b, a)| b - a).filter(|_| long);
                (
                    out,
                    Measured {
                        energy_j,
                        ..Measured::default()
                    },
                )
            }
            Self::Nothing => (steps(), Measured::default()),
        }
    }
}
