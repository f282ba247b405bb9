//! Compiles the kernels for each instruction set, dimension and order; order 0 is any.

#[path = "../../crates/device/isas.rs"]
mod isas;

fn main() {
    println!("cargo::rerun-if-changed=src/kernels");
    for variant in isas::variants() {
        for dim in 1..=3 {
            for order in 0..=4 {
                if dim == 1 && order > 0 {
                    continue;
                }
                let name = format!("hydro_{}_{dim}_{order}", variant.0);
                isas::build("src/kernels/zone.c", variant)
                    .define("D", dim.to_string().as_str())
                    .define("K", order.to_string().as_str())
                    .define("NAME", name.as_str())
                    .compile(&name);
            }
        }
    }
}
