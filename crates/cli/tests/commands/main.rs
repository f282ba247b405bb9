//! Each command: what it answers, refuses and writes.

#[path = "../common/mod.rs"]
mod common;

mod command;
mod docs;
mod frame;
mod inputs;
mod outputs;
mod paper;
mod parameters;
mod profile;
mod regions;
mod run;
mod scaling;
mod stdout;
