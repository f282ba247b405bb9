//! The core clock, measured: a chain of dependent register adds retires one a cycle on every
//! x86-64 and AArch64 core, whatever the time-stamp counter says.

use std::time::Instant;

const CHAIN: u64 = 64;

/// Runs `iterations` × 64 dependent additions.
#[cfg(target_arch = "x86_64")]
fn chain(iterations: u64) {
    // SAFETY: touches only its own registers and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 64",
            "add {x}, {y}",
            ".endr",
            "dec {n}",
            "jnz 2b",
            x = inout(reg) 1u64 => _,
            y = in(reg) 3u64,
            n = inout(reg) iterations => _,
            options(nomem, nostack)
        );
    }
}

#[cfg(target_arch = "aarch64")]
fn chain(iterations: u64) {
    // SAFETY: touches only its own registers and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 64",
            "add {x}, {x}, {y}",
            ".endr",
            "subs {n}, {n}, #1",
            "b.ne 2b",
            x = inout(reg) 1u64 => _,
            y = in(reg) 3u64,
            n = inout(reg) iterations => _,
            options(nomem, nostack)
        );
    }
}

/// Clock of the core this thread runs on, Hz, over about `seconds`; `None` on an architecture
/// without a known one-cycle add.
///
/// The best of several short bursts, so that a burst cut by another process does not count.
pub fn measure_hz(seconds: f64) -> Option<f64> {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return None;
    }
    let bursts = 8;
    let iterations = (seconds / bursts as f64 * 2e9 / CHAIN as f64).max(64.0) as u64;
    let mut best = 0.0_f64;
    for _ in 0..bursts {
        best = best.max(burst_hz(iterations));
    }
    Some(best)
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn burst_hz(iterations: u64) -> f64 {
    let start = Instant::now();
    chain(iterations);
    (iterations * CHAIN) as f64 / start.elapsed().as_secs_f64()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn burst_hz(_: u64) -> f64 {
    0.0
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_clock_is_a_clock() {
        if let Some(hz) = super::measure_hz(0.02) {
            assert!((0.2e9..8e9).contains(&hz), "{hz}");
        }
    }
}
