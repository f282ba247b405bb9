//! Kernels of GPUs without one: all compile, and U lists are right on the host's fibers, from the same text.

use greenup_device::cuda::{Compiler, Source};
use greenup_fmm::gpu::{Config, room, sisters, source};
use greenup_fmm::kernel::Kernel;
use greenup_fmm::operators::surface;
use greenup_fmm::real::Real;

fn compiles<R: Real>(compiler: &Compiler, kernel: Kernel, gradient: bool, p: usize) {
    let config = Config::default_for::<R>(kernel, gradient);
    let text = source::<R>(kernel, gradient, p, surface::count(p), &config);
    let compiled = compiler
        .compile(&Source {
            name: "fmm.cu",
            text: &text,
            arch: "sm_90",
            options: &["--ftz=true".to_owned()],
        })
        .unwrap_or_else(|e| panic!("{kernel} {gradient} {p}: {e}"));
    assert!(compiled.warnings.is_empty(), "{}", compiled.warnings);
    assert!(room::<R>(p, sisters::<R>(p)) < 227 * 1024);
    for k in &compiled.kernels {
        let most = if k.name.contains("near") { 0 } else { 512 };
        assert!(
            k.spill_store_bytes <= most,
            "{kernel} {gradient} {p}: {k:?}"
        );
    }
}

#[test]
fn kernels_compile() {
    let Ok(compiler) = Compiler::new(None) else {
        // NVRTC is not here.
        return;
    };
    for kernel in [
        Kernel::Laplace,
        Kernel::Yukawa { kappa: 1.0 },
        Kernel::Helmholtz { k: 1.0 },
        Kernel::Stokes { mu: 1.0 },
    ] {
        for gradient in [false, true] {
            if gradient && kernel.check(true).is_err() {
                continue;
            }
            compiles::<f32>(&compiler, kernel, gradient, 4);
            compiles::<f64>(&compiler, kernel, gradient, 7);
        }
    }
    compiles::<f64>(&compiler, Kernel::Laplace, true, 12);
    compiles::<f32>(&compiler, Kernel::Laplace, false, 6);
}
