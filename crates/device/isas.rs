//! Instruction sets that C kernels are compiled for, for build scripts: name, bytes of a vector, flags.

pub type Variant = (&'static str, &'static str, &'static [&'static str]);

/// Those of the target that cargo builds for, beside NEON, which is part of its architecture.
pub fn variants() -> &'static [Variant] {
    const PORTABLE: Variant = ("portable", "16", &[]);
    match std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => &[
            PORTABLE,
            ("avx2", "32", &["-mavx2", "-mfma"]),
            (
                "avx512",
                "64",
                &["-mavx512f", "-mavx512dq", "-mprefer-vector-width=512"],
            ),
        ],
        _ => &[PORTABLE],
    }
}

/// Flags of all of them: an FMA is one instruction where the hardware has it.
pub fn build(file: &str, (isa, bytes, flags): &Variant) -> cc::Build {
    println!("cargo::rerun-if-changed={file}");
    let mut build = cc::Build::new();
    build
        .file(file)
        .define("ISA", *isa)
        .define("VBYTES", *bytes)
        .opt_level(3)
        .flag("-ffp-contract=fast")
        .flag("-fno-math-errno")
        .flag("-fno-trapping-math")
        .flag_if_supported("-Wno-psabi")
        .flag_if_supported("-Wno-unknown-pragmas");
    for flag in *flags {
        build.flag(flag);
    }
    build
}
