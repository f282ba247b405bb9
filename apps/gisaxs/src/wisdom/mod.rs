//! Tuned configs of the form factor: of the nearest entry of wisdom, else the defaults.

mod values;
pub mod verify;

pub use values::Values;

use crate::GisaxsError;
use crate::gpu::{DirectConfig, ListConfig};
use crate::mesh_form_factor::Blocks;
use greenup_app::wisdom;
use greenup_device::CpuFacts;
use greenup_device::cuda::Gpu;
use greenup_wisdom::{Device, Query, fits};
use std::collections::BTreeMap;

/// The problem of the direct method on CPUs.
pub const CPU: &str = "form_factor_cpu";
/// The problem of the direct kernel for tensor grids on GPUs.
pub const GPU: &str = "form_factor_gpu";
/// The problem of the direct kernel for lists of q on GPUs.
pub const LIST: &str = "form_factor_list";

/// The files of these problems, whose filters say what a device can run.
const FILES: [(&str, &str); 3] = [
    (CPU, include_str!("../kernels/problem.toml")),
    (GPU, include_str!("../kernels/gpu/problem.toml")),
    (LIST, include_str!("../kernels/gpu/direct_list.toml")),
];

/// All that is known here.
#[derive(Clone, Debug, Default)]
pub struct Wisdom(greenup_wisdom::Wisdom);

/// The tuned configs of this user, and the shipped ones.
///
/// # Errors
/// A file of the user cannot be read, or holds an invalid config.
pub fn read() -> Result<Wisdom, GisaxsError> {
    Ok(Wisdom(wisdom::load()?))
}

impl Wisdom {
    fn choose<T>(
        &self,
        problem: &str,
        device: &Device,
        kernel: &str,
        config: impl Fn(&Values) -> Result<T, GisaxsError>,
    ) -> Option<T> {
        let query = Query {
            problem,
            precision: "f32",
            objective: "time",
            device,
            exact: &[],
            size: &[],
        };
        let text = FILES.iter().find(|f| f.0 == problem)?.1;
        let space = fits::space(text, device, &BTreeMap::new()).ok()?;
        let (choice, config) = self.0.choose(&query, |e| {
            let values = Values::of_entry(e);
            let made = config(&values).map_err(|e| e.to_string())?;
            let all = fits::complete(&space, &values.adapted(e, device))?;
            fits::check(&space, &all)?;
            Ok(made)
        })?;
        wisdom::note(kernel, &choice);
        Some(config)
    }

    /// The config of the direct method on this CPU; the default without an entry.
    pub fn blocks(&self) -> Blocks {
        let device = Device::of_cpu(&CpuFacts::read());
        self.choose(CPU, &device, "form factor on the CPU", |v| {
            let blocks = v.blocks()?;
            blocks.check().map(|()| blocks)
        })
        .unwrap_or_default()
    }

    /// The config of the direct kernel for tensor grids on a GPU; the default without an entry.
    pub fn direct(&self, gpu: &Gpu) -> DirectConfig {
        let device = Device::of_gpu(gpu);
        self.choose(GPU, &device, "form factor on grids", |v| {
            let config = v.direct()?;
            config.check().map(|()| config)
        })
        .unwrap_or_default()
    }

    /// The config of the direct kernel for lists of q on a GPU; the default without an entry.
    pub fn list(&self, gpu: &Gpu) -> ListConfig {
        let device = Device::of_gpu(gpu);
        self.choose(LIST, &device, "form factor at listed q", |v| {
            let config = v.list(ListConfig::default())?;
            config.check()?;
            // With others the digits of a q depend on its place in a list.
            match config.by_hand {
                0 => Ok(config),
                n => Err(format!("by_hand = {n}, and lists need 0").into()),
            }
        })
        .unwrap_or_default()
    }
}

/// The model name of this CPU.
pub fn cpu() -> String {
    CpuFacts::read().model
}
