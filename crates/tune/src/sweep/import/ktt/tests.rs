//! Files as KTT 2.0 to 2.2 writes them, in both formats.

use super::super::*;
use super::*;
use crate::sweep::import::section::file_and_section;

fn read_as(name: &str, text: &str, section: &str) -> Result<Sweep, ImportError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    let named = dir.path().join(format!("{name}{section}"));
    assert_eq!(file_and_section(&named).0, path);
    read_any(&named)
}

/// JSON of KTT 2.2: a config that was measured with counters and power, one of each failure.
fn json() -> String {
    let result = |block: u32, status: &str, duration: &str, more: &str| {
        format!(
            r#"{{"KernelName": "axpy", "Status": "{status}", "TotalDuration": {duration}, "TotalOverhead": 900.0, "ExtraDuration": 0.0,
            "DataMovementOverhead": 100.0, "ValidationOverhead": 200.0, "SearcherOverhead": 0.0, "CompilationOverhead": 600.0, "ProfilingOverhead": 0.0,
            "Configuration": [{{"Name": "block", "ValueType": "UnsignedInt", "Value": {block}}}, {{"Name": "scale", "ValueType": "Double", "Value": 0.5}},
              {{"Name": "kind", "ValueType": "String", "Value": "007"}}, {{"Name": "unroll", "ValueType": "Bool", "Value": true}}],
            "ComputationResults": [{more}]}}"#
        )
    };
    let measured = r#"{"KernelFunction": "axpy", "Duration": 250.0, "Overhead": 1.0, "CompilationOverhead": 600.0, "GlobalSize": {"X": 8, "Y": 2, "Z": 1},
        "LocalSize": {"X": 32, "Y": 2, "Z": 1}, "CompilationData": {"MaxWorkGroupSize": 1024, "LocalMemorySize": 0, "PrivateMemorySize": 0, "ConstantMemorySize": 0, "RegistersCount": 24},
        "ProfilingData": {"Counters": [{"Name": "dram__bytes_read.sum", "Type": "Double", "Value": 1000.0}, {"Name": "dram__bytes_write.sum", "Type": "Double", "Value": 500.0}], "RemainingProfilingRuns": 0},
        "PowerUsage": 120000, "EnergyConsumption": 0.03}"#;
    let unknown = "18446744073709551.0";
    format!(
        r#"{{"Metadata": {{"ComputeApi": "CUDA", "Device": "Test GPU", "GlobalSizeType": "CUDA", "KttVersion": "2.2.0", "Platform": "NVIDIA CUDA", "TimeUnit": "Microseconds", "Timestamp": "2025-01-02 03:04:05 UTC"}},
        "Results": [{}, {}, {}, {}, {}], "UserData": {{"note": "mine"}}}}"#,
        result(64, "Ok", "250.0", measured),
        result(128, "CompilationFailed", unknown, ""),
        result(256, "ValidationFailed", "240.0", ""),
        result(512, "ComputationFailed", unknown, ""),
        result(2048, "DeviceLimitsExceeded", unknown, ""),
    )
}

#[test]
fn results_have_units_failures_counters_and_energy() {
    let s = read_as("results.json", &json(), "").unwrap();
    assert_eq!(
        (s.facts.name.as_str(), s.facts.device.as_str()),
        ("axpy", "Test GPU")
    );
    assert_eq!(s.facts.parameters, ["block", "scale", "kind", "unroll"]);
    assert_eq!(s.facts.objective.as_deref(), Some("time"));
    assert_eq!(s.facts.more["tuner"], "KTT 2.2.0");
    assert_eq!(s.facts.more["note"], "mine");
    let t = &s.trials[0];
    let values = [
        Value::Int(64),
        Value::Float(0.5),
        Value::Str("007".into()),
        Value::Bool(true),
    ];
    assert_eq!(t.config, values);
    let cost = t.cost().unwrap();
    assert!((cost.time_s - 250e-6).abs() < 1e-12);
    assert_eq!((cost.energy_j, t.metrics["power"]), (Some(0.03), 120.0));
    assert_eq!(
        (t.metrics["registers"], t.metrics["local_size"]),
        (24.0, 64.0)
    );
    assert_eq!(
        (t.metrics["dram_bytes"], t.metrics["dram__bytes_read.sum"]),
        (1500.0, 1000.0)
    );
    assert!((t.build_s - 600e-6).abs() < 1e-12 && (t.verify_s - 200e-6).abs() < 1e-12);
    assert!((t.measure_s - 350e-6).abs() < 1e-12);
    let kinds: Vec<_> = s.trials[1..]
        .iter()
        .map(|t| t.failure().unwrap().0)
        .collect();
    assert_eq!(
        kinds,
        [
            Failure::Compile,
            Failure::Wrong,
            Failure::Runtime,
            Failure::Launch
        ]
    );
    assert!(s.warnings.is_empty(), "{:?}", s.warnings);
}

