//! Kernels of GPUs without one: all of them compile.

use greenup_device::cuda::{Compiler, Source};
use greenup_hydro::element::{Element, Shape};
use greenup_hydro::gpu::{Config, Sizes, source};

#[test]
fn kernels_compile_for_every_zone() {
    let Ok(compiler) = Compiler::new(None) else {
        // NVRTC is not here.
        return;
    };
    for (shape, order, energy_order) in [
        (Shape::Segment, 3, 2),
        (Shape::Quad, 1, 0),
        (Shape::Quad, 2, 1),
        (Shape::Quad, 5, 4),
        (Shape::Hex, 1, 0),
        (Shape::Hex, 2, 1),
        (Shape::Hex, 3, 2),
        (Shape::Hex, 4, 3),
        (Shape::Hex, 2, 2),
    ] {
        let e = Element::new(shape, order, energy_order);
        let config = Config::default_for(&e);
        for stored in [false, true] {
            let text = source(&e, &config, !stored, stored);
            let compiled = compiler
                .compile(&Source {
                    name: "hydro.cu",
                    text: &text,
                    arch: "sm_90",
                    options: &[],
                })
                .unwrap_or_else(|e| panic!("{shape:?} {order} {stored}: {e}"));
            assert!(compiled.warnings.is_empty(), "{}", compiled.warnings);
            let bytes = Sizes::of(&e).corner_bytes(&config);
            assert!(bytes < 227 * 1024, "{shape:?} {order}: {bytes}");
            // Whatever is spilled is little.
            for k in &compiled.kernels {
                assert!(k.spill_store_bytes <= 256, "{shape:?} {order}: {k:?}");
            }
        }
    }
}
