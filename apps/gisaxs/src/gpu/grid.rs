//! F on a tensor grid of q, all of it made on the GPU; the host gives nodes and q, and takes F.

use super::launch::{Arg, launch, sheet};
use super::{COPIES, DIRECT, Device, DirectConfig, GRID};
use crate::numeric::{Axis, Extent, Precision, Sheet, Surface, Way, Window};
use greenup_device::cuda::{CudaError, Function, Memory, Module, Shape};
use num_complex::Complex64;
use std::f64::consts::{LOG2_E, TAU};

/// A computation ready to run: nodes and q are on the GPU, kernels compiled.
pub struct OnGrid<'a> {
    device: &'a Device,
    surface: &'a Surface,
    sheet: &'a Sheet,
    /// q_y, and (q_x, where its places begin, how many).
    qy: Vec<(f64, Memory, usize, usize)>,
    qz: Memory,
    nodes: Memory,
    f: Memory,
    /// Sums of products on their way.
    sums: Memory,
    wide: bool,
    how: How,
}

/// F and what it took.
pub struct Ran {
    pub values: Vec<Complex64>,
    /// Seconds of one run on the GPU, without transfers.
    pub device_s: f64,
}

enum How {
    Direct {
        config: DirectConfig,
        kernel: Function,
        finish: Function,
        packed: Memory,
        count: usize,
        qy: Vec<Memory>,
        qz: Memory,
        loss: Memory,
        sums: Memory,
    },
    Product {
        kernels: Kernels,
        rows: [Memory; 2],
        columns: Memory,
    },
    Nufft {
        kernels: Kernels,
        window: Window,
        axes: [Axis; 2],
        rule: Memory,
        cells: Memory,
        zeros: Memory,
        waves: Memory,
        rows: [Memory; 2],
        columns: Memory,
    },
}

struct Kernels {
    rows: Function,
    columns: Function,
    spread: Function,
    waves: Function,
    along: Function,
    product: Function,
}

impl Kernels {
    fn new(m: &Module) -> Result<Self, CudaError> {
        Ok(Self {
            rows: m.function("rows")?,
            columns: m.function("columns")?,
            spread: m.function("spread")?,
            waves: m.function("waves")?,
            along: m.function("along")?,
            product: m.function("product")?,
        })
    }
}

