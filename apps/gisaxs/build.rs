//! Compiles the kernels once for each instruction set of the target.

use greenup_build::{compiler, isas};

/// Highest power of q in the moments of a surface, for `surface.c` and the crate.
const MOMENT_ORDER: &str = "12";

fn main() {
    println!("cargo::rustc-env=GISAXS_MOMENT_ORDER={MOMENT_ORDER}");
    println!("cargo::rerun-if-changed=src/kernels");
    for isa in isas() {
        for (file, bits) in [
            ("direct", "32"),
            ("direct", "64"),
            ("nufft_detector", "64"),
            ("surface", "64"),
        ] {
            compiler(&format!("src/kernels/{file}.c"), isa)
                .define("BITS", bits)
                .define("ORDER", MOMENT_ORDER)
                .compile(&format!("gisaxs_{file}_{bits}_{}", isa.name));
        }
    }
}
