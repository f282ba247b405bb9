//! Ranks whose GPUs have no access to each other's memory, or share a GPU: a solve in parts, between which the host
//! exchanges messages.

use super::part::{RankPart, addresses, messages};
use super::peers::Addresses;
use crate::gpu::Done;
use crate::gpu::arguments::{RankArguments, RankSolveArguments, SolvePart};
use crate::gpu::kernels::{Kernels, PartKernels};
use crate::gpu::memory::{self, Fixed};
use crate::hydro::Hydro;
use crate::part::Lists;
use greenup_device::cuda::{CudaError, Memory, Pinned, Session, Shape};
use greenup_device::memory::{bytes, bytes_mut};
use greenup_ranks::{Link, Ranks};

/// Messages with other ranks between parts of a solve.
pub(super) struct Staged {
    by_zone: Exchange,
    by_rank: Option<Exchange>,
    /// CG iterations of all components, and solves.
    pub counted: [u64; 2],
}

/// Contributions to shared nodes, exchanged by the host.
struct Exchange {
    link: Box<dyn Link>,
    addresses: Addresses,
    /// Places of the contributions to send, peer by peer.
    from: Memory,
    count: usize,
    message: Memory,
    received: Memory,
    outgoing: Pinned,
    incoming: Pinned,
    /// Numbers to send to each peer, and to receive from it.
    lengths: Vec<(usize, usize)>,
}

impl Staged {
    pub fn new(
        part: &RankPart,
        h: &Hydro,
        session: &Session,
        fixed: &Fixed,
    ) -> Result<Self, CudaError> {
        let (ranks, dim) = (&*part.ranks, h.space.dim);
        let of = |lists: &Lists, values: &Memory, own: &[u32]| {
            Exchange::new((ranks, session), lists, (values, own), dim)
        };
        Ok(Self {
            by_zone: of(&part.by_zone, &fixed.zone_forces, &part.places(h))?,
            by_rank: (part.by_rank.as_ref())
                .map(|lists| of(lists, &fixed.image, &part.rows(h)))
                .transpose()?,
            counted: [0; 2],
        })
    }

    /// Arguments of a solve, but for the numbers of the rank.
    pub fn arguments(&self) -> RankArguments {
        let by_rank = self.by_rank.as_ref();
        RankArguments {
            by_zone: self.by_zone.addresses.arguments(),
            by_rank: by_rank.map_or_else(Default::default, |e| e.addresses.arguments()),
            ..RankArguments::default()
        }
    }

    /// Solves for accelerations.
    pub fn solve(
        &mut self,
        ranks: &dyn Ranks,
        (kernels, shape): (&Kernels, &Shape),
        arguments: RankSolveArguments,
        fixed: &Fixed,
        dim: usize,
    ) -> Done {
        let Some(parts) = &kernels.parts else {
            return Err(CudaError::Driver {
                what: "there is no such kernel",
                cause: "a solve in parts".into(),
            });
        };
        let mut part = SolvePart {
            solve: arguments,
            alpha: [0.0; 3],
            beta: [0.0; 3],
        };
        let blocks = shape.grid[0] as usize;
        let plain = Shape {
            shared: 0,
            ..*shape
        };
        let full = arguments.solve.row.address() != 0;
        let sums = || -> Result<[f64; 3], CudaError> {
            let all = memory::read(&fixed.products)?;
            let mut out = [0.0; 3];
            for block in all.chunks(dim).take(blocks) {
                for (to, x) in out.iter_mut().zip(block) {
                    *to += x;
                }
            }
            ranks.sum(&mut out);
            Ok(out)
        };
        self.by_zone.exchange(parts, &fixed.zone_forces, dim)?;
        // SAFETY: (of all launches here) the arguments are those of the kernels, with memory allocated for this problem.
        unsafe { parts.begin.call_with(&plain, &part) }?;
        let mut now = sums()?;
        let tolerance = arguments.solve.tolerance;
        let end = now.map(|x| tolerance * tolerance * x);
        for _ in 0..arguments.solve.max_iterations {
            let active: [bool; 3] =
                std::array::from_fn(|k| k < dim && now[k] > end[k] && now[k] > 0.0);
            if !active.contains(&true) {
                break;
            }
            // SAFETY: see above.
            unsafe { parts.product.call_with(shape, &part) }?;
            match (full, &mut self.by_rank) {
                (true, Some(by_rank)) => by_rank.exchange(parts, &fixed.image, dim)?,
                _ => self.by_zone.exchange(parts, &fixed.zone_forces, dim)?,
            }
            let curvature = sums()?;
            part.alpha = std::array::from_fn(|k| {
                if active[k] {
                    now[k] / curvature[k]
                } else {
                    0.0
                }
            });
            // SAFETY: see above.
            unsafe { parts.residual.call_with(&plain, &part) }?;
            let next = sums()?;
            part.beta = [0.0; 3];
            for k in (0..dim).filter(|k| active[*k]) {
                part.beta[k] = next[k] / now[k];
                now[k] = next[k];
                self.counted[0] += 1;
            }
            // SAFETY: see above.
            unsafe { parts.direction.call_with(&plain, &part) }?;
        }
        self.counted[1] += 1;
        // SAFETY: see above.
        unsafe { parts.end.call_with(&plain, &part) }
    }
}

