//! Compiles the library that the CUDA driver loads into a profiled program.

use std::path::Path;

fn main() {
    for file in ["src/activity/inject.c", "src/activity/cupti.h"] {
        println!("cargo::rerun-if-changed={file}");
    }
    let out = std::env::var("OUT_DIR").unwrap_or_default();
    let library = Path::new(&out).join("inject.so");
    let linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if !linux {
        // CUDA's driver loads such libraries on Linux alone.
        std::fs::write(&library, b"").unwrap_or_else(|e| panic!("{}: {e}", library.display()));
        return;
    }
    let compiler = cc::Build::new().opt_level(2).pic(true).get_compiler();
    let mut command = compiler.to_command();
    command
        .args([
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-fvisibility=hidden",
            "-shared",
        ])
        .args(["src/activity/inject.c", "-o"])
        .arg(&library)
        .args(["-ldl", "-lpthread"]);
    let done = command.status();
    assert!(
        done.as_ref().is_ok_and(|s| s.success()),
        "{command:?}: {done:?}"
    );
}
