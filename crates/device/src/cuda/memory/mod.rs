//! Memory of a GPU, of other GPUs, and of the host for copies.

mod device;
mod peer;
mod pinned;
mod tensor_map;
mod texture;

pub use device::Memory;
pub use peer::{Flag, Handle, MappedFlag, PeerAccess, PeerMemory};
pub use pinned::Pinned;
pub use tensor_map::{MapElement, MapShape, TensorMap};
pub use texture::Texture;