/// The same as KTT's XML, of version 2.1.
const XML: &str = r#"<?xml version="1.0"?>
<TuningData>
  <Metadata ComputeApi="OpenCL" GlobalSizeType="OpenCL" Platform="P" Device="A &amp; B" KttVersion="2.1.0" Timestamp="2022-06-01 13:55:7 UTC" TimeUnit="Milliseconds" />
  <Results>
    <KernelResult KernelName="axpy" Status="Ok" TotalDuration="0.250000" TotalOverhead="1.5" ExtraDuration="0" ExtraOverhead="0">
      <Configuration>
        <Pair IsDouble="false" Name="block" Value="64" />
        <Pair IsDouble="true" Name="scale" Value="0.500000" />
      </Configuration>
      <ComputationResults>
        <ComputationResult KernelFunction="axpy" Duration="0.250000" Overhead="1.5">
          <GlobalSize X="8" Y="1" Z="1" /><LocalSize X="64" Y="1" Z="1" />
          <ProfilingData RemainingProfilingRuns="0"><Counters><Counter Name="l2_hits" Type="Percent" Value="51.500000" /></Counters></ProfilingData>
        </ComputationResult>
      </ComputationResults>
    </KernelResult>
    <KernelResult KernelName="axpy" Status="ComputationFailed" TotalDuration="18446744073709.550781" TotalOverhead="0" ExtraDuration="0" ExtraOverhead="0">
      <Configuration><Pair IsDouble="false" Name="block" Value="2048" /><Pair IsDouble="true" Name="scale" Value="1" /></Configuration>
      <ComputationResults />
    </KernelResult>
  </Results>
  <UserData><Pair Key="run" Value="7" /></UserData>
</TuningData>
"#;

#[test]
fn xml_tells_the_same() {
    let s = read_as("results.xml", XML, "").unwrap();
    assert_eq!(
        (s.facts.device.as_str(), s.facts.more["run"].as_str()),
        ("A & B", "7")
    );
    assert_eq!(s.trials[0].config, [Value::Int(64), Value::Float(0.5)]);
    assert!((s.trials[0].cost().unwrap().time_s - 250e-6).abs() < 1e-12);
    assert_eq!(s.trials[0].metrics["l2_hits"], 51.5);
    assert_eq!(s.trials[1].failure().unwrap().0, Failure::Runtime);
    let newer = XML
        .replace("IsDouble=\"false\"", "ValueType=\"Int\"")
        .replace("IsDouble=\"true\"", "ValueType=\"Double\"");
    assert_eq!(read_as("n.xml", &newer, "").unwrap().trials, s.trials);
}

#[test]
fn files_that_are_broken_say_where() {
    for (name, text, why) in [
        ("e.xml", XML[..900].to_owned(), "is not valid XML"),
        (
            "e.xml",
            "<html/>".to_owned(),
            "its outermost element is `html`",
        ),
        ("e.json", String::new(), "is empty"),
        (
            "e.json",
            json().replace("Microseconds", "Fortnights"),
            "the unit `Fortnights` of time",
        ),
        (
            "e.json",
            json().replacen("\"Value\": 64", "\"Value\": null", 1),
            "result 1: the value of `block` is null",
        ),
        (
            "e.json",
            r#"{"Metadata": {}, "Results": []}"#.to_owned(),
            "no results",
        ),
    ] {
        let e = read_as(name, &text, "").unwrap_err().to_string();
        assert!(e.contains(name) && e.contains(why), "{e}");
    }
    let text = json();
    let cut = text.find("\"ValidationFailed\"").unwrap();
    let s = read_as("cut.json", &text[..cut], "").unwrap();
    assert_eq!(s.trials.len(), 2);
    assert!(
        s.warnings[0].contains("the file is cut off"),
        "{:?}",
        s.warnings
    );
    let s = read_as(
        "u.json",
        &text.replace("\"TimeUnit\": \"Microseconds\", ", ""),
        "",
    )
    .unwrap();
    assert!(s.warnings[0].contains("milliseconds"), "{:?}", s.warnings);
}

#[test]
fn kernels_of_one_file_are_sweeps_of_their_own() {
    let text = json().replacen("\"KernelName\": \"axpy\"", "\"KernelName\": \"dot\"", 1);
    let e = read_as("two.json", &text, "").unwrap_err().to_string();
    assert!(
        e.contains("holds 2 sweeps") && e.contains("dot; axpy"),
        "{e}"
    );
    assert_eq!(read_as("two.json", &text, "#axpy").unwrap().trials.len(), 4);
    assert_eq!(read_as("two.json", &text, "#dot").unwrap().trials.len(), 1);
}
