//! GPUs of a host with access to each other's memory: in one process by its addresses, in several by names of the memory.

use super::part::{RankPart, addresses, their_places};
use crate::gpu::arguments::{Contributions, MAX_RANKS, MEETING_BYTES, RankArguments};
use crate::gpu::memory::{BLOCK, Fixed};
use crate::hydro::Hydro;
use crate::part::Lists;
use greenup_device::cuda::{
    CudaError, Flag, Gpu as CudaGpu, Handle, MappedFlag, Memory, PeerAccess, PeerMemory, Pointer,
    Session,
};
use greenup_device::memory::{bytes, bytes_mut};
use greenup_ranks::Ranks;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Memory of a rank that others use: zone forces, products with the assembled matrix, meetings.
const SHARED: usize = 3;

/// The memory of the other ranks' GPUs.
pub(super) struct Peers {
    /// Sets the flags of all ranks when this one ends, whatever the reason: their kernels may wait for it.
    end: EndOfAll,
    by_zone: Addresses,
    by_rank: Option<Addresses>,
    meetings: Memory,
    mapped: MappedFlag,
    // Held as long as kernels use the memory.
    _meeting: Memory,
    _opened: Vec<PeerMemory>,
    _access: Vec<PeerAccess>,
}

struct EndOfAll(Vec<Flag>);

impl Drop for EndOfAll {
    fn drop(&mut self) {
        self.0.iter().for_each(Flag::set);
    }
}

/// Addresses of contributions, on the GPU.
pub(super) struct Addresses {
    begin: Memory,
    at: Memory,
}

impl Addresses {
    pub fn new(session: &Session, lists: &Lists, at: &[u64]) -> Result<Self, CudaError> {
        Ok(Self {
            begin: session.words(&lists.begin)?,
            at: session.kept(bytes(at))?,
        })
    }

    pub fn arguments(&self) -> Contributions {
        Contributions {
            begin: (&self.begin).into(),
            at: (&self.at).into(),
        }
    }
}

/// What each rank tells all.
fn all_gathered<const N: usize>(ranks: &dyn Ranks, own: [u64; N]) -> Vec<[u64; N]> {
    let mut all = vec![0_i64; N * ranks.size()];
    for (to, x) in all[N * ranks.rank()..].iter_mut().zip(own) {
        *to = x.cast_signed();
    }
    ranks.sum_integers(&mut all);
    let (all, _) = all.as_chunks::<N>();
    all.iter().map(|x| x.map(i64::cast_unsigned)).collect()
}

