//! What the values of files of other tuners mean: units, verdicts, times next to their runs.

use super::*;

/// T4 results of one parameter: what stands in `invalidity`, `correctness` and `measurements`.
fn judged(results: &[(&str, &str, &str)]) -> String {
    let each: Vec<String> = (results.iter().enumerate())
        .map(|(i, (invalidity, correctness, measurements))| {
            format!(
                r#"{{"configuration": {{"b": {i}}}, "times": {{"runtimes": []}}, "invalidity": {invalidity}, "correctness": {correctness}, "measurements": [{measurements}], "objectives": ["time"]}}"#
            )
        })
        .collect();
    format!(
        r#"{{"schema_version": "1.0.0", "results": [{}]}}"#,
        each.join(",")
    )
}

fn time(value: &str) -> String {
    format!(r#"{{"name": "time", "value": {value}, "unit": "ms"}}"#)
}

fn has(sweep: &Sweep, what: &str) -> bool {
    sweep.warnings.iter().any(|w| w.contains(what))
}

#[test]
fn results_that_are_wrong_never_win() {
    let (fast, slow) = (time("1"), time("2"));
    for wrong in ["false", "\"False\"", "0", "0.0", "-1", "\"0\"", "\"wrong\""] {
        for right in ["true", "1", "\"TRUE\"", "0.5", "\"1\""] {
            let text = judged(&[("\"correct\"", wrong, &fast), ("\"correct\"", right, &slow)]);
            let s = read("t.json", text.as_bytes()).unwrap();
            assert_eq!(winner(&s), Some(1), "{wrong} {right}");
            let (failure, message) = s.trials[0].failure().unwrap();
            assert_eq!(failure, Failure::Wrong);
            assert!(message.contains("its correctness is"), "{message}");
            assert!(s.warnings.is_empty(), "{:?}", s.warnings);
        }
    }
    // A boolean says it by itself; a 0 everywhere may be of a tuner that compares nothing.
    let alone = |wrong: &str| {
        let text = judged(&[("\"correct\"", wrong, &fast)]);
        read("t.json", text.as_bytes()).unwrap()
    };
    assert_eq!(winner(&alone("false")), None);
    let zero = alone("0");
    assert_eq!(winner(&zero), Some(0));
    assert!(has(&zero, "the correctness of 1 results is 0"), "{zero:?}");
    let odd = alone("\"maybe\"");
    assert!(winner(&odd) == Some(0) && has(&odd, "first \"maybe\": they count as right"));
}

#[test]
fn words_for_valid_results_are_read_in_any_letters_and_types() {
    let (fast, slow) = (time("1"), time("2"));
    let first = |invalidity: &str| {
        let text = judged(&[(invalidity, "1", &fast), ("\"correct\"", "1", &slow)]);
        read("t.json", text.as_bytes()).unwrap()
    };
    for valid in [
        "\"correct\"",
        "\"Correct\"",
        "\" CORRECT \"",
        "\"\"",
        "null",
        "false",
        "\"False\"",
        "0",
    ] {
        let s = first(valid);
        assert_eq!((winner(&s), s.warnings.len()), (Some(0), 0), "{valid}");
    }
    for (invalid, kind) in [
        ("true", Failure::Runtime),
        ("\"True\"", Failure::Runtime),
        ("1", Failure::Runtime),
        ("\"Constraints\"", Failure::Invalid),
        ("\"COMPILE\"", Failure::Compile),
        ("\"Timeout\"", Failure::Timeout),
        ("\"Correctness\"", Failure::Wrong),
        ("\"runtime\"", Failure::Runtime),
    ] {
        let s = first(invalid);
        assert_eq!((winner(&s), s.warnings.len()), (Some(1), 0), "{invalid}");
        assert_eq!(s.trials[0].failure().unwrap().0, kind, "{invalid}");
    }
    for unknown in ["\"fine\"", "7", "[]"] {
        let s = first(unknown);
        assert_eq!(winner(&s), Some(1), "{unknown}");
        let note = format!("the invalidity of 1 results is not known, first {unknown}: they count");
        assert!(has(&s, &note), "{:?}", s.warnings);
    }
}

#[test]
fn metrics_are_compared_in_one_unit() {
    let of = |name: &str, first: (f64, &str), second: (f64, &str)| {
        let each = |(x, unit): (f64, &str)| {
            format!(
                r#"{}, {{"name": "{name}", "value": {x:?}, "unit": "{unit}"}}"#,
                time("1")
            )
        };
        let (a, b) = (each(first), each(second));
        let text = judged(&[("\"correct\"", "1", &a), ("\"correct\"", "1", &b)]);
        read("t.json", text.as_bytes())
    };
    let best = |s: &Sweep, objective: &str| {
        let o: Objective = objective.parse().unwrap();
        s.aimed(o).unwrap().winner(o)
    };
    let near = |x: f64, want: f64| (x / want - 1.0).abs() < 1e-12;
    for (name, first, second, values, objective, winner) in [
        (
            "throughput",
            (1.0, "TFLOP/s"),
            (20.0, "GFLOP/s"),
            [1.0, 0.02],
            "metric:throughput",
            0,
        ),
        (
            "GFLOP/s",
            (1.0, "TFLOP/s"),
            (20.0, ""),
            [1000.0, 20.0],
            "metric:GFLOP/s",
            0,
        ),
        (
            "GFLOP/s",
            (1.0, "TFLOPS"),
            (2.0, "TFLOPS"),
            [1000.0, 2000.0],
            "metric:GFLOP/s",
            1,
        ),
        (
            "latency",
            (1.0, "s"),
            (20.0, "ms"),
            [1.0, 0.02],
            "metric:latency",
            1,
        ),
        (
            "power",
            (100.0, "W"),
            (20_000.0, "mW"),
            [100.0, 20.0],
            "metric:power:min",
            1,
        ),
        (
            "ps_power",
            (100.0, "W"),
            (20_000.0, "mW"),
            [100.0, 20.0],
            "metric:ps_power",
            1,
        ),
        (
            "bandwidth",
            (900.0, "MB/s"),
            (1.0, "GB/s"),
            [900.0, 1000.0],
            "metric:bandwidth",
            1,
        ),
        (
            "core_freq",
            (1.5, "GHz"),
            (1400.0, "MHz"),
            [1.5, 1.4],
            "metric:core_freq:max",
            0,
        ),
        (
            "TFLOPS/J",
            (3.0, "TFLOPS/J"),
            (20.0, ""),
            [3.0, 20.0],
            "metric:TFLOPS/J",
            1,
        ),
        (
            "frames",
            (3.0, "frames"),
            (20.0, ""),
            [3.0, 20.0],
            "metric:frames:max",
            1,
        ),
    ] {
        let s = of(name, first, second).unwrap();
        for (t, want) in s.trials.iter().zip(values) {
            assert!(near(t.metrics[name], want), "{name}: {:?}", t.metrics);
        }
        assert_eq!(best(&s, objective), Some(winner), "{name}");
    }
    let s = of("throughput", (1.0, "TFLOP/s"), (20.0, "GFLOP/s")).unwrap();
    assert!(has(&s, "TFLOP/s, GFLOP/s: they are converted to TFLOP/s"));
    // The name of a metric may be that of a unit.
    let s = of("min", (2.0, "ms"), (3.0, "ms")).unwrap();
    assert!(near(s.trials[0].metrics["min"], 2.0) && s.warnings.is_empty());
    assert!(has(
        &of("x", (1.0, "frames"), (2.0, "")).unwrap(),
        "without a unit"
    ));
    for (first, second, what) in [
        (
            (1.0, "GB/s"),
            (2.0, "GFLOP/s"),
            "in `GB/s` and in `GFLOP/s`",
        ),
        (
            (1.0, "frames"),
            (2.0, "tiles"),
            "in `frames` and in `tiles`",
        ),
        ((1.0, "s"), (2.0, "J"), "in `s` and in `J`"),
    ] {
        let e = of("x", first, second).unwrap_err().to_string();
        assert!(e.contains("`x` is") && e.contains(what), "{e}");
    }
    // Units of texts count as those of T4 do.
    let text = cache(r#", "rate": "2 TFLOP/s""#).replacen("\"2 TFLOP/s\"", "\"500GFLOP/s\"", 1);
    let s = read("c.json", text.as_bytes()).unwrap();
    assert!(near(s.trials[0].metrics["rate"], 500.0) && near(s.trials[1].metrics["rate"], 2000.0));
}

#[test]
fn times_have_their_unit_with_or_without_a_blank() {
    let (old, runs) = ("\"time\": 1.0, \"times\": [1.0]", "\"times\": []");
    let of = |value: &str, runs: &str| {
        let text = cache("").replace(old, &format!("\"time\": {value}, {runs}"));
        read("c.json", text.as_bytes()).unwrap()
    };
    for value in [
        "\"500us\"",
        "\"500 µs\"",
        "\"500µs\"",
        "\"0.5\"",
        "\"0,5\"",
        "\"0,5ms\"",
        "\"5.0e-4s\"",
        "[\"0.4 ms\", \"600us\"]",
    ] {
        let s = of(value, runs);
        assert!((time_of(&s, 2) / 5e-4 - 1.0).abs() < 1e-12, "{value}");
        assert_eq!((winner(&s), s.warnings.len()), (Some(2), 0), "{value}");
        let m = format!(r#"[{{"name": "time", "value": {value}, "unit": "ms"}}]"#);
        let s = read("t.json", t4(&[(r#"{"b": 1}"#, &m, "[]")], "").as_bytes()).unwrap();
        assert!((time_of(&s, 0) / 5e-4 - 1.0).abs() < 1e-12, "{value}");
    }
    // Runs have units too.
    let s = of("0.5", "\"times\": [\"450us\", \"550us\"]");
    let Outcome::Measured { times_s, .. } = &s.trials[2].outcome else {
        panic!("{:?}", s.trials[2]);
    };
    assert!((times_s[0] - 4.5e-4).abs() < 1e-12 && times_s.len() == 2);
    // What may be two numbers is left out, and named.
    for unclear in ["2,500", "1 2", "8x8"] {
        let s = of(&format!("\"{unclear}\""), runs);
        assert_eq!((s.trials.len(), winner(&s)), (3, Some(1)), "{unclear}");
        let note = format!(
            "1 trials are left out; the first: config 64,1: its time `{unclear}` cannot be read"
        );
        assert!(has(&s, &note), "{:?}", s.warnings);
    }
    // Words are failures, which is said.
    let s = of("\"Out of memory error\"", runs);
    assert_eq!(
        s.trials[2].failure().unwrap(),
        (Failure::Runtime, "Out of memory error")
    );
    assert!(has(&s, "its time is the text `Out of memory error`"));
    let text = cache(r#", "rate": 2.0"#).replacen("\"rate\": 2.0", "\"rate\": \"2,000\"", 1);
    let s = read("c.json", text.as_bytes()).unwrap();
    assert!(!s.trials[0].metrics.contains_key("rate") && s.trials.len() == 4);
    assert!(has(&s, "1 values of `rate` cannot be read as numbers"));
    // Words where no trial has a number are no values.
    let s = read("c.json", cache(r#", "host": "node 7""#).as_bytes()).unwrap();
    assert!(s.warnings.is_empty(), "{:?}", s.warnings);
}

#[test]
fn a_time_that_is_not_between_its_runs_is_left_out() {
    let (old, run) = (
        "\"time\": 1.0, \"times\": [1.0]",
        "\"time\": 1.0, \"times\": ",
    );
    for bad in ["[5.0, 6.0]", "[0.2, 0.3]", "[1.1]", "[0.9, 0.99]"] {
        let text = cache("").replace(old, &format!("{run}{bad}"));
        let s = read("c.json", text.as_bytes()).unwrap();
        assert_eq!((s.trials.len(), winner(&s)), (3, Some(1)), "{bad}");
        let note = "1 trials are left out; the first: config 64,1: its time of 0.001 s is not between those of its runs";
        assert!(has(&s, note), "{:?}", s.warnings);
        let m = time("1");
        let text = t4(&[(r#"{"b": 1}"#, &format!("[{m}]"), bad)], "");
        let s = read("t.json", text.as_bytes()).unwrap();
        assert!(s.trials.is_empty() && has(&s, "not between"), "{s:?}");
    }
    // One slow run, and times that are rounded.
    for good in ["[0.9, 30.0]", "[1.0004, 1.0006]", "[null, 1.0, -1.0]", "[]"] {
        let text = cache("").replace(old, &format!("{run}{good}"));
        let s = read("c.json", text.as_bytes()).unwrap();
        assert_eq!((s.trials.len(), winner(&s)), (4, Some(2)), "{good}");
        assert!(s.warnings.is_empty(), "{:?}", s.warnings);
    }
    // What cannot be is named.
    let text = cache("").replace(old, "\"time\": -1.0, \"times\": []");
    let s = read("c.json", text.as_bytes()).unwrap();
    assert!(has(
        &s,
        "1 trials count as failed; the first: config 64,1: a time of -1e-3 s"
    ));
    let s = read("c.json", cache(r#", "energy": -2.0"#).as_bytes()).unwrap();
    assert!(!s.has_energy() && has(&s, "4 energies are left out; the first: config 32,1"));
}

#[test]
fn parameters_of_a_cache_are_those_that_it_lists() {
    let keys = r#""tune_params_keys": ["block", "unroll"]"#;
    let text = cache("").replace(keys, r#""tune_params_keys": []"#);
    let s = read("c.json", text.as_bytes()).unwrap();
    assert_eq!(s.facts.parameters, ["block", "unroll"]);
    assert_eq!(s.trials[2].config.len(), 2);
    let list = r#""tune_params": {"block": [32, 64], "unroll": [1, 2]}"#;
    let text = text.replace(list, r#""tune_params": {}"#);
    let e = read("c.json", text.as_bytes()).unwrap_err().to_string();
    assert!(e.contains("names no parameters"), "{e}");
    let text = cache("").replace("\"unroll\": [1, 2]", "\"unroll\": [1.0, 4]");
    let s = read("c.json", text.as_bytes()).unwrap();
    assert_eq!(s.trials.len(), 4);
    let note = "2 of 4 trials have a value that `tune_params` does not list, first unroll = 2";
    assert!(has(&s, note), "{:?}", s.warnings);
}

#[test]
fn what_is_no_json_is_told_what_is_read() {
    for text in [
        "b,time\n32,2.0\n",
        "{\"b\":32,\"time\":1}\n{\"b\":64,\"time\":2}\n",
    ] {
        let e = read("s.csv", text.as_bytes()).unwrap_err().to_string();
        assert!(e.contains("is not valid JSON"), "{e}");
        assert!(
            e.contains("or results of KTT or CLBlast, no CSV and no lines of JSON"),
            "{e}"
        );
    }
    let e = read("s.json", b" \n").unwrap_err().to_string();
    assert!(e.ends_with("s.json: is empty"), "{e}");
}
