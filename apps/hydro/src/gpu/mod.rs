//! Steps on a CUDA GPU: everything stays there, and a step is one recorded graph.

mod config;
mod host;
mod memory;

use crate::HydroError;
use crate::balance::Balance;
use crate::engine::{Engine, Part, Spent, State};
use crate::hydro::Hydro;
use crate::ode::{Ode, Op};
use greenup_device::cuda::{
    Arg, Compiler, CudaError, Function, Gpu as Found, Graph, Memory, Module, Session, Shape,
    Source, cubins,
};
use host::Host;
use memory::{Fixed, Register};
use std::time::Instant;

pub use config::{Config, Sizes, source};

/// A GPU with a problem on it.
pub struct Gpu<'a> {
    h: &'a Hydro,
    pub name: String,
    session: Session,
    kernels: Kernels,
    config: Config,
    first: Config,
    full: bool,
    fixed: Fixed,
    states: [Register; 2],
    rates: Vec<Register>,
    /// The time step, then the largest rate as it is raised.
    control: Memory,
    program: Vec<Op>,
    graph: Option<Graph>,
    /// Whether parts are timed one by one, without a graph.
    pub profile: bool,
    host: Option<Host>,
    /// Forces of the state when a solve alone was first measured.
    kept: Option<Memory>,
    ode: Ode,
    compiler: Compiler,
    arch: String,
    processors: u32,
    spent: Spent,
}

struct Kernels {
    corner: Function,
    force: Function,
    work: Function,
    energy_solve: Function,
    solve: Function,
    combine: Function,
    sums: Function,
    corner_matrix: Function,
    corner_ones: Function,
    corner_transposed: Function,
    /// Shared memory at the points and of the solves, threads of products, blocks that run at once.
    corner_bytes: u32,
    solve_bytes: u32,
    matrix_threads: u32,
    resident: u32,
}

fn wrong(e: &CudaError) -> HydroError {
    HydroError(e.words())
}

type Done = Result<(), CudaError>;

/// Compiles the kernels of a config, and loads them.
fn built(
    (compiler, session, arch): (&Compiler, &Session, &str),
    h: &Hydro,
    config: &Config,
    stored: bool,
    processors: u32,
) -> Result<Kernels, CudaError> {
    let text = source(&h.space.element, config, h.affine, stored);
    let compiled = compiler.compile(&Source {
        name: "hydro.cu",
        text: &text,
        arch,
        options: &[],
    })?;
    Kernels::new(&session.load(&compiled.cubin)?, h, config, processors)
}

impl Kernels {
    fn new(m: &Module, h: &Hydro, c: &Config, processors: u32) -> Result<Self, CudaError> {
        let sizes = Sizes::of(&h.space.element);
        let f = |name: &str| m.function(name);
        let (corner_bytes, solve_bytes) =
            (sizes.corner_bytes(c) as u32, sizes.solve_bytes(c) as u32);
        let out = Self {
            corner: f("corner")?,
            force: f("force")?,
            work: f("work")?,
            energy_solve: f("energy_solve")?,
            solve: f("solve")?,
            combine: f("combine")?,
            sums: f("sums")?,
            corner_matrix: f("corner_matrix")?,
            corner_ones: f("corner_ones")?,
            corner_transposed: f("corner_transposed")?,
            corner_bytes,
            solve_bytes,
            matrix_threads: config::matrix_threads(&h.space.element) as u32,
            resident: 1,
        };
        for k in [&out.corner, &out.force, &out.work] {
            k.allow_shared(corner_bytes)?;
        }
        out.solve.allow_shared(solve_bytes)?;
        let each = out
            .solve
            .blocks(c.solve_threads as u32, solve_bytes)?
            .max(1);
        Ok(Self {
            resident: each * processors,
            ..out
        })
    }
}

