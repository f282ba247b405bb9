//! Programs in C, C++, Fortran and Rust with regions: what is written, and that nothing harms them.

mod common;
mod examples;
mod faults;
mod output;
mod processes;
