//! What a sensor can really do, found by watching it idle and under load.

use crate::sampler::{await_first, sample};
use crate::sensor::{OpenedSensor, Problem, Quantity, Sensor, SensorError, now_s};
use crate::stats::median;
use crate::window::mean_power;
use greenup_setting::setting;
use serde::Serialize;
use std::time::Duration;

/// Diagnosis of one sensor by `greenup doctor`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diagnosis {
    /// Id of the sensor.
    pub id: String,
    /// What it covers.
    pub scope: String,
    /// Whether the hardware or file exists.
    pub present: bool,
    /// Whether it can be read.
    pub usable: bool,
    /// Whether its value moved while the machine was under load; `None` when not tried.
    pub moves_under_load: Option<bool>,
    /// What it reads; `None` if it did not open.
    pub quantity: Option<Quantity>,
    /// Time between two changes of the value, s.
    pub period_s: Option<f64>,
    /// Time one read takes, s.
    pub read_cost_s: Option<f64>,
    /// Smallest change seen, J or W.
    pub resolution: Option<f64>,
    /// Mean power when idle, W.
    pub idle_w: Option<f64>,
    /// Mean power under load, W.
    pub load_w: Option<f64>,
    /// Why it cannot be used.
    pub cause: Option<String>,
    /// Suggested fix.
    pub fix: Option<String>,
}

impl Diagnosis {
    /// The diagnosis of a sensor that did not open.
    pub fn of_problem(problem: &Problem) -> Self {
        Self {
            id: problem.id.clone(),
            scope: String::new(),
            present: problem.present,
            usable: false,
            moves_under_load: None,
            quantity: None,
            period_s: None,
            read_cost_s: None,
            resolution: None,
            idle_w: None,
            load_w: None,
            cause: Some(problem.cause.clone()),
            fix: Some(problem.fix.clone()),
        }
    }
}

/// How long a meter may take until its first reading, s.
pub const FIRST_S: f64 = 10.0;

/// Watches every sensor for `idle_s` seconds idle and `seconds` while `load` runs (which must return
/// after about the time it is given).
///
/// Sensors that turn out unusable are dropped; the others are returned with their diagnosis.
pub fn probe(
    found: Vec<OpenedSensor>,
    idle_s: f64,
    seconds: f64,
    load: &mut dyn FnMut(f64),
) -> (Vec<Box<dyn Sensor>>, Vec<Diagnosis>) {
    let mut open = Vec::new();
    // In the order found; those of opened sensors are filled in below.
    let mut diagnoses: Vec<Option<Diagnosis>> = Vec::new();
    let mut places = Vec::new();
    for (place, f) in found.into_iter().enumerate() {
        match f {
            Ok(sensor) => {
                open.push(sensor);
                places.push(place);
                diagnoses.push(None);
            }
            Err(problem) => diagnoses.push(Some(Diagnosis::of_problem(&problem))),
        }
    }
    if open.is_empty() {
        return (open, diagnoses.into_iter().flatten().collect());
    }
    // A meter needs some time for its first reading.
    await_first(&mut open, FIRST_S);
    // Fast enough to see every change of a 1 ms counter, slow enough not to load the machine.
    let interval = 0.0005;
    let ((), idle, idle_span) = sample(&mut open, interval, || {
        std::thread::sleep(Duration::from_secs_f64(idle_s));
    });
    let ((), busy, busy_span) = sample(&mut open, interval, || load(seconds));

    let mut usable = Vec::new();
    for (((sensor, idle), busy), place) in open.into_iter().zip(idle).zip(busy).zip(places) {
        let info = sensor.info().clone();
        let steps: Vec<(f64, f64)> = busy
            .readings
            .windows(2)
            .filter(|w| w[0].value != w[1].value)
            .map(|w| (w[1].at_s, w[1].value - w[0].value))
            .collect();
        let periods: Vec<f64> = steps.windows(2).map(|w| w[1].0 - w[0].0).collect();
        let sizes: Vec<f64> = steps.iter().map(|s| s.1.abs()).collect();
        let costs: Vec<f64> = idle
            .read_cost_s
            .iter()
            .chain(&busy.read_cost_s)
            .copied()
            .collect();
        let moved = !steps.is_empty();
        let positive = busy.readings.iter().any(|r| r.value > 0.0);
        let watts = |trace: &crate::sampler::Trace, span: (f64, f64)| {
            mean_power(info.quantity, &trace.readings, span.0, span.1).map(|p| p.power_w)
        };
        let seen = Seen {
            error: busy.error.as_ref().or(idle.error.as_ref()),
            readings: busy.readings.len(),
            last: busy.readings.last().map_or(0.0, |r| r.value),
            moved: moved && positive,
            seconds,
        };
        let (cause, fix) = why_unusable(sensor.as_ref(), &seen).unzip();
        let good = cause.is_none();
        diagnoses[place] = Some(Diagnosis {
            id: info.id.clone(),
            scope: info.scope.clone(),
            present: true,
            usable: good,
            moves_under_load: (!info.is_recorded()).then_some(moved && positive),
            quantity: Some(info.quantity),
            period_s: longest(
                sensor.period_s(),
                (!periods.is_empty()).then(|| median(&periods)),
            ),
            read_cost_s: (!costs.is_empty()).then(|| median(&costs)),
            resolution: sizes.iter().copied().reduce(f64::min),
            idle_w: watts(&idle, idle_span),
            load_w: watts(&busy, busy_span),
            cause,
            fix,
        });
        if good {
            usable.push(sensor);
        }
    }
    (usable, diagnoses.into_iter().flatten().collect())
}

