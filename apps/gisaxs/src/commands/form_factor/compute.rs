//! F of a shape at some q, how it was computed, and where the time went.

use crate::commands::boards;
use crate::mesh_form_factor::{
    DeviceTimes, MakeMeter, Method, Precision, QGrid, Settings, Watch, each_over, prepare,
};
use crate::{Complex64, FormFactor};
use greenup_app::ranks::Boards;
use greenup_app::{AppError, Result};
use greenup_ranks::Ranks;
use greenup_report::si::si;
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// How F was computed.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Computation {
    /// By the formula of the shape.
    Formula {
        /// "formula".
        method: &'static str,
    },
    /// As a sum over the triangles of a mesh.
    Mesh {
        method: Method,
        precision: Precision,
        triangles: usize,
        /// Number of nodes on the surface; 0 for the analytic transform.
        nodes: usize,
        /// Largest |F − F_exact| / V, estimated (for the nonuniform FFT a bound).
        error: f64,
        /// What `error` is.
        error_of: &'static str,
        /// Time predicted by the cost model, s.
        expected_s: Option<f64>,
    },
}

impl Computation {
    pub fn text(&self) -> String {
        match self {
            Self::Formula { .. } => "analytic formula".to_owned(),
            Self::Mesh {
                method,
                triangles,
                nodes,
                error,
                ..
            } => {
                let nodes = match nodes {
                    0 => String::new(),
                    n => format!(", {n} nodes"),
                };
                // A bound for the nonuniform FFT, a typical size for sums.
                let sign = if *method == Method::Nufft {
                    '≤'
                } else {
                    '≈'
                };
                format!(
                    "{triangles} triangles, method {}{nodes}, error of F/V {sign} {error:.1e}",
                    method.name()
                )
            }
        }
    }
}

/// What `error` is, in JSON.
const ERROR_OF: &str = "largest |F - F_exact| / V at these q, V = F(0)";

/// Times of the computation; of several ranks those of the slowest.
#[derive(Clone, Debug, Serialize)]
pub struct Times {
    /// Of the preparation and the first evaluation, s.
    pub seconds: f64,
    /// Of the preparation: nodes on the surface, tables, and for the nonuniform FFT spreading, s.
    prepare_s: f64,
    /// Of the preparation: kernels that spread nodes, on the slowest GPU, s.
    prepare_kernel_s: Option<f64>,
    /// Of the fastest evaluation, with transfers, and with gathering from all ranks, s.
    evaluation_s: f64,
    /// Of that evaluation, on the slowest GPU: kernels loaded, memory allocated, nodes and q copied, s. 0 where these overlap
    /// kernels or host work.
    upload_s: Option<f64>,
    /// Of that evaluation: kernels on the slowest GPU, s.
    kernel_s: Option<f64>,
    /// Of that evaluation, on the slowest GPU: F copied and converted, s. 0 where this overlaps kernels or host work.
    download_s: Option<f64>,
    /// The rest of that evaluation, s.
    host_s: Option<f64>,
    /// The kernels of each GPU of all ranks, s.
    kernels_s: Vec<f64>,
}

impl Times {
    /// Of a computation on this CPU.
    fn of_cpu(seconds: f64, prepare_s: f64, evaluation_s: f64) -> Self {
        Self {
            seconds,
            prepare_s,
            prepare_kernel_s: None,
            evaluation_s,
            upload_s: None,
            kernel_s: None,
            download_s: None,
            host_s: None,
            kernels_s: Vec::new(),
        }
    }

    /// With those of all GPUs, in the preparation and in an evaluation.
    fn with_devices(self, prepared: &[DeviceTimes], evaluated: &[DeviceTimes]) -> Self {
        let longer = |a: DeviceTimes, b: DeviceTimes| if b.sum() > a.sum() { b } else { a };
        let spread = prepared.iter().map(|d| d.kernels_s).reduce(f64::max);
        let slowest = evaluated.iter().copied().reduce(longer);
        Self {
            prepare_kernel_s: spread,
            upload_s: slowest.map(|d| d.upload_s),
            kernel_s: slowest.map(|d| d.kernels_s),
            download_s: slowest.map(|d| d.download_s),
            // Another rank than that of the slowest GPU may have waited less.
            host_s: slowest.map(|d| (self.evaluation_s - d.sum()).max(0.0)),
            kernels_s: evaluated.iter().map(|d| d.kernels_s).collect(),
            ..self
        }
    }

    /// In words, for GPUs.
    pub fn text(&self) -> String {
        self.kernel_s.map_or_else(String::new, |s| {
            format!(" ({} on the slowest GPU)", si(s, "s"))
        })
    }
}

