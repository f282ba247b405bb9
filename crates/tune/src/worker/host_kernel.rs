//! Kernels that run on the host.

use greenup_device::{Library, LibraryError};
use greenup_meter::Run;
use std::cell::Cell;
use std::ffi::c_void;
use std::path::Path;
use std::time::Instant;

type Entry = unsafe extern "C" fn(*mut *mut u8, i64);

/// How floating-point numbers are rounded, and whether small ones are flushed to zero, in this thread.
#[derive(Clone, Copy)]
struct FloatMode(u64);

impl FloatMode {
    fn now() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let (mut vectors, mut x87) = (0_u32, 0_u16);
            // SAFETY: both instructions only store a control word.
            unsafe {
                std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut vectors);
                std::arch::asm!("fnstcw [{}]", in(reg) &raw mut x87);
            }
            Self(u64::from(vectors) | u64::from(x87) << 32)
        }
        #[cfg(target_arch = "aarch64")]
        {
            let mode: u64;
            // SAFETY: only reads the control register.
            unsafe { std::arch::asm!("mrs {}, fpcr", out(reg) mode) };
            Self(mode)
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        Self(0)
    }

    fn set(self) {
        #[cfg(target_arch = "x86_64")]
        {
            // Without the sticky bits of exceptions, so that none is raised.
            let (vectors, x87) = ((self.0 as u32) & !0x3f, (self.0 >> 32) as u16);
            // SAFETY: both words were read from the registers.
            unsafe {
                std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const vectors);
                std::arch::asm!("fldcw [{}]", in(reg) &raw const x87);
            }
        }
        #[cfg(target_arch = "aarch64")]
        // SAFETY: the value was read from the register.
        unsafe {
            std::arch::asm!("msr fpcr, {}", in(reg) self.0);
        }
    }
}

/// Runs between two looks at the clock take about this long, s.
const STEP_S: f64 = 0.25e-3;

/// A loaded library's kernel.
#[derive(Clone)]
pub struct HostKernel {
    entry: Entry,
    /// The mode that it left: its own, not that of other kernels, of the data or of what compares its results.
    mode: Cell<FloatMode>,
    /// Where the wrapper sums up the times that the kernel returns, s.
    returned: Option<*mut f64>,
}

impl HostKernel {
    /// Loads a kernel.
    ///
    /// # Errors
    /// The message of the loader.
    pub fn load(path: &Path) -> Result<Self, LibraryError> {
        let before = FloatMode::now();
        // A library that was linked with -ffast-math sets the mode as it is loaded.
        let library = Library::open(path);
        let mode = Cell::new(FloatMode::now());
        before.set();
        let library = library?;
        let symbol = library.symbol("greenup_run")?;
        let returned = library.symbol("greenup_returned").ok();
        Ok(Self {
            mode,
            returned: returned.map(|p| p.cast::<f64>()),
            // SAFETY: the wrapper of every unit defines it with this signature.
            entry: unsafe { std::mem::transmute::<*mut c_void, Entry>(symbol) },
        })
    }

    /// Calls it `n` times.
    pub fn call(&self, pointers: &mut [*mut u8], n: i64) {
        let before = FloatMode::now();
        self.mode.get().set();
        // SAFETY: the pointers are those the wrapper expects; the kernel itself is the user's.
        unsafe { (self.entry)(pointers.as_mut_ptr(), n) };
        self.mode.set(FloatMode::now());
        before.set();
    }

    /// Runs `n` times; returns the seconds: the clock's, or the kernel's own where it returns them.
    pub fn run(&self, pointers: &mut [*mut u8], n: i64) -> f64 {
        let elapsed = self.timed(pointers, n);
        self.own_time().unwrap_or(elapsed)
    }

    /// Runs `n` times; returns the seconds of the clock.
    fn timed(&self, pointers: &mut [*mut u8], n: i64) -> f64 {
        if let Some(returned) = self.returned {
            // SAFETY: the wrapper defines it as a double, which nothing else uses.
            unsafe { returned.write(0.0) };
        }
        let start = Instant::now();
        self.call(pointers, n);
        start.elapsed().as_secs_f64()
    }

    /// Seconds that the last runs returned.
    pub fn own_time(&self) -> Option<f64> {
        // SAFETY: as above.
        self.returned.map(|p| unsafe { p.read() })
    }

    /// Repeats for about some seconds of the clock, which `once` estimates for one run.
    pub fn window(&self, pointers: &mut [*mut u8], seconds: f64, once: &mut f64) -> Run {
        let (mut total, mut own) = (0.0, 0.0);
        let mut iterations = 0_i64;
        while total < 0.98 * seconds || iterations == 0 {
            // Threads that wait for each other take thousands of times as long once others need their cores: the clock is looked at
            // in between.
            let step = (seconds - total).min(STEP_S);
            let n = ((step / once.max(1e-9)).round() as i64).max(1);
            // What a kernel returns is no guess of the clock's time.
            let n = if iterations == 0 && (*once <= 0.0 || self.returned.is_some()) {
                1
            } else {
                n
            };
            let s = self.timed(pointers, n);
            total += s;
            own += self.own_time().unwrap_or(s);
            iterations += n;
            *once = total / iterations as f64;
        }
        Run {
            iterations: iterations as f64,
            seconds: own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_window_ends_although_calls_become_slower() {
        let dir = tempfile::tempdir().unwrap();
        let source = dir.path().join("k.c");
        let slower = "#include <time.h>
            void greenup_run(void **a, long long n) {
                static int calls;
                for (; n > 0; n--)
                    if (++calls > 20) nanosleep(&(struct timespec){0, 1000000}, 0);
            }";
        std::fs::write(&source, slower).unwrap();
        let library = dir.path().join("k.so");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
        assert!(compiler.arg(&source).status().unwrap().success());
        let kernel = HostKernel::load(&library).unwrap();
        let mut once = 1e-6;
        let run = kernel.window(&mut [], 0.01, &mut once);
        assert!(run.iterations < 1e3 && run.seconds >= 0.0098, "{run:?}");
        assert!(once > 1e-4, "{once}");
    }
}
