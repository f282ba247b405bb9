//! Time and energy of an application's share on a device, and what the devices send each other.

use crate::ScalingError;
use crate::bytes::{PACKED, PointBytes, Zone};
use crate::record::{Record, RecordedRun};
use greenup_calibrate::linalg::nnls_relative;
use greenup_model::network::traffic::Messages;
use greenup_model::network::{BoxMesh, Memory, Share, Traffic, surfaces};

/// A problem of an application.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Problem {
    /// Whether each device has this much, instead of all together.
    pub weak: bool,
    /// Zones, values of q, points or trials.
    pub size: f64,
    /// hydro: time steps.
    pub steps: f64,
    /// hydro: order.
    pub order: usize,
    /// hydro: dimensions.
    pub dim: usize,
    /// hydro: iterations of a solve; as recorded without.
    pub iterations: Option<f64>,
    /// gisaxs: triangles.
    pub triangles: f64,
    /// gisaxs: rows of the image, which are dealt out.
    pub rows: f64,
    /// gisaxs: method.
    pub method: String,
    /// fmm: precision.
    pub precision: String,
}

/// Costs of an application, fitted to the runs on one device that match a problem.
pub struct Costs {
    application: String,
    problem: Problem,
    runs: Vec<RecordedRun>,
    time: Vec<f64>,
}

impl Costs {
    /// Fits the costs.
    ///
    /// # Errors
    /// No run on one device matches the problem.
    pub fn new(record: &Record, problem: Problem) -> Result<Self, ScalingError> {
        let matches = |r: &&RecordedRun| {
            r.on() == 1
                && match record.application.as_str() {
                    "hydro" => r.order == problem.order && r.dim == problem.dim,
                    "gisaxs" => r.method == problem.method,
                    "fmm" => r.precision == problem.precision,
                    _ => true,
                }
        };
        let runs: Vec<RecordedRun> = record.runs.iter().filter(matches).cloned().collect();
        if runs.is_empty() {
            return Err(ScalingError::NoRun {
                application: record.application.clone(),
                known: known(record),
            });
        }
        let mut out = Self {
            application: record.application.clone(),
            problem,
            runs,
            time: Vec::new(),
        };
        let timed: Vec<(Vec<f64>, f64)> = (out.runs.iter())
            .filter_map(|r| Some((out.features(r)?, r.time_s)))
            .collect();
        if timed.is_empty() {
            return Err(ScalingError::NoRun {
                application: record.application.clone(),
                known: "runs without iterations".into(),
            });
        }
        let (rows, times): (Vec<_>, Vec<_>) = timed.into_iter().unzip();
        out.time = match rows.len() {
            // One run tells the cost of a unit alone.
            1 => (0..rows[0].len())
                .map(|k| {
                    let last = k + 1 == rows[0].len();
                    if last { times[0] / rows[0][k] } else { 0.0 }
                })
                .collect(),
            _ => nnls_relative(&rows, &times),
        };
        Ok(out)
    }

    /// What the time of a run is proportional to, the largest part last.
    fn features(&self, r: &RecordedRun) -> Option<Vec<f64>> {
        Some(match self.application.as_str() {
            "hydro" => {
                let (z, n) = (r.zones as f64, r.iterations?);
                vec![n, r.evaluations * z, n * z]
            }
            "gisaxs" if r.method == "nufft" => vec![1.0, r.triangles, r.points],
            "gisaxs" => vec![1.0, r.triangles * r.points],
            "fmm" => vec![1.0, r.points],
            _ => vec![r.trials.max(1.0)],
        })
    }

    fn time_of(&self, r: &RecordedRun) -> f64 {
        let features = self.features(r).unwrap_or_default();
        features.iter().zip(&self.time).map(|(f, t)| f * t).sum()
    }

