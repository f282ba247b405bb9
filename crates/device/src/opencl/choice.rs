//! How a user names a device.

use super::OpenClError;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Numbers of a platform and of a device in it, in the order in which the library lists them; as text `0.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// Number of the platform.
    pub platform: usize,
    /// Number of the device among those of its platform.
    pub device: usize,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.platform, self.device)
    }
}

/// A device as a user names it: a platform by number or by a part of its name, then the device's number, as in `0`, `0.1`,
/// `nvidia` or `portable.0`. The empty text is the first device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub(super) platform: String,
    pub(super) device: usize,
}

impl FromStr for Choice {
    type Err = OpenClError;

    fn from_str(text: &str) -> Result<Self, OpenClError> {
        let invalid = || OpenClError::InvalidDevice(text.to_owned());
        let (platform, device) = match text.rsplit_once('.') {
            Some((platform, device)) => (platform, device.parse().map_err(|_| invalid())?),
            None => (text, 0),
        };
        Ok(Self {
            platform: platform.to_lowercase(),
            device,
        })
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.platform.as_str() {
            "" => write!(f, "0.{}", self.device),
            platform => write!(f, "{platform}.{}", self.device),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::device::tests::device;
    use super::*;

    #[test]
    fn devices_are_named_by_numbers_or_by_a_part_of_the_platforms_name() {
        let of = |text: &str| text.parse::<Choice>().unwrap();
        let pocl = device((0, 0), "Portable Computing Language");
        let nvidia = device((1, 1), "NVIDIA CUDA");
        assert!(of("").fits(&pocl) && !of("").fits(&nvidia));
        assert!(of("0").fits(&pocl) && of("0.0").fits(&pocl) && of("portable").fits(&pocl));
        assert!(of("1.1").fits(&nvidia) && of("nvidia.1").fits(&nvidia));
        assert!(!of("nvidia").fits(&nvidia) && !of("1").fits(&pocl));
        for bad in ["0.x", "0.", "0.-1"] {
            assert!(bad.parse::<Choice>().is_err(), "{bad}");
        }
    }
}
