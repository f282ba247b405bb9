//! Logs that are mixed, cut, in other units, or whose counter falls.

use super::*;

const HEAD: &str = "timestamp, index, power.draw [W]\n";

/// Lines of so many rounds, each 0.1 s after the one before.
fn rounds(n: u32, of: &dyn Fn(f64) -> String) -> String {
    (0..n).map(|i| of(0.1 * f64::from(i))).collect()
}

fn error(text: &str) -> String {
    read_as(text, &Options::default()).unwrap_err().to_string()
}

/// A log of one device, and the energy of all of it.
fn whole(text: &str) -> Result<Energy, NoLogEnergy> {
    energy(&read_text(text)[0], None, None)
}

#[test]
fn devices_without_a_header_are_told_apart_by_any_indexes() {
    let two = |t: f64| {
        format!(
            "{}, 2, 400.00 W\n{}, 3, 100.00 W\n",
            clock(t),
            clock(t + 0.003)
        )
    };
    let text = rounds(60, &two);
    let later = text.split_once('\n').unwrap().1.to_owned();
    let lost: String = (text.lines().enumerate())
        .filter(|(i, _)| *i != 50)
        .map(|(_, l)| format!("{l}\n"))
        .collect();
    for text in [text, later, lost] {
        let mut all = read_text(&text);
        all.sort_by(|a, b| a.device.cmp(&b.device));
        assert_eq!(all[1].device.as_deref(), Some("3"), "{text}");
        for (log, watts) in all.iter().zip([400.0, 100.0]) {
            let e = energy(log, None, None).unwrap();
            near(e.power_w, watts);
        }
    }
}

#[test]
fn devices_that_nothing_tells_apart_are_an_error() {
    let bare = |t: f64| format!("{}, 400.00 W\n{}, 100.00 W\n", clock(t), clock(t + 0.003));
    let named = |t: f64| {
        format!(
            "{}, NVIDIA H200, 400 W\n{}, NVIDIA H200, 100 W\n",
            clock(t),
            clock(t + 0.003)
        )
    };
    for text in [
        "timestamp, power.draw [W]\n".to_owned() + &rounds(60, &bare),
        "timestamp, name, power.draw [W]\n".to_owned() + &rounds(60, &named),
        rounds(60, &named),
    ] {
        let e = error(&text);
        assert!(
            e.contains("several devices are mixed") && e.contains("`index`"),
            "{e}"
        );
    }
}

#[test]
fn a_counter_that_falls_says_where() {
    let line = |i: u32| format!("{i},{}\n", 40 * (i % 50));
    let text = "time,joules\n".to_owned() + &(0..100).map(line).collect::<String>();
    assert_eq!(whole(&text), Err(NoLogEnergy::Fell { at_s: 50.0 }));
    let log = read_text(&text).remove(0);
    near(
        energy(&log, Some(10.0), Some(49.0)).unwrap().energy_j,
        40.0 * 39.0,
    );
    near(
        energy(&log, Some(50.0), Some(60.0)).unwrap().energy_j,
        400.0,
    );
}

#[test]
fn a_pause_is_one_at_any_length_of_the_log() {
    let line = |i: u32| match i {
        1001..1007 => String::new(),
        i => format!("{i},100\n"),
    };
    let text: String = "time,watts\n".to_owned() + &(0..3600).map(line).collect::<String>();
    let Err(NoLogEnergy::Paused { pause_s, at_s }) = whole(&text) else {
        panic!();
    };
    assert_eq!((pause_s, at_s), (7.0, 1000.0));
    assert!(energy(&read_text(&text)[0], Some(1007.0), None).is_ok());
}

#[test]
fn ends_within_an_interval_are_on_straight_lines() {
    let log = read_text("time,watts\n0,100\n1,500\n2,100\n3,500\n4,100\n").remove(0);
    let of = |from: f64, to: f64| energy(&log, Some(from), Some(to)).unwrap().energy_j;
    near(of(0.5, 1.0), 200.0);
    near(of(0.25, 0.75), 150.0);
    near(of(0.5, 2.25), 200.0 + 300.0 + 0.25 * 150.0);
}

