//! `--device`.

use clap::Args;
use greenup_device::{DeviceSpec, Usable};

/// `--device`, for commands that run on one device.
#[derive(Args, Clone, Debug, Default)]
pub struct DeviceArg {
    /// Device that computes
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda[:N]", value_parser = |text: &str| Usable::ONE.parse(text))]
    pub device: DeviceSpec,
}

/// `--device`, for commands that can spread their work over several GPUs.
#[derive(Args, Clone, Debug, Default)]
pub struct DeviceSetArg {
    /// Device that computes, or several GPUs that share the work
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda[:N,M,...|:all]", value_parser = |text: &str| Usable::SEVERAL.parse(text))]
    pub device: DeviceSpec,
}
