//! Compiles the kernels for each instruction set and precision.

#[path = "../../crates/device/isas.rs"]
mod isas;

fn main() {
    println!("cargo::rerun-if-changed=src/kernels");
    for variant in isas::variants() {
        for (real, double) in [("f32", "0"), ("f64", "1")] {
            let name = format!("fmm_{}_{real}", variant.0);
            isas::build("src/kernels/fmm.c", variant)
                .define("DOUBLE", double)
                .define("NAME", name.as_str())
                .compile(&name);
        }
    }
}
