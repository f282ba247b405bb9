//! Several devices that share the work of one.

use super::accelerator::{DeviceTimes, MakeMeter, Request, Sums, Values, whole_grid};
use super::{Accelerator, Method, QGrid, Watch, part_of};
use crate::GisaxsError;
use greenup_meter::Measurement;
use greenup_setting::setting;
use num_complex::Complex64;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

/// Devices that share work: each has some rows of a detector, or some q_z of a tensor grid; the nonuniform FFT spreads some
/// nodes on each and adds the cells, which are integers. The shares depend on the number of devices only, the digits not
/// even on that.
#[derive(Debug)]
pub struct Several {
    name: String,
    devices: Vec<Arc<dyn Accelerator>>,
}

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

    /// Does the work of each device, all at once.
    fn each<T: Send>(
        &self,
        work: impl Fn(usize, &dyn Accelerator) -> Result<T, GisaxsError> + Sync,
    ) -> Result<Vec<T>, GisaxsError> {
        let none = vec![(); self.devices.len()];
        self.each_with(none, |n, device, ()| work(n, device))
    }

    /// The same; each device has one of `inputs`.
    fn each_with<I: Send, T: Send>(
        &self,
        inputs: Vec<I>,
        work: impl Fn(usize, &dyn Accelerator, I) -> Result<T, GisaxsError> + Sync,
    ) -> Result<Vec<T>, GisaxsError> {
        let work = &work;
        let results: Vec<Result<T, GisaxsError>> = thread::scope(|scope| {
            let threads: Vec<_> = self
                .devices
                .iter()
                .zip(inputs)
                .enumerate()
                .map(|(n, (device, input))| {
                    thread::Builder::new().spawn_scoped(scope, move || work(n, &**device, input))
                })
                .collect();
            threads
                .into_iter()
                .map(|t| match t {
                    Ok(t) => t.join().unwrap_or(Err(GisaxsError::DeviceLost)),
                    Err(e) => Err(format!("no thread can be started: {e}").into()),
                })
                .collect()
        });
        let named = |(n, r): (usize, Result<T, GisaxsError>)| {
            r.map_err(|e| {
                let fix = match e {
                    // Any device would say so.
                    GisaxsError::Invalid(_) => String::new(),
                    _ => format!(". Fix: leave it out of {}", setting("device")),
                };
                GisaxsError::Device {
                    number: n + 1,
                    count: self.devices.len(),
                    name: self.devices[n].name().to_owned(),
                    source: Box::new(e),
                    fix,
                }
            })
        };
        results.into_iter().enumerate().map(named).collect()
    }

    /// The q_z of a tensor grid, of `count`, that a device has.
    fn part(&self, request: &Request, count: usize, n: usize) -> Range<usize> {
        part_of(count, n, (self.devices.len(), self.grain(request)))
    }

    /// The nodes that a device spreads.
    fn nodes(&self, all: &Range<usize>, n: usize) -> Range<usize> {
        let own = part_of(all.len(), n, (self.devices.len(), 1));
        all.start + own.start..all.start + own.end
    }
}

impl Accelerator for Several {
    fn name(&self) -> &str {
        &self.name
    }

    fn parts(&self) -> &[Arc<dyn Accelerator>] {
        &self.devices
    }

    fn method(
        &self,
        asked: Option<Method>,
        grid: bool,
        transforms: bool,
    ) -> Result<Method, GisaxsError> {
        self.devices[0].method(asked, grid, transforms)
    }

    fn grain(&self, request: &Request) -> usize {
        self.devices[0].grain(request)
    }

    fn spread(&self, request: &Request, nodes: Range<usize>) -> Result<Vec<i64>, GisaxsError> {
        let parts = self.each(|n, device| device.spread(request, self.nodes(&nodes, n)))?;
        let mut parts = parts.into_iter();
        let mut sums = parts.next().unwrap_or_default();
        for part in parts {
            for (sum, x) in sums.iter_mut().zip(part) {
                *sum = sum.wrapping_add(x);
            }
        }
        Ok(sums)
    }

    fn grids(&self, request: &Request, grids: &[QGrid], sums: Sums<'_>, watch: &Watch) -> Values {
        let devices = self.devices.len();
        let one = |device: &dyn Accelerator, grids: &[QGrid]| {
            if grids.iter().all(QGrid::is_empty) {
                return Ok(Some(vec![Vec::new(); grids.len()]));
            }
            device.grids(request, grids, sums, watch)
        };
        if let ([grid], true) = (grids, request.tensor) {
            return whole_grid(self, request, grid, sums, watch);
        }
        let values = self.each(|n, device| {
            let own: Vec<QGrid> = grids.iter().skip(n).step_by(devices).cloned().collect();
            one(device, &own)
        })?;
        let values: Option<Vec<_>> = values.into_iter().collect();
        Ok(values.map(|values| {
            let mut rows: Vec<_> = values.into_iter().map(Vec::into_iter).collect();
            (0..grids.len())
                .map(|r| rows[r % devices].next().unwrap_or_default())
                .collect()
        }))
    }