impl<'a> Gpu<'a> {
    /// Takes a GPU by its number.
    ///
    /// # Errors
    /// No driver, compiler or GPU, not enough memory, or zones that are no products of segments.
    pub fn open(
        h: &'a Hydro,
        ordinal: usize,
        ode: Ode,
        full: bool,
        config: Config,
    ) -> Result<Self, HydroError> {
        let e = &h.space.element;
        if !e.shape.tensor() {
            return Err(HydroError(format!(
                "GPUs take quadrilaterals and hexahedra: take --device cpu for a {:?}",
                e.shape
            )));
        }
        Self::held(h, ordinal, ode, full, config).map_err(|e| wrong(&e))
    }

    fn held(
        h: &'a Hydro,
        ordinal: usize,
        ode: Ode,
        full: bool,
        config: Config,
    ) -> Result<Self, CudaError> {
        let gpu = Found::all()?
            .into_iter()
            .nth(ordinal)
            .ok_or_else(|| CudaError::Driver {
                what: "there is no such GPU",
                cause: ordinal.to_string(),
            })?;
        let session = Session::open(gpu.ordinal)?;
        let compiler = Compiler::new(cubins().as_deref())?;
        // What is worked with other velocities must be stored.
        let stored = full || ode == Ode::Rk2avg;
        let config = Config {
            fused: config.fused && !stored,
            ..config
        };
        let processors = gpu.multiprocessors as u32;
        let kernels = built(
            (&compiler, &session, &gpu.arch),
            h,
            &config,
            stored,
            processors,
        )?;
        let fixed = Fixed::new(&session, h, !config.fused, full, kernels.resident)?;
        let register = || Register::new(&session, h);
        let mut out = Self {
            name: gpu.name.clone(),
            kernels,
            config,
            first: config,
            full,
            fixed,
            states: [register()?, register()?],
            rates: (0..ode.rates())
                .map(|_| register())
                .collect::<Result<_, _>>()?,
            control: session.doubles(&[0.0; 2])?,
            program: ode.program(),
            graph: None,
            profile: false,
            host: None,
            kept: None,
            ode,
            compiler,
            arch: gpu.arch.clone(),
            processors,
            spent: Spent::default(),
            session,
            h,
        };
        out.gravity()?;
        Ok(out)
    }

    /// The mass matrix times gravity, by a solve of no iterations that begins from the image.
    fn gravity(&mut self) -> Done {
        let Some(g) = self.h.gravity else {
            return Ok(());
        };
        let s = &self.h.space;
        let field: Vec<f64> = (0..s.dim).flat_map(|c| vec![g[c]; s.nodes]).collect();
        let mut image = vec![0.0; field.len()];
        crate::csr::Csr::of_mass(self.h).multiply(&field, &mut image);
        self.fixed.gravity = Some(self.session.doubles(&image)?);
        Ok(())
    }

    fn zones(&self) -> usize {
        self.h.space.zones
    }

    fn rules(&self) -> Arg {
        let r = self.h.rules();
        let own = [
            r.h0.to_bits(),
            r.order.to_bits(),
            r.viscous as u64,
            r.turning as u64,
            r.source as u64,
        ];
        let mut words = [0; 17];
        words[..own.len()].copy_from_slice(&own);
        Arg::Words(words)
    }

    /// Blocks of the configured zones.
    fn at_points(&self, zones: usize) -> Shape {
        Shape {
            shared: self.kernels.corner_bytes,
            ..Shape::line(
                zones.div_ceil(self.config.zones) as u32,
                self.config.threads as u32,
            )
        }
    }

    fn wide(n: usize) -> Shape {
        Shape::line((n.div_ceil(256) as u32).clamp(1, 1 << 20), 256)
    }

    fn stress(&self, state: usize) -> Done {
        self.stress_of(state, self.zones())
    }

