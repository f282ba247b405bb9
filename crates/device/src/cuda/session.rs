//! Holding a GPU: its context, one stream, and the time on it.

use super::gpu::failed;
use super::{CudaError, Module, libraries};
use cudarc::driver::{result, sys};
use std::ffi::c_void;
use std::rc::Rc;

type Held<T> = Result<T, CudaError>;

/// A GPU held for use by one thread, with one stream on which everything runs in order.
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
    /// Takes the GPU with this number.
    ///
    /// # Errors
    /// No driver, no such GPU, or its context cannot be made.
    pub fn open(ordinal: i32) -> Held<Self> {
        libraries::driver()?;
        result::init().map_err(failed("the CUDA driver does not start"))?;
        let device = result::device::get(ordinal).map_err(failed("there is no such GPU"))?;
        Self::on(device)
    }

    /// The same GPU with a stream of its own, whose work may overlap with this one's.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn beside(&self) -> Held<Self> {
        Self::on(self.0.device)
    }

    fn on(device: sys::CUdevice) -> Held<Self> {
        // SAFETY: the device was given by the driver; the context lives until `release`.
        let context = unsafe {
            let context =
                result::primary_ctx::retain(device).map_err(failed("the GPU cannot be taken"))?;
            result::ctx::set_current(context).map_err(failed("the GPU cannot be taken"))?;
            context
        };
        // Ordered with the null stream, so that libraries which know no stream keep the order too.
        let stream = result::stream::create(result::stream::StreamKind::Default)
            .map_err(failed("no stream"))?;
        Ok(Self(Rc::new(Inner {
            device,
            context,
            stream,
        })))
    }

    /// Makes its GPU the one that the thread's next calls mean: a thread may hold several.
    pub(super) fn make_current(&self) -> Held<()> {
        // SAFETY: the context is held until the session ends.
        unsafe { result::ctx::set_current(self.0.context) }.map_err(failed("the GPU is lost"))
    }

    /// The stream, as C libraries take it.
    pub fn stream(&self) -> *mut c_void {
        self.0.stream.cast()
    }

    pub(super) fn raw(&self) -> sys::CUstream {
        self.0.stream
    }

    /// Loads a cubin.
    ///
    /// # Errors
    /// It is for another GPU, or there is no memory for it.
    pub fn load(&self, cubin: &[u8]) -> Held<Module> {
        Module::load(self, cubin)
    }

    /// Waits for everything, and says what went wrong in it.
    ///
    /// # Errors
    /// A kernel failed; the session is of no more use.
    pub fn synchronize(&self) -> Held<()> {
        // SAFETY: the stream is alive.
        unsafe { result::stream::synchronize(self.0.stream) }
            .map_err(failed("a kernel failed on the GPU"))
    }

    pub fn event(&self) -> Held<Event> {
        self.make_current()?;
        Ok(Event {
            raw: result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT)
                .map_err(failed("no event"))?,
            session: self.clone(),
        })
    }

    /// Records what `enqueue` puts on the stream, to be launched again without the host.
    ///
    /// # Errors
    /// Something in it cannot be recorded.
    pub fn graph(&self, enqueue: &mut dyn FnMut() -> Held<()>) -> Held<Graph> {
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

/// A moment on the stream.
pub struct Event {
    raw: sys::CUevent,
    session: Session,
}

impl Event {
    /// Takes the moment at which everything before is done.
    ///
    /// # Errors
    /// The GPU is lost.
    pub fn record(&self) -> Held<()> {
        // SAFETY: event and stream are alive.
        unsafe { result::event::record(self.raw, self.session.raw()) }
            .map_err(failed("no event can be recorded"))
    }

    /// Waits for the moment.
    ///
    /// # Errors
    /// A kernel before it failed.
    pub fn wait(&self) -> Held<()> {
        // SAFETY: the event is alive.
        unsafe { result::event::synchronize(self.raw) }
            .map_err(failed("a kernel failed on the GPU"))
    }

    /// Seconds since an earlier event; both must have come.
    ///
    /// # Errors
    /// One of them has not come.
    pub fn since(&self, earlier: &Self) -> Held<f64> {
        // SAFETY: both events are alive.
        unsafe { result::event::elapsed(earlier.raw, self.raw) }
            .map(|ms| f64::from(ms) * 1e-3)
            .map_err(failed("no time between events"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: made by `create`, destroyed once.
        let _ = unsafe { result::event::destroy(self.raw) };
    }
}

/// Recorded launches.
pub struct Graph {
    raw: sys::CUgraphExec,
    session: Session,
}

impl Graph {
    /// Puts all of them on the stream.
    ///
    /// # Safety
    /// What the recorded launches and copies work on is still there, and may still be used by them.
    ///
    /// # Errors
    /// The GPU is lost.
    pub unsafe fn launch(&self) -> Held<()> {
        self.session.make_current()?;
        // SAFETY: graph and stream are alive; the rest is promised by the caller.
        unsafe { result::graph::launch(self.raw, self.session.raw()) }
            .map_err(failed("recorded launches cannot be repeated"))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: instantiated once, destroyed once.
        let _ = unsafe { result::graph::exec_destroy(self.raw) };
    }
}
