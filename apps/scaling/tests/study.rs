//! A study of scaling with a program that prints what `fmm run` prints.
#![cfg(unix)]

use greenup_files::FileError;
use greenup_meter::{Observer, Reading, Sensor, SensorError, SensorInfo};
use greenup_model::Machine;
use greenup_report::provenance::Provenance;
use greenup_scaling::study::case::{Case, CaseRun};
use greenup_scaling::study::runs_file::RunsFile;
use greenup_scaling::study::{ScalingOptions, ScalingStudy, run};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// `program POINTS DEVICES`: 100 points do not fit; the result has the points alone. It stops if an old folder is there.
const PROGRAM: &str = r#"#!/bin/sh
echo "$*" >> calls
[ "$1" = input ] && exit 0
[ -e sweep ] && { echo "error: an old folder" >&2; exit 1; }
mkdir sweep
[ "$1" = 100 ] && { echo "error: out of memory" >&2; exit 1; }
printf "%s" "$1" > result
echo "{\"sources\":$1,\"accuracy\":1e-4,\"precision\":\"f32\",\"evaluation_s\":$(awk "BEGIN{print $1/$2}")}"
"#;

#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// A counter that adds 5 J at each reading.
struct Counter(SensorInfo, f64);

impl Sensor for Counter {
    fn info(&self) -> &SensorInfo {
        &self.0
    }

    fn read(&mut self) -> Result<Reading, SensorError> {
        self.1 += 5.0;
        Ok(Reading {
            at_s: 0.0,
            value: self.1,
        })
    }
}

fn counter() -> Box<dyn Sensor> {
    let info = SensorInfo {
        id: "x".into(),
        scope: String::new(),
        quantity: greenup_meter::sensor::Quantity::Energy,
        average_s: None,
        gain_error: None,
        group: String::new(),
    };
    Box::new(Counter(info, 0.0))
}

fn case(folder: &Path, points: usize, smaller: Option<Box<Case>>) -> Case {
    Case {
        name: "fmm",
        application: "fmm",
        program: folder.join("program"),
        problem: format!("{points} points"),
        runs: [1, 2]
            .map(|devices| CaseRun {
                devices,
                size: 1.0,
                arguments: vec![points.to_string(), devices.to_string()],
            })
            .into(),
        input: Some(vec!["input".into()]),
        warm_up: true,
        result: Some("result"),
        fresh: Some("sweep"),
        smaller,
        ..Case::default()
    }
}

fn study(folder: &Path, case: Case, until: Option<Instant>, notes: &Notes) -> ScalingStudy {
    let options = ScalingOptions {
        cases: vec![case],
        counts: vec![1, 2],
        gpus: true,
        counters: vec![counter(), counter()],
        folder: folder.to_owned(),
        device: "device".into(),
        rounds: 1,
        until,
        machine: Machine::from_toml(
            "name='m'\ntitle='M'\n[link]\nlatency_s = { value = 1e-9 }\nbandwidth_bytes_per_s = { value = 1e13 }\n",
        )
        .unwrap(),
        link: "none".into(),
        missing: Vec::new(),
        provenance: Provenance::now(String::new()),
    };
    let mut file = RunsFile::open(folder).unwrap();
    let mut saved = 0;
    let mut save = |_: &ScalingStudy| {
        saved += 1;
        Ok::<(), FileError>(())
    };
    let out = run(options, notes, &mut file, &mut save).unwrap();
    assert_eq!(saved, 1);
    out
}

#[test]
fn a_case_that_does_not_fit_becomes_smaller_and_its_runs_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let program = folder.join("program");
    greenup_testing::program(&program, PROGRAM);
    let both = || case(folder, 100, Some(Box::new(case(folder, 80, None))));
    let notes = Notes::default();
    // Without time nothing starts.
    let none = study(folder, both(), Some(Instant::now()), &notes);
    assert!(none.applications.is_empty() && none.unfinished.len() == 2);
    assert_eq!(
        none.without_time().unwrap(),
        "no time left for 2 runs of fmm"
    );
    assert!(!folder.join("calls").exists());
    let hour = Some(Instant::now() + Duration::from_secs(3600));
    let done = study(folder, both(), hour, &notes);
    let series = &done.applications[0];
    assert_eq!(series.problem, "80 points");
    assert!(
        notes
            .0
            .lock()
            .unwrap()
            .iter()
            .any(|n| n.contains("out of memory"))
    );
    let two = &series.points[1];
    assert_eq!(two.speedup.median, 2.0);
    assert!(two.digits.unwrap().same);
    // The processes took 5 J on one and 10 J on two.
    assert_eq!(series.samples[1].process_j, Some(10.0));
    assert_eq!(two.energy_j.unwrap().median, 10.0);
    let calls = || std::fs::read_to_string(folder.join("calls")).unwrap();
    let first = calls();
    assert_eq!(first, "input\n100 2\ninput\n80 2\n80 1\n80 2\n", "{first}");
    // All is known: nothing runs, nor is the larger case tried again.
    let again = study(folder, both(), hour, &notes);
    assert_eq!(again.applications, done.applications);
    assert_eq!(calls(), first);
}
