//! Files as CLBlast's tuners and its database have them.

use super::super::*;
use super::*;

fn read_as(text: &str, section: &str) -> Result<Sweep, ImportError> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("clblast_xdemo_32.json"), text).unwrap();
    read_any(&dir.path().join(format!("clblast_xdemo_32.json{section}")))
}

fn tuner(results: &str) -> String {
    format!(
        r#"{{"kernel_family": "xdemo_1", "precision": "32", "best_kernel": "Xdemo", "best_time": "0.62", "best_parameters": "PRECISION=32 WGS=64 WPT=2",
        "arg_m": "1024", "arg_n": "512", "arg_alpha": "2.00", "clblast_device_type": "GPU", "clblast_device_vendor": "V", "clblast_device_architecture": "A1",
        "clblast_device_name": "Test GPU", "device": "gfx1", "platform_vendor": "P", "platform_version": "OpenCL 3.0", "device_vendor": "V", "device_type": "GPU",
        "device_core_clock": "1500", "device_compute_units": "60", "device_extra_info": "", "results": [{results}]}}"#
    )
}

fn result(wgs: u32, time: &str) -> String {
    format!(
        r#"{{"kernel": "Xdemo", "time": {time}, "parameters": {{"PRECISION": 32,"WGS": {wgs},"WPT": 2}}}}"#
    )
}

#[test]
fn a_tuner_writes_milliseconds_and_its_arguments() {
    let rows = [
        result(32, "1.250"),
        result(64, "0.620"),
        result(128, "-1.000"),
        result(256, "0.000"),
    ];
    let s = read_as(&tuner(&rows.join(",")), "").unwrap();
    assert_eq!(
        (s.facts.name.as_str(), s.facts.device.as_str()),
        ("Xdemo", "Test GPU")
    );
    assert_eq!(s.facts.parameters, ["PRECISION", "WGS", "WPT"]);
    let more = |k: &str| s.facts.more[k].clone();
    assert_eq!(more("arguments"), "m=1024 n=512 alpha=2.00");
    assert_eq!(
        (more("kernel family"), more("precision")),
        ("xdemo_1".into(), "32".into())
    );
    let time = |i: usize| s.trials[i].cost().unwrap().time_s;
    assert!((time(0) - 1.25e-3).abs() < 1e-12 && (time(1) - 0.62e-3).abs() < 1e-12);
    assert_eq!(s.winner(crate::Objective::Time), Some(1));
    assert_eq!(s.trials[2].failure().unwrap().0, Failure::Runtime);
    assert_eq!((s.trials.len(), s.warnings.len()), (3, 1));
    assert!(s.warnings[0].contains("rounded their times to 0.000 ms"));
    // Results that are not those of its best.
    let s = read_as(&tuner(&result(32, "1.250")), "").unwrap();
    assert!(
        s.warnings[0].contains("`best_time` is 0.62 ms"),
        "{:?}",
        s.warnings
    );
}

#[test]
fn scores_are_no_times() {
    let row = |at: u32, score: f64| {
        format!(
            r#"{{"kernel": "gemm_kernel_selection", "time": {score}, "parameters": {{"PRECISION": 32,"XGEMM_MIN_INDIRECT_SIZE": {at}}}}}"#
        )
    };
    let text =
        tuner(&[row(128, 40.0), row(256, 10.0)].join(",")).replace("\"best_time\": \"0.62\", ", "");
    let s = read_as(&text, "").unwrap();
    assert_eq!(s.facts.objective.as_deref(), Some("metric:score"));
    let own = s.own_objective().unwrap();
    assert_eq!(s.aimed(own).unwrap().winner(own), Some(1));
    assert!(s.warnings[0].contains("no time"), "{:?}", s.warnings);
}

#[test]
fn a_section_of_the_database_is_chosen_by_words() {
    let section = |kernel: &str, precision: u32, device: &str| {
        format!(
            r#"{{"kernel": "{kernel}", "kernel_family": "x", "precision": "{precision}", "arg_n": "4096", "clblast_device_name": "{device}", "device": "{device} OpenCL",
            "parameter_names": ["WGS", "WPT"], "results": [["64,1", 0.5], ["128,2", 0.25]]}}"#
        )
    };
    let text = format!(
        r#"{{"sections": [{}, {}, {}]}}"#,
        section("Xaxpy", 32, "GPU A"),
        section("Xaxpy", 64, "GPU A"),
        section("Xaxpy", 32, "GPU B")
    );
    let e = read_as(&text, "").unwrap_err().to_string();
    assert!(
        e.contains("holds 3 sweeps") && e.contains("Xaxpy 64 GPU A"),
        "{e}"
    );
    let e = read_as(&text, "#xaxpy,32").unwrap_err().to_string();
    assert!(e.contains("2 sweeps have `xaxpy,32`"), "{e}");
    for asked in ["#Xaxpy,32,GPU B", "#gpu b", "#n=4096,gpu b"] {
        let s = read_as(&text, asked).unwrap();
        assert_eq!((s.facts.device.as_str(), s.trials.len()), ("GPU B", 2));
        assert_eq!(s.trials[1].config, [Value::Int(128), Value::Int(2)]);
        assert_eq!(s.winner(crate::Objective::Time), Some(1));
    }
    let one = format!(r#"{{"sections": [{}]}}"#, section("Xaxpy", 32, "GPU A"));
    assert_eq!(read_as(&one, "").unwrap().trials.len(), 2);
}

#[test]
fn files_that_are_broken_say_why() {
    for (text, why) in [
        (tuner(""), "no results"),
        (
            tuner(&result(32, "1.0").replace("\"WGS\": 32", "\"WGS\": []")),
            "result 1: the value of `WGS` is a list",
        ),
        (r#"{"sections": []}"#.to_owned(), "no results"),
        (
            "{\"kernel_family\": ".to_owned(),
            "is not valid JSON: EOF while parsing",
        ),
    ] {
        let e = read_as(&text, "").unwrap_err().to_string();
        assert!(
            e.contains("clblast_xdemo_32.json") && e.contains(why),
            "{e}"
        );
    }
    let text = tuner(&[result(32, "1.250"), result(64, "0.620")].join(","));
    let s = read_as(&text[..text.len() - 20], "").unwrap();
    assert_eq!(s.trials.len(), 1);
}
