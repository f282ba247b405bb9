//! What ranks do together.

/// A rank to exchange messages with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its number.
    pub rank: usize,
    /// Length of each message to it.
    pub send: usize,
    /// Length of each message from it.
    pub receive: usize,
}

/// The ranks of a run, seen from one of them.
///
/// All operations but [`Ranks::rank`], [`Ranks::size`], [`Ranks::local`] and [`Ranks::abort`] are collective: each rank
/// calls the same ones in the same order. They cannot fail: if a rank is lost, the others end too, processes with a
/// message of MPI, threads by unwinding to [`crate::threads::run`].
pub trait Ranks: Send + Sync {
    /// Number of this rank, below [`Ranks::size`].
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Number of this rank among those of its host, and their number.
    fn local(&self) -> (usize, usize);

    /// Sums of each number over the ranks; all ranks get the same bits.
    fn sum(&self, x: &mut [f64]);

    /// Sums of each integer over the ranks, modulo 2^64.
    fn sum_integers(&self, x: &mut [i64]);

    /// Maximum of each number over the ranks; NaN counts as infinity.
    fn max(&self, x: &mut [f64]);

    /// Replaces the bytes of all ranks by those of rank 0.
    fn broadcast(&self, bytes: &mut Vec<u8>);

    /// The bytes of all ranks, by rank, on rank 0; `None` on the others.
    fn gather(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>>;

    /// Sends `to[r]` to each rank `r`, this one included; returns what each rank sent to this one, by rank. Messages may
    /// have any lengths. `to` has an entry for each rank.
    fn exchange(&self, to: Vec<Vec<u8>>) -> Vec<Vec<u8>>;

    /// Waits until all ranks call it.
    fn barrier(&self);

    /// Messages of fixed lengths with some ranks. Each peer makes a link with this rank too, with matching lengths.
    fn link(&self, peers: &[Peer]) -> Box<dyn Link>;

    /// Ends all ranks, with a message on standard error, if it is not empty, and an exit code.
    fn abort(&self, message: &str, code: u8) -> !;
}

/// Messages of fixed lengths with other ranks, sent many times.
pub trait Link: Send {
    /// The next message to a peer, by its index in the list of peers.
    fn outgoing(&mut self, peer: usize) -> &mut [f64];

    /// Begins to send and to receive.
    fn begin(&mut self);

    /// Waits until all messages of the last [`Link::begin`] have arrived, and the outgoing ones may be changed.
    fn finish(&mut self);

    /// The last message from a peer.
    fn incoming(&self, peer: usize) -> &[f64];
}

/// The messages of a link.
#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) peers: Vec<Peer>,
    pub(crate) outgoing: Vec<Vec<f64>>,
    pub(crate) incoming: Vec<Vec<f64>>,
}

impl Messages {
    pub(crate) fn new(peers: &[Peer]) -> Self {
        let zeros = |n: fn(&Peer) -> usize| peers.iter().map(|p| vec![0.0; n(p)]).collect();
        Self {
            peers: peers.to_vec(),
            outgoing: zeros(|p| p.send),
            incoming: zeros(|p| p.receive),
        }
    }
}

/// Prints a message to standard error and ends the process.
pub(crate) fn end(message: &str, code: u8) -> ! {
    say(message);
    std::process::exit(code.into());
}

/// Prints a message to standard error, if there is one, in one write: other ranks print too.
pub(crate) fn say(message: &str) {
    use std::io::Write as _;
    if !message.is_empty() {
        let _ = std::io::stderr().write_all(format!("{message}\n").as_bytes());
    }
}