    fn heights(
        &self,
        request: &Request,
        (grid, range): (&QGrid, Range<usize>),
        sums: Sums<'_>,
        out: &mut [Complex64],
        watch: &Watch,
    ) -> Result<bool, GisaxsError> {
        let mut rest = out;
        let mut parts = Vec::new();
        for n in 0..self.devices.len() {
            let own = self.part(request, range.len(), n);
            let (to, after) = rest.split_at_mut(own.len() * grid.xy.len());
            parts.push((range.start + own.start..range.start + own.end, to));
            rest = after;
        }
        // Each device writes its part of the result.
        let ran = self.each_with(parts, |_, device, (own, to)| {
            if to.is_empty() {
                Ok(true)
            } else {
                device.heights(request, (grid, own), sums, to, watch)
            }
        })?;
        Ok(ran.iter().all(|ran| *ran))
    }

    fn take_times(&self) -> Vec<DeviceTimes> {
        self.devices.iter().flat_map(|d| d.take_times()).collect()
    }

    fn measure(
        &self,
        request: &Request,
        grid: &QGrid,
        nodes: Range<usize>,
        meter: &Arc<MakeMeter>,
    ) -> Result<Vec<Measurement>, GisaxsError> {
        let all = self.each(|n, device| {
            let part = grid.at_heights(self.part(request, grid.z.len(), n));
            device.measure(request, &part, self.nodes(&nodes, n), meter)
        })?;
        Ok(all.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Shape;
    use crate::mesh_form_factor::{Blocks, Precision, Sampling, Surface, direct};
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

        fn grain(&self, _: &Request) -> usize {
            4
        }

        fn spread(&self, _: &Request, nodes: Range<usize>) -> Result<Vec<i64>, GisaxsError> {
            // Sums that wrap.
            Ok(vec![nodes.map(|n| n as i64).sum(), i64::MAX / 2])
        }

        fn grids(&self, request: &Request, grids: &[QGrid], _: Sums<'_>, watch: &Watch) -> Values {
            if self.calls.fetch_add(1, Ordering::Relaxed) >= self.most {
                return Err(GisaxsError::DeviceLost);
            }
            let how = (request.precision, Blocks::default());
            Ok(direct(&request.surface, grids, false, how, watch))
        }

        fn take_times(&self) -> Vec<DeviceTimes> {
            let calls = self.calls.swap(0, Ordering::Relaxed);
            vec![DeviceTimes::of_kernels(calls as f64)]
        }

        fn measure(
            &self,
            _: &Request,
            _: &QGrid,
            _: Range<usize>,
            _: &Arc<MakeMeter>,
        ) -> Result<Vec<Measurement>, GisaxsError> {
            Err("no meter".into())
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
        on.grids(&request(grids), grids, None, &watch)
    }

    fn request(grids: &[QGrid]) -> Request {
        let how = (Method::Direct, Precision::F64, 1e-9);
        Request::new(surface(), grids, how, 1 << 30)
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
                .starts_with("device 2 of 3 (host): the GPU does not answer"),
            "{e}"
        );
    }

    #[test]
    fn memory_that_one_of_several_lacks_is_told_as_such() {
        let Err(lacking) = greenup_process::memory::check("everything", u64::MAX) else {
            panic!("no host has so much memory");
        };
        let e = GisaxsError::Device {
            number: 2,
            count: 3,
            name: "host".into(),
            source: Box::new(lacking.into()),
            fix: String::new(),
        };
        assert!(greenup_app::AppError::from(e).out_of_memory);
    }

    #[test]
    fn all_nodes_are_spread_once_and_times_are_listed() {
        let heights: Vec<Complex64> = axis(9).iter().map(|z| (*z).into()).collect();
        let grids = vec![QGrid::grid(&[0.0], &axis(40), &heights)];
        for n in 1..6 {
            let on = several(&vec![9; n]);
            let sums = on.spread(&request(&grids), 3..100).unwrap();
            let all = (0..n).fold(0_i64, |sum, _| sum.wrapping_add(i64::MAX / 2));
            assert_eq!(sums, [(3..100).sum::<i64>(), all]);
            values(&on, &grids).unwrap();
            let times = on.take_times();
            assert_eq!(times.len(), n);
            // Four q_z stay together: three devices have work.
            assert_eq!(times.iter().map(|t| t.sum()).sum::<f64>(), n.min(3) as f64);
            assert_eq!(on.parts().len(), if n > 1 { n } else { 0 });
        }
    }
}
