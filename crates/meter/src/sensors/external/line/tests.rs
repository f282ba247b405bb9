//! Forms of lines.

use super::*;

/// Samples and errors of a text.
fn read(text: &str) -> (Vec<(f64, f64)>, Vec<String>) {
    let mut reader = Lines::default();
    let (mut samples, mut errors) = (Vec::new(), Vec::new());
    for line in lines(text) {
        match reader.push(line) {
            Ok(Some(s)) => samples.push((s.time_s, s.value)),
            Ok(None) => {}
            Err(e) => errors.push(e.to_string()),
        }
    }
    (samples, errors)
}

#[test]
fn forms_that_meters_write_are_read() {
    let one = |text: &str| {
        let (samples, errors) = read(text);
        assert!(errors.is_empty(), "{text}: {errors:?}");
        assert_eq!(samples.len(), 1, "{text}");
        samples[0]
    };
    for text in [
        "0.5,50.25",
        "0.5, 50.25 W",
        "0.5;50.25",
        "0,5;50,25",
        "0,5\t50,25",
        "0.5 50.25",
        "\u{feff}time,watts\r\n0.5,50.25\r\n",
        "# a meter\n\n0.5,50.25",
        "PowerMeter v1.2\nconnected\ntime,watts\n0.5,50.25",
        "watts,time\n50.25,0.5",
        "time_ms,power_mw\n500,50250",
        "t [ms];P (mW)\n500;50250",
        "time,power_kw\n0.5,0.05025",
        "\"time\",\"power [W]\"\n\"0.5\",\"50.25\"",
        "500 ms,50250 mW",
        "index, timestamp, power.draw [W], clocks.sm [MHz]\n0, 0.5, 50.25 W, 1980 MHz",
        "time,volts,power\n0.5,230,50.25",
        "timestamp,power.limit [W],power.draw [W],temperature.gpu\n0.5,700 W,50.25 W,40",
        "time,volts,amps,watts,wh\n0.5,230,0.2,50.25,1.5",
        "T,time,gpu temp,CPU (W)\n40,0.5,41,50.25",
        "0,5 50,25",
        "0,500 50,25 W",
        "0.500 50.25 W",
        "0.5  50.25",
        "0,5\t50,25 W",
        "0,5 ; 50,25 W ;",
        "0.5,50.25,",
        "0.5;50.25;",
        "0.5\t50.25\t",
        "500 ms 50250 mW",
        "time power\n0,5 50,25",
        "time [s] power [mW]\n0,5 50250",
        "time volts power\n0,5 230,1 50,25",
        "time power state\n0.5 50.25 P0",
        "time,watts,\n0.5,50.25,",
        "time,watts,\n0.5,50.25",
        "time,watts,\n0.5,50.25,7",
        "time,watts,note\n0.5,50.25,",
        "time\twatts\tnote\n0.5\t50.25\t",
        "time,watts\n0.5,50.25,",
        "time,watts\r0.5,50.25\r",
    ] {
        assert_eq!(one(text), (0.5, 50.25), "{text}");
    }
    let smi = one("timestamp, power.draw [W]\n2026/03/01 00:00:01.250, 123.45 W");
    assert_eq!(smi.1, 123.45);
    let before = one("2026/02/28 23:59:59.250, 123.45 W");
    assert!((smi.0 - before.0 - 2.0).abs() < 1e-6);
}

#[test]
fn dates_stand_between_blanks_too() {
    let (samples, errors) = read("2026/11/27 23:59:59,500 50,25 W\n2026/11/28 00:00:00,250 51 W");
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!((samples[0].1, samples[1].1), (50.25, 51.0));
    assert!((samples[1].0 - samples[0].0 - 0.75).abs() < 1e-6);
}

#[test]
fn times_of_day_go_on_over_midnight() {
    let (samples, errors) =
        read("23:59:59.75,1\n00:00:00.25,2\n23:59:59.5,3\n00:00:01,4\n12:00:00,5\n00:00:02,6");
    assert!(errors.is_empty(), "{errors:?}");
    let times: Vec<f64> = samples.iter().map(|s| s.0 - 86400.0).collect();
    assert_eq!(times, [-0.25, 0.25, -0.5, 1.0, 43200.0, 2.0]);
}

