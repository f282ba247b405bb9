//! Any text as an expression: it is read or refused, and evaluated or refused, but never panics.
#![no_main]

use greenup_fuzz as _;
use greenup_space::Value;
use greenup_space::expr::{Scope, eval, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(e) = parse(text) {
        let names = |n: &str| match n {
            "a" => Some(Value::Int(7)),
            "b" => Some(Value::Float(-0.5)),
            "c" => Some(Value::Bool(true)),
            "d" => Some(Value::Int(i64::MIN)),
            _ => None,
        };
        let _ = eval(&e, &Scope::new(&names));
    }
});
