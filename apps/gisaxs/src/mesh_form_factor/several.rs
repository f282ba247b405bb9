//! Several devices that share the work of one.

use super::cost::runs;
use super::{Accelerator, Extent, Method, Precision, QGrid, Surface, Watch};
use crate::GisaxsError;
use num_complex::Complex64;
use std::sync::Arc;
use std::thread;

/// Devices that share grids: each has some rows of a detector, or some q_z of a tensor grid. All have the nodes of the
/// whole surface.
#[derive(Debug)]
pub struct Several {
    name: String,
    devices: Vec<Arc<dyn Accelerator>>,
}

/// F on each grid of a share; `None` if stopped.
type Values = Result<Option<Vec<Vec<Complex64>>>, GisaxsError>;

impl Several {
    /// One device as it is, several as one; `None` for none.
    pub fn of(mut devices: Vec<Arc<dyn Accelerator>>) -> Option<Arc<dyn Accelerator>> {
        if devices.len() < 2 {
            return devices.pop();
        }
        let names: Vec<&str> = devices.iter().map(|d| d.name()).collect();
        let name = names.join(" + ");
        Some(Arc::new(Self { name, devices }))
    }

    /// Computes a list of grids for each device, all at once.
    fn shares(
        &self,
        surface: &Arc<Surface>,
        (shares, extent): (&[Vec<QGrid>], &Extent),
        how: (Method, Precision, f64),
        memory: u64,
        watch: &Watch,
    ) -> Result<Option<Vec<Vec<Vec<Complex64>>>>, GisaxsError> {
        let one = |device: &Arc<dyn Accelerator>, grids: &[QGrid]| -> Values {
            if grids.iter().all(QGrid::is_empty) {
                return Ok(Some(vec![Vec::new(); grids.len()]));
            }
            device.grids(surface, (grids, extent), how, memory, watch)
        };
        let one = &one;
        let results: Vec<Values> = thread::scope(|scope| {
            let threads: Vec<_> = self
                .devices
                .iter()
                .zip(shares)
                .map(|(device, grids)| scope.spawn(move || one(device, grids)))
                .collect();
            threads
                .into_iter()
                .map(|t| t.join().unwrap_or(Err(GisaxsError::DeviceLost)))
                .collect()
        });
        let name = |n: usize, e: GisaxsError| {
            GisaxsError::Invalid(format!(
                "device {} of {} ({}): {e}. Fix: leave it out of --device",
                n + 1,
                self.devices.len(),
                self.devices[n].name()
            ))
        };
        results
            .into_iter()
            .enumerate()
            .map(|(n, r)| r.map_err(|e| name(n, e)).transpose())
            .collect::<Option<Result<Vec<_>, _>>>()
            .transpose()
    }
}

impl Accelerator for Several {
    fn name(&self) -> &str {
        &self.name
    }

    fn method(
        &self,
        asked: Option<Method>,
        grid: bool,
        transforms: bool,
    ) -> Result<Method, GisaxsError> {
        self.devices[0].method(asked, grid, transforms)
    }

    fn grids(
        &self,
        surface: &Arc<Surface>,
        (grids, extent): (&[QGrid], &Extent),
        how: (Method, Precision, f64),
        memory: u64,
        watch: &Watch,
    ) -> Values {
        let n = self.devices.len();
        if let [grid] = grids
            && runs(grids).is_some()
        {
            // Parts too short for the kernels of tensor grids would have others, with other digits.
            let each = grid.z.len().div_ceil(n).max(FEWEST);
            let mut ends: Vec<usize> = (1..=n).map(|k| (k * each).min(grid.z.len())).collect();
            if let Some(k) = (1..n).find(|&k| (1..FEWEST).contains(&(ends[k] - ends[k - 1]))) {
                ends[k - 1] = ends[k];
            }
            let part = |k: usize| QGrid {
                xy: Arc::clone(&grid.xy),
                z: grid.z[if k == 0 { 0 } else { ends[k - 1] }..ends[k]].to_vec(),
            };
            let shares: Vec<Vec<QGrid>> = (0..n).map(|k| vec![part(k)]).collect();
            let values = self.shares(surface, (&shares, extent), how, memory, watch)?;
            return Ok(values.map(|v| vec![v.into_iter().flatten().flatten().collect()]));
        }
        let shares: Vec<Vec<QGrid>> = (0..n)
            .map(|k| grids.iter().skip(k).step_by(n).cloned().collect())
            .collect();
        let values = self.shares(surface, (&shares, extent), how, memory, watch)?;
        Ok(values.map(|values| {
            let mut rows: Vec<_> = values.into_iter().map(Vec::into_iter).collect();
            (0..grids.len())
                .map(|r| rows[r % n].next().unwrap_or_default())
                .collect()
        }))
    }
}

