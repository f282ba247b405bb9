//! A context of a GPU: its stream, events and graphs.

use super::{CudaError, failed, libraries};
use cudarc::driver::{result, sys};
use std::ffi::c_void;
use std::rc::Rc;

type Result<T> = std::result::Result<T, CudaError>;

/// The context of a GPU with one stream, for one thread.
#[derive(Clone)]
pub struct Session(Rc<Inner>);

struct Inner {
    device: sys::CUdevice,
    context: sys::CUcontext,
    stream: sys::CUstream,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // SAFETY: both were made in `on` and are given back once. Errors change nothing: the
        // driver frees all at the end of the process.
        unsafe {
            let _ = result::stream::destroy(self.stream);
            let _ = result::primary_ctx::release(self.device);
        }
    }
}

impl Session {
    /// Opens a GPU by its number.
    ///
    /// # Errors
    /// No driver, no such GPU, or its context cannot be made.
    pub fn open(ordinal: i32) -> Result<Self> {
        libraries::driver()?;
        result::init().map_err(failed("the CUDA driver does not start"))?;
        let device = result::device::get(ordinal).map_err(failed("there is no such GPU"))?;
        Self::on(device)
    }

    /// The same GPU with another stream, whose work may overlap.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn new_stream(&self) -> Result<Self> {
        Self::on(self.0.device)
    }

    fn on(device: sys::CUdevice) -> Result<Self> {
        // SAFETY: the device was given by the driver; the context lives until `release`.
        let context = unsafe {
            let context =
                result::primary_ctx::retain(device).map_err(failed("the GPU cannot be opened"))?;
            result::ctx::set_current(context).map_err(failed("the GPU cannot be opened"))?;
            context
        };
        // Ordered with the null stream, so that libraries which know no stream keep the order too.
        let stream = result::stream::create(result::stream::StreamKind::Default)
            .map_err(failed("a stream cannot be created"))?;
        Ok(Self(Rc::new(Inner {
            device,
            context,
            stream,
        })))
    }

    /// Makes its context current: a thread may have several.
    pub(super) fn make_current(&self) -> Result<()> {
        // SAFETY: the context is held until the session ends.
        unsafe { result::ctx::set_current(self.0.context) }.map_err(failed("the GPU is lost"))
    }

    /// The stream, as C libraries take it.
    pub fn stream(&self) -> *mut c_void {
        self.0.stream.cast()
    }

    pub(super) fn device(&self) -> sys::CUdevice {
        self.0.device
    }

    pub(super) fn context(&self) -> sys::CUcontext {
        self.0.context
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.0.stream
    }

    /// Waits for everything enqueued.
    ///
    /// # Errors
    /// A kernel failed; the session cannot be used any more.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: the stream is alive.
        unsafe { result::stream::synchronize(self.0.stream) }
            .map_err(failed("a kernel failed on the GPU"))
    }

    /// A new event.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn event(&self) -> Result<Event> {
        self.make_current()?;
        Ok(Event {
            raw: result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)
                .map_err(failed("an event cannot be created"))?,
            session: self.clone(),
        })
    }

    /// Captures what `enqueue` puts on the stream as a graph.
    ///
    /// # Errors
    /// Something in it cannot be captured.
    pub fn graph(&self, enqueue: &mut dyn FnMut() -> Result<()>) -> Result<Graph> {
        let wrong = failed("the launches cannot be recorded");
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        self.make_current()?;
        // SAFETY: the stream is alive, and the capture is ended whatever happens in between.
        unsafe {
            result::stream::begin_capture(self.0.stream, mode).map_err(&wrong)?;
            let enqueued = enqueue();
            let graph = result::stream::end_capture(self.0.stream).map_err(&wrong);
            enqueued?;
            let graph = graph?;
            // No flags.
            let none = std::mem::zeroed();
            let instance = result::graph::instantiate(graph, none).map_err(&wrong);
            let _ = result::graph::destroy(graph);
            Ok(Graph {
                raw: instance?,
                session: self.clone(),
            })
        }
    }
}

/// An event of the stream.
pub struct Event {
    raw: sys::CUevent,
    session: Session,
}

impl Event {
    /// Records the event after everything enqueued before.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn record(&self) -> Result<()> {
        // SAFETY: event and stream are alive.
        unsafe { result::event::record(self.raw, self.session.raw()) }
            .map_err(failed("an event cannot be recorded"))
    }

    /// Waits for the event.
    ///
    /// # Errors
    /// A kernel before it failed.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: the event is alive.
        unsafe { result::event::synchronize(self.raw) }
            .map_err(failed("a kernel failed on the GPU"))
    }

    /// Seconds since an earlier event; both must have completed.
    ///
    /// # Errors
    /// One of them has not completed.
    pub fn since(&self, earlier: &Self) -> Result<f64> {
        // SAFETY: both events are alive.
        unsafe { result::event::elapsed(earlier.raw, self.raw) }
            .map(|ms| f64::from(ms) * 1e-3)
            .map_err(failed("the time between events is unknown"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made by `create`, destroyed once.
        let _ = unsafe { result::event::destroy(self.raw) };
    }
}

/// A graph of launches.
pub struct Graph {
    raw: sys::CUgraphExec,
    session: Session,
}

impl Graph {
    /// Puts the graph on the GPU now, so that its first launch allocates nothing; returns once it is there.
    ///
    /// # Errors
    /// No memory, or the GPU is lost.
    pub fn upload(&self) -> Result<()> {
        self.session.make_current()?;
        // SAFETY: graph and stream are alive.
        unsafe { result::graph::upload(self.raw, self.session.raw()) }
            .map_err(failed("the graph cannot be put on the GPU"))?;
        self.session.synchronize()
    }

    /// Enqueues the graph.
    ///
    /// # Safety
    /// The memory that its launches and copies use still exists, and they may use it.
    ///
    /// # Errors
    /// The GPU is lost.
    pub unsafe fn launch(&self) -> Result<()> {
        self.session.make_current()?;
        // SAFETY: graph and stream are alive; the rest is promised by the caller.
        unsafe { result::graph::launch(self.raw, self.session.raw()) }
            .map_err(failed("the graph cannot be launched"))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: instantiated once, destroyed once.
        let _ = unsafe { result::graph::exec_destroy(self.raw) };
    }
}
