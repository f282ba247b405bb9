//! Compiles the microbenchmark kernels once for each instruction set of the target.

#[path = "../device/isas.rs"]
mod isas;

fn main() {
    let neon = ("neon", "16", &[][..]);
    let arm = std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("aarch64");
    for variant in isas::variants().iter().chain(arm.then_some(&neon)) {
        isas::build("src/kernels/microbench.c", variant)
            .compile(&format!("microbench_{}", variant.0));
    }
}