#[test]
fn times_powers_and_columns_that_cannot_be_are_refused() {
    let ms = |i: u32| format!("{},400\n", 1_795_741_199_000_u64 + 100 * u64::from(i));
    let text: String = (0..20).map(ms).collect();
    let e = error(&("timestamp,power\n".to_owned() + &text));
    assert!(
        e.contains("line 2: `1795741199000,400`: its time is no count") && e.contains("time_ms"),
        "{e}"
    );
    near(
        whole(&("time_ms,power\n".to_owned() + &text))
            .unwrap()
            .energy_j,
        760.0,
    );
    // A value that no meter reads.
    let huge = |t: f64| {
        let watts = if t == 0.5 { "1e300" } else { "400" };
        format!("{}, 0, {watts} W\n", clock(t))
    };
    let log = read_text(&(HEAD.to_owned() + &rounds(20, &huge))).remove(0);
    assert_eq!(log.readings.len(), 19);
    assert!(log.notes[0].contains("1 line skipped"), "{:?}", log.notes);
    for (head, watts, note) in [
        (
            "timestamp, power.draw [kW]\n",
            "361",
            "361.0 kW, more than a GPU draws",
        ),
        (
            "timestamp, power.draw [W]\n",
            "0.00",
            "all its 20 values are 0 W",
        ),
    ] {
        let line = |t: f64| format!("{}, {watts}\n", clock(t));
        let log = read_text(&(head.to_owned() + &rounds(20, &line))).remove(0);
        assert!(log.notes[0].contains(note), "{:?}", log.notes);
    }
    let average = |t: f64| format!("{}, [N/A], 400.00 W\n", clock(t));
    let head = "timestamp, power.draw.instant [W], power.draw.average [W]\n";
    near(
        whole(&(head.to_owned() + &rounds(20, &average)))
            .unwrap()
            .power_w,
        400.0,
    );
}

#[test]
fn a_second_header_and_a_cut_line_are_seen() {
    let first = rounds(20, &|t| format!("{}, 400.00, 45\n", clock(t)));
    let second = rounds(20, &|t| format!("{}, 45, 400.00\n", clock(2.0 + t)));
    let text = format!(
        "timestamp, power.draw [W], temperature.gpu\n{first}timestamp, temperature.gpu, power.draw [W]\n{second}"
    );
    let e = whole(&text).unwrap();
    assert_eq!((e.samples, e.least_w, e.greatest_w), (40, 400.0, 400.0));
    let line = |t: f64| format!("{}, 0, 400.00 W\n", clock(t));
    let text = HEAD.to_owned() + &rounds(20, &line) + &clock(2.0) + ", 0, 4";
    let log = read_text(&text).remove(0);
    assert_eq!(log.readings.len(), 20);
    assert!(
        log.notes[0].contains("has no unit, as the line before has: is it cut?"),
        "{:?}",
        log.notes
    );
}

#[test]
fn a_step_of_time_for_lines_that_have_times_is_refused() {
    let line = |t: f64| format!("{}, 0, 400.00 W\n", clock(t));
    let options = Options {
        every_s: Some(1.0),
        ..Options::default()
    };
    let e = read_as(&(HEAD.to_owned() + &rounds(20, &line)), &options).unwrap_err();
    assert!(matches!(e, LogError::HasTimes(_)), "{e}");
}

/// Ten samples a second with times in whole seconds, from the third of the first second to the fourth of the last.
#[test]
fn samples_of_one_second_lie_in_it() {
    let lines = |second: u32, tenths: std::ops::Range<u32>| -> String {
        let watts = |i: u32| if i == 0 { 500.0 } else { 100.0 };
        tenths
            .map(|i| format!("2026/11/28 08:59:{second:02}, 0, {:.2} W\n", watts(i)))
            .collect()
    };
    let middle: String = (21..29).map(|s| lines(s, 0..10)).collect();
    let text = format!("{HEAD}{}{middle}{}", lines(20, 3..10), lines(29, 0..4));
    let log = &read_text(&text)[0];
    assert!(log.notes.is_empty(), "{:?}", log.notes);
    let first = &log.readings[0];
    near(log.readings[7].at_s - first.at_s, 0.7);
    near(log.readings[90].at_s - log.readings[87].at_s, 0.3);
    // 140 W on average, of which whole seconds have all.
    let [from, to] = [7, 87].map(|i| Some(log.readings[i].at_s));
    near(energy(log, from, to).unwrap().energy_j, 8.0 * 140.0);
}

/// Seconds that are missing stay a pause.
#[test]
fn samples_of_one_second_hide_no_pause() {
    let second = |s: u32| format!("2026/11/28 08:59:{s:02}, 0, 100.00 W\n").repeat(10);
    let text: String = (10..20).chain(24..34).map(second).collect();
    let e = whole(&format!("{HEAD}{text}"));
    assert!(
        matches!(e, Err(NoLogEnergy::Paused { pause_s, .. }) if pause_s > 4.0),
        "{e:?}"
    );
}

#[test]
fn four_samples_show_a_pause() {
    let e = whole("time,watts\n0,100\n1,100\n600,100\n601,100\n");
    assert!(matches!(e, Err(NoLogEnergy::Paused { .. })), "{e:?}");
}
