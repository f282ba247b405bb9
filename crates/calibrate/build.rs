//! Compiles the microbenchmark kernels once for each instruction set of the target.

use greenup_build::{NEON, compiler, is_arm, isas};

fn main() {
    for isa in isas().iter().chain(is_arm().then_some(&NEON)) {
        compiler("src/kernels/microbench.c", isa).compile(&format!("microbench_{}", isa.name));
    }
}