    /// Stresses of the first zones.
    fn stress_of(&self, state: usize, zones: usize) -> Done {
        let (f, s) = (&self.fixed, &self.states[state]);
        // SAFETY: (of all launches here) arguments are those of the kernels in their order, of memory made for this problem.
        unsafe {
            self.kernels.corner.call(
                &self.at_points(zones),
                &[
                    self.rules(),
                    zones.into(),
                    self.h.space.nodes.into(),
                    (&f.index).into(),
                    (&s.x).into(),
                    (&s.v).into(),
                    (&s.e).into(),
                    (&f.gamma).into(),
                    (&f.stiff).into(),
                    (&f.mass).into(),
                    (&f.start).into(),
                    (&f.stress).into(),
                    (&f.source).into(),
                    (&f.own).into(),
                    (&f.right).into(),
                    Arg::At(self.control.address() + 8),
                ],
            )?;
            if self.full {
                self.kernels.corner_matrix.call(
                    &Shape::line(
                        self.zones().min(1 << 20) as u32,
                        self.kernels.matrix_threads,
                    ),
                    &[self.zones().into(), (&f.stress).into(), (&f.corner).into()],
                )?;
            }
        }
        Ok(())
    }

    fn accelerate(&self, k: usize) -> Done {
        let (f, kernels) = (&self.fixed, &self.kernels);
        let e = &self.h.space.element;
        // SAFETY: as in `stress`.
        unsafe {
            if self.full {
                let n = self.zones() * self.h.space.dim * e.local;
                kernels.corner_ones.call(
                    &Self::wide(n),
                    &[self.zones().into(), (&f.corner).into(), (&f.own).into()],
                )?;
            } else if !self.config.fused {
                kernels.force.call(
                    &self.at_points(self.zones()),
                    &[self.zones().into(), (&f.stress).into(), (&f.own).into()],
                )?;
            }
            let null = Arg::At(0);
            let or_null = |m: &Option<Memory>| m.as_ref().map_or(null, Arg::from);
            let csr = f.csr.as_ref();
            let shape = Shape {
                shared: kernels.solve_bytes,
                ..Shape::line(kernels.resident, self.config.solve_threads as u32)
            };
            kernels.solve.call(
                &shape,
                &[
                    self.zones().into(),
                    self.h.space.nodes.into(),
                    (&f.index).into(),
                    (&f.begin).into(),
                    (&f.shares).into(),
                    f.given.as_ref().unwrap_or(&f.mass).into(),
                    (&f.own).into(),
                    or_null(&f.gravity),
                    (&f.over).into(),
                    (&f.held).into(),
                    csr.map_or(null, |c| (&c[0]).into()),
                    csr.map_or(null, |c| (&c[1]).into()),
                    csr.map_or(null, |c| (&c[2]).into()),
                    (&self.rates[k].v).into(),
                    (&f.solution).into(),
                    (&f.residual).into(),
                    (&f.direction).into(),
                    (&f.image).into(),
                    (&f.products).into(),
                    (&f.gate).into(),
                    (&f.counted).into(),
                    self.h.cg_tol.into(),
                    Arg::Int(self.h.cg_max as i32),
                ],
            )
        }
    }

    /// Energies' rates with velocities of the last stressed state, or any where stresses are stored.
    fn work(&self, v: &Memory, k: usize) -> Done {
        let (f, kernels) = (&self.fixed, &self.kernels);
        let (zones, nodes) = (self.zones(), self.h.space.nodes);
        let n = zones * self.h.space.element.energies;
        // SAFETY: as in `stress`.
        unsafe {
            if self.full {
                kernels.corner_transposed.call(
                    &Self::wide(n),
                    &[
                        self.rules(),
                        zones.into(),
                        nodes.into(),
                        (&f.index).into(),
                        v.into(),
                        (&f.corner).into(),
                        (&f.source).into(),
                        (&f.right).into(),
                    ],
                )?;
            } else if !self.config.fused {
                kernels.work.call(
                    &self.at_points(self.zones()),
                    &[
                        self.rules(),
                        zones.into(),
                        nodes.into(),
                        (&f.index).into(),
                        v.into(),
                        (&f.stress).into(),
                        (&f.source).into(),
                        (&f.right).into(),
                    ],
                )?;
            }
            kernels.energy_solve.call(
                &Self::wide(n),
                &[
                    zones.into(),
                    (&f.inverse).into(),
                    (&f.right).into(),
                    (&self.rates[k].e).into(),
                ],
            )
        }
    }

