//! Power of transistors over clock, voltage and temperature (thesis, section 5.1, eqs 39 to 42).

use super::read;
use crate::records::broken;
use crate::{PaperError, Records};
use greenup_calibrate::fit::leakage::{LeakageFit, fit_leakage};
use greenup_model::dvfs::VoltageCurve;
use greenup_report::chart::{
    Axis, Chart, Height, Ink, Layer, Mark, Panel, Scale, Series, Sign, Unit,
};
use greenup_report::si::three;
use serde::Deserialize;

/// The figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transistors {
    /// What `greenup fit --dvfs --json` printed of a device.
    pub dvfs: String,
    /// Name of that device.
    pub device: String,
    /// Microbenchmarks with clocks and temperatures of another device: names, and the records that are fitted together.
    pub boards: Vec<(String, Vec<String>)>,
}

/// Leakage fitted to records together.
///
/// # Errors
/// A record is missing, or they have too few temperatures.
pub fn leakage(records: &Records, of: &[String]) -> Result<LeakageFit, PaperError> {
    let mut all = Vec::new();
    for record in of {
        all.extend(read(records, record)?);
    }
    let path = records.path(of.first().map_or("", String::as_str))?;
    fit_leakage(&all, 40).map_err(|e| broken(&path, e))
}

impl Transistors {
    /// The chart: power over the clock with the voltage that it needs, power over the voltage at fixed clocks, and constant
    /// power over temperature.
    ///
    /// # Errors
    /// A record is missing or has no such fit.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        let path = records.path(&self.dvfs)?;
        let json = records.json(&self.dvfs)?;
        let at = |p: &str| {
            let v = json.pointer(p).and_then(serde_json::Value::as_f64);
            v.ok_or_else(|| broken(&path, format!("no number at {p}")))
        };
        let v = |p: &str| at(&format!("/fit/core_voltage/{p}"));
        let curve = VoltageCurve {
            floor_volt: v("floor_volt")?,
            max_clock_hz: v("max_clock_hz")?,
            knee: v("knee")?,
            slope: v("slope")?,
        };
        // C₁ of the leakage, and C₀ f of the clock tree at the highest clock and voltage 1.
        let (leak, tree) = (at("/fit/leakage_w/0")?, at("/fit/coefficients/3")?);
        let mut boards = Vec::new();
        for (name, of) in &self.boards {
            boards.push((name.clone(), leakage(records, of)?));
        }
        let panels = vec![
            self.over_clock(&curve, leak, tree),
            self.over_voltage(&curve, leak, tree),
            over_temperature(&boards),
        ];
        let mut series = vec![
            Series::new("leakage C₁V (eq 42)", Ink::Series(0), Sign::Line),
            Series::new("switching C₀V²f (eq 41)", Ink::Series(1), Sign::Line),
            Series::new("both", Ink::Text, Sign::Line),
        ];
        for (k, (name, _)) in boards.iter().enumerate() {
            let name = format!("{name}: eq 40");
            series.push(Series::new(name, Ink::Series(2 + k), Sign::Line));
        }
        Ok(Chart {
            title: "Power over clock, voltage and temperature".into(),
            series,
            panels,
            least_width: 280.0,
            ..Chart::default()
        })
    }

    fn over_clock(&self, curve: &VoltageCurve, leak: f64, tree: f64) -> Panel {
        let top = curve.max_clock_hz;
        let clocks = || (0..=80).map(move |k| top * (0.5 + 0.5 * f64::from(k) / 80.0));
        let part = |of: &dyn Fn(f64, f64) -> f64| {
            clocks()
                .map(|f| (f * 1e-6, of(curve.volt(f), f / top)))
                .collect()
        };
        self.panel(
            "Over the clock, with its voltage",
            Axis::new("core clock", Unit::plain("MHz"), Scale::Linear),
            [
                part(&|v, _| leak * v),
                part(&|v, share| tree * v * v * share),
                part(&|v, share| leak * v + tree * v * v * share),
            ],
        )
    }

    fn over_voltage(&self, curve: &VoltageCurve, leak: f64, tree: f64) -> Panel {
        let top = curve.volt(curve.max_clock_hz);
        let volts = || (0..=80).map(move |k| 0.8 + (top - 0.8) * f64::from(k) / 80.0);
        let part = |of: &dyn Fn(f64) -> f64| volts().map(|v| (v, of(v))).collect();
        self.panel(
            "Over the voltage, at the highest clock",
            Axis::new("voltage over its floor", Unit::None, Scale::Linear),
            [
                part(&|v| leak * v),
                part(&|v| tree * v * v),
                part(&|v| leak * v + tree * v * v),
            ],
        )
    }

    fn panel(&self, title: &str, x: Axis, lines: [Vec<(f64, f64)>; 3]) -> Panel {
        let label = format!("power, W: idle {}", self.device);
        let mut panel = Panel::new(title, x, Axis::new(&label, Unit::None, Scale::Linear));
        panel.height = Height::Ratio(0.9);
        for (k, line) in lines.into_iter().enumerate() {
            panel.push(Layer::line(k, line, ""));
        }
        panel
    }
}

/// Constant power of each record at the highest voltage, and the fitted line.
fn over_temperature(boards: &[(String, LeakageFit)]) -> Panel {
    let mut panel = Panel::new(
        "Over the temperature",
        Axis::new("temperature", Unit::plain("°C"), Scale::Linear),
        Axis::new("constant power, W", Unit::None, Scale::Linear).over(0.0, 320.0),
    );
    panel.height = Height::Ratio(0.9);
    for (k, (name, f)) in boards.iter().enumerate() {
        let (lo, hi) = f.temperature_c;
        let line = (0..=40).map(|i| lo + (hi - lo) * f64::from(i) / 40.0);
        let line = line
            .filter_map(|c| Some((c, f.constant_power_w(c, 1.0)?)))
            .collect();
        let marks = (f.constant_power.iter())
            // At one voltage, so that temperature alone differs.
            .filter(|(_, v, w)| *v > 0.99 && (0.0..320.0).contains(w))
            .map(|(c, _, w)| Mark {
                x: *c,
                y: *w,
                interval: None,
                tip: format!("{name}: {} W at {} °C", three(*w), three(*c)),
            });
        panel.push(Layer::points(3 + k, marks.collect(), 4.5));
        panel.push(Layer::line(3 + k, line, name.clone()));
    }
    panel
}