impl Exchange {
    fn new(
        (ranks, session): (&dyn Ranks, &Session),
        lists: &Lists,
        (values, own): (&Memory, &[u32]),
        dim: usize,
    ) -> Result<Self, CudaError> {
        let all: Vec<u32> = (lists.send.iter().flatten())
            .map(|i| own[*i as usize])
            .collect();
        let received = session.alloc(8 * dim * lists.receive.iter().sum::<usize>())?;
        let mut next = received.address();
        let theirs: Vec<Vec<u64>> = (lists.receive.iter())
            .map(|n| {
                let each = 8 * dim as u64;
                let from = next;
                next += each * *n as u64;
                (0..*n as u64).map(|i| from + each * i).collect()
            })
            .collect();
        let own_at: Vec<u64> = (own.iter())
            .map(|i| values.address() + 8 * u64::from(*i))
            .collect();
        let peers = messages(lists, dim);
        Ok(Self {
            link: ranks.link(&peers),
            addresses: Addresses::new(session, lists, &addresses(lists, &own_at, &theirs))?,
            from: session.words(&all)?,
            count: all.len(),
            message: session.alloc(8 * dim * all.len())?,
            outgoing: session.pinned(8 * dim * all.len())?,
            incoming: session.pinned(received.len())?,
            received,
            lengths: peers.iter().map(|p| (p.send, p.receive)).collect(),
        })
    }

    /// Sends the own contributions and receives those of the others.
    fn exchange(&mut self, parts: &PartKernels, values: &Memory, dim: usize) -> Done {
        let n = self.count * dim;
        if n > 0 {
            let blocks = n.div_ceil(256).min(1 << 16) as u32;
            // SAFETY: the arguments are those of the kernel, with memory allocated for this problem.
            unsafe {
                parts.pack.call(
                    &Shape::line(blocks, 256),
                    &[
                        self.count.into(),
                        (&self.from).into(),
                        values.into(),
                        (&self.message).into(),
                    ],
                )
            }?;
            self.outgoing.download(&self.message, 8 * n)?;
        }
        // Also waits for the copy of the message before.
        let sent = self.outgoing.bytes()?;
        let mut at = 0;
        for (p, (send, _)) in self.lengths.iter().enumerate() {
            bytes_mut(self.link.outgoing(p)).copy_from_slice(&sent[at..at + 8 * send]);
            at += 8 * send;
        }
        self.link.begin();
        self.link.finish();
        let received = self.incoming.bytes()?;
        let mut at = 0;
        for (p, (_, receive)) in self.lengths.iter().enumerate() {
            received[at..at + 8 * receive].copy_from_slice(bytes(self.link.incoming(p)));
            at += 8 * receive;
        }
        if at > 0 {
            self.incoming.upload(&self.received, at)?;
        }
        Ok(())
    }
}
