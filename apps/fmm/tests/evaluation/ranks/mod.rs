//! Several ranks or GPUs: the same digits as one.

mod distributed;
mod parts;

use greenup_device::cuda::Emulator;
use greenup_fmm::gpu::{Config, Gpu, KERNELS, source};
use greenup_fmm::kernel::Kernel;
use greenup_fmm::options::{M2l, Options};
use greenup_fmm::plan::Plan;
use greenup_fmm::points::{Distribution, Points, generate};
use std::sync::Arc;

fn options(kernel: Kernel, gradient: bool, m2l: M2l) -> Options {
    Options {
        kernel,
        tolerance: 1e-3,
        gradient,
        ncrit: 12,
        m2l,
        order: Some(4),
    }
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Points and options whose kernels the emulator runs in seconds.
fn small() -> (Points, Options) {
    let o = Options {
        order: Some(3),
        ..options(Kernel::Laplace, false, M2l::Fft)
    };
    (generate(Distribution::Clusters, 301, 3), o)
}

/// A GPU of the emulator for a plan of these options.
fn emulated(plan: Arc<Plan<f32>>) -> Gpu<f32, Emulator> {
    let o = *plan.options();
    let config = Config::default_for::<f32>(o.kernel, o.gradient)
        .with("form=0,tile=0,targets=2,threads=32")
        .unwrap();
    let text = source::<f32>(o.kernel, o.gradient, plan.order(), plan.surface(), &config);
    let folder = tempfile::tempdir().unwrap();
    let emulator = Emulator::compile(&text, &KERNELS, folder.path()).unwrap();
    // SAFETY: compiled from the source of this plan and config.
    unsafe { Gpu::on(emulator, plan, config) }.unwrap()
}