    /// to = from + dt Σ factor · rate.
    fn combine(&self, to: &Memory, from: &Memory, terms: &[(&Memory, f64)]) -> Done {
        let n = to.len() / 8;
        let mut words = [0_u64; 17];
        for (i, (rate, factor)) in terms.iter().enumerate() {
            words[i] = rate.address();
            words[8 + i] = factor.to_bits();
        }
        words[16] = terms.len() as u64;
        // SAFETY: as in `stress`; `terms` of the kernel is 8 pointers, 8 doubles and a count.
        unsafe {
            self.kernels.combine.call(
                &Self::wide(n),
                &[
                    n.into(),
                    (&self.control).into(),
                    from.into(),
                    Arg::Words(words),
                    to.into(),
                ],
            )
        }
    }

    /// Stresses, of the last zones by the host.
    fn stress_shared(&mut self, state: usize) -> Done {
        let Some(mut host) = self.host.take() else {
            return self.stress(state);
        };
        let mut shared = || -> Done {
            host.fetch(self.h, &self.states[state])?;
            let (begin, end) = (self.session.event()?, self.session.event()?);
            begin.record()?;
            // The GPU's part is told by the host's.
            let zones = host.from;
            self.stress_of(state, zones)?;
            end.record()?;
            host.compute();
            end.wait()?;
            host.took[0] += end.since(&begin)?;
            host.give(self.h, &self.fixed)
        };
        let done = shared();
        self.host = Some(host);
        done
    }

    fn run(&self, op: &Op) -> Done {
        match op {
            Op::Stress => self.stress(1),
            Op::Accelerate(k) => self.accelerate(*k),
            Op::Work { state, rate } => self.work(&self.states[*state].v, *rate),
            Op::WorkAtRate(k) => self.work(&self.rates[*k].x, *k),
            Op::Carry { state, rate } => self.rates[*rate].x.copy_from(&self.states[*state].v),
            Op::Half(k) => {
                let rate = &self.rates[*k];
                self.combine(&rate.x, &self.states[0].v, &[(&rate.v, 0.5)])
            }
            Op::Combine(terms) => {
                let [from, to] = &self.states;
                let parts: [fn(&Register) -> &Memory; 3] = [|r| &r.x, |r| &r.v, |r| &r.e];
                for part in parts {
                    let terms: Vec<(&Memory, f64)> = terms
                        .iter()
                        .map(|(k, c)| (part(&self.rates[*k]), *c))
                        .collect();
                    self.combine(part(to), part(from), &terms)?;
                }
                Ok(())
            }
        }
    }

