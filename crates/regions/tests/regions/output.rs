//! What is written.

use crate::common::{Case, SENSOR, joules, region};

#[test]
fn times_and_energies_of_nested_regions() {
    // Where a busy host delays the first or last reading, the energy of the whole run is not known.
    let runs: Vec<_> = std::iter::repeat_with(phases)
        .take(10)
        .take_while(Option::is_none)
        .collect();
    assert!(runs.len() < 10, "no run knows its energy");
}

/// Checks a run; its energy, J, where that is known.
fn phases() -> Option<f64> {
    let mut case = Case::new(&["phases"]);
    case.ok();
    let s = case.summary();
    assert!(s.is_final && s.notes.is_empty(), "{:?}", s.notes);
    // 100 W: joules are 100 times the seconds, up to the edges of ticks.
    for (name, calls) in [("long", 20), ("short", 200)] {
        let r = region(&s, &[name]);
        assert_eq!((r.calls, r.threads), (calls, 1));
        let expected = 100.0 * r.inclusive_s;
        assert!(
            (joules(r) - expected).abs() < 0.05 * expected,
            "{name}: {r:?}"
        );
        let w = *r.watts.as_ref().unwrap().values().next().unwrap();
        assert!((w - 100.0).abs() < 4.0, "{w}");
    }
    let long = region(&s, &["long"]);
    assert!((0.03..0.2).contains(&long.min_s.unwrap()) && long.accumulated.is_none());
    let short = region(&s, &["short"]);
    let made_of = *short.accumulated.as_ref().unwrap().values().next().unwrap();
    assert_eq!(made_of.calls, 200);
    // Ten at a time; the counter's tick is that of its readings.
    let sensor = &s.sensors[0];
    assert!(
        (20..=sensor.ticks + 1).contains(&made_of.ticks),
        "{made_of:?}"
    );
    assert!(
        (0.004..0.03).contains(&sensor.tick_s.unwrap()),
        "{sensor:?}"
    );
    let all = sensor.joules?;
    assert!((all - 100.0 * s.wall_s).abs() < 5.0, "{all} {}", s.wall_s);
    Some(all)
}

#[test]
fn exclusive_is_what_no_region_within_has() {
    let mut case = Case::new(&["nested"]);
    case.ok();
    let s = case.summary();
    let (outer, inner) = (region(&s, &["outer"]), region(&s, &["outer", "inner"]));
    assert_eq!((outer.calls, inner.calls), (3, 6));
    assert!((outer.inclusive_s - outer.exclusive_s - inner.inclusive_s).abs() < 1e-9);
    assert!(inner.inclusive_s >= 0.012 && outer.exclusive_s >= 0.006);
    assert_eq!(s.regions[0].path, ["outer"]);
}

#[test]
fn the_table_is_the_default() {
    let mut case = Case::new(&["phases"]).env("GREENUP_REGIONS_SENSOR", "simulated:100:0.2");
    case.command.env_remove("GREENUP_REGIONS_FILE");
    let said = case.ok();
    assert!(said.contains("greenup regions of cases"), "{said}");
    assert!(
        said.contains("accumulated over N calls and M ticks"),
        "{said}"
    );
    let row = said
        .lines()
        .find(|l| l.trim().starts_with("short"))
        .unwrap();
    assert!(row.contains("200/"), "{row}");
    assert!(!case.folder.path().join("out.jsonl").exists());
}

