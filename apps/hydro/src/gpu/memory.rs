//! Memory of a problem on the GPU.

use super::ranks::{NOT_COUNTED, RankPart};
use crate::cpu::Shared;
use crate::engine::State;
use crate::fem::mass_matrix::Csr;
use crate::hydro::Hydro;
use greenup_device::cuda::{CudaError, Memory, Session};

/// A state or a rate in GPU memory.
pub(super) struct Register {
    pub x: Memory,
    pub v: Memory,
    pub e: Memory,
}

/// Constant data of the problem, and work arrays.
pub(super) struct Fixed {
    pub index: Memory,
    pub begin: Memory,
    pub shares: Memory,
    pub gamma: Memory,
    pub p_inf: Memory,
    pub mass: Memory,
    pub matrix_mass: Option<Memory>,
    pub start: Memory,
    pub inverse: Memory,
    /// Inverse diagonal of the mass matrix.
    pub over: Memory,
    /// Constrained components of each node, one bit each.
    pub constrained: Memory,
    pub gravity: Option<Memory>,
    /// Row offsets, columns and values of the assembled mass matrix.
    pub csr: Option<[Memory; 3]>,
    pub stress: Memory,
    pub source: Memory,
    pub corner: Memory,
    pub zone_forces: Memory,
    pub right: Memory,
    pub solution: Memory,
    pub residual: Memory,
    pub direction: Memory,
    pub image: Memory,
    pub products: Memory,
    pub grid_barrier: Memory,
    pub counted: Memory,
    pub sums: Memory,
}

type Result<T> = std::result::Result<T, CudaError>;

/// Downloads memory as doubles.
pub(super) fn read(m: &Memory) -> Result<Vec<f64>> {
    let mut out = vec![0.0_f64; m.len() / 8];
    // SAFETY: doubles are plain bytes of any pattern.
    let bytes = unsafe {
        std::slice::from_raw_parts_mut(out.as_mut_ptr().cast::<u8>(), size_of_val(&out[..]))
    };
    m.download(bytes)?;
    Ok(out)
}

impl Register {
    pub fn new(session: &Session, h: &Hydro) -> Result<Self> {
        let s = &h.space;
        let nodes = s.dim * s.nodes;
        Ok(Self {
            x: session.alloc(8 * nodes)?,
            v: session.alloc(8 * nodes)?,
            e: session.alloc(8 * s.zones * s.element.energies)?,
        })
    }

    pub fn upload(&self, s: &State) -> Result<()> {
        for (to, from) in [(&self.x, &s.x), (&self.v, &s.v), (&self.e, &s.e)] {
            // SAFETY: doubles are plain bytes.
            let bytes = unsafe {
                std::slice::from_raw_parts(from.as_ptr().cast::<u8>(), size_of_val(&from[..]))
            };
            to.upload(bytes)?;
        }
        Ok(())
    }

    pub fn download(&self) -> Result<State> {
        Ok(State {
            x: read(&self.x)?,
            v: read(&self.v)?,
            e: read(&self.e)?,
        })
    }

    pub fn copy_from(&self, other: &Self) -> Result<()> {
        self.x.copy_from(&other.x)?;
        self.v.copy_from(&other.v)?;
        self.e.copy_from(&other.e)
    }
}

/// J₀⁻¹ in the layout of the kernels: [zone][entry] for affine zones, else [zone][entry][point].
fn starts(h: &Hydro) -> Vec<f64> {
    if h.affine {
        return h.inverse.clone();
    }
    let (points, dd) = (h.space.element.points(), h.space.dim * h.space.dim);
    let mut out = vec![0.0; h.inverse.len()];
    for (to, from) in out
        .chunks_mut(points * dd)
        .zip(h.inverse.chunks(points * dd))
    {
        for q in 0..points {
            for i in 0..dd {
                to[i * points + q] = from[q * dd + i];
            }
        }
    }
    out
}

