//! Sweeps on disk: analysis and replay, damage to them, and large ones.

#[path = "../common/mod.rs"]
mod common;

mod analysis;
mod best;
mod environment;
mod faults;
mod pages;
mod recorded;
mod scale;
mod scale_faults;
mod sweep;
