//! Questions to the library: which platforms and devices there are, and the bytes of their properties.

use super::library::{Functions, functions};
use super::{Address, OpenClError, check};
use opencl_sys as cl;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A platform's or device's handle with the numbers that lead to it.
pub(super) struct DeviceHandle {
    pub(super) address: Address,
    pub(super) id: cl::cl_device_id,
    pub(super) platform: cl::cl_platform_id,
}

/// All devices of all platforms.
pub(super) fn found() -> Result<Vec<DeviceHandle>, OpenClError> {
    let f = functions()?;
    let mut out = Vec::new();
    for (platform, id) in platforms(f)?.into_iter().enumerate() {
        for (device, handle) in devices(f, id)?.into_iter().enumerate() {
            out.push(DeviceHandle {
                address: Address { platform, device },
                id: handle,
                platform: id,
            });
        }
    }
    Ok(out)
}

fn platforms(f: &Functions) -> Result<Vec<cl::cl_platform_id>, OpenClError> {
    /// The loader's answer where no implementation is installed.
    const NO_PLATFORM: i32 = -1001;
    let mut n = 0;
    // SAFETY: asks for the number only.
    let status = unsafe { (f.platform_ids)(0, null_mut(), &raw mut n) };
    if status == NO_PLATFORM || (status == cl::CL_SUCCESS && n == 0) {
        return Err(OpenClError::NoPlatform);
    }
    check("platforms cannot be counted", status)?;
    let mut ids = vec![null_mut(); n as usize];
    // SAFETY: the list has room for `n` platforms.
    let status = unsafe { (f.platform_ids)(n, ids.as_mut_ptr(), null_mut()) };
    check("platforms cannot be listed", status)?;
    Ok(ids)
}

fn devices(
    f: &Functions,
    platform: cl::cl_platform_id,
) -> Result<Vec<cl::cl_device_id>, OpenClError> {
    let mut n = 0;
    // SAFETY: asks for the number only.
    let status =
        unsafe { (f.device_ids)(platform, cl::CL_DEVICE_TYPE_ALL, 0, null_mut(), &raw mut n) };
    if status == cl::CL_DEVICE_NOT_FOUND || n == 0 {
        return Ok(Vec::new());
    }
    check("devices cannot be counted", status)?;
    let mut ids = vec![null_mut(); n as usize];
    // SAFETY: the list has room for `n` devices.
    let status = unsafe {
        (f.device_ids)(
            platform,
            cl::CL_DEVICE_TYPE_ALL,
            n,
            ids.as_mut_ptr(),
            null_mut(),
        )
    };
    check("devices cannot be listed", status)?;
    Ok(ids)
}

/// Bytes of a property, by a function that takes the room for it and tells its size.
pub(super) fn property(ask: impl Fn(usize, *mut c_void, *mut usize) -> i32) -> Option<Vec<u8>> {
    let mut bytes = 0;
    if ask(0, null_mut(), &raw mut bytes) != cl::CL_SUCCESS || bytes > 1 << 24 {
        return None;
    }
    let mut out = vec![0; bytes];
    (ask(bytes, out.as_mut_ptr().cast(), null_mut()) == cl::CL_SUCCESS).then_some(out)
}

/// Text without its end and the spaces around it.
pub(super) fn text(bytes: Option<Vec<u8>>) -> String {
    let bytes = bytes.unwrap_or_default();
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_owned()
}

/// A whole number of 4 or 8 bytes.
pub(super) fn number(bytes: Option<Vec<u8>>) -> Option<i64> {
    let bytes = bytes?;
    if let Ok(b) = bytes.as_slice().try_into() {
        return i64::try_from(u64::from_ne_bytes(b)).ok();
    }
    let b = bytes.as_slice().try_into().ok()?;
    Some(i64::from(u32::from_ne_bytes(b)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_the_library_are_read() {
        assert_eq!(number(Some(7_u32.to_ne_bytes().to_vec())), Some(7));
        assert_eq!(number(Some(7_u64.to_ne_bytes().to_vec())), Some(7));
        assert_eq!(number(Some(vec![1, 2])), None);
        assert_eq!(text(Some(b" a b \0c".to_vec())), "a b");
    }
}