    /// Sets the time step, and no rate.
    fn control(&mut self, dt: f64) -> Done {
        if let Some(h) = &mut self.host {
            h.rate = 0.0;
        }
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&dt.to_le_bytes());
        self.control.upload(&bytes)
    }

    fn rate(&self) -> Result<f64, CudaError> {
        let mut bytes = [[0; 8]; 2];
        self.control.download(bytes.as_flattened_mut())?;
        let host = self.host.as_ref().map_or(0.0, |h| h.rate);
        Ok(f64::from_le_bytes(bytes[1]).max(host))
    }

    fn stressed(&mut self, state: usize) -> Result<f64, CudaError> {
        self.control(0.0)?;
        self.stress_shared(state)?;
        self.spent.evaluations += 1;
        self.rate()
    }

    /// Each part of a step by itself, timed.
    fn profiled(&mut self) -> Done {
        let program = self.program.clone();
        for op in &program {
            let begin = Instant::now();
            match op {
                Op::Stress => self.stress_shared(1)?,
                _ => self.run(op)?,
            }
            self.session.synchronize()?;
            let took = begin.elapsed().as_secs_f64();
            let s = &mut self.spent;
            *match op {
                Op::Stress => &mut s.stress_s,
                Op::Accelerate(_) => &mut s.solve_s,
                Op::Work { .. } | Op::WorkAtRate(_) => &mut s.force_s,
                Op::Carry { .. } | Op::Half(_) | Op::Combine(_) => &mut s.update_s,
            } += took;
        }
        Ok(())
    }

    fn stepped(&mut self, dt: f64) -> Result<f64, CudaError> {
        self.spent.evaluations += self.program.iter().filter(|o| **o == Op::Stress).count() as u64;
        if self.profile || self.host.is_some() {
            self.control(dt)?;
            self.profiled()?;
            return self.rate();
        }
        if self.graph.is_none() {
            let this = &*self;
            self.graph = Some(
                this.session
                    .graph(&mut || this.program.iter().try_for_each(|op| this.run(op)))?,
            );
        }
        self.control(dt)?;
        if let Some(g) = &self.graph {
            g.launch()?;
        }
        self.rate()
    }

    fn summed(&mut self) -> Result<(f64, f64), CudaError> {
        let (f, s) = (&self.fixed, &self.states[0]);
        let blocks = 512;
        // SAFETY: as in `stress`.
        unsafe {
            self.kernels.sums.call(
                &Shape::line(blocks, self.config.solve_threads as u32),
                &[
                    self.zones().into(),
                    self.h.space.nodes.into(),
                    (&f.index).into(),
                    (&s.v).into(),
                    (&s.e).into(),
                    f.given.as_ref().unwrap_or(&f.mass).into(),
                    (&f.sums).into(),
                ],
            )?;
        }
        let all = memory::read(&f.sums)?;
        Ok(all
            .chunks(2)
            .fold((0.0, 0.0), |a, b| (a.0 + b[0], a.1 + b[1])))
    }
}

impl Gpu<'_> {
    /// Lets the host compute a part of the zones, beginning with a share for the GPU.
    ///
    /// # Errors
    /// A config or an integrator that stores stresses.
    pub fn share(&mut self, share: Option<f64>) -> Result<(), HydroError> {
        let share = share.unwrap_or(0.9);
        if !(share > 0.0 && share < 1.0) {
            return Err(HydroError(format!(
                "--share {share}: it must be between 0 and 1"
            )));
        }
        if !self.config.fused || self.zones() < 16 {
            return Err(HydroError(
                "zones are shared out where there are at least 16 and forces follow stresses at once: not with rk2avg, --operator full or fused=0".into(),
            ));
        }
        self.host = Some(Host::new(self.h, Balance::new(share, self.zones()))?);
        Ok(())
    }

    /// Configs to choose among: the one in use, and others around it.
    fn configs(&self) -> Vec<Config> {
        let c = self.first;
        let mut out = vec![c];
        let mut add = |f: &dyn Fn(&mut Config)| {
            let mut other = c;
            f(&mut other);
            let sizes = Sizes::of(&self.h.space.element);
            let fits = sizes.corner_bytes(&other) < 200 * 1024
                && sizes.solve_bytes(&other) * other.solve_blocks < 200 * 1024;
            if fits && !out.contains(&other) {
                out.push(other);
            }
        };
        for threads in [64, 128, 256] {
            for blocks in [2, 4, 5] {
                let zones = (threads / self.h.space.element.points()).max(1);
                add(&|c| (c.threads, c.zones, c.blocks) = (threads, zones, blocks));
            }
        }
        for zones in [1, 2, 4, 8, 16] {
            add(&|c| c.solve_zones = zones);
        }
        out
    }

    /// A solve for the last stresses, whose forces a solve before may have used up.
    fn solved_again(&mut self) -> Done {
        if self.config.fused {
            if self.kept.is_none() {
                self.stressed(0)?;
                let kept = self.session.alloc(self.fixed.own.len())?;
                kept.copy_from(&self.fixed.own)?;
                self.kept = Some(kept);
            }
            if let Some(kept) = &self.kept {
                self.fixed.own.copy_from(kept)?;
            }
        }
        self.accelerate(0)?;
        self.session.synchronize()
    }

    /// Computes by another config from now on.
    fn configure(&mut self, config: Config) -> Done {
        let stored = self.full || self.ode == Ode::Rk2avg;
        self.kernels = built(
            (&self.compiler, &self.session, &self.arch),
            self.h,
            &config,
            stored,
            self.processors,
        )?;
        self.config = config;
        self.graph = None;
        let products = 16 * self.kernels.resident as usize * self.h.space.dim;
        self.fixed.products = self.session.alloc(products)?;
        self.stressed(0).map(|_| ())
    }
}

