//! Compiles the microbenchmark kernels once for each instruction set of the target.

fn main() {
    let source = "src/kernels/microbench.c";
    println!("cargo::rerun-if-changed={source}");
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let variants: &[(&str, &str, &[&str])] = match arch.as_str() {
        "x86_64" => &[
            ("portable", "16", &[]),
            ("avx2", "32", &["-mavx2", "-mfma"]),
            (
                "avx512",
                "64",
                &["-mavx512f", "-mavx512dq", "-mprefer-vector-width=512"],
            ),
        ],
        "aarch64" => &[("portable", "16", &[]), ("neon", "16", &[])],
        _ => &[("portable", "16", &[])],
    };
    for (isa, bytes, flags) in variants {
        let mut build = cc::Build::new();
        build
            .file(source)
            .define("ISA", *isa)
            .define("VBYTES", *bytes)
            .opt_level(3)
            // The kernels count an FMA as one instruction where the hardware has it.
            .flag("-ffp-contract=fast")
            .flag("-fno-math-errno")
            .flag("-fno-trapping-math")
            .flag_if_supported("-Wno-psabi")
            .flag_if_supported("-Wno-unknown-pragmas");
        for flag in *flags {
            build.flag(flag);
        }
        build.compile(&format!("microbench_{isa}"));
    }
}
