//! What meters with faults print, recorded and replayed.

use super::live::read;
use super::{PERIOD_S, each, faults, joules, watts};
use crate::sensor::{Quantity, Reading};
use crate::sensors::external::feed::Feed;
use crate::window;

/// Energies of what a meter printed, recorded and replayed.
#[test]
fn a_recorded_trace_of_such_a_meter_gives_the_same_energies() {
    // Faults of the meter's delivery, or those that only the host's clock shows, are none in a file.
    let whole = [
        "none",
        "clock set back by 0.5 s",
        "clock set back by an hour",
        "clock starts anew at 0",
        "times in ms, named in the header",
        "times of 0.1 s: five lines each",
        "a value of nan",
        "a value of -0.01",
        "a torn line",
        "a time of 1e9",
        "lines out of order",
        "milliwatts with their unit",
        "decimal commas",
        "decimal commas between blanks, with units",
        "a separator at the end of each line",
        "nvidia-smi over midnight",
        "a counter of joules that starts anew",
    ];
    let mut seen = 0;
    for (name, printed) in faults() {
        let text: String = printed.iter().map(|p| format!("{}\n", p.1)).collect();
        let live = read(&printed);
        let (mut feed, mut readings) = (Feed::default(), Vec::new());
        let done = feed.push_trace(&text, &mut readings);
        assert!(readings.windows(2).all(|w| w[0].at_s < w[1].at_s), "{name}");
        if !whole.contains(&name) {
            continue;
        }
        seen += 1;
        assert_eq!(done, Ok(()), "{name}");
        assert_eq!(feed.notes(), live.notes, "{name}");
        let (zero, period) = (readings[0].at_s, feed.period_s().unwrap());
        for (from, to) in [(0.7, 2.0), (2.0, 3.3), (2.5, 7.9), (0.5, 13.0)] {
            let at = (zero + from, zero + to);
            let e = window::energy(Quantity::Power, &readings, at.0, at.1, Some(period)).unwrap();
            let true_j = joules(to) - joules(from);
            assert!(
                (e - true_j).abs() < 15.0 * 2.0 * period,
                "{name}: {e} J of {true_j} J"
            );
        }
    }
    assert_eq!(seen, whole.len());
}

/// A time of day has no date, and a trace no host's clock.
#[test]
fn a_recorded_trace_goes_on_over_midnight_and_stops_in_a_pause() {
    let of_day = |t: f64| {
        let s = (86397.8 + t) % 86400.0;
        format!(
            "{:02}:{:02}:{:06.3}",
            (s / 3600.0) as u32,
            (s / 60.0) as u32 % 60,
            s % 60.0
        )
    };
    let text: String = (each(|_, t| Some(format!("{},{:.3}\r", of_day(t), watts(t)))).into_iter())
        .map(|p| p.1)
        .collect();
    let (mut feed, mut readings) = (Feed::default(), Vec::new());
    feed.push_trace(&(text + "23:5"), &mut readings).unwrap();
    let notes = feed.notes();
    assert!(
        notes.len() == 1 && notes[0].contains("1 line skipped: line 701"),
        "{notes:?}"
    );
    let zero = readings[0].at_s;
    let energy = |readings: &[Reading], from: f64, to: f64| {
        window::energy(Quantity::Power, readings, zero + from, zero + to, None)
    };
    let e = energy(&readings, 1.0, 9.0).unwrap();
    assert!((e - joules(9.0) + joules(1.0)).abs() < 0.3, "{e}");

    let paused: String = (0..700)
        .map(|i| f64::from(i) * PERIOD_S)
        .map(|t| {
            format!(
                "{:.3},{:.3}\n",
                zero + t + if t < 4.0 { 0.0 } else { 3600.0 },
                watts(t)
            )
        })
        .collect();
    let (mut feed, mut readings) = (Feed::default(), Vec::new());
    feed.push_trace(&paused, &mut readings).unwrap();
    assert!(feed.notes().is_empty() && readings.len() == 700);
    assert!(energy(&readings, 1.0, 3.9).is_ok());
    assert!(energy(&readings, 3.0, 5.0).is_err());
}
