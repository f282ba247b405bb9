//! Any text as measurements of a machine: the first byte says as which (d: power at several clocks, m: a machine file, others: records
//! to fit). It is read, or refused.
#![no_main]

use greenup_calibrate::{dvfs, record};
use greenup_fuzz as _;
use greenup_model::Machine;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((format, bytes)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    match format {
        b'd' => drop(dvfs::parse("power.csv", &text)),
        b'm' => {
            if let Ok(machine) = Machine::from_toml(&text) {
                let again = Machine::from_toml(&machine.to_toml().unwrap()).unwrap();
                assert_eq!(again.name, machine.name);
            }
        }
        _ => drop(record::parse("records.csv", &text)),
    }
});
