//! The study: faults in the middle of it, and its page in a browser.

#[path = "../common/mod.rs"]
mod common;

mod faults;
mod page;
