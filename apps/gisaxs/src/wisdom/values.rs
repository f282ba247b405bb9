//! The values of a config by the names of its parameters, and the configs that they make.

use crate::GisaxsError;
use crate::gpu::{DirectConfig, ListConfig};
use crate::mesh_form_factor::Blocks;
use greenup_space::Value;
use greenup_wisdom::{Device, Entry};
use std::collections::BTreeMap;

/// The values of a config, by the names of the parameters.
#[derive(Clone, Debug)]
pub struct Values(Vec<(String, u64)>);

impl Values {
    /// Values by name.
    pub fn new(values: Vec<(String, u64)>) -> Self {
        Self(values)
    }

    /// Those of an entry of wisdom.
    pub(super) fn of_entry(e: &Entry) -> Self {
        let number = |v: &Value| v.as_int().and_then(|i| u64::try_from(i).ok());
        let all = e
            .config
            .iter()
            .filter_map(|(n, v)| Some((n.clone(), number(v)?)));
        Self(all.collect())
    }

    /// The config of an entry as the device would run it: with as many threads as it has cores.
    pub(super) fn adapted(&self, e: &Entry, device: &Device) -> BTreeMap<String, Value> {
        let mut all = e.config.clone();
        if let (Some(n), Some(threads)) = (device.units(), all.get_mut("nthreads")) {
            *threads = Value::Int(n);
        }
        all
    }

    /// A value.
    fn of(&self, name: &str) -> Result<u64, GisaxsError> {
        let found = self.0.iter().find(|v| v.0 == name);
        found
            .map(|v| v.1)
            .ok_or_else(|| format!("has no parameter {name}").into())
    }

    fn small(&self, name: &str) -> Result<u32, GisaxsError> {
        u32::try_from(self.of(name)?).map_err(|_| format!("{name} is too large").into())
    }

    /// Whether a value is 0, and there.
    pub fn is_zero(&self, name: &str) -> bool {
        self.of(name).is_ok_and(|n| n == 0)
    }

    /// The blocks of the direct method on CPUs.
    ///
    /// # Errors
    /// A parameter is missing or too large.
    pub fn blocks(&self) -> Result<Blocks, GisaxsError> {
        let size = |n: u64| usize::try_from(n).map_err(|_| format!("{n} is too large"));
        let points =
            (self.of("h_y")?.checked_mul(self.of("h_z")?)).ok_or("h_y times h_z is too large")?;
        Ok(Blocks {
            points: size(points)?,
            nodes: size(self.of("h_t")?)?,
            unroll: size(self.of("per_lane")?)?,
        })
    }

    /// The config of the direct kernel for tensor grids.
    ///
    /// # Errors
    /// A parameter is missing or too large.
    pub fn direct(&self) -> Result<DirectConfig, GisaxsError> {
        Ok(DirectConfig {
            dim_y: self.small("dim_y")?,
            dim_z: self.small("dim_z")?,
            per_y: self.small("per_y")?,
            per_z: self.small("per_z")?,
            tile: self.small("tile")?,
            buffers: self.small("buffers")?,
            steps: self.small("steps")?,
            sine: self.small("sine")?,
            by_hand: self.small("by_hand")?,
            h_y: self.small("h_y")?,
            h_z: self.small("h_z")?,
            h_t: self.small("h_t")?,
        })
    }

    /// The config of the direct kernel for lists of q; what the sweep does not vary is that of `known`.
    ///
    /// # Errors
    /// A parameter is missing or too large.
    pub fn list(&self, known: ListConfig) -> Result<ListConfig, GisaxsError> {
        Ok(ListConfig {
            threads: self.small("threads")?,
            points: self.small("points")?,
            tile: self.small("tile")?,
            by_hand: self.small("by_hand")?,
            ..known
        })
    }
}