impl<'a> OnGrid<'a> {
    /// Compiles for a way and brings nodes and q to the GPU.
    ///
    /// # Errors
    /// No memory, or a kernel that does not compile. `Exact` is not for GPUs.
    pub fn new(
        device: &'a Device,
        surface: &'a Surface,
        sheet: &'a Sheet,
        (way, precision, accuracy): (Way, Precision, f64),
        config: DirectConfig,
    ) -> Result<Self, CudaError> {
        let nodes = &surface.nodes;
        let extent = Extent::of(std::slice::from_ref(sheet));
        let mut groups = Vec::new();
        let mut begin = 0;
        while begin < sheet.xy.len() {
            let x = sheet.xy[begin][0];
            let n = sheet.xy[begin..].iter().take_while(|p| p[0] == x).count();
            let qy: Vec<f64> = sheet.xy[begin..begin + n].iter().map(|p| p[1]).collect();
            groups.push((x, qy, begin, n));
            begin += n;
        }
        let most = groups.iter().map(|g| g.3).max().unwrap_or(0);
        let nz = sheet.z.len();
        let wide = precision == Precision::Double && way != Way::Direct;
        let bits = if wide { 64 } else { 32 };
        let pair = if wide { 16 } else { 8 };
        let module = device.module("grid.cu", GRID, &[format!("-DBITS={bits}")])?;
        let memory = |bytes: usize| device.session.alloc(bytes);
        let how = match way {
            Way::Direct => {
                let text = DIRECT.replace("#include \"copies.cuh\"", COPIES);
                let damped = extent.damping > 0.0;
                let kernel = device
                    .module("direct.cu", &text, &config.options(damped))?
                    .function("direct")?;
                let count = nodes.len().next_multiple_of(config.tile as usize);
                let mut packed = vec![0.0_f32; 8 * count];
                for (to, (r, s)) in packed
                    .chunks_mut(8)
                    .zip(nodes.place.iter().zip(&nodes.strength))
                {
                    for k in 0..3 {
                        to[k] = r[k] as f32;
                        to[3 + k] = s[k] as f32;
                    }
                }
                let turns = |q: f64| (q / TAU) as f32;
                let own =
                    |q: &dyn Fn(&Complex64) -> f32| -> Vec<f32> { sheet.z.iter().map(q).collect() };
                How::Direct {
                    config,
                    kernel,
                    finish: module.function("finish")?,
                    packed: device.floats(&packed)?,
                    count,
                    qy: groups
                        .iter()
                        .map(|g| device.floats(&g.1.iter().map(|q| turns(*q)).collect::<Vec<_>>()))
                        .collect::<Result<_, _>>()?,
                    qz: device.floats(&own(&|z| turns(z.re)))?,
                    loss: device.floats(&own(&|z| (-z.im * LOG2_E) as f32))?,
                    sums: memory(16 * most * nz)?,
                }
            }
            Way::Nufft => {
                let window = Window::new(accuracy);
                let y = Axis::new(nodes.extent(1), extent.y, &window);
                let z = Axis::new(nodes.extent(2), extent.z, &window);
                let rule: Vec<f64> = window.rule().iter().flat_map(|(t, w)| [*t, *w]).collect();
                let cells = 48 * y.cells * z.cells;
                How::Nufft {
                    kernels: Kernels::new(&module)?,
                    rule: device.doubles(&rule)?,
                    cells: memory(cells)?,
                    zeros: device.doubles(&vec![0.0; cells / 8])?,
                    waves: memory(16 * y.cells * most)?,
                    rows: [
                        memory(pair * z.cells * most)?,
                        memory(pair * z.cells * most)?,
                    ],
                    columns: memory(pair * z.cells * nz)?,
                    axes: [y, z],
                    window,
                }
            }
            Way::Product | Way::Exact => How::Product {
                kernels: Kernels::new(&module)?,
                rows: [
                    memory(pair * nodes.len() * most)?,
                    memory(pair * nodes.len() * most)?,
                ],
                columns: memory(pair * nodes.len() * nz)?,
            },
        };
        let flat: Vec<f64> = nodes
            .place
            .iter()
            .zip(&nodes.strength)
            .flat_map(|(r, s)| [r[0], r[1], r[2], s[0], s[1], s[2]])
            .collect();
        let qz: Vec<f64> = sheet.z.iter().flat_map(|z| [z.re, z.im]).collect();
        Ok(Self {
            device,
            surface,
            sheet,
            qy: groups
                .into_iter()
                .map(|(x, qy, begin, n)| Ok((x, device.doubles(&qy)?, begin, n)))
                .collect::<Result<_, CudaError>>()?,
            qz: device.doubles(&qz)?,
            nodes: device.doubles(&flat)?,
            f: memory(pair * sheet.len())?,
            sums: memory(if way == Way::Direct {
                0
            } else {
                2 * pair * most * nz
            })?,
            wide,
            how,
        })
    }

