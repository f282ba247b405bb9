//! F on a tensor grid of q, all of it made on the GPU; the host gives nodes and q, and takes F.

use super::direct::Direct;
use super::halves::Halves;
use super::launch::Arg;
use super::nufft::Nufft;
use super::product::Product;
use super::{Device, DirectConfig, GRID};
use crate::numeric::{Extent, Precision, Sheet, Surface, Way};
use greenup_device::cuda::{CudaError, Memory, Module};
use num_complex::Complex64;

/// A computation ready to run: nodes and q are on the GPU, kernels compiled.
pub struct OnGrid<'a> {
    device: &'a Device,
    surface: &'a Surface,
    sheet: &'a Sheet,
    data: Data,
    route: Box<dyn Route>,
}

/// F and what it took.
pub struct Ran {
    pub values: Vec<Complex64>,
    /// Seconds of one run on the GPU, without transfers.
    pub device_s: f64,
}

/// What kernels of every way take.
pub(super) struct Data {
    pub groups: Vec<Group>,
    /// Places of the largest group.
    pub most: usize,
    pub qz: Memory,
    /// Heights.
    pub nz: usize,
    /// x y z s_x s_y s_z in double precision.
    pub nodes: Memory,
    pub count: usize,
    pub centre: [f64; 3],
    /// [group][q_z][q_y], numbers of the way's precision.
    pub f: Memory,
    pub wide: bool,
}

/// Bytes of the GPU that a way takes for a sheet.
pub(super) fn bytes(surface: &Surface, sheet: &Sheet, way: Way, precision: Precision) -> u64 {
    let real: u64 = if precision == Precision::Double { 8 } else { 4 };
    let (nodes, nz) = (surface.nodes.len() as u64, sheet.z.len() as u64);
    let most = sheet.runs().map(|r| r.1).max().unwrap_or(0) as u64;
    let own = match way {
        Way::Direct => 32 * nodes + 16 * most * nz,
        Way::Nufft => 4 * real * most * nz,
        _ if precision == Precision::Split => 24 * most * nz + (8 * nz + 12 * most) * 8192,
        Way::Product | Way::Exact => 2 * real * (nodes * (2 * most + nz) + 2 * most * nz),
    };
    48 * nodes + 2 * real * sheet.len() as u64 + own
}

/// Places with the same q_x.
pub(super) struct Group {
    pub qx: f64,
    pub values: Vec<f64>,
    pub qy: Memory,
    pub begin: usize,
}

impl Group {
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

impl Data {
    /// Bytes of a complex number.
    pub fn pair(&self) -> usize {
        if self.wide { 16 } else { 8 }
    }

