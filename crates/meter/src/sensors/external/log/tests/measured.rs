//! Logs of a real GPU next to its energy counter.

use super::*;

/// Joules of the spans of a log, with the half widths of their intervals, and those of the counter.
fn spans(name: &str) -> Vec<(Energy, f64)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/nvidia_smi_h200");
    let log = &read(&folder.join(name), &Options::default()).unwrap()[0];
    let counter = std::fs::read_to_string(folder.join("counter.csv")).unwrap();
    let span = |line: &str| {
        let cells: Vec<&str> = line.split(';').collect();
        let at = |text: &str| Some(text.parse::<Moment>().unwrap().on(log, None).unwrap());
        let energy = energy(log, at(cells[1]), at(cells[2])).unwrap();
        (energy, cells[3].parse().unwrap())
    };
    counter.lines().map(span).collect()
}

#[test]
fn logs_agree_with_the_counter_within_what_they_say() {
    for (name, within) in [("100ms.csv", 0.035), ("1s.csv", 0.12), ("dmon.txt", 0.04)] {
        let all = spans(name);
        assert_eq!(all.len(), 3);
        for (e, counted) in all {
            let off = e.energy_j - counted;
            let own = e.sensor_error.unwrap() * counted;
            assert!(off.abs() <= e.error_j + own, "{name}: {e:?} {counted}");
            assert!(off.abs() <= within * counted, "{name}: {e:?} {counted}");
        }
    }
}
