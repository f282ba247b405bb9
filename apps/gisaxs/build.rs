//! Compiles the kernels once for each instruction set of the target.

#[path = "../../crates/device/isas.rs"]
mod isas;

fn main() {
    println!("cargo::rerun-if-changed=src/kernels");
    for variant in isas::variants() {
        for (file, bits) in [
            ("direct", "32"),
            ("direct", "64"),
            ("band", "64"),
            ("surface", "64"),
        ] {
            isas::build(&format!("src/kernels/{file}.c"), variant)
                .define("BITS", bits)
                .compile(&format!("gisaxs_{file}_{bits}_{}", variant.0));
        }
    }
}
