//! The values of `device.NAME` in the expressions of a space.

use greenup_device::CpuFacts;
use greenup_device::cuda::Gpu;
use greenup_device::opencl::Device;
use greenup_space::{Facts, Value};

/// Values of `device.NAME` for this host's processor.
pub fn of_host() -> Facts {
    of_cpu(&CpuFacts::read())
}

/// Values of `device.NAME` for a processor.
pub fn of_cpu(cpu: &CpuFacts) -> Facts {
    cpu.named()
        .into_iter()
        .map(|(k, v)| (k.to_owned(), Value::Int(v)))
        .collect()
}

/// Values of `device.NAME` for a GPU.
pub fn of_gpu(gpu: &Gpu) -> Facts {
    gpu.named()
        .iter()
        .map(|(k, v)| ((*k).to_owned(), Value::Int(*v)))
        .collect()
}

/// Values of `device.NAME` for an OpenCL device.
pub fn of_opencl(device: &Device) -> Facts {
    let numbers = device.named().into_iter();
    let texts = [("name", &device.name), ("platform", &device.platform)];
    numbers
        .map(|(k, v)| (k.to_owned(), Value::Int(v)))
        .chain(texts.map(|(k, v)| (k.to_owned(), Value::Str(v.clone()))))
        .collect()
}
