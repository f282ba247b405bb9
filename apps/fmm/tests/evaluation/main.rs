//! Evaluations through the library. One program: the library's generic code is compiled for it once.

mod accuracy;
mod gpu;
mod hybrid;
mod ranks;