    /// The run of the nearest size among those that `has`.
    fn nearest(&self, size: f64, has: impl Fn(&RecordedRun) -> bool) -> Option<&RecordedRun> {
        let distance = |r: &RecordedRun| (self.size(r).max(1.0) / size.max(1.0)).ln().abs();
        let known = self.runs.iter().filter(|r| has(r));
        known.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    fn size(&self, r: &RecordedRun) -> f64 {
        match self.application.as_str() {
            "hydro" => r.zones as f64,
            "gisaxs" => r.points * r.triangles.max(1.0),
            "fmm" => r.points,
            _ => r.trials.max(1.0),
        }
    }

    /// Mean power of a device with this much to do, W: that of the nearest run with an energy.
    fn power(&self, size: f64) -> Option<f64> {
        let run = self.nearest(size, |r| r.energy_j.is_some())?;
        Some(run.energy_j? / run.time_s)
    }

    /// The share of the busiest device of several, `group` on a node, and their traffic.
    pub fn share(&self, devices: usize, group: usize) -> (Share, Traffic) {
        match self.application.as_str() {
            "hydro" => self.hydro(devices, group),
            "gisaxs" => self.gisaxs(devices, group),
            "fmm" => self.fmm(devices, group),
            _ => self.tune(devices),
        }
    }

    /// The whole work of so many devices on one.
    pub fn alone(&self, devices: usize) -> Share {
        let mut whole = self.problem.clone();
        if whole.weak {
            whole.size *= devices as f64;
            whole.rows *= devices as f64;
            whole.weak = false;
        }
        let one = Self {
            problem: whole,
            application: self.application.clone(),
            runs: self.runs.clone(),
            time: self.time.clone(),
        };
        one.share(1, 1).0
    }

    /// Whether the runs were on cores of a host.
    fn cores(&self) -> bool {
        self.runs.iter().all(|r| r.cores)
    }

    fn total(&self, devices: usize) -> f64 {
        let times = if self.problem.weak {
            devices as f64
        } else {
            1.0
        };
        self.problem.size * times
    }

    fn shared(&self, busiest_s: f64, mean_s: f64, devices: usize, size: f64) -> Share {
        Share {
            busiest_s,
            mean_s,
            energy_j: self.power(size).map(|w| w * mean_s * devices as f64),
            memory: self.cores().then(Memory::default),
            ..Share::default()
        }
    }

    fn hydro(&self, devices: usize, group: usize) -> (Share, Traffic) {
        let p = &self.problem;
        let mesh = self.mesh(devices);
        let parts = surfaces(&mesh, devices, group);
        let like = self.nearest(mesh.count() as f64, |r| {
            r.steps > 0.0 && r.iterations.is_some()
        });
        let per_step = |f: fn(&RecordedRun) -> f64| like.map_or(4.0, |r| f(r) / r.steps);
        let solves = p.steps * per_step(|r| r.solves);
        let evaluations = p.steps * per_step(|r| r.evaluations);
        let recorded = like.map_or(0.0, |r| r.iterations.unwrap_or(0.0) / r.solves.max(1.0));
        let iterations = solves * p.iterations.unwrap_or(recorded);
        let of = |zones: f64| {
            let z = zones.max(1.0);
            let t = [iterations, evaluations * z, iterations * z];
            t.iter().zip(&self.time).map(|(f, t)| f * t).sum::<f64>()
        };
        let messages = |c: &greenup_model::network::surfaces::Contributions| {
            let bytes = 8.0 * p.dim as f64;
            Messages {
                count: c.peers as f64,
                bytes: bytes * c.busiest,
                total_bytes: bytes * c.total,
            }
        };
        let traffic = Traffic {
            // The forces of each evaluation, and a product of the mass matrix each iteration.
            exchanges: evaluations + iterations,
            within: messages(&parts.within),
            between: messages(&parts.between),
            // Two scalar products an iteration, one at the start of a solve, and the time step.
            all_reduces: 2.0 * iterations + solves + p.steps,
            packed_bytes: PACKED
                * (8.0 * p.dim as f64)
                * (parts.within.busiest + parts.between.busiest),
        };
        let (busiest, mean) = (of(parts.busiest_zones as f64), of(parts.mean_zones));
        let mut share = self.shared(busiest, mean, devices, parts.mean_zones);
        // A solve waits for memory; the forces compute.
        let solving = like.map_or(0.0, |r| r.solve_s / r.time_s);
        let zone = Zone::new(p.dim, p.order);
        share.memory = share.memory.map(|_| Memory {
            bytes: iterations * parts.busiest_zones as f64 * zone.moved,
            working_set_bytes: parts.busiest_zones as f64 * zone.kept,
            within_s: busiest * solving,
        });
        (share, traffic)
    }

    /// The box of a hydro problem: a cube, or for weak scaling a cube of zones a device.
    fn mesh(&self, devices: usize) -> BoxMesh {
        let p = &self.problem;
        let side = |n: f64| (n.powf(1.0 / p.dim as f64).round() as usize).max(1);
        let mut zones = vec![side(p.size); p.dim];
        if p.weak {
            let mut left = devices;
            for factor in (2..=devices).rev() {
                while left.is_multiple_of(factor) && prime(factor) {
                    let shortest = (0..p.dim).min_by_key(|c| zones[*c]).unwrap_or(0);
                    zones[shortest] *= factor;
                    left /= factor;
                }
                if left == 1 {
                    break;
                }
            }
        }
        BoxMesh::cubes(&zones, p.order)
    }

    fn gisaxs(&self, devices: usize, group: usize) -> (Share, Traffic) {
        let p = &self.problem;
        let all = self.total(devices);
        let rows = p.rows.max(1.0) * if p.weak { devices as f64 } else { 1.0 };
        let run = |points: f64| RecordedRun {
            method: p.method.clone(),
            triangles: p.triangles,
            points,
            ..RecordedRun::default()
        };
        // Whole rows are dealt out.
        let most = (rows / devices as f64).ceil() * all / rows;
        let mean = all / devices as f64;
        let share = self.shared(
            self.time_of(&run(most)),
            self.time_of(&run(mean)),
            devices,
            mean * p.triangles,
        );
        (share, gather(8.0 * all, devices, group))
    }

    fn fmm(&self, devices: usize, group: usize) -> (Share, Traffic) {
        let p = &self.problem;
        let all = self.total(devices);
        let run = RecordedRun {
            precision: p.precision.clone(),
            points: all,
            ..RecordedRun::default()
        };
        let whole = self.time_of(&run);
        let n = devices as f64;
        let on_host = group.min(devices) as f64;
        let like = self.nearest(all, |r| r.repeated_s > 0.0);
        let part = |f: fn(&RecordedRun) -> f64| like.map_or(0.0, |r| f(r) / r.time_s);
        let upward = part(|r| r.repeated_s);
        let permutation = part(|r| r.permutation_s);
        let transfers = part(|r| r.transfers_s);
        let bytes = PointBytes::new(&p.precision, like);
        // Each device needs all charges, and has its share of the results. The cores of a host convert for all its GPUs, each
        // of which copies over a link of its own; a rank on a core converts for itself.
        let converting = if self.cores() { 1.0 } else { on_host };
        let converted = (bytes.charge * converting + bytes.result * converting / n)
            / (bytes.charge + bytes.result);
        let copied = (bytes.charge_copied + bytes.result_copied / n)
            / (bytes.charge_copied + bytes.result_copied);
        let compute = whole * (upward + (1.0 - upward - permutation - transfers) / n);
        let t = compute + whole * (permutation * converted + transfers * copied);
        // GPUs wait while the host converts.
        let busy = if self.cores() { t } else { compute };
        let mut share = self.shared(t, busy, devices, all);
        let moved = like.map_or(0.0, |r| r.moved_bytes / r.points);
        share.memory = share.memory.map(|_| Memory {
            bytes: all * (moved / n + bytes.charge + bytes.result / n),
            working_set_bytes: all * moved / n,
            within_s: t,
        });
        if devices > 1 && permutation > 0.0 {
            share.gather_bytes = all * bytes.gathered * on_host / n;
            share.gather_bytes_per_s =
                Some(all * (bytes.charge + bytes.result) / (whole * permutation));
        }
        let mut traffic = gather(bytes.outputs * 8.0 * all, devices, group);
        if share.gather_bytes > 0.0 {
            // Devices of a host write their results into its memory.
            traffic.within = Messages::default();
        }
        (share, traffic)
    }

    fn tune(&self, devices: usize) -> (Share, Traffic) {
        let all = self.total(devices);
        let of = |trials: f64| trials * self.time.first().copied().unwrap_or(0.0);
        let most = (all / devices as f64).ceil();
        let mean = all / devices as f64;
        (
            self.shared(of(most), of(mean), devices, mean),
            Traffic::default(),
        )
    }
}

fn prime(n: usize) -> bool {
    (2..)
        .take_while(|d| d * d <= n)
        .all(|d| !n.is_multiple_of(d))
}

/// Results of this many bytes go to the first device, which has its own.
fn gather(bytes: f64, devices: usize, group: usize) -> Traffic {
    let each = bytes / devices as f64;
    let near = (group.min(devices) - 1) as f64;
    let far = devices.saturating_sub(group) as f64;
    let messages = |n: f64| Messages {
        count: n,
        bytes: n * each,
        total_bytes: n * each,
    };
    Traffic {
        exchanges: 1.0,
        within: messages(near),
        between: messages(far),
        ..Traffic::default()
    }
}

/// What a record has, for messages.
fn known(record: &Record) -> String {
    let mut all: Vec<String> = (record.runs.iter())
        .map(|r| match record.application.as_str() {
            "hydro" => format!("{}D order {}", r.dim, r.order),
            "gisaxs" => r.method.clone(),
            "fmm" => r.precision.clone(),
            _ => "trials".into(),
        })
        .collect();
    all.sort();
    all.dedup();
    all.join(", ")
}
