//! Form factors computed by a device other than this CPU.

use super::{Extent, Method, Precision, QGrid, Surface, Watch};
use num_complex::Complex64;
use std::fmt::Debug;
use std::sync::Arc;

/// A device that computes form factors of meshes.
pub trait Accelerator: Debug + Send + Sync {
    /// Name of the device.
    fn name(&self) -> &str;

    /// The method that the device uses, by default or as `asked`, on a tensor grid (`grid`) or on other q;
    /// `transforms`: whether the nonuniform FFT supports those.
    ///
    /// # Errors
    /// The device does not have the method asked for.
    fn method(
        &self,
        asked: Option<Method>,
        grid: bool,
        transforms: bool,
    ) -> Result<Method, crate::GisaxsError>;

    /// F on each grid, nm³; `None` if stopped. The extent is that of all q of the work, of which the grids may be a part:
    /// tables depend on it. `how` is the method, the precision and the accuracy relative to the
    /// volume; `memory` bounds the memory on the device, bytes.
    ///
    /// # Errors
    /// The device fails, or the memory is too small.
    fn grids(
        &self,
        surface: &Arc<Surface>,
        grids: (&[QGrid], &Extent),
        how: (Method, Precision, f64),
        memory: u64,
        watch: &Watch,
    ) -> Result<Option<Vec<Vec<Complex64>>>, crate::GisaxsError>;
}
