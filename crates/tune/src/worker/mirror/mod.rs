//! The arguments in the memory of a device: each array with a known pattern around it, and what it holds before a run.

pub mod judge;

use crate::problem::Tolerance;
use crate::worker::inputs::arguments::Arguments;
use crate::worker::inputs::block::{CANARY, OutOfBounds, canary, overwritten};
use crate::worker::inputs::error::DeviceError;
use greenup_device::{cuda, opencl};
use judge::Place;
use std::cell::OnceCell;

/// A device that has memory of its own.
pub trait Store: Clone {
    /// An allocation.
    type Memory;
    /// An error of the device.
    type Error;

    fn alloc(&self, bytes: usize) -> Result<Self::Memory, Self::Error>;
    fn upload(to: &Self::Memory, at: usize, from: &[u8]) -> Result<(), Self::Error>;
    fn download(from: &Self::Memory, at: usize, to: &mut [u8]) -> Result<(), Self::Error>;
    /// Copies all of an allocation of the same size.
    fn copy(to: &Self::Memory, from: &Self::Memory) -> Result<(), Self::Error>;
}

macro_rules! store {
    ($api:ident, $error:ident) => {
        impl Store for $api::Session {
            type Memory = $api::Memory;
            type Error = $api::$error;

            fn alloc(&self, bytes: usize) -> Result<$api::Memory, $api::$error> {
                $api::Session::alloc(self, bytes)
            }

            fn upload(to: &$api::Memory, at: usize, from: &[u8]) -> Result<(), $api::$error> {
                to.upload_at(at, from)
            }

            fn download(from: &$api::Memory, at: usize, to: &mut [u8]) -> Result<(), $api::$error> {
                from.download_from(at, to)
            }

            fn copy(to: &$api::Memory, from: &$api::Memory) -> Result<(), $api::$error> {
                to.copy_from(from)
            }
        }
    };
}

store!(cuda, CudaError);
store!(opencl, OpenClError);

/// The arguments on a device.
pub struct Mirror<S: Store> {
    pub session: S,
    arrays: Vec<Option<Array<S>>>,
}

/// An array on a device; the array itself begins [`CANARY`] bytes after the start of `now`.
pub struct Array<S: Store> {
    pub now: S::Memory,
    /// Kept on the device where runs change it.
    before: Option<S::Memory>,
    /// Whether runs read what they change of it.
    read: bool,
    pub bytes: usize,
    /// Whether it is brought back after a run.
    checked: bool,
    /// A number of what an input holds.
    hash: OnceCell<u64>,
}

/// The memory around an array, on both sides.
struct Canaries(Vec<u8>);

impl Canaries {
    fn new() -> Self {
        Self(canary())
    }

    fn put<S: Store>(&self, array: &S::Memory, bytes: usize) -> Result<(), S::Error> {
        S::upload(array, 0, &self.0)?;
        S::upload(array, CANARY + bytes, &self.0)
    }

    /// Where memory outside of an array was overwritten.
    fn check<S: Store>(&self, array: &Array<S>) -> Result<Option<OutOfBounds>, S::Error> {
        let (mut front, mut back) = (self.0.clone(), self.0.clone());
        S::download(&array.now, 0, &mut front)?;
        S::download(&array.now, CANARY + array.bytes, &mut back)?;
        Ok(overwritten(&front, &back))
    }
}

impl<S: Store> Mirror<S> {
    /// Copies everything as it is before a run.
    pub fn new(session: S, arguments: &Arguments) -> Result<Self, S::Error> {
        let canaries = Canaries::new();
        let mut arrays = Vec::new();
        for a in arguments.arrays() {
            arrays.push(match a {
                None => None,
                Some(a) => {
                    let all = a.bytes.len() + 2 * CANARY;
                    let now = session.alloc(all)?;
                    canaries.put::<S>(&now, a.bytes.len())?;
                    S::upload(&now, CANARY, a.bytes)?;
                    let before = if a.changes {
                        let before = session.alloc(all)?;
                        S::copy(&before, &now)?;
                        Some(before)
                    } else {
                        None
                    };
                    Some(Array {
                        now,
                        before,
                        read: a.read,
                        bytes: a.bytes.len(),
                        checked: a.checked,
                        hash: OnceCell::new(),
                    })
                }
            });
        }
        Ok(Self { session, arrays })
    }

    /// Other arguments in place of these, whose memory is free before.
    fn replaced(self, arguments: &Arguments) -> Result<Self, S::Error> {
        drop(self.arrays);
        Self::new(self.session, arguments)
    }

    /// Each array; none for a scalar.
    pub fn arrays(&self) -> impl Iterator<Item = Option<&Array<S>>> {
        self.arrays.iter().map(Option::as_ref)
    }