impl Fixed {
    pub fn new(
        session: &Session,
        h: &Hydro,
        stored: bool,
        csr: Option<&Csr>,
        (resident, part): (u32, Option<&RankPart>),
    ) -> Result<Self> {
        let (s, e) = (&h.space, &h.space.element);
        let (d, zones, points) = (s.dim, s.zones, e.points());
        let room = |n: usize, when: bool| session.alloc(if when { 8 * n } else { 8 });
        // Other ranks use these, maybe from other processes.
        let shared = |n: usize| match part {
            Some(_) => session.alloc((8 * n).max(1).next_multiple_of(BLOCK)),
            None => session.alloc(8 * n.max(1)),
        };
        let mut shares: Vec<u32> = s
            .shares
            .iter()
            .map(|(z, i)| ((*z as usize * e.local + *i as usize) * d) as u32)
            .collect();
        if let Some(part) = part {
            part.number(h, &mut shares);
        }
        let n = e.energies * e.energies;
        let mut inverse = vec![0.0; zones * n];
        let to = Shared::new(&mut inverse);
        h.energy_inverses(&|z, m, by| {
            for (k, x) in m.iter().enumerate() {
                // Columns first: neighbouring threads read neighbouring rows.
                let (row, column) = (k / e.energies, k % e.energies);
                // SAFETY: each zone writes its own part.
                unsafe { *to.at(z * n + column * e.energies + row) = x * by };
            }
        })
        .map_err(|e| CudaError::Driver {
            what: "the problem cannot be put on the GPU",
            cause: e.to_string(),
        })?;
        let gas =
            |f: fn(&crate::problem::Gas) -> f64| -> Vec<f64> { h.gas.iter().map(f).collect() };
        let full = csr.is_some();
        let csr = csr
            .map(|m| {
                Ok([
                    session.words(&m.begin)?,
                    session.words(&m.columns)?,
                    session.doubles(&m.values)?,
                ])
            })
            .transpose()?;
        let nodes = d * s.nodes;
        let constrained: Vec<u8> = (0..s.nodes)
            .map(|n| {
                let elsewhere = part.is_some_and(|p| !p.owned[n]);
                let counted = if elsewhere { NOT_COUNTED } else { 0 };
                (0..d).fold(counted, |b, c| {
                    b | u8::from(s.constrained[c * s.nodes + n]) << c
                })
            })
            .collect();
        Ok(Self {
            index: session.words(&s.of_zone)?,
            begin: match part {
                Some(part) => session.words(&part.begin(h))?,
                None => session.words(&s.begin)?,
            },
            shares: session.words(&shares)?,
            gamma: session.doubles(&gas(|g| g.gamma))?,
            p_inf: session.doubles(&gas(|g| g.p_inf))?,
            mass: session.doubles(&h.mass)?,
            matrix_mass: h
                .prescribed_mass
                .as_ref()
                .map(|m| session.doubles(m))
                .transpose()?,
            start: session.doubles(&starts(h))?,
            inverse: session.doubles(&inverse)?,
            over: session.doubles(&h.diagonal().iter().map(|d| 1.0 / d).collect::<Vec<_>>())?,
            constrained: session.kept(&constrained)?,
            gravity: None,
            csr,
            stress: room(zones * d * d * points, stored)?,
            source: room(zones * points, stored && h.problem.source(d))?,
            corner: room(zones * d * e.local * e.energies, full)?,
            zone_forces: shared(zones * d * e.local)?,
            right: room(zones * e.energies, true)?,
            solution: room(nodes, true)?,
            residual: room(nodes, true)?,
            direction: room(nodes, true)?,
            image: shared(if full { nodes } else { 1 })?,
            products: room(2 * resident as usize * d, true)?,
            grid_barrier: session.words(&[0; 4])?,
            counted: session.doubles(&[0.0; 2])?,
            sums: room(2 * 512, true)?,
        })
    }
}

/// Allocations that other processes use are multiples of this, so that they are alone in a block of the driver.
pub(in crate::gpu) const BLOCK: usize = 2 << 20;

pub(super) type Done = Result<()>;