#[test]
fn one_separator_holds_for_all_lines() {
    // Of what is no sample by it, the other readings are none either.
    let (samples, errors) = read("0.1,50\n0.2,51\n0.3,52\n0.4 53\n0;54\n0.5,55\n0.6 56\n0.7 57");
    assert_eq!(
        samples,
        [(0.1, 50.0), (0.2, 51.0), (0.3, 52.0), (0.5, 55.0)]
    );
    assert_eq!(errors.len(), 4);
    // A torn first line decides nothing.
    let (samples, errors) = read("0,02\n0,04;43,1\n0,06;43,25\n0,08;43,5");
    assert_eq!(samples[1..], [(0.06, 43.25), (0.08, 43.5)]);
    assert_eq!(errors.len(), 1);
    // A torn line among the first ones neither.
    let (samples, errors) = read("time;watts\n0,02;43,1\n0,04\n0,06;43,25\n0,08\n0,1;43,5");
    assert_eq!(samples, [(0.02, 43.1), (0.06, 43.25), (0.1, 43.5)]);
    assert_eq!(errors.len(), 2);
    // A header in another form than the samples.
    let (samples, errors) = read("time,watts\n0,02;43,1\n0,04;43,2\n0,06;43,25");
    assert_eq!(samples, [(0.04, 43.2), (0.06, 43.25)]);
    assert_eq!(errors.len(), 1);
}

#[test]
fn a_header_between_samples_holds_from_there_on() {
    let (samples, errors) = read("time,watts,temp\n0.1,50,40\ntime,temp,watts\n0.2,40,51\n");
    assert_eq!((samples, errors.len()), (vec![(0.1, 50.0), (0.2, 51.0)], 0));
    let (samples, errors) = read("time,watts\n0.1,50\ntime,power_mw\n0.2,51000\nlost, no power\n");
    assert_eq!((samples, errors.len()), (vec![(0.1, 50.0), (0.2, 51.0)], 1));
    let mut lines = Lines::default();
    for line in ["time,watts", "0.1,50"] {
        lines.push(line).unwrap();
    }
    assert!(lines.push("time,temperature").unwrap_err().is_final());
}

#[test]
fn values_that_are_cut_off_are_none() {
    let (samples, errors) = read("0.1,400.00 W\n0.2,400.00 W\n0.3,4");
    assert_eq!((samples.len(), errors.len()), (2, 1));
    let (samples, errors) = read("time,power [W]\n0.1,400\n0.2,1e300\n0.3,2e9\n0.4,401");
    assert_eq!((samples.len(), errors.len()), (2, 2));
}

#[test]
fn joules_are_a_counter() {
    let mut lines = Lines::default();
    assert_eq!(lines.push("time,energy_mj"), Ok(None));
    let s = lines.push("1,2500").unwrap().unwrap();
    assert!(s.is_energy && s.value == 2.5);
    let s = Lines::default().push("1,2 Wh").unwrap().unwrap();
    assert!(s.is_energy && s.value == 7200.0);
    assert!(lines.push("2,3 W").unwrap_err().is_final());
}

#[test]
fn what_is_no_sample_says_why() {
    for (text, why) in [
        ("0.1,50\n0.2,nan", "cannot be a power"),
        ("0.1,50\n0.2,-0.01", "cannot be a power"),
        ("0.1,50\n0.2,[N/A]", "cannot be a power"),
        ("0.1,50\n0.2,", "cannot be a power"),
        ("0.1,50\nx,50", "no time"),
        ("0.1,50\n999999999999999999999,50", "no count of seconds"),
        ("0.1,50\ninf,50", "no time"),
        ("0.1,50\nreset", "not `time,watts`"),
        ("0,020,50,02", "4 fields"),
        ("0.1 20 dBm", "unit `dBm`"),
        ("0.1,50,,", "4 fields"),
        ("0.1,50000", "name the unit"),
        ("time,current_A\n0.1,3", "names no column of power"),
        ("watts,mode\n50,1", "names no column of time"),
        ("time,power [VA]\n0.1,3", "unit `VA`"),
        ("0.1,20 dBm", "unit `dBm`"),
        (
            "time,cpu_w,gpu_power_w\n0.1,3,4",
            "several columns of power",
        ),
        ("index,time,watts\n0,0.1,50\n1,0.1,300", "several devices"),
        ("time,watts\n0.1,50,7", "other fields"),
    ] {
        let (_, errors) = read(text);
        assert!(
            errors.first().is_some_and(|e| e.contains(why)),
            "{text}: {errors:?}"
        );
    }
    let (samples, errors) = read(&"y\n".repeat(1000));
    assert!(samples.is_empty() && errors[0].contains("first 1000 lines"));
}
