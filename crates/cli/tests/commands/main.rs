//! Each command: what it answers, refuses and writes.

#[path = "../common/mod.rs"]
mod common;

mod command;
mod docs;
mod examples;
mod foreign;
mod frame;
mod inputs;
mod network;
mod outputs;
mod parameters;
mod profile;
mod programs;
mod regions;
mod run;
mod stdout;
