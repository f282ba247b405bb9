//! Regions in running programs: time, energy and power of named parts.
//!
//! The C interface is `include/greenup.h`, with the shared library `libgreenup_regions.so`. In Rust:
//!
//! ```
//! use greenup_regions::region;
//!
//! fn solve() {
//!     region!("solve"); // until the end of this block
//!     for _ in 0..3 {
//!         let _step = greenup_regions::region("step"); // until `_step` is dropped
//!     }
//! }
//! # greenup_regions::configure(greenup_regions::Config {
//! #     output: greenup_regions::Output { record: true, ..Default::default() },
//! #     sensors: vec!["none".into()],
//! #     ..Default::default()
//! # }).unwrap();
//! solve();
//! let summary = greenup_regions::summary().unwrap();
//! assert_eq!(summary.regions[1].path, ["solve", "step"]);
//! assert_eq!(summary.regions[1].calls, 3);
//! ```
//!
//! # Interface
//!
//! | function | what it does |
//! |---|---|
//! | [`begin`], [`end`] | begin and end a region of this thread by name; [`end_innermost`] needs no name |
//! | [`region()`], [`region!`] | a [`Guard`] that ends the region when it is dropped |
//! | [`summary`] | all regions so far as a serialisable [`Summary`] |
//! | [`configure`] | what is recorded, instead of the environment; before the first region |
//! | [`merge`] | files of several processes put together |
//! | [`flush`], [`available`] | writes what is complete; number of energy sensors |
//!
//! Nothing here panics or fails because of a wrong call: ends without a begin and the like are counted and reported in
//! [`Summary::notes`].
//!
//! # Inside
//!
//! A thread counts time in a tree of its own (`thread`); a thread of the library reads the sensors (`sensing`, `curve`), takes
//! what was counted since the last time (`collector`) and shares out each slice's energy (`attribution`). A begin or end
//! reads a clock and no sensor.

#![warn(missing_docs, clippy::missing_errors_doc)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod alone;
mod attribution;
mod clock;
mod config;
mod curve;
mod ffi;
pub mod merge;
mod names;
mod notes;
mod process;
mod quiet;
mod report;
mod sensing;
mod sink;
mod spin;
mod summary;
pub mod table;
mod thread;

pub use config::{Config, Output};
pub use ffi::{
    greenup_available, greenup_flush, greenup_region_begin, greenup_region_begin_n,
    greenup_region_end, greenup_region_end_n,
};
pub use summary::{
    Accumulated, Entry, Line, Process, Region, SensorProblem, SensorSummary, Summary,
};
pub use table::table;

use notes::Note;
use quiet::Quiet;
use std::marker::PhantomData;

/// The C and C++ header.
pub const HEADER: &str = include_str!("../include/greenup.h");

/// The Fortran module.
pub const FORTRAN: &str = include_str!("../fortran/greenup.f90");

/// Begins a region of this thread, within those that are open in it. Bytes of a name beyond 256 are cut.
#[inline]
pub fn begin(name: &str) {
    begin_bytes(Some(name.as_bytes()));
}

/// Ends a region of this thread, and those within it that are still open (which is reported). Returns its length, s;
/// `None` if there is no such region (which is reported too) or regions are off.
#[inline]
pub fn end(name: &str) -> Option<f64> {
    end_bytes(Some(name.as_bytes()))
}

/// Ends the innermost region of this thread.
#[inline]
pub fn end_innermost() -> Option<f64> {
    end_bytes(None)
}

#[inline]
fn begin_bytes(name: Option<&[u8]>) {
    process::with_thread(|core, thread| {
        let name = name.unwrap_or_else(|| {
            core.note().add(Note::NoName, String::new);
            b"(no name)"
        });
        thread.begin(name, &core.paths, core.note());
    });
}

#[inline]
fn end_bytes(name: Option<&[u8]>) -> Option<f64> {
    process::with_thread(|core, thread| {
        let ended = thread.end(name, core.note());
        if ended.is_full {
            core.make_room(thread);
        }
        ended.length.map(|ns| ns as f64 * 1e-9)
    })?
}

/// Begins a region that ends when the guard is dropped.
#[must_use = "the region ends when the guard is dropped"]
pub fn region(name: &str) -> Guard<'_> {
    begin(name);
    Guard {
        name,
        thread: PhantomData,
    }
}

/// A region that is open; it stays in its thread.
#[derive(Debug)]
pub struct Guard<'a> {
    name: &'a str,
    thread: PhantomData<*const ()>,
}

impl Guard<'_> {
    /// Ends the region; returns its length, s, or `None` if regions are off.
    pub fn end(self) -> Option<f64> {
        let name = self.name;
        std::mem::forget(self);
        end(name)
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        end(self.name);
    }
}

/// A region until the end of the block.
#[macro_export]
macro_rules! region {
    ($name:expr) => {
        let _greenup_region = $crate::region($name);
    };
}

/// Regions were recorded before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("regions are already recorded: configure them before the first one begins")]
pub struct AlreadyStarted;

/// Sets what is recorded, instead of the environment. `Config::default()` switches regions off;
/// [`Config::from_env`] is what holds without a call.
///
/// # Errors
/// A region has already begun.
pub fn configure(config: Config) -> Result<(), AlreadyStarted> {
    if process::configure(config) {
        Ok(())
    } else {
        Err(AlreadyStarted)
    }
}

/// All regions of this process so far; `None` if regions are off. Waits for the sensors' next tick (at most half a
/// second), so that the energy of regions that have ended is known.
pub fn summary() -> Option<Summary> {
    let core = process::start()?;
    let _quiet = Quiet::new();
    let mut collector = core.collector()?;
    collector.settle(core, false);
    Some(collector.summary(core, false))
}

/// Writes lines that are complete and, if a summary is written at exit, one of the run so far. Returns whether
/// everything could be written, up to now.
pub fn flush() -> bool {
    let Some(core) = process::running() else {
        return true;
    };
    let _quiet = Quiet::new();
    let Some(mut collector) = core.collector() else {
        return false;
    };
    collector.flush(core);
    collector.lost() == 0
}

/// Number of energy sensors that are read; `None` if regions are off. Starts the recording.
pub fn available() -> Option<usize> {
    let core = process::start()?;
    let _quiet = Quiet::new();
    let collector = core.collector()?;
    let live = collector.sources.iter().filter(|s| s.failed.is_none());
    Some(live.count())
}