/// Fewest q_z of a part of a tensor grid.
const FEWEST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Shape;
    use crate::mesh_form_factor::{Blocks, Sampling, direct};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Direct sums on this CPU; fails after a number of calls.
    #[derive(Debug)]
    struct Host {
        calls: AtomicUsize,
        most: usize,
    }

    impl Accelerator for Host {
        fn name(&self) -> &str {
            "host"
        }

        fn method(&self, _: Option<Method>, _: bool, _: bool) -> Result<Method, GisaxsError> {
            Ok(Method::Direct)
        }

        fn grids(
            &self,
            surface: &Arc<Surface>,
            (grids, _): (&[QGrid], &Extent),
            (_, precision, _): (Method, Precision, f64),
            _: u64,
            watch: &Watch,
        ) -> Values {
            if self.calls.fetch_add(1, Ordering::Relaxed) >= self.most {
                return Err(GisaxsError::DeviceLost);
            }
            let how = (precision, Blocks::default());
            Ok(direct(surface, grids, false, how, watch))
        }
    }

    fn several(most: &[usize]) -> Arc<dyn Accelerator> {
        let one = |most: &usize| -> Arc<dyn Accelerator> {
            Arc::new(Host {
                calls: AtomicUsize::new(0),
                most: *most,
            })
        };
        Several::of(most.iter().map(one).collect()).unwrap()
    }

    fn surface() -> Arc<Surface> {
        let shape: Shape = toml::from_str("shape = \"icosahedron\"\nedge = 5.0").unwrap();
        let form = shape.form_factor(std::path::Path::new(".")).unwrap();
        let mesh = form.polyhedron().unwrap().mesh();
        Arc::new(Surface::new(mesh, 5.0, Sampling::Within(1e-7)))
    }

    fn axis(n: usize) -> Vec<f64> {
        (0..n).map(|k| 0.1 + 0.07 * k as f64).collect()
    }

    fn values(on: &Arc<dyn Accelerator>, grids: &[QGrid]) -> Values {
        let stop = AtomicBool::new(false);
        let watch = Watch {
            progress: &|_| {},
            stop: &stop,
        };
        let how = (Method::Direct, Precision::F64, 1e-9);
        on.grids(
            &surface(),
            (grids, &Extent::of(grids)),
            how,
            1 << 30,
            &watch,
        )
    }

    #[test]
    fn the_digits_do_not_depend_on_the_number_of_devices() {
        let heights: Vec<Complex64> = axis(37).iter().map(|z| (*z).into()).collect();
        let tensor = vec![QGrid::grid(&[0.0], &axis(13), &heights)];
        let rows: Vec<QGrid> = (0..19)
            .map(|r| QGrid {
                xy: axis(11).iter().map(|y| [0.01 * f64::from(r), *y]).collect(),
                // One row is below the horizon.
                z: heights[..if r == 3 { 0 } else { 4 }].to_vec(),
            })
            .collect();
        for grids in [tensor, rows] {
            let one = values(&several(&[9]), &grids).unwrap();
            for n in 2..8 {
                assert_eq!(values(&several(&vec![9; n]), &grids).unwrap(), one, "{n}");
            }
        }
    }

    #[test]
    fn a_lost_device_is_named() {
        let heights: Vec<Complex64> = axis(40).iter().map(|z| (*z).into()).collect();
        let grids = vec![QGrid::grid(&[0.0], &axis(13), &heights)];
        let e = values(&several(&[9, 0, 9]), &grids).unwrap_err();
        assert!(
            e.to_string()
                .starts_with("device 2 of 3 (host): the GPU is lost"),
            "{e}"
        );
    }
}