/// The times of the devices of all ranks, on the first; the others have none.
fn of_all(ranks: &dyn Ranks, own: &[DeviceTimes]) -> Vec<DeviceTimes> {
    let split = |d: &DeviceTimes| [d.upload_s, d.kernels_s, d.download_s];
    let all = boards::of_all(ranks, &own.iter().flat_map(split).collect::<Vec<_>>());
    let (all, _) = all.as_chunks::<3>();
    all.iter()
        .map(|[upload_s, kernels_s, download_s]| DeviceTimes {
            upload_s: *upload_s,
            kernels_s: *kernels_s,
            download_s: *download_s,
        })
        .collect()
}

/// What a command computed.
pub struct Computed {
    pub values: Vec<Vec<Complex64>>,
    pub how: Computation,
    pub times: Times,
    pub boards: Option<Boards>,
}

/// F of each grid on the first rank, and how it was computed; `None` if the user stopped it.
pub fn compute(
    form: &dyn FormFactor,
    grids: &[QGrid],
    settings: &Settings,
    (repeat, meter): (u32, Option<&Arc<MakeMeter>>),
    (ranks, watch): (&dyn Ranks, &Watch),
) -> Result<Option<Computed>> {
    let start = Instant::now();
    let Some(solid) = form.polyhedron() else {
        if meter.is_some() {
            return Err(AppError::new(
                "--measure measures meshes on GPUs; this shape has a formula",
            ));
        }
        let Some(values) = each_over(form, grids, ranks, watch) else {
            return Ok(None);
        };
        let seconds = boards::longest(ranks, start.elapsed().as_secs_f64());
        return Ok(Some(Computed {
            values,
            how: Computation::Formula { method: "formula" },
            times: Times::of_cpu(seconds, 0.0, seconds),
            boards: None,
        }));
    };
    let Some(ready) = prepare(solid, grids, settings, ranks, watch)? else {
        return Ok(None);
    };
    let prepared = of_all(ranks, &ready.take_times());
    let how = Computation::Mesh {
        method: ready.method,
        precision: ready.precision,
        triangles: solid.triangles(),
        nodes: ready.nodes,
        error: ready.error,
        error_of: ERROR_OF,
        expected_s: ready.cost_s,
    };
    let prepare_s = boards::longest(ranks, start.elapsed().as_secs_f64());
    let (mut best, mut values, mut seconds) = (f64::INFINITY, Vec::new(), None);
    let mut evaluated = Vec::new();
    for _ in 0..repeat {
        // Large memory takes long to free.
        drop(std::mem::take(&mut values));
        ranks.barrier();
        let begin = Instant::now();
        let Some(v) = ready.over(grids, ranks, watch)? else {
            return Ok(None);
        };
        let s = boards::longest(ranks, begin.elapsed().as_secs_f64());
        values = v;
        seconds.get_or_insert(prepare_s + s);
        let on_device = ready.take_times();
        if s < best {
            (best, evaluated) = (s, on_device);
        }
    }
    let evaluated = of_all(ranks, &evaluated);
    let boards = match meter {
        None => None,
        Some(meter) => {
            ranks.barrier();
            boards::measured(ranks, &ready.measure(grids, ranks, meter)?)?
        }
    };
    Ok(Some(Computed {
        values,
        how,
        times: Times::of_cpu(seconds.unwrap_or(0.0), prepare_s, best)
            .with_devices(&prepared, &evaluated),
        boards,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_ranks::threads;

    #[test]
    fn the_times_of_an_evaluation_add_up() {
        let device = |upload_s, kernels_s| DeviceTimes {
            upload_s,
            kernels_s,
            download_s: 0.25,
        };
        let all = threads::run(2, |r| {
            let own = vec![device(0.5, 1.0 + r.rank() as f64); 2];
            Ok::<_, ()>(of_all(&*r, &own))
        });
        let mut all = all.unwrap();
        assert!(all[1].is_empty());
        let evaluated = all.swap_remove(0);
        let times = Times::of_cpu(9.0, 5.0, 3.0).with_devices(&[device(0.0, 4.0)], &evaluated);
        assert_eq!(times.kernels_s, [1.0, 1.0, 2.0, 2.0]);
        assert_eq!((times.kernel_s, times.host_s), (Some(2.0), Some(0.25)));
        assert_eq!(times.prepare_kernel_s, Some(4.0));
        let none = Times::of_cpu(9.0, 5.0, 3.0).with_devices(&[], &[]);
        assert!(none.kernel_s.is_none() && none.host_s.is_none() && none.kernels_s.is_empty());
    }
}