    /// Puts one whole computation on the stream.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn enqueue(&self) -> Result<(), CudaError> {
        let mut first = true;
        for n in 0..self.qy.len() {
            self.group(n, first)?;
            first = false;
        }
        Ok(())
    }

    /// One q_x. What does not depend on it is made with the first.
    fn group(&self, n: usize, first: bool) -> Result<(), CudaError> {
        let (qx, qy, begin, ny) = &self.qy[n];
        let (qx, ny, nz) = (*qx, *ny, self.sheet.z.len());
        let nodes = &self.surface.nodes;
        let [cx, cy, cz] = nodes.centre;
        // F lies [q_x][q_z][q_y], each group whole.
        let pair = if self.wide { 16 } else { 8 };
        let out = Arg::At(self.f.address() + (pair * begin * nz) as u64);
        let tiles = Shape {
            grid: [ny.div_ceil(64) as u32, nz.div_ceil(64) as u32, 1],
            block: [16, 16, 1],
            shared: 0,
        };
        // SAFETY: arguments in the order that grid.cu and direct.cu give; arrays have the
        // sizes that they index, by `new`.
        unsafe {
            match &self.how {
                How::Direct {
                    config,
                    kernel,
                    finish,
                    packed,
                    count,
                    qy: turns,
                    qz,
                    loss,
                    sums,
                } => {
                    let [x, y] = config.blocks(ny, nz);
                    let shape = Shape {
                        grid: [x, y, 1],
                        block: [config.dim_y, config.dim_z, 1],
                        shared: 0,
                    };
                    let along = Arg::Float((qx / TAU) as f32);
                    launch(
                        kernel,
                        &shape,
                        &[
                            (*count).into(),
                            packed.into(),
                            ny.into(),
                            (&turns[n]).into(),
                            nz.into(),
                            qz.into(),
                            loss.into(),
                            along,
                            sums.into(),
                        ],
                    )?;
                    launch(
                        finish,
                        &sheet(ny, nz),
                        &[
                            ny.into(),
                            qy.into(),
                            nz.into(),
                            (&self.qz).into(),
                            qx.into(),
                            cx.into(),
                            cy.into(),
                            cz.into(),
                            sums.into(),
                            out,
                        ],
                    )
                }
                How::Product {
                    kernels,
                    rows,
                    columns,
                } => {
                    let count = nodes.len();
                    launch(
                        &kernels.rows,
                        &sheet(ny, count),
                        &[
                            count.into(),
                            (&self.nodes).into(),
                            ny.into(),
                            qy.into(),
                            qx.into(),
                            (&rows[0]).into(),
                            (&rows[1]).into(),
                        ],
                    )?;
                    if first {
                        launch(
                            &kernels.columns,
                            &sheet(nz, count),
                            &[
                                count.into(),
                                (&self.nodes).into(),
                                nz.into(),
                                (&self.qz).into(),
                                columns.into(),
                            ],
                        )?;
                    }
                    launch(
                        &kernels.product,
                        &tiles,
                        &[
                            count.into(),
                            ny.into(),
                            (&rows[0]).into(),
                            (&rows[1]).into(),
                            nz.into(),
                            columns.into(),
                            qy.into(),
                            (&self.qz).into(),
                            qx.into(),
                            cx.into(),
                            cy.into(),
                            cz.into(),
                            (&self.sums).into(),
                            out,
                        ],
                    )
                }
                How::Nufft {
                    kernels,
                    window,
                    axes: [y, z],
                    rule,
                    cells,
                    zeros,
                    waves,
                    rows,
                    columns,
                } => {
                    cells.copy_from(zeros)?;
                    let width = Arg::Int(window.width as i32);
                    launch(
                        &kernels.spread,
                        &sheet(nodes.len() * window.width, 1),
                        &[
                            nodes.len().into(),
                            (&self.nodes).into(),
                            qx.into(),
                            y.start.into(),
                            y.step.into(),
                            y.middle.into(),
                            z.start.into(),
                            z.step.into(),
                            z.middle.into(),
                            width,
                            window.beta.into(),
                            z.cells.into(),
                            cells.into(),
                        ],
                    )?;
                    let points = Arg::Int(window.rule().len() as i32);
                    if first {
                        launch(
                            &kernels.waves,
                            &sheet(nz, 8),
                            &[
                                nz.into(),
                                (&self.qz).into(),
                                Arg::Int(1),
                                z.middle.into(),
                                z.start.into(),
                                z.step.into(),
                                width,
                                points,
                                rule.into(),
                                cz.into(),
                                z.cells.into(),
                                Arg::At(0),
                                columns.into(),
                            ],
                        )?;
                    }
                    launch(
                        &kernels.waves,
                        &sheet(ny, 8),
                        &[
                            ny.into(),
                            qy.into(),
                            Arg::Int(0),
                            y.middle.into(),
                            y.start.into(),
                            y.step.into(),
                            width,
                            points,
                            rule.into(),
                            cy.into(),
                            y.cells.into(),
                            waves.into(),
                            Arg::At(0),
                        ],
                    )?;
                    launch(
                        &kernels.along,
                        &sheet(ny, z.cells),
                        &[
                            y.cells.into(),
                            z.cells.into(),
                            cells.into(),
                            ny.into(),
                            qy.into(),
                            qx.into(),
                            cx.into(),
                            waves.into(),
                            (&rows[0]).into(),
                            (&rows[1]).into(),
                        ],
                    )?;
                    launch(
                        &kernels.product,
                        &tiles,
                        &[
                            z.cells.into(),
                            ny.into(),
                            (&rows[0]).into(),
                            (&rows[1]).into(),
                            nz.into(),
                            columns.into(),
                            qy.into(),
                            (&self.qz).into(),
                            qx.into(),
                            0.0.into(),
                            0.0.into(),
                            0.0.into(),
                            (&self.sums).into(),
                            out,
                        ],
                    )
                }
            }
        }
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
        let mut bytes = vec![0; self.f.len()];
        self.f.download(&mut bytes)?;
        let numbers: Vec<f64> = if self.wide {
            let (all, _) = bytes.as_chunks::<8>();
            all.iter().map(|b| f64::from_le_bytes(*b)).collect()
        } else {
            let (all, _) = bytes.as_chunks::<4>();
            all.iter().map(|b| f32::from_le_bytes(*b).into()).collect()
        };
        let (pairs, _) = numbers.as_chunks::<2>();
        let places = self.sheet.xy.len();
        let nz = self.sheet.z.len();
        let mut out = vec![Complex64::ZERO; self.sheet.len()];
        for (_, _, begin, n) in &self.qy {
            for k in 0..nz {
                for j in 0..*n {
                    let [re, im] = pairs[begin * nz + k * n + j];
                    let at = k * places + begin + j;
                    let q = self.sheet.q(at);
                    out[at] = self.surface.near(&q).unwrap_or(Complex64::new(re, im));
                }
            }
        }
        Ok(out)
    }
}
