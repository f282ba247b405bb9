//! Textures of arrays: reads by the texture units, for kernels that take texture objects.

use crate::cuda::{CudaError, Session, failed};
use cudarc::driver::sys;
use std::mem::MaybeUninit;

/// A texture of a whole array in a GPU's memory: 64 bits that a kernel takes as a `cudaTextureObject_t`. Its texels are
/// read as unsigned numbers of 32 bits.
pub struct Texture {
    object: sys::CUtexObject,
    /// The context that it belongs to.
    session: Session,
}

impl Texture {
    /// The texture of `bytes` bytes at an address; a texel has 4, 8 or 16 bytes.
    ///
    /// # Errors
    /// Another size of texels, or an array that textures cannot reach.
    pub fn new(
        session: &Session,
        address: u64,
        bytes: usize,
        texel: u64,
    ) -> Result<Self, CudaError> {
        let channels = match texel {
            4 => 1,
            8 => 2,
            16 => 4,
            _ => {
                return Err(CudaError::Driver {
                    what: "there is no such texture",
                    cause: format!("a texel has 4, 8 or 16 bytes, not {texel}"),
                });
            }
        };
        session.make_current()?;
        // SAFETY: all members are numbers or enumerations with a member 0, and unions of such.
        let (mut array, mut reads) = unsafe {
            (
                MaybeUninit::<sys::CUDA_RESOURCE_DESC>::zeroed().assume_init(),
                MaybeUninit::<sys::CUDA_TEXTURE_DESC>::zeroed().assume_init(),
            )
        };
        array.resType = sys::CUresourcetype_enum::CU_RESOURCE_TYPE_LINEAR;
        array.res.linear = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
            devPtr: address,
            format: sys::CUarray_format_enum::CU_AD_FORMAT_UNSIGNED_INT32,
            numChannels: channels,
            sizeInBytes: bytes,
        };
        reads.flags = sys::CU_TRSF_READ_AS_INTEGER;
        let mut object: sys::CUtexObject = 0;
        // SAFETY: both descriptions are whole, and there is no view of the array.
        unsafe {
            sys::cuTexObjectCreate(
                &raw mut object,
                &raw const array,
                &raw const reads,
                std::ptr::null(),
            )
        }
        .result()
        .map_err(failed(
            "no texture of this array: it is too long for a texture, or not aligned",
        ))?;
        Ok(Self {
            object,
            session: session.clone(),
        })
    }

    /// The number by which kernels know it.
    pub fn object(&self) -> u64 {
        self.object
    }
}

impl Drop for Texture {
    fn drop(&mut self) {
        if self.session.make_current().is_ok() {
            // SAFETY: made in `new` and given back once. An error changes nothing: the driver frees it
            // at the end of the process.
            unsafe {
                let _ = sys::cuTexObjectDestroy(self.object);
            }
        }
    }
}
