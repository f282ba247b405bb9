//! Kernels that run on the host.

use greenup_device::{Library, LibraryError};
use greenup_meter::Run;
use std::ffi::c_void;
use std::path::Path;
use std::time::Instant;

type Entry = unsafe extern "C" fn(*mut *mut u8, i64);

/// A loaded library's kernel.
#[derive(Clone, Copy)]
pub struct HostKernel {
    entry: Entry,
}

impl HostKernel {
    /// Loads a kernel.
    ///
    /// # Errors
    /// The message of the loader.
    pub fn load(path: &Path) -> Result<Self, LibraryError> {
        let symbol = Library::open(path)?.symbol("greenup_run")?;
        Ok(Self {
            // SAFETY: the wrapper of every unit defines it with this signature.
            entry: unsafe { std::mem::transmute::<*mut c_void, Entry>(symbol) },
        })
    }

    /// Calls it `n` times.
    pub fn call(&self, pointers: &mut [*mut u8], n: i64) {
        // SAFETY: the pointers are those the wrapper expects; the kernel itself is the user's.
        unsafe { (self.entry)(pointers.as_mut_ptr(), n) };
    }

    /// Runs `n` times; returns the seconds.
    pub fn run(&self, pointers: &mut [*mut u8], n: i64) -> f64 {
        let start = Instant::now();
        self.call(pointers, n);
        start.elapsed().as_secs_f64()
    }

    /// Repeats for about some seconds.
    pub fn window(&self, pointers: &mut [*mut u8], seconds: f64, once: &mut f64) -> Run {
        let mut total = 0.0;
        let mut iterations = 0_i64;
        while total < 0.98 * seconds || iterations == 0 {
            let n = (((seconds - total) / once.max(1e-9)).round() as i64).clamp(1, 1 << 40);
            // A first guess may be far off: go in steps.
            let n = if iterations == 0 && *once <= 0.0 {
                1
            } else {
                n
            };
            let s = self.run(pointers, n);
            total += s;
            iterations += n;
            *once = total / iterations as f64;
        }
        Run {
            iterations: iterations as f64,
            seconds: total,
        }
    }
}