/// What was seen of a sensor under load.
struct Seen<'a> {
    error: Option<&'a SensorError>,
    readings: usize,
    /// The last value.
    last: f64,
    moved: bool,
    /// How long it was watched, s.
    seconds: f64,
}

/// Cause and fix, where a sensor cannot be used.
fn why_unusable(sensor: &dyn Sensor, seen: &Seen) -> Option<(String, String)> {
    let recorded = sensor.info().is_recorded();
    let seconds = seen.seconds;
    let (cause, fix) = if let Some(e) = seen.error {
        let fix = if recorded {
            "record a trace that is longer than the measurement"
        } else {
            "the sensor must keep answering while it is read"
        };
        (e.to_string(), fix)
    } else if seen.readings < 2 {
        let notes = sensor.notes();
        let what = match seen.readings {
            0 => "it gave no reading",
            _ => "it gave no new reading",
        };
        let cause = if notes.is_empty() {
            format!("{what} while it was watched for {seconds} s")
        } else {
            format!("{what} while it was watched: {}", notes.join("; "))
        };
        let fix = if recorded {
            "record a trace with more samples a second, or watch it longer (`doctor --seconds`)"
        } else {
            "let the meter print each line at once (`stdbuf -oL`, `python3 -u`), or watch it longer (`doctor --seconds`)"
        };
        (cause, fix)
    } else if !seen.moved && !recorded {
        let cause = format!(
            "its value stayed at {} under load: a phantom, as virtual machines expose them",
            seen.last
        );
        let external = setting("sensor").to("external:…");
        let fix = format!("measure on bare metal, or clamp an external meter on (`{external}`)");
        return Some((cause, fix));
    } else {
        return None;
    };
    Some((cause, fix.to_owned()))
}

/// The longer of two periods: a meter may print a value more often than it changes.
fn longest(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    a.into_iter().chain(b).reduce(f64::max)
}

/// Busy-waits on this thread for `seconds`: the smallest load.
pub fn spin(seconds: f64) {
    let end = now_s() + seconds;
    while now_s() < end {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensors::external::Recorded;
    use crate::sensors::simulated::Simulated;

    #[test]
    fn a_phantom_is_not_usable_and_a_live_counter_is() {
        let probed = || {
            let phantom = Simulated::new("phantom", Quantity::Energy, |_| Ok(0.0));
            let live = Simulated::new("live", Quantity::Energy, |t| {
                Ok(50.0 * (t / 0.01).floor() * 0.01)
            });
            let dying = Simulated::new("dying", Quantity::Power, |_| {
                Err(SensorError::Gone {
                    id: "dying".into(),
                    cause: "unplugged".into(),
                })
            });
            probe(
                vec![
                    Ok(Box::new(phantom)),
                    Ok(Box::new(live)),
                    Ok(Box::new(dying)),
                ],
                0.15,
                0.15,
                &mut spin,
            )
        };
        // A host that stops the reader for some ticks makes the period look longer: try again.
        let timely = |all: &[Diagnosis]| {
            (all[1].load_w.unwrap() / 50.0 - 1.0).abs() < 0.2
                && (all[1].period_s.unwrap() / 0.01 - 1.0).abs() < 0.3
        };
        let (mut good, mut periods) = (0, Vec::new());
        for _ in 0..20 {
            let (usable, all) = probed();
            assert_eq!(usable.len(), 1);
            assert!(all[1].usable);
            assert!(all[0].cause.as_ref().unwrap().contains("phantom"));
            assert!(all[2].cause.as_ref().unwrap().contains("unplugged"));
            good += usize::from(timely(&all));
            if good == 3 {
                return;
            }
            periods.push((all[1].load_w, all[1].period_s));
        }
        panic!("seldom 50 W and 10 ms: {periods:?}");
    }

    #[test]
    fn a_trace_of_one_value_is_data_and_no_phantom() {
        let of = |lines: &str| match Recorded::parse("trace.csv", lines) {
            Ok(trace) => Ok(Box::new(trace) as Box<dyn Sensor>),
            Err(problem) => Err(problem),
        };
        let text: String = (0..200)
            .map(|i| format!("{},50\n", f64::from(i) * 0.01))
            .collect();
        let found = vec![
            of(&text),
            of("0,50\n100,50\n"),
            of("0,50\n0.01,50\n"),
            of("0,0\n1,0\n"),
        ];
        let (usable, all) = probe(found, 0.05, 0.05, &mut spin);
        assert_eq!(usable.len(), 1);
        assert_eq!(
            usable[0].notes(),
            ["trace.csv: all its 200 values are 50 W"]
        );
        assert!(all[0].usable && all[0].moves_under_load.is_none());
        assert!((all[0].period_s.unwrap() - 0.01).abs() < 1e-9);
        assert!((all[0].load_w.unwrap() - 50.0).abs() < 1e-9);
        let why = |i: usize| {
            format!(
                "{} {}",
                all[i].cause.clone().unwrap(),
                all[i].fix.clone().unwrap()
            )
        };
        assert!(why(1).contains("more samples a second"), "{}", why(1));
        assert!(
            why(2).contains("trace has ended") && why(2).contains("longer"),
            "{}",
            why(2)
        );
        assert!(why(3).contains("all its values are 0 W"), "{}", why(3));
        assert!((1..4).all(|i| !why(i).contains("phantom") && !why(i).contains("bare metal")));
    }
}
