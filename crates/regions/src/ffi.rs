//! The C interface; `include/greenup.h` describes it.

use crate::notes::Note;
use crate::process;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// # Safety
/// Null, or a string with its end.
unsafe fn bytes<'a>(name: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: as promised by the caller.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes())
}

/// Begins a region in this thread.
///
/// # Safety
/// `name` is null, or a string with its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn greenup_region_begin(name: *const c_char) {
    if process::is_off() {
        return;
    }
    // SAFETY: as promised by the caller.
    let name = unsafe { bytes(name) };
    // A panic must not reach C.
    let _ = catch_unwind(AssertUnwindSafe(|| match name {
        Some(name) => crate::begin_bytes(name),
        None => {
            if let Some(core) = process::start() {
                core.note().add(Note::NoName, String::new);
            }
            crate::begin_bytes(b"(no name)");
        }
    }));
}

/// Ends a region of this thread; null ends the innermost one.
///
/// # Safety
/// `name` is null, or a string with its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn greenup_region_end(name: *const c_char) {
    if process::is_off() {
        return;
    }
    // SAFETY: as promised by the caller.
    let name = unsafe { bytes(name) };
    let _ = catch_unwind(AssertUnwindSafe(|| crate::end_bytes(name)));
}

/// The same for a name of known length, as Fortran has it.
///
/// # Safety
/// `name` is null, or has at least `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn greenup_region_begin_n(name: *const c_char, length: usize) {
    // SAFETY: as promised by the caller.
    let name = unsafe { sized(name, length) };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        crate::begin_bytes(name.unwrap_or(b"(no name)"));
    }));
}

/// As [`greenup_region_end`], for a name of known length.
///
/// # Safety
/// `name` is null, or has at least `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn greenup_region_end_n(name: *const c_char, length: usize) {
    // SAFETY: as promised by the caller.
    let name = unsafe { sized(name, length) };
    let _ = catch_unwind(AssertUnwindSafe(|| crate::end_bytes(name)));
}

/// # Safety
/// Null, or at least `length` bytes.
unsafe fn sized<'a>(name: *const c_char, length: usize) -> Option<&'a [u8]> {
    // SAFETY: as promised by the caller.
    (!name.is_null()).then(|| unsafe { std::slice::from_raw_parts(name.cast(), length) })
}

/// Writes what is complete; 0, or -1 if something could not be written.
#[unsafe(no_mangle)]
pub extern "C" fn greenup_flush() -> c_int {
    match catch_unwind(crate::flush) {
        Ok(true) => 0,
        _ => -1,
    }
}

/// Number of energy sensors; 0 if only time is measured, -1 if regions are off.
#[unsafe(no_mangle)]
pub extern "C" fn greenup_available() -> c_int {
    match catch_unwind(crate::available) {
        Ok(Some(n)) => c_int::try_from(n).unwrap_or(c_int::MAX),
        _ => -1,
    }
}
