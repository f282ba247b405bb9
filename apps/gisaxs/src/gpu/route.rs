//! What all methods on a tensor grid share: the data on the GPU, and the interface of a method.

use greenup_device::cuda::{Arg, CudaError, Memory};
use std::rc::Rc;

/// Data on the GPU that the kernels of all methods use.
pub(super) struct Data {
    pub groups: Vec<Group>,
    /// Number of positions of the largest group.
    pub most: usize,
    /// q_z, complex, in double precision, 1/nm.
    pub qz: Memory,
    /// Number of q_z.
    pub nz: usize,
    /// x y z s_x s_y s_z of each node in double precision.
    pub nodes: Rc<Memory>,
    /// Number of nodes.
    pub count: usize,
    /// Centre of the nodes, nm.
    pub centre: [f64; 3],
    /// F [group][q_z][q_y] in the precision of the method.
    pub f: Memory,
    /// Whether that is double precision.
    pub wide: bool,
}

/// Positions with the same q_x.
pub(super) struct Group {
    /// q_x, 1/nm.
    pub qx: f64,
    /// q_y, 1/nm.
    pub values: Vec<f64>,
    /// q_y on the GPU.
    pub qy: Memory,
    /// Index of the first position in the grid.
    pub begin: usize,
}

impl Group {
    /// Number of positions.
    pub fn len(&self) -> usize {
        self.values.len()
    }
}

impl Data {
    /// Bytes of a complex number of the result.
    pub fn pair(&self) -> usize {
        if self.wide { 16 } else { 8 }
    }

    /// Address of F of a group.
    pub fn out(&self, group: &Group) -> Arg {
        Arg::At(self.f.address() + (self.pair() * group.begin * self.nz) as u64)
    }
}

/// The kernels and tables of one method.
pub(super) trait Route {
    /// Enqueues the n-th group. The first one also computes what all groups share.
    fn group(&self, data: &Data, n: usize) -> Result<(), CudaError>;
}
