//! Memory of a GPU, and of the host for copies.

mod device;
mod pinned;
mod tensor_map;

pub use device::Memory;
pub use pinned::Pinned;
pub use tensor_map::{MapElement, MapShape, TensorMap};
