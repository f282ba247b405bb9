//! Each command: what it answers, refuses and writes.

mod accepted;
mod checkpoints;
mod command;
mod common;
mod drawings;
mod examples;
mod faults;
mod inputs;
mod marks;
mod meshes;
mod outputs;
mod partition;
mod ranks;
mod study_faults;
mod warnings;
mod wisdom;
