//! The result of a run as text or JSON.

use crate::commands::run::energy::Measured;
use crate::commands::run::prediction::Prediction;
use crate::engine::Timings;
use crate::time::stepping::Report;
use greenup_app::ranks::Boards;
use greenup_app::{Result, print, stdout};
use greenup_report::provenance::Provenance;
use greenup_report::si::si;

/// The result of a run.
pub struct Outcome {
    pub report: Report,
    pub timings: Timings,
    pub predicted: Option<Prediction>,
    /// Energy of the host, for steps on its CPU.
    pub cpu: Option<Measured>,
    pub boards: Option<Boards>,
    pub messages: Vec<String>,
    pub provenance: Provenance,
    pub ranks: usize,
    /// Zones and unknowns of the whole.
    pub counts: (usize, usize),
    /// Steps since the start or the checkpoint.
    pub steps: usize,
    /// Their duration, s.
    pub wall_s: f64,
}

impl Outcome {
    /// Unknowns times steps per second.
    pub fn rate(&self) -> f64 {
        (self.counts.1 * self.steps) as f64 / self.wall_s
    }

    /// Prints it.
    ///
    /// # Errors
    /// A number has no JSON.
    pub fn print(&self, profile: bool, json: bool) -> Result {
        if json {
            print::data(self.json()?);
            return Ok(());
        }
        print::line(self.text());
        let gpus = self.boards.as_ref().and_then(|b| b.total_j);
        let cpu = self.cpu.as_ref().and_then(|m| m.energy_j);
        let of = gpus
            .map(|j| (j, "of the GPUs"))
            .or(cpu.map(|j| (j, "of the CPU")));
        if let Some((joules, what)) = of {
            print::line(format!(
                "energy {what} {}, {} per unknown and step, power {}",
                si(joules, "J"),
                si(joules / (self.counts.1 * self.steps).max(1) as f64, "J"),
                si(joules / self.wall_s, "W")
            ));
        }
        if let Some(predicted) = &self.predicted {
            print::line(predicted.text(self.wall_s));
        }
        for line in &self.messages {
            print::line(line);
        }
        if profile {
            stdout::bytes(parts(&self.timings, self.wall_s).as_bytes());
        }
        Ok(())
    }

    fn json(&self) -> Result<String> {
        let mut value = serde_json::to_value(&self.report)?;
        value["wall_s"] = self.wall_s.into();
        value["mdof_steps_per_s"] = (1e-6 * self.rate()).into();
        value["messages"] = self.messages.clone().into();
        value["ranks"] = self.ranks.into();
        value["zones"] = self.counts.0.into();
        if let Some(predicted) = &self.predicted {
            value["predicted"] = serde_json::to_value(predicted)?;
        }
        if let Some(boards) = &self.boards {
            value["boards"] = serde_json::to_value(boards)?;
        }
        if let Some(cpu) = &self.cpu {
            value["energy_j"] = cpu.energy_j.into();
            value["sensor"] = cpu.sensor.clone().into();
        }
        value["unknowns"] = self.counts.1.into();
        value["timings"] = serde_json::to_value(self.timings)?;
        value["provenance"] = serde_json::to_value(&self.provenance)?;
        Ok(value.to_string())
    }

    fn text(&self) -> String {
        let (report, (zones, unknowns)) = (&self.report, self.counts);
        format!(
            "{zones} zones, {unknowns} unknowns: {} to t = {}, dt {}, |e| {:.10e}\n\
             energy {} internal + {} kinetic, drift {}; {}, {}",
            steps(report.steps),
            report.t,
            digits(report.dt, 6),
            report.e_norm,
            digits(report.internal, 12),
            digits(report.kinetic, 12),
            shown_drift(report),
            si(self.wall_s, "s"),
            si(self.rate(), "dof steps/s")
        )
    }
}

/// The drift of the total energy as text.
pub fn shown_drift(report: &Report) -> String {
    match report.energy_drift {
        Some(0.0) => "0".into(),
        Some(drift) => format!("{drift:.1e}"),
        None => "not known (a wall moves)".into(),
    }
}

/// A number of steps.
pub fn steps(n: usize) -> String {
    match n {
        1 => "1 step".into(),
        n => format!("{n} steps"),
    }
}

/// A number with so many decimals, or with as many significant digits where these would show few of them.
pub fn digits(x: f64, decimals: usize) -> String {
    match x.abs() {
        0.0 => "0".into(),
        1e-3..1e9 => format!("{x:.decimals$}"),
        _ => format!("{x:.decimals$e}"),
    }
}

/// A table of the parts of the steps.
fn parts(timings: &Timings, wall: f64) -> String {
    let rows = [
        ("stress at quadrature points", timings.stress_s),
        ("corner forces, work", timings.force_s),
        ("CG solves", timings.solve_s),
        ("Runge–Kutta updates", timings.update_s),
    ];
    let mut out = String::new();
    for (name, s) in rows {
        out.push_str(&format!(
            "{name:<28}{:>10} {:>5.1} %\n",
            si(s, "s"),
            100.0 * s / wall
        ));
    }
    out.push_str(&format!(
        "{:.1} CG iterations per solve, {} evaluations\n",
        timings.iterations / timings.solves.max(1) as f64,
        timings.evaluations
    ));
    out
}
