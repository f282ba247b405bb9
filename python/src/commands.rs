//! The commands, for a program that loads this library outside of Python.

use std::ffi::{CStr, c_char, c_int};
use std::process::ExitCode;

/// Runs the command of a name with the arguments of this process; returns its exit code, 127 if there is no such command.
///
/// # Safety
/// `name` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn greenup_command(name: *const c_char) -> c_int {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let run: fn() -> ExitCode = match name.to_bytes() {
        b"greenup" => greenup_command::main,
        b"greenup-paper" => greenup_paper::program::main,
        b"greenup-scaling" => greenup_scaling::program::main,
        b"gisaxs" => greenup_gisaxs::program::main,
        b"hydro" => greenup_hydro::program::main,
        b"fmm" => greenup_fmm::program::main,
        _ => return 127,
    };
    match std::panic::catch_unwind(run) {
        Ok(code) if code == ExitCode::SUCCESS => 0,
        Ok(code) => number(code),
        // The message was printed where it happened.
        Err(_) => 101,
    }
}

/// The number of an exit code, which the standard library does not tell.
fn number(code: ExitCode) -> c_int {
    (1..=u8::MAX)
        .find(|&n| code == ExitCode::from(n))
        .map_or(1, c_int::from)
}
