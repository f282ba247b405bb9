//! `calibrate --network`, and `predict --nodes` with messages.

use crate::common::{fails, greenup, json, ok};

#[test]
fn ranks_measure_a_network() {
    let dir = tempfile::tempdir().unwrap();
    let net = dir.path().join("net.toml");
    let calibrate = [
        "calibrate",
        "--network",
        "--ranks",
        "2",
        "--quick",
        "--sensor",
        "none",
        "-o",
        &net.display().to_string(),
        "--json",
    ];
    // On a busy host a few bytes may take as long as many: no bandwidth follows.
    let attempt = |_| {
        let out = greenup(&calibrate);
        let said = greenup_testing::text(&out.stderr);
        assert!(
            out.status.success() || said.contains("does not grow with their size"),
            "{said}"
        );
        let answer = || serde_json::from_slice::<serde_json::Value>(&out.stdout).unwrap();
        out.status.success().then(answer)
    };
    let measured = (0..5).find_map(attempt);
    let measured = measured.expect("one of five attempts has a bandwidth");
    assert_eq!(measured["ranks"], 2);
    assert!(measured["fit"]["latency_s"]["value"].as_f64().unwrap() >= 0.0);
    let written = std::fs::read_to_string(&net).unwrap();
    assert!(written.contains("[link.latency_s]") && written.contains("[[host.active]]"));
    assert_eq!(measured["host"]["active"][0]["cores"], 1);
    assert!(ok(&["machines", &net.display().to_string()]).contains("latency"));
    let e = fails(&[
        "calibrate",
        "--network",
        "--ranks",
        "1",
        "-o",
        &net.display().to_string(),
    ]);
    assert!(e.contains("mpirun -np 2"), "{e}");
}

#[test]
fn messages_cost_what_the_network_says() {
    let predict = |more: &[&str]| {
        let all = [
            &["predict", "--machine", "h200", "--op", "f64=1e15", "--json"],
            more,
        ]
        .concat();
        json(&all)["time_s"].as_f64().unwrap()
    };
    let none = predict(&["--nodes", "2"]);
    let some = predict(&[
        "--nodes",
        "2",
        "--messages",
        "10",
        "--message-bytes",
        "1e9",
        "--all-reduces",
        "4",
    ]);
    // Eight devices share 400 GB/s; an all-reduce has three stages over the link, and one over the network.
    let expected = 10.0 * (1.5e-6 + 1e9 / 5e10) + 4.0 * (3.0 * 2e-6 + 1.5e-6);
    assert!(
        ((some - none) / expected - 1.0).abs() < 1e-6,
        "{some} {none}"
    );
    assert!((predict(&["--devices", "16"]) - none).abs() < 1e-12 * none);
    assert!(
        fails(&[
            "predict",
            "--machine",
            "h200",
            "--op",
            "f64=1",
            "--messages",
            "3"
        ])
        .contains("--nodes")
    );
}
