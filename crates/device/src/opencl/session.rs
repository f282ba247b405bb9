//! A context of one device with an in-order queue, and events in it.

use super::library::{Functions, functions};
use super::query::{found, number, property};
use super::{Address, OpenClError, check, failed};
use opencl_sys as cl;
use std::ptr::{null, null_mut};
use std::rc::Rc;

/// A context of one device and its queue.
#[derive(Clone)]
pub struct Session(Rc<Inner>);

struct Inner {
    f: &'static Functions,
    device: cl::cl_device_id,
    context: cl::cl_context,
    queue: cl::cl_command_queue,
    /// Whether the device shares the memory of the host.
    unified: bool,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: both were made once and are released once, when nothing refers to them.
        unsafe {
            (self.f.finish)(self.queue);
            (self.f.release_queue)(self.queue);
            (self.f.release_context)(self.context);
        }
    }
}

impl Session {
    /// Opens a device.
    ///
    /// # Errors
    /// There is no such device, or it refuses.
    pub fn open(address: Address) -> Result<Self, OpenClError> {
        let f = functions()?;
        let all = found()?;
        let device = (all.iter().find(|d| d.address == address))
            .map(|d| d.id)
            .ok_or_else(|| OpenClError::NoDevice {
                named: address.to_string(),
                there: all.iter().map(|d| d.address.to_string()).collect(),
            })?;
        let mut status = 0;
        // SAFETY: the list has one device; there is no callback.
        let context = unsafe {
            (f.create_context)(
                null(),
                1,
                &raw const device,
                None,
                null_mut(),
                &raw mut status,
            )
        };
        check("the device cannot be opened", status)?;
        // SAFETY: context and device are alive. The queue executes in order.
        let queue = unsafe {
            (f.create_queue)(
                context,
                device,
                cl::CL_QUEUE_PROFILING_ENABLE,
                &raw mut status,
            )
        };
        if status != cl::CL_SUCCESS {
            // SAFETY: made above, used by nobody.
            unsafe { (f.release_context)(context) };
            return Err(failed("the device has no queue that tells times", status));
        }
        let unified = number(property(|room, to, size| {
            // SAFETY: the device was given by the library; `to` has room for `room` bytes.
            unsafe { (f.device_info)(device, cl::CL_DEVICE_HOST_UNIFIED_MEMORY, room, to, size) }
        })) == Some(1);
        Ok(Self(Rc::new(Inner {
            f,
            device,
            context,
            queue,
            unified,
        })))
    }

    pub(super) fn functions(&self) -> &'static Functions {
        self.0.f
    }

    pub(super) fn device(&self) -> cl::cl_device_id {
        self.0.device
    }

    pub(super) fn context(&self) -> cl::cl_context {
        self.0.context
    }

    pub(super) fn queue(&self) -> cl::cl_command_queue {
        self.0.queue
    }

    pub(super) fn unified(&self) -> bool {
        self.0.unified
    }

    /// Waits for everything enqueued.
    ///
    /// # Errors
    /// Something failed.
    pub fn finish(&self) -> Result<(), OpenClError> {
        // SAFETY: the queue is alive.
        check("the device failed", unsafe {
            (self.0.f.finish)(self.0.queue)
        })
    }
}

/// A place in the queue.
pub struct Event {
    raw: cl::cl_event,
    session: Session,
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made once, released once.
        unsafe { (self.session.functions().release_event)(self.raw) };
    }
}

impl Event {
    /// When the device came to it, ns of its own clock.
    fn at(&self) -> Result<u64, OpenClError> {
        let mut t = 0_u64;
        // SAFETY: the event is alive; the answer has 8 bytes.
        let status = unsafe {
            (self.session.functions().event_times)(
                self.raw,
                cl::CL_PROFILING_COMMAND_END,
                size_of::<u64>(),
                (&raw mut t).cast(),
                null_mut(),
            )
        };
        check("the device tells no times", status)?;
        Ok(t)
    }
}

impl crate::batches::Queue for Session {
    type Event = Event;
    type Error = OpenClError;

    fn event(&self) -> Result<Event, OpenClError> {
        let mut raw = null_mut();
        // SAFETY: the queue is alive; the marker waits for all that was enqueued before.
        let status = unsafe { (self.0.f.marker)(self.0.queue, 0, null(), &raw mut raw) };
        check("an event cannot be enqueued", status)?;
        let event = Event {
            raw,
            session: self.clone(),
        };
        // So that the device begins.
        // SAFETY: the queue is alive.
        check("the device failed", unsafe {
            (self.0.f.flush)(self.0.queue)
        })?;
        Ok(event)
    }

    fn wait(&self, event: &Event) -> Result<(), OpenClError> {
        // SAFETY: the event is alive.
        check("a kernel failed", unsafe {
            (self.0.f.wait)(1, &raw const event.raw)
        })
    }

    fn between(&self, from: &Event, to: &Event) -> Result<f64, OpenClError> {
        // An earlier event of an in-order queue is over when a later one is.
        let ns = to.at()?.saturating_sub(from.at()?);
        Ok(ns as f64 * 1e-9)
    }
}
