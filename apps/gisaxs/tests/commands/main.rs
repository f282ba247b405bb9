//! Each command: what it answers, refuses and writes.

mod bench;
mod checks;
mod command;
mod examples;
mod exports;
mod hostile;
mod inputs;
mod mesh;
mod outputs;
mod pages;
mod ranks;
mod study_faults;
