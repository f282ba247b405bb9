//! `--device`.

use super::Result;
use clap::Args;
use greenup_gisaxs::GisaxsError;
use greenup_gisaxs::gpu::{Device, Service, words};
use greenup_gisaxs::numeric::Accelerator;
use greenup_gisaxs::wisdom;
use std::sync::Arc;

#[derive(Args, Clone, Debug)]
pub struct DeviceArg {
    /// Where form factors of meshes are computed
    #[arg(long, default_value = "cpu", value_name = "cpu|cuda[:N]", value_parser = place)]
    device: Place,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Cpu,
    Cuda(usize),
}

fn place(text: &str) -> std::result::Result<Place, String> {
    match text.split_once(':') {
        None if text == "cpu" => Ok(Place::Cpu),
        None if text == "cuda" => Ok(Place::Cuda(0)),
        Some(("cuda", n)) => n
            .parse()
            .map(Place::Cuda)
            .map_err(|_| format!("`{n}` is no number of a GPU: write cuda:0")),
        _ => Err("there are cpu, cuda and cuda:N".into()),
    }
}

impl DeviceArg {
    /// The same for many to use at once.
    ///
    /// # Errors
    /// As of [`Self::open`], or wisdom that is none.
    pub fn service(&self) -> std::result::Result<Option<Arc<dyn Accelerator>>, String> {
        let Place::Cuda(n) = self.device else {
            return Ok(None);
        };
        let known = wisdom::read()?;
        let service = Service::open(n, |gpu| (known.direct(gpu), known.list(gpu)))?;
        Ok(Some(Arc::new(service)))
    }

    /// The GPU asked for, if it is one.
    ///
    /// # Errors
    /// There is none, or its driver or compiler is missing.
    pub fn open(&self) -> Result<Option<Device>> {
        match self.device {
            Place::Cpu => Ok(None),
            Place::Cuda(n) => Device::open(n)
                .map(Some)
                .map_err(|e| GisaxsError::Sample(words(&e))),
        }
    }
}