#[test]
fn a_line_of_json_at_each_end() {
    let mut case = Case::new(&["phases"]).env("GREENUP_REGIONS", "lines");
    case.ok();
    let lines = case.lines();
    assert_eq!(lines.len(), 220);
    assert!(case.summaries().is_empty());
    let long: Vec<_> = lines.iter().filter(|l| l.path == ["long"]).collect();
    assert!(long.iter().all(|l| l.thread == 0));
    // A busy host may stretch both a tick, of 5 ms, and a region.
    let of = |name: &str, marked: bool| {
        let all = lines.iter().filter(|l| l.path == [name]);
        all.filter(|l| l.shorter_than_tick == marked).count()
    };
    assert!(of("short", true) > 150 && of("long", false) > 15);
    // Nor is the sensor always read in time.
    let known: Vec<_> = long
        .iter()
        .filter_map(|l| Some((l.joules.as_ref()?[SENSOR], l.seconds)))
        .collect();
    assert!(known.len() > 10, "{}", known.len());
    let joules: f64 = known.iter().map(|k| k.0).sum();
    let seconds: f64 = known.iter().map(|k| k.1).sum();
    assert!(
        (joules - 100.0 * seconds).abs() < 0.06 * joules,
        "{joules} {seconds}"
    );
}

#[test]
fn without_a_sensor_there_are_seconds_alone_and_one_cause() {
    let mut case = Case::new(&["nested"]).env("GREENUP_REGIONS_SENSOR", "none");
    let said = case.ok();
    assert_eq!(said.matches("seconds only").count(), 1, "{said}");
    let s = case.summary();
    assert!(
        s.regions
            .iter()
            .all(|r| r.joules.is_none() && r.watts.is_none())
    );
    assert!(s.problems[0].cause.contains("GREENUP_REGIONS_SENSOR=none"));
    let json = std::fs::read_to_string(case.folder.path().join("out.jsonl")).unwrap();
    assert!(json.contains("\"joules\":null"));
}

#[test]
fn a_sensor_that_does_not_exist_is_said_with_its_fix() {
    let mut case = Case::new(&["nested"]).env("GREENUP_REGIONS_SENSOR", "nvml:77");
    let said = case.ok();
    assert!(
        said.contains("nvml:77") && said.contains("greenup doctor"),
        "{said}"
    );
    assert!(case.summary().problems[0].fix.contains("greenup doctor"));
}

#[test]
fn off_writes_nothing() {
    let mut case = Case::new(&["nested"]).env("GREENUP_REGIONS", "off");
    assert_eq!(case.ok(), "");
    assert!(!case.folder.path().join("out.jsonl").exists());
    // A wrong word is said, and the default holds.
    let mut case = Case::new(&["nested"]).env("GREENUP_REGIONS", "of");
    assert!(case.ok().contains("unknown value `of`"));
    assert_eq!(case.summary().regions.len(), 2);
}

#[test]
fn a_flush_writes_the_run_so_far() {
    let mut case = Case::new(&["flush"]);
    let out = case.run();
    assert_eq!(out.stdout, b"0 1\n");
    let all = case.summaries();
    assert_eq!(all.len(), 2);
    assert!(!all[0].is_final && all[0].regions.len() == 1);
    assert!(all[1].is_final && all[1].regions.len() == 2);
    // Every so often, without a call.
    let mut case = Case::new(&["phases"]).env("GREENUP_REGIONS_EVERY", "0.2");
    case.ok();
    let all = case.summaries();
    assert!(all.len() >= 3, "{}", all.len());
    assert!(all[0].regions[0].calls < all[1].regions[0].calls);
    // Longer than the clock can count: at exit alone.
    let mut case = Case::new(&["nested"]).env("GREENUP_REGIONS_EVERY", "1e300");
    case.ok();
    assert!(case.summary().is_final);
}

#[test]
fn a_sensor_that_never_changes_holds_no_line_back() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("trace.csv");
    std::fs::write(&trace, "0,5\n1000,5\n").unwrap();
    // Of a recorded trace, nothing new comes before its next sample.
    let sensors = format!("{SENSOR},recorded:{}", trace.display());
    let mut case = Case::new(&["phases"])
        .env("GREENUP_REGIONS", "lines,summary")
        .env("GREENUP_REGIONS_SENSOR", &sensors);
    case.ok();
    let s = case.summary();
    assert_eq!((case.lines().len(), s.sensors.len()), (220, 2));
    assert!(s.sensors[1].joules.is_none() && s.sensors[1].cause.is_some());
    assert!(joules(region(&s, &["long"])) > 50.0);
}
