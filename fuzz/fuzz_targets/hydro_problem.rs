//! Any text as a problem of hydro: it is read or refused, and never panics.
#![no_main]

use greenup_fuzz as _;
use greenup_hydro::problem::User;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = User::of(text);
});
