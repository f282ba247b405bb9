//! Logs as `nvidia-smi` and other meters write them, and energies between two of their times.

use super::*;

mod measured;
mod odd;

fn read_as(text: &str, options: &Options) -> Result<Vec<DeviceLog>, LogError> {
    parse(Path::new("gpu.csv"), text, options)
}

fn read_text(text: &str) -> Vec<DeviceLog> {
    read_as(text, &Options::default()).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// A log of 10 s with a sample each 0.1 s: 100 W, from 4 s to 6 s 300 W. `line` writes a sample.
fn log(header: &str, line: &dyn Fn(f64, f64) -> String) -> String {
    let lines = (0..=100).map(|i| {
        let t = f64::from(i) * 0.1;
        line(
            t,
            if (3.95..6.05).contains(&t) {
                300.0
            } else {
                100.0
            },
        )
    });
    std::iter::once(header.to_owned())
        .chain(lines)
        .filter(|l| !l.is_empty())
        .map(|l| l + "\n")
        .collect()
}

fn clock(t: f64) -> String {
    format!("2026/11/28 08:59:{:06.3}", 20.0 + t)
}

fn at(log: &DeviceLog, text: &str) -> Result<f64, MomentError> {
    text.parse::<Moment>()?.on(log, None)
}

fn near(x: f64, y: f64) {
    assert!((x / y - 1.0).abs() < 1e-6, "{x} is not {y}");
}

#[test]
fn every_form_of_nvidia_smi_is_the_same_log() {
    let index = |t: f64, p: f64| format!("{}, 0, {p:.2} W, [N/A]", clock(t));
    let bare = |t: f64, p: f64| format!("{}, 0, {p:.2}, [N/A]", clock(t));
    let uuid = |t: f64, p: f64| format!("GPU-1f2e, {}, 45, {p:.2} W, 3 %", clock(t));
    let name = |t: f64, p: f64| format!("NVIDIA H100 PCIe, {}, P0, 45, {p:.2} W", clock(t));
    let two = |t: f64, p: f64| {
        format!(
            "{}, 0, {p:.2} W\n{}, 1, 50.00 W",
            clock(t),
            clock(t + 0.001)
        )
    };
    let dmon = |t: f64, p: f64| {
        format!(
            " 20261128   08:59:{:06.3}      0  {p:>5}     40      -",
            20.0 + t
        )
    };
    let csv = |t: f64, p: f64| format!("08:59:{:06.3}, 0, {p}, 40", 20.0 + t);
    let none = Options::default();
    let named = Options {
        columns: Some("timestamp,index,power.draw [W],power.draw.instant [W]".into()),
        power: Some("power.draw".into()),
        ..Options::default()
    };
    for (text, options) in [
        (
            log(
                "timestamp, index, power.draw [W], power.draw.instant [W]",
                &index,
            ),
            &none,
        ),
        (
            log(
                "timestamp, index, power.draw [W], power.draw.instant [W]",
                &bare,
            ),
            &none,
        ),
        (log("", &index), &none),
        (log("", &bare), &named),
        (log("", &uuid), &none),
        (log("", &name), &none),
        (log("", &two), &none),
        (
            log(
                "#Date       Time         gpu    pwr  gtemp  mtemp\n#YYYYMMDD   HH:MM:SS     Idx      W      C      C",
                &dmon,
            ),
            &none,
        ),
        (
            log("#Time, gpu, pwr, gtemp\n#HH:MM:SS, Idx, W, C", &csv),
            &none,
        ),
    ] {
        let all = read_as(&text, options).unwrap_or_else(|e| panic!("{text}: {e}"));
        let l = &all[0];
        assert_eq!(l.readings.len(), 101, "{text}");
        let e = energy(
            l,
            Some(at(l, "08:59:21").unwrap()),
            Some(at(l, "08:59:29").unwrap()),
        )
        .unwrap();
        near(e.energy_j, 800.0 + 2.1 * 200.0);
        assert!(e.error_j > 1.0 && e.error_j < 40.0, "{e:?}");
        assert_eq!(
            (e.least_w, e.greatest_w, l.gain_error),
            (100.0, 300.0, Some(0.05))
        );
        near(energy(l, None, None).unwrap().energy_j, 1000.0 + 420.0);
    }
    // A round over two GPUs has their numbers.
    let all = read_text(&log("", &two));
    assert_eq!(all.len(), 2);
    assert_eq!(
        (all[1].device.as_deref(), all[1].readings[0].value),
        (Some("1"), 50.0)
    );
}

#[test]
fn blocks_of_q_are_read_without_those_of_the_module() {
    let block = |s: u32, w: f64| {
        format!(
            "\n==============NVSMI LOG==============\n\nTimestamp                                 : Sat Nov 28 08:59:{s} 2026\nDriver Version                            : 550.1\n\n\
             Attached GPUs                             : 1\nGPU 00000000:65:00.0\n    GPU Power Readings\n        Average Power Draw                : N/A\n        Instantaneous Power Draw          : {w:.2} W\n\
             \x20       Current Power Limit               : 700.00 W\n    Module Power Readings\n        Instantaneous Power Draw          : 900.00 W\n"
        )
    };
    let text: String = (20..30).map(|s| block(s, 100.0 + f64::from(s))).collect();
    let l = read_text(&text).remove(0);
    assert_eq!((l.readings.len(), l.readings[0].value), (10, 120.0));
    assert_eq!(
        (l.device.as_deref(), l.resolution_s),
        (Some("00000000:65:00.0"), 1.0)
    );
    let options = Options {
        device: Some("0000:65:00.0".into()),
        ..Options::default()
    };
    assert_eq!(read_as(&text, &options).unwrap().len(), 1);
}

#[test]
fn dmon_without_times_needs_their_step() {
    let text: String = std::iter::once("# gpu    pwr  gtemp\n# Idx      W      C\n".to_owned())
        .chain((0..5).map(|i| format!("    0    {}     40\n    1     50     41\n", 100 + i)))
        .collect();
    let e = read_as(&text, &Options::default()).unwrap_err();
    assert!(matches!(e, LogError::NoTimes(_)), "{e}");
    let every = Options {
        every_s: Some(2.0),
        ..Options::default()
    };
    let all = read_as(&text, &every).unwrap();
    assert_eq!((all.len(), all[0].readings[4].at_s), (2, 8.0));
    near(energy(&all[1], None, None).unwrap().energy_j, 400.0);
}

#[test]
fn counters_and_plain_seconds_are_read_too() {
    let l = read_text("time,joules\n0,0\n1,10\n2,40\n3,70\n").remove(0);
    let e = energy(&l, Some(0.5), Some(1.5)).unwrap();
    near(e.energy_j, 20.0);
    assert!(e.error_j > 1.0 && l.gain_error.is_none(), "{e:?}");
    assert_eq!(at(&l, "1.5").unwrap(), 1.5);
    let late = read_text("0,5;10,5 W\n1,5;10,5 W\n2,5;10,5 W\n").remove(0);
    near(energy(&late, None, None).unwrap().energy_j, 21.0);
}

#[test]
fn what_is_missing_or_mixed_says_where() {
    let head = "timestamp, index, power.draw [W]\n";
    let one = |n: u32, what: &str| format!("2026/11/28 08:59:{n}.000, 0, {what}\n");
    for (text, why) in [
        (String::new(), "holds 0 samples"),
        (head.to_owned(), "holds 0 samples"),
        (
            head.to_owned() + &one(20, "[N/A]") + &one(21, "[Not Supported]"),
            "line 2: `2026/11/28 08:59:20.000, 0, [N/A]`",
        ),
        (
            head.to_owned() + &one(20, "50.00 W"),
            "holds 1 samples of device 0",
        ),
        (
            "timestamp, temperature.gpu\n2026/11/28 08:59:20.000, 45\n".into(),
            "line 1: the header",
        ),
        ("hello\nworld\n".into(), "`hello` is none"),
    ] {
        let e = read_as(&text, &Options::default()).unwrap_err().to_string();
        assert!(e.contains("gpu.csv") && e.contains(why), "{why}: {e}");
    }
    let text = head.to_owned()
        + &one(20, "50.00 W")
        + &one(21, "[N/A]")
        + &one(22, "52.00 W")
        + "2026/11/28 08:5";
    let l = read_text(&text).remove(0);
    assert_eq!(l.readings.len(), 2);
    assert!(
        l.notes[0].contains("2 lines skipped; the first: line 3"),
        "{:?}",
        l.notes
    );
    for (options, why) in [
        (
            Options {
                device: Some("3".into()),
                ..Options::default()
            },
            "no device of it is `3`: it has 0",
        ),
        (
            Options {
                power: Some("power.draw.average".into()),
                ..Options::default()
            },
            "no column of power `power.draw.average`",
        ),
    ] {
        let e = read_as(&text, &options).unwrap_err().to_string();
        assert!(e.contains(why), "{e}");
    }
}

#[test]
fn the_log_must_reach_and_not_pause() {
    let line = |t: f64, p: f64| {
        if (7.0..9.0).contains(&t) {
            String::new()
        } else {
            format!("{}, {p} W", clock(t))
        }
    };
    let l = read_text(&log("timestamp, power.draw [W]", &line)).remove(0);
    let of =
        |from: &str, to: &str| energy(&l, Some(at(&l, from).unwrap()), Some(at(&l, to).unwrap()));
    assert!(of("08:59:21", "08:59:26").is_ok());
    assert_eq!(of("08:59:26", "08:59:26"), Err(NoLogEnergy::Empty));
    let Err(NoLogEnergy::NotReached { begins_s, .. }) = of("08:59:10", "08:59:26") else {
        panic!();
    };
    assert!((begins_s - 10.0).abs() < 1e-6);
    let e = of("08:59:26", "08:59:30").unwrap_err().to_string();
    assert!(e.contains("pauses for 2.10 s from 6.900 s"), "{e}");
}

#[test]
fn moments_are_on_the_clock_of_the_log() {
    let l = read_text(&log("timestamp, power.draw [W]", &|t, p| {
        format!("{}, {p} W", clock(t))
    }))
    .remove(0);
    let start = l.readings[0].at_s;
    assert!((l.resolution_s - 1e-3).abs() < 1e-12);
    for (text, after) in [
        ("2026/11/28 08:59:24.5", 4.5),
        ("2026-11-28T08:59:24.5", 4.5),
        ("08:59:24", 4.0),
        ("08:59:18", -2.0),
        ("2.5", 2.5),
        ("2.5s", 2.5),
    ] {
        assert!(
            (at(&l, text).unwrap() - start - after).abs() < 1e-6,
            "{text}"
        );
    }
    assert_eq!(at(&l, "2026-11-28T07:59:24Z"), Err(MomentError::Zone));
    assert_eq!(at(&l, "1795852764"), Err(MomentError::Zone));
    let zoned = |text: &str| {
        text.parse::<Moment>()
            .unwrap()
            .on(&l, Some(offset("+01:00").unwrap()))
            .unwrap()
            - start
    };
    assert!((zoned("2026-11-28T07:59:24Z") - 4.0).abs() < 1e-6);
    assert!((zoned("1795852764") - 4.0).abs() < 1e-6);
    assert!("tomorrow".parse::<Moment>().is_err() && offset("2").is_err());
    // Over midnight.
    let text = "timestamp, power.draw [W]\n2026/11/28 23:59:58.000, 10 W\n2026/11/28 23:59:59.000, 10 W\n2026/11/29 00:00:00.000, 10 W\n2026/11/29 00:00:01.000, 10 W\n";
    let l = read_text(text).remove(0);
    assert!((at(&l, "00:00:00").unwrap() - l.readings[0].at_s - 2.0).abs() < 1e-6);
}
