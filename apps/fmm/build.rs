//! Compiles the kernels for each instruction set and precision.

use greenup_build::{compiler, isas};

fn main() {
    println!("cargo::rerun-if-changed=src/kernels");
    for isa in isas() {
        for (real, double) in [("f32", "0"), ("f64", "1")] {
            let name = format!("fmm_{}_{real}", isa.name);
            compiler("src/kernels/fmm.c", isa)
                .define("DOUBLE", double)
                .define("NAME", name.as_str())
                .compile(&name);
        }
    }
}
