//! Where a GPU sits on the PCI bus: the one name of it that CUDA and NVML share. Their numbers do not agree: CUDA
//! counts the fastest first, and only what `CUDA_VISIBLE_DEVICES` leaves it.

use crate::sensor::Problem;
use std::fmt;
use std::str::FromStr;

/// A GPU's place on the PCI bus, e.g. `00000000:01:00.0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BusId {
    domain: u32,
    bus: u8,
    device: u8,
    function: u8,
}

impl fmt::Display for BusId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            domain,
            bus,
            device,
            function,
        } = self;
        write!(f, "{domain:08x}:{bus:02x}:{device:02x}.{function:x}")
    }
}

impl FromStr for BusId {
    type Err = Problem;

    /// Reads `domain:bus:device.function` in hexadecimal, as CUDA and NVML write it.
    fn from_str(text: &str) -> Result<Self, Problem> {
        parse(text).ok_or_else(|| Problem {
            id: "nvml".into(),
            present: false,
            cause: format!("invalid PCI bus id of a GPU: `{text}`"),
            fix: "choose a GPU of this host; `nvidia-smi -L` lists them".into(),
        })
    }
}

fn parse(text: &str) -> Option<BusId> {
    let (place, function) = text.split_once('.')?;
    let mut parts = place.split(':');
    let mut part = || {
        let digits = parts.next()?;
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let (domain, bus, device) = (part()?, part()?, part()?);
    let function = match function.as_bytes() {
        [digit] => char::from(*digit).to_digit(16)?,
        _ => return None,
    };
    let byte = |n: u32| u8::try_from(n).ok();
    parts.next().is_none().then_some(BusId {
        domain,
        bus: byte(bus)?,
        device: byte(device)?,
        function: byte(function)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_however_it_is_written() {
        let id: BusId = "0000:0A:00.0".parse().unwrap();
        assert_eq!(id, "00000000:0a:00.0".parse().unwrap());
        assert_eq!(id.to_string(), "00000000:0a:00.0");
        for text in [
            "",
            "0",
            "1",
            "0000:01:00",
            "0000:01:00.0:1",
            "0000:+1:00.0",
            "0000:100:00.0",
            "0000:01:00.00",
        ] {
            let e = text.parse::<BusId>().unwrap_err();
            assert!(e.cause.contains("invalid PCI bus id"), "{text}: {e:?}");
        }
    }
}
