//! Compiles the kernels once for each instruction set of the target.

fn main() {
    println!("cargo::rerun-if-changed=src/kernels");
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
        // NEON is part of the architecture.
        _ => &[("portable", "16", &[])],
    };
    for (isa, bytes, flags) in variants {
        for (file, bits) in [
            ("direct", "32"),
            ("direct", "64"),
            ("band", "64"),
            ("surface", "64"),
        ] {
            let mut build = cc::Build::new();
            build
                .file(format!("src/kernels/{file}.c"))
                .define("ISA", *isa)
                .define("VBYTES", *bytes)
                .define("BITS", bits)
                .opt_level(3)
                .flag("-ffp-contract=fast")
                .flag("-fno-math-errno")
                .flag("-fno-trapping-math")
                .flag_if_supported("-Wno-psabi");
            for flag in *flags {
                build.flag(flag);
            }
            build.compile(&format!("gisaxs_{file}_{bits}_{isa}"));
        }
    }
}
