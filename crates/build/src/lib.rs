//! What build scripts share: the instruction sets of the target, C kernels compiled for each of them, and the commit of
//! the sources.
#![warn(missing_docs)]
// Build scripts speak to cargo by standard output.
#![allow(clippy::print_stdout)]

mod commit;

pub use commit::{Commit, UNKNOWN, commit, pass_commit};

/// An instruction set that C kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Isa {
    /// Its name, which kernels have in their symbols.
    pub name: &'static str,
    /// Bytes of a vector register.
    pub vector_bytes: u32,
    /// Flags of the C compiler.
    pub flags: &'static [&'static str],
}

const PORTABLE: Isa = Isa {
    name: "portable",
    vector_bytes: 16,
    flags: &[],
};

const X86: [Isa; 3] = [
    PORTABLE,
    Isa {
        name: "avx2",
        vector_bytes: 32,
        flags: &["-mavx2", "-mfma"],
    },
    Isa {
        name: "avx512",
        vector_bytes: 64,
        flags: &["-mavx512f", "-mavx512dq", "-mprefer-vector-width=512"],
    },
];

/// NEON is part of its architecture: kernels that have a variant of their own for it add it to [`isas`].
pub const NEON: Isa = Isa {
    name: "neon",
    vector_bytes: 16,
    flags: &[],
};

/// Whether cargo builds for 64-bit Arm.
pub fn is_arm() -> bool {
    target() == "aarch64"
}

/// The instruction sets of the target that cargo builds for, the most portable first.
pub fn isas() -> &'static [Isa] {
    match target().as_str() {
        "x86_64" => &X86,
        _ => &X86[..1],
    }
}

fn target() -> String {
    std::env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default()
}

/// A compiler of one C file for an instruction set. The macros `ISA` and `VBYTES` name it; `a * b + c` is one instruction
/// where the hardware has it.
pub fn compiler(file: &str, isa: &Isa) -> cc::Build {
    println!("cargo::rerun-if-changed={file}");
    let mut build = cc::Build::new();
    build
        .file(file)
        .define("ISA", isa.name)
        .define("VBYTES", isa.vector_bytes.to_string().as_str())
        .opt_level(3)
        .flag("-ffp-contract=fast")
        .flag("-fno-math-errno")
        .flag("-fno-trapping-math")
        .flag_if_supported("-Wno-psabi")
        .flag_if_supported("-Wno-unknown-pragmas");
    for flag in isa.flags {
        build.flag(flag);
    }
    build
}
