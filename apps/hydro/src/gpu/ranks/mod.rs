//! A GPU that shares the zones with those of other ranks. Contributions to shared nodes are read from the memory of the
//! other GPUs within one kernel a solve; where that is impossible, the host exchanges messages between parts of the solve.
//!
//! | module | contents |
//! |---|---|
//! | `part` | what a rank's GPU must know of the others |
//! | `peers` | memory of the other GPUs |
//! | `staged` | messages by the host |

mod part;
mod peers;
mod staged;

pub(super) use part::NOT_COUNTED;
pub use part::RankPart;

#[cfg(test)]
mod tests;

use super::Done;
use super::arguments::{RankArguments, RankSolveArguments, SolveArguments};
use super::kernels::Kernels;
use super::memory::Fixed;
use crate::hydro::Hydro;
use greenup_device::cuda::{CudaError, Gpu as CudaGpu, Session, Shape};
use greenup_ranks::Ranks;
use peers::Peers;
use staged::Staged;
use std::cell::RefCell;
use std::sync::Arc;

/// The other ranks of an engine on a GPU.
pub(super) struct GpuTeam {
    ranks: Arc<dyn Ranks>,
    way: Way,
}

// One a run.
#[allow(clippy::large_enum_variant)]
enum Way {
    Peers(Peers),
    Staged(RefCell<Staged>),
}

impl GpuTeam {
    /// Joins the other ranks; all call it. With `peers`, by the memory of their GPUs if that is possible.
    pub fn join(
        (part, h): (&RankPart, &Hydro),
        (gpu, session): (&CudaGpu, &Session),
        fixed: &Fixed,
        peers: bool,
    ) -> Result<Self, CudaError> {
        let ranks = Arc::clone(&part.ranks);
        let found = if peers {
            Peers::find(part, h, (gpu, session), fixed)?
        } else {
            None
        };
        let way = match found {
            Some(peers) => Way::Peers(peers),
            None => Way::Staged(RefCell::new(Staged::new(part, h, session, fixed)?)),
        };
        Ok(Self { ranks, way })
    }

    /// Whether a step can be one graph of launches.
    pub fn in_a_graph(&self) -> bool {
        matches!(self.way, Way::Peers(_))
    }

    /// Waits until all ranks are ready to step: from then on, kernels of one GPU wait for those of others.
    pub fn ready(&self) {
        self.ranks.barrier();
    }

    /// Checks after a step that no rank ended meanwhile.
    pub fn check(&self, fixed: &Fixed) -> Done {
        let Way::Peers(peers) = &self.way else {
            return Ok(());
        };
        if !peers.stopped(fixed)? {
            return Ok(());
        }
        // Ends this rank, as another one has ended.
        self.ranks.barrier();
        Err(CudaError::Driver {
            what: "the run was ended by another rank",
            cause: "its GPU did not arrive".into(),
        })
    }

    /// Solves for accelerations with all ranks.
    pub fn solve(
        &self,
        (kernels, shape): (&Kernels, &Shape),
        solve: SolveArguments,
        fixed: &Fixed,
        dim: usize,
    ) -> Done {
        match &self.way {
            Way::Peers(peers) => {
                let arguments = RankSolveArguments {
                    solve,
                    team: peers.arguments(&*self.ranks),
                };
                // SAFETY: the arguments are those of the kernel, with memory allocated for this problem by all ranks.
                unsafe { kernels.solve.call_cooperative_with(shape, &arguments) }
            }
            Way::Staged(staged) => {
                let mut staged = staged.borrow_mut();
                let arguments = RankSolveArguments {
                    solve,
                    team: RankArguments {
                        ranks: self.ranks.size() as i64,
                        me: self.ranks.rank() as i64,
                        ..staged.arguments()
                    },
                };
                staged.solve(&*self.ranks, (kernels, shape), arguments, fixed, dim)
            }
        }
    }

    /// CG iterations of all components, and solves, that the host counted.
    pub fn counted(&self) -> [u64; 2] {
        match &self.way {
            Way::Peers(_) => [0; 2],
            Way::Staged(staged) => staged.borrow().counted,
        }
    }

    /// How the ranks exchange, for the user.
    pub fn name(&self) -> &'static str {
        match self.way {
            Way::Peers(_) => "peer memory",
            Way::Staged(_) => "messages by the host",
        }
    }
}
