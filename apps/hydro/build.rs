//! Compiles the kernels for each instruction set, dimension and order; order 0 is any.

use greenup_build::{compiler, isas};

fn main() {
    println!("cargo::rerun-if-changed=src/kernels");
    for isa in isas() {
        for dim in 1..=3 {
            for order in 0..=4 {
                if dim == 1 && order > 0 {
                    continue;
                }
                let name = format!("hydro_{}_{dim}_{order}", isa.name);
                compiler("src/kernels/zone.c", isa)
                    .define("D", dim.to_string().as_str())
                    .define("K", order.to_string().as_str())
                    .define("NAME", name.as_str())
                    .compile(&name);
            }
        }
    }
}