    /// Where F of a group goes.
    pub fn out(&self, group: &Group) -> Arg {
        Arg::At(self.f.address() + (self.pair() * group.begin * self.nz) as u64)
    }
}

/// The kernels and tables of one way.
pub(super) trait Route {
    /// Puts the n-th group on the stream. What does not depend on it is made with the first.
    fn group(&self, data: &Data, n: usize) -> Result<(), CudaError>;
}

impl<'a> OnGrid<'a> {
    /// Compiles for a way and brings nodes and q to the GPU.
    ///
    /// # Errors
    /// No memory, a kernel that does not compile, or a way or precision that this GPU has not for these q.
    pub fn new(
        device: &'a Device,
        surface: &'a Surface,
        sheet: &'a Sheet,
        (way, precision, accuracy): (Way, Precision, f64),
        config: DirectConfig,
    ) -> Result<Self, CudaError> {
        let nodes = &surface.nodes;
        let extent = Extent::of(std::slice::from_ref(sheet));
        let groups = sheet
            .runs()
            .map(|(begin, n)| {
                let values: Vec<f64> = sheet.xy[begin..begin + n].iter().map(|p| p[1]).collect();
                Ok(Group {
                    qx: sheet.xy[begin][0],
                    qy: device.doubles(&values)?,
                    values,
                    begin,
                })
            })
            .collect::<Result<Vec<_>, CudaError>>()?;
        let wide = precision == Precision::Double && way != Way::Direct;
        let flat: Vec<f64> = nodes
            .place
            .iter()
            .zip(&nodes.strength)
            .flat_map(|(r, s)| [r[0], r[1], r[2], s[0], s[1], s[2]])
            .collect();
        let qz: Vec<f64> = sheet.z.iter().flat_map(|z| [z.re, z.im]).collect();
        let data = Data {
            most: groups.iter().map(Group::len).max().unwrap_or(0),
            groups,
            qz: device.doubles(&qz)?,
            nz: sheet.z.len(),
            nodes: device.doubles(&flat)?,
            count: nodes.len(),
            centre: nodes.centre,
            f: device
                .session
                .alloc(if wide { 16 } else { 8 } * sheet.len())?,
            wide,
        };
        let bits = if wide { 64 } else { 32 };
        let module = || -> Result<Module, CudaError> {
            device.module("grid.cu", GRID, &[format!("-DBITS={bits}")])
        };
        let route: Box<dyn Route> = match (way, precision) {
            (Way::Direct, _) => Box::new(Direct::new(
                device,
                (surface, sheet, &data),
                config,
                &module()?,
            )?),
            (Way::Nufft, _) => Box::new(Nufft::new(
                device,
                (surface, &data),
                (&extent, accuracy),
                &module()?,
            )?),
            (_, Precision::Split) => Box::new(Halves::new(device, (surface, &data), &extent)?),
            (Way::Product | Way::Exact, _) => Box::new(Product::new(device, &data, &module()?)?),
        };
        Ok(Self {
            device,
            surface,
            sheet,
            data,
            route,
        })
    }

    /// Puts one whole computation on the stream.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn enqueue(&self) -> Result<(), CudaError> {
        (0..self.data.groups.len()).try_for_each(|n| self.route.group(&self.data, n))
    }

    /// Runs so many times and takes F.
    ///
    /// # Errors
    /// A kernel failed, or the GPU is lost.
    pub fn run(&self, times: usize) -> Result<Ran, CudaError> {
        let device_s = self.time(times)?;
        Ok(Ran {
            values: self.values()?,
            device_s,
        })
    }

    /// Seconds of one of so many runs on the GPU.
    ///
    /// # Errors
    /// A kernel failed, or the GPU is lost.
    pub fn time(&self, times: usize) -> Result<f64, CudaError> {
        let session = &self.device.session;
        let (begin, end) = (session.event()?, session.event()?);
        begin.record()?;
        for _ in 0..times.max(1) {
            self.enqueue()?;
        }
        end.record()?;
        end.wait()?;
        Ok(end.since(&begin)? / times.max(1) as f64)
    }

    /// F as the sheet orders it; near q = 0 by moments, on the host.
    fn values(&self) -> Result<Vec<Complex64>, CudaError> {
        let mut bytes = vec![0; self.data.f.len()];
        self.data.f.download(&mut bytes)?;
        let numbers: Vec<f64> = if self.data.wide {
            let (all, _) = bytes.as_chunks::<8>();
            all.iter().map(|b| f64::from_le_bytes(*b)).collect()
        } else {
            let (all, _) = bytes.as_chunks::<4>();
            all.iter().map(|b| f32::from_le_bytes(*b).into()).collect()
        };
        let (pairs, _) = numbers.as_chunks::<2>();
        let (places, nz) = (self.sheet.xy.len(), self.data.nz);
        let mut out = vec![Complex64::ZERO; self.sheet.len()];
        for g in &self.data.groups {
            for k in 0..nz {
                for j in 0..g.len() {
                    let [re, im] = pairs[g.begin * nz + k * g.len() + j];
                    let at = k * places + g.begin + j;
                    let q = self.sheet.q(at);
                    out[at] = self.surface.near(&q).unwrap_or(Complex64::new(re, im));
                }
            }
        }
        Ok(out)
    }
}