impl Engine for Gpu<'_> {
    fn candidates(&self) -> Vec<String> {
        let words = |c: &Config| {
            format!(
                "zones={},threads={},blocks={},solve_zones={}",
                c.zones, c.threads, c.blocks, c.solve_zones
            )
        };
        self.configs().iter().map(words).collect()
    }

    fn choose(&mut self, candidate: usize) -> Result<(), HydroError> {
        let all = self.configs();
        let config = all
            .get(candidate)
            .copied()
            .ok_or_else(|| HydroError(format!("there is no candidate {candidate}")))?;
        self.configure(config).map_err(|e| wrong(&e))
    }

    fn part(&mut self, part: Part) -> Result<(), HydroError> {
        let done = match part {
            Part::Corner => self.stressed(0).and_then(|_| {
                self.work(&self.states[0].v, 0)?;
                self.session.synchronize()
            }),
            Part::Solve => self.solved_again(),
        };
        done.map_err(|e| wrong(&e))
    }

    fn balance(&mut self) -> Result<Option<String>, HydroError> {
        let Some(host) = &mut self.host else {
            return Ok(None);
        };
        let [gpu, cpu, alone] = std::mem::take(&mut host.took);
        let before = host.balance.share();
        let words = format!(
            "period {}: {:.2} % of the zones on the GPU in {:.3} ms, the others on the CPU in {:.3} ms, copies {:.3} ms",
            host.balance.periods + 1,
            100.0 * before,
            1e3 * gpu,
            1e3 * cpu,
            1e3 * alone
        );
        if host.balance.seen(gpu, cpu, alone).is_some() {
            let balance = host.balance.clone();
            self.host = Some(Host::new(self.h, balance)?);
            self.stressed(0).map_err(|e| wrong(&e))?;
        }
        Ok(Some(words))
    }

    fn start(&mut self, s: &State) -> Result<f64, HydroError> {
        let taken = self.states[0]
            .upload(s)
            .and_then(|()| self.states[1].upload(s))
            .and_then(|()| self.stressed(0));
        taken.map_err(|e| wrong(&e))
    }

    fn step(&mut self, dt: f64) -> Result<f64, HydroError> {
        self.stepped(dt).map_err(|e| wrong(&e))
    }

    fn accept(&mut self) -> Result<(), HydroError> {
        let [to, from] = &self.states;
        to.copy_from(from).map_err(|e| wrong(&e))
    }

    fn reject(&mut self) -> Result<f64, HydroError> {
        self.stressed(0).map_err(|e| wrong(&e))
    }

    fn state(&mut self) -> Result<State, HydroError> {
        self.states[0].download().map_err(|e| wrong(&e))
    }

    fn energies(&mut self) -> Result<(f64, f64), HydroError> {
        self.summed().map_err(|e| wrong(&e))
    }

    fn spent(&self) -> Spent {
        let mut bytes = [[0; 8]; 2];
        let counted = self
            .fixed
            .counted
            .download(bytes.as_flattened_mut())
            .map_or([0; 2], |()| bytes.map(u64::from_le_bytes));
        Spent {
            iterations: counted[0] as f64 / self.h.space.dim as f64,
            solves: counted[1],
            ..self.spent
        }
    }
}
