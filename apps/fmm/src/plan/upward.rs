//! Where equivalent charges of a box come from.

/// Where the equivalent charges of a box come from, if points are distributed over ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upward {
    /// All its sources are of this rank, which computes them.
    Own,
    /// Its sources are of several ranks: each computes them from those of the children.
    Shared,
    /// All its sources are of another rank, which sends them.
    Received,
}

impl Upward {
    /// Whether this rank computes them.
    pub fn is_here(self) -> bool {
        self != Self::Received
    }
}

/// Equivalent charges of a plan's boxes, if points are distributed over ranks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Essential {
    /// Where those of each box come from.
    pub upward: Vec<Upward>,
    /// Boxes whose equivalent charges other ranks need, by rank; a box may occur several times.
    pub sent: Vec<u32>,
    /// Boxes whose equivalent charges come from other ranks, by rank.
    pub received: Vec<u32>,
}
