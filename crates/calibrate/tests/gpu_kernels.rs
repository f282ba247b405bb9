//! The GPU's microbenchmarks without a GPU: all of them compile, and those that a host can run reach
//! there, on fibers and from the same text, what the host's own arithmetic says.

use greenup_calibrate::gpu::context::SOURCE;
use greenup_calibrate::gpu::kind::{Fill, GpuBench, GpuBenchmark, GpuLevel, Number};
use greenup_calibrate::gpu::suite::plan;
use greenup_calibrate::gpu::{data, host_reference};
use greenup_device::cuda::{Compiler, SHIM, Source};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "needs NVRTC"]
fn every_microbenchmark_compiles_without_spills() {
    let dir = tempfile::tempdir().unwrap();
    let compiler = Compiler::new(Some(dir.path())).unwrap();
    let levels = GpuLevel::ALL.into_iter().map(GpuBenchmark::Latency);
    let levels = levels.map(|kind| GpuBench {
        kind,
        multiprocessors: 1,
        fill: Fill::Normal,
    });
    for bench in plan(132, false).into_iter().chain(levels) {
        let compiled = compiler
            .compile(&Source {
                name: "kernels.cu",
                text: SOURCE,
                arch: &bench.arch("sm_90"),
                options: &bench.macros(),
            })
            .unwrap_or_else(|e| panic!("{}: {e}", bench.name()));
        let own = compiled.kernels.iter().find(|k| k.name == bench.kernel());
        let own = own.unwrap_or_else(|| panic!("{} has no kernel", bench.name()));
        assert_eq!(
            own.spill_store_bytes + own.spill_load_bytes,
            0,
            "{}",
            bench.name()
        );
        assert!(
            own.registers * bench.threads() <= 65_536,
            "{}",
            bench.name()
        );
    }
}

/// Runs a small launch on fibers; returns the output.
fn on_host(bench: &GpuBench, input: &[u8], dir: &Path) -> Vec<u8> {
    let (n, passes, blocks) = host_reference::small(bench.kind);
    let bytes = host_reference::output_bytes(bench.kind, n, blocks * bench.threads());
    let mut text = String::from("#include \"shim.hpp\"\n");
    for m in bench.macros() {
        let (name, value) = m.trim_start_matches("-D").split_once('=').unwrap();
        let _ = writeln!(text, "#define {name} {value}");
    }
    let _ = write!(
        text,
        r#"#include "kernels.cu"
int main(int, char **files) {{
    std::vector<char> in({}), out({bytes});
    FILE *f = fopen(files[1], "rb");
    if (fread(in.data(), 1, in.size(), f) != in.size()) return 1;
    fclose(f);
    long long n = {n};
    int passes = {passes};
    void *a[] = {{in.data(), out.data(), &n, &passes}};
    greenup::launch_kernel({}, a, dim3{{{blocks}, 1, 1}}, dim3{{{}, 1, 1}}, 0);
    f = fopen(files[2], "wb");
    fwrite(out.data(), 1, out.size(), f);
    return fclose(f);
}}
"#,
        input.len(),
        bench.kernel(),
        bench.threads(),
    );
    for (name, text) in [
        ("shim.hpp", SHIM),
        ("kernels.cu", SOURCE),
        ("main.cpp", &text),
    ] {
        std::fs::write(dir.join(name), text).unwrap();
    }
    std::fs::write(dir.join("in"), input).unwrap();
    let built = Command::new("c++")
        .args([
            "-std=c++17",
            "-O1",
            "-w",
            "-ffp-contract=off",
            "-mfma",
            "main.cpp",
            "-o",
            "main",
        ])
        .current_dir(dir)
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let ran = Command::new(dir.join("main"))
        .args(["in", "out"])
        .current_dir(dir)
        .status()
        .unwrap();
    assert!(ran.success());
    std::fs::read(dir.join("out")).unwrap()
}

#[test]
#[cfg(target_arch = "x86_64")]
fn kernels_agree_with_the_host_reference() {
    for kind in [
        GpuBenchmark::Stream(Number::F64, 3),
        GpuBenchmark::Stream(Number::F32, 0),
        GpuBenchmark::Peak(Number::F32),
        GpuBenchmark::Integers,
        GpuBenchmark::Roots,
        GpuBenchmark::Shared,
        GpuBenchmark::L2,
        GpuBenchmark::Write,
        GpuBenchmark::Copy,
        GpuBenchmark::Random(GpuLevel::L1),
        GpuBenchmark::Latency(GpuLevel::L1),
    ] {
        let bench = GpuBench {
            kind,
            multiprocessors: 3,
            fill: Fill::Normal,
        };
        let mut input = data::numbers(bench.number(), Fill::Normal);
        input.truncate(1 << 20);
        if let GpuBenchmark::Random(level) | GpuBenchmark::Latency(level) = kind {
            // As the kernel `table` writes it.
            let lines = level.lines() as u64;
            for (i, line) in (0..lines).zip(input.chunks_exact_mut(64)) {
                let next = (i * 1_664_525 + 1_013_904_223) & (lines - 1);
                line[..4].copy_from_slice(&(next as u32).to_le_bytes());
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let output = on_host(&bench, &input, dir.path());
        let (n, passes, blocks) = host_reference::small(kind);
        host_reference::compare(
            kind,
            &input,
            &output,
            (n, passes),
            (blocks, bench.threads()),
        )
        .unwrap_or_else(|m| panic!("{kind}: {m}"));
        // The comparison sees one wrong word.
        let mut wrong = output.clone();
        wrong[1] ^= 0x40;
        let refused =
            host_reference::compare(kind, &input, &wrong, (n, passes), (blocks, bench.threads()));
        assert!(refused.is_err(), "{kind}");
    }
}