    /// Restores what runs change, with `read` only what they read of that.
    pub fn reset(&self, read: bool) -> Result<(), S::Error> {
        for a in self.arrays.iter().flatten().filter(|a| a.read || !read) {
            if let Some(before) = &a.before {
                S::copy(&a.now, before)?;
            }
        }
        Ok(())
    }

    /// Brings all arrays but scratch to the host; returns the first outside of which something was overwritten. The pattern there is
    /// restored then, as the next kernel may not be blamed.
    pub fn fetch(
        &self,
        arguments: &mut Arguments,
    ) -> Result<Option<(usize, OutOfBounds)>, S::Error> {
        let canaries = Canaries::new();
        let mut wrong = None;
        for (i, (a, to)) in self.arrays.iter().zip(arguments.contents_mut()).enumerate() {
            let (Some(a), Some(to)) = (a, to) else {
                continue;
            };
            if a.checked {
                S::download(&a.now, CANARY, to)?;
            }
            if let Some(place) = canaries.check(a)? {
                wrong.get_or_insert((i, place));
                canaries.put::<S>(&a.now, a.bytes)?;
            }
        }
        Ok(wrong)
    }

    /// Whether something outside of the arrays was overwritten.
    pub fn overwritten(&self) -> Result<bool, S::Error> {
        let canaries = Canaries::new();
        for a in self.arrays.iter().flatten() {
            if canaries.check(a)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Uploads an input again that a kernel may have changed.
    pub fn restore(&self, arguments: &Arguments) -> Result<(), S::Error> {
        for (a, from) in self.arrays.iter().zip(arguments.arrays()) {
            if let (Some(a), Some(from)) = (a, from)
                && a.before.is_none()
            {
                S::upload(&a.now, CANARY, from.bytes)?;
            }
        }
        Ok(())
    }
}

impl Mirror<cuda::Session> {
    /// Where the arrays lie, and what they must hold after a run; `reference` has the outputs one after the other.
    pub fn places<'a>(
        &'a self,
        arguments: &'a Arguments,
        reference: Option<&'a [u8]>,
        tolerance: Tolerance,
    ) -> Vec<Place<'a>> {
        let mut rest = reference;
        let all = self.arrays.iter().zip(arguments.arrays());
        all.filter_map(|(a, array)| {
            let (a, array) = (a.as_ref()?, array?);
            let mut own = None;
            if array.changes
                && let Some(bytes) = rest
            {
                let (right, later) = bytes.split_at(a.bytes.min(bytes.len()));
                (own, rest) = (Some((right, tolerance.of(array.data.kind))), Some(later));
            }
            let at = |m: &cuda::Memory| m.address() + CANARY as u64;
            let is_input = array.checked && !array.changes;
            Some(Place {
                now: at(&a.now),
                before: a.before.as_ref().map_or(0, at),
                hash: if is_input {
                    *a.hash.get_or_init(|| judge::hash(array.bytes))
                } else {
                    0
                },
                array,
                reference: own,
            })
        })
        .collect()
    }
}

/// The arguments on a device, by how it is reached.
pub enum OnDevice {
    Cuda(Mirror<cuda::Session>),
    OpenCl(Mirror<opencl::Session>),
}

/// The same of the mirror on either device.
macro_rules! on {
    ($device:expr, $mirror:ident => $do:expr) => {
        match $device {
            OnDevice::Cuda($mirror) => $do.map_err(DeviceError::from),
            OnDevice::OpenCl($mirror) => $do.map_err(DeviceError::from),
        }
    };
}

impl OnDevice {
    /// Other arguments on the same device, beside these.
    pub fn another(&self, arguments: &Arguments) -> Result<Self, DeviceError> {
        Ok(match self {
            Self::Cuda(m) => Self::Cuda(Mirror::new(m.session.clone(), arguments)?),
            Self::OpenCl(m) => Self::OpenCl(Mirror::new(m.session.clone(), arguments)?),
        })
    }

    /// Other arguments on the same device, in place of these.
    pub fn replaced(self, arguments: &Arguments) -> Result<Self, DeviceError> {
        Ok(match self {
            Self::Cuda(m) => Self::Cuda(m.replaced(arguments)?),
            Self::OpenCl(m) => Self::OpenCl(m.replaced(arguments)?),
        })
    }

    pub fn reset(&self, read: bool) -> Result<(), DeviceError> {
        on!(self, m => m.reset(read))
    }

    pub fn fetch(
        &self,
        arguments: &mut Arguments,
    ) -> Result<Option<(usize, OutOfBounds)>, DeviceError> {
        on!(self, m => m.fetch(arguments))
    }

    pub fn restore(&self, arguments: &Arguments) -> Result<(), DeviceError> {
        on!(self, m => m.restore(arguments))
    }
}