/// Whether all ranks say yes.
fn all_agree(ranks: &dyn Ranks, yes: bool) -> bool {
    let mut no = [f64::from(u8::from(!yes))];
    ranks.max(&mut no);
    no[0] == 0.0
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl Peers {
    /// Looks for access to the memory of all other GPUs; `None` on all ranks if one has none. All ranks call it.
    pub fn find(
        part: &RankPart,
        h: &Hydro,
        (gpu, session): (&CudaGpu, &Session),
        fixed: &Fixed,
    ) -> Result<Option<Self>, CudaError> {
        let ranks = &*part.ranks;
        let me = ranks.rank();
        let all = all_gathered(ranks, [u64::from(std::process::id()), hash(&gpu.bus_id)]);
        let distinct = (0..all.len()).all(|i| all[..i].iter().all(|other| other[1] != all[i][1]));
        let one_host = ranks.local().1 == ranks.size();
        if !all_agree(ranks, one_host && distinct && all.len() <= MAX_RANKS) {
            return Ok(None);
        }
        let is_here = |rank: usize| all[rank][0] == all[me][0];
        // Every rank enables the access of its own GPU.
        let mut access = Vec::new();
        for rank in (0..all.len()).filter(|r| *r != me) {
            let visible = CudaGpu::all()?;
            let peer = visible.iter().find(|g| hash(&g.bus_id) == all[rank][1]);
            access.push(match peer {
                Some(peer) => session.peer_access(peer.ordinal)?,
                None => None,
            });
        }
        if !all_agree(ranks, access.iter().all(Option::is_some)) {
            return Ok(None);
        }
        let meeting = session.alloc(MEETING_BYTES.next_multiple_of(BLOCK))?;
        meeting.upload_repeated(&[0; 4096])?;
        let shared = [&fixed.zone_forces, &fixed.image, &meeting];
        let addresses_of = all_gathered(ranks, shared.map(Memory::address));
        let here = (0..all.len()).all(is_here);
        let (theirs, opened) = if all_agree(ranks, here) {
            (Some(addresses_of), Vec::new())
        } else {
            opened(ranks, session, shared)?
        };
        let Some(theirs) = theirs else {
            return Ok(None);
        };
        let bases = |which: usize| theirs.iter().map(|a| a[which]).collect::<Vec<u64>>();
        let of = |lists: &Lists, own: &[u32], which: usize| -> Result<Addresses, CudaError> {
            let bases = bases(which);
            let at = |rank: usize, places: &[u32]| -> Vec<u64> {
                let base = bases[rank];
                places.iter().map(|i| base + 8 * u64::from(*i)).collect()
            };
            let places = their_places(lists, ranks, own);
            let theirs: Vec<Vec<u64>> = (lists.peers.iter().zip(&places))
                .map(|(rank, places)| at(*rank, places))
                .collect();
            Addresses::new(session, lists, &addresses(lists, &at(me, own), &theirs))
        };
        let by_zone = of(&part.by_zone, &part.places(h), 0)?;
        let by_rank = (part.by_rank.as_ref())
            .map(|lists| of(lists, &part.rows(h), 1))
            .transpose()?;
        let own = Flag::default();
        let mapped = session.map_flag(&own)?;
        let end = EndOfAll(if here { flags(ranks, &own) } else { vec![own] });
        Ok(Some(Self {
            end,
            by_zone,
            by_rank,
            meetings: session.kept(bytes(&bases(2)))?,
            mapped,
            _meeting: meeting,
            _opened: opened,
            _access: access.into_iter().flatten().collect(),
        }))
    }

    /// Arguments of a solve.
    pub fn arguments(&self, ranks: &dyn Ranks) -> RankArguments {
        RankArguments {
            by_zone: self.by_zone.arguments(),
            by_rank: (self.by_rank.as_ref()).map_or_else(Default::default, Addresses::arguments),
            meetings: (&self.meetings).into(),
            stop: Pointer::new(self.mapped.address()),
            ranks: ranks.size() as i64,
            me: ranks.rank() as i64,
        }
    }

    /// Whether a kernel stopped waiting, as a rank has ended.
    pub fn stopped(&self, fixed: &Fixed) -> Result<bool, CudaError> {
        if !self.end.0.iter().any(Flag::is_set) {
            return Ok(false);
        }
        let mut words = [0_u32; 4];
        fixed.grid_barrier.download(bytes_mut(&mut words))?;
        Ok(words[3] != 0)
    }
}

/// The flags of all ranks of this process.
fn flags(ranks: &dyn Ranks, own: &Flag) -> Vec<Flag> {
    let (me, size) = (ranks.rank(), ranks.size());
    // A number for each rank that takes it: `[taker]`.
    let mut given = [0; MAX_RANKS];
    for (rank, to) in given.iter_mut().enumerate().take(size) {
        if rank != me {
            *to = own.give();
        }
    }
    let all = all_gathered(ranks, given);
    let mut out = vec![own.clone()];
    for rank in (0..size).filter(|r| *r != me) {
        // SAFETY: given by a rank of this process for this one.
        out.push(unsafe { Flag::take(all[rank][me]) });
    }
    out
}

/// Addresses of memory by rank; `None` if a rank cannot open that of another.
type Opened = (Option<Vec<[u64; SHARED]>>, Vec<PeerMemory>);

/// Opens the memory of the other ranks, which are processes.
fn opened(
    ranks: &dyn Ranks,
    session: &Session,
    shared: [&Memory; SHARED],
) -> Result<Opened, CudaError> {
    let me = ranks.rank();
    let own: Result<Vec<Handle>, CudaError> = shared.iter().map(|m| m.handle()).collect();
    let own = own.ok();
    let yes = all_agree(ranks, own.is_some());
    let mut words = [0; 8 * SHARED];
    words.copy_from_slice(own.unwrap_or_else(|| vec![[0; 8]; SHARED]).as_flattened());
    let all = all_gathered(ranks, words);
    if !yes {
        return Ok((None, Vec::new()));
    }
    let (mut memory, mut out) = (Vec::new(), Vec::new());
    let mut good = true;
    for (rank, words) in all.iter().enumerate() {
        let mut addresses = shared.map(Memory::address);
        if rank != me {
            let (handles, _) = words.as_chunks::<8>();
            for (to, handle) in addresses.iter_mut().zip(handles) {
                // A system may forbid it: then ranks exchange messages.
                let Ok(opened) = session.open_handle(*handle) else {
                    good = false;
                    continue;
                };
                *to = opened.address();
                memory.push(opened);
            }
        }
        out.push(addresses);
    }
    // No rank frees its memory while another opens it.
    let yes = all_agree(ranks, good);
    Ok((yes.then_some(out), memory))
}
