//! Form factors computed by another device than this CPU.

use super::{Precision, Sheet, Surface, Watch, Way};
use num_complex::Complex64;
use std::fmt::Debug;
use std::sync::Arc;

/// A device that sums over surfaces.
pub trait Accelerator: Debug + Send + Sync {
    fn name(&self) -> &str;

    /// The way that it takes on a tensor grid, or on other q; `transforms` says whether the nonuniform
    /// transform serves those.
    ///
    /// # Errors
    /// It has not the one that was asked for.
    fn way(&self, asked: Option<Way>, grid: bool, transforms: bool) -> Result<Way, String>;

    /// F of each sheet, with so many bytes of memory on the device; `None` when stopped.
    ///
    /// # Errors
    /// What the device said.
    fn sheets(
        &self,
        surface: &Arc<Surface>,
        sheets: &[Sheet],
        how: (Way, Precision, f64),
        memory: u64,
        watch: &Watch,
    ) -> Result<Option<Vec<Vec<Complex64>>>, String>;
}
