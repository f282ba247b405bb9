//! The recording of this process: started by the first region, ended when the process exits.

mod collector;

pub use collector::Collector;

use crate::alone::Alone;
use crate::config::{self, Config};
use crate::names::Paths;
use crate::notes::{Note, Notes};
use crate::quiet::Quiet;
use crate::spin::{Spin, lock_soon, lock_within};
use crate::summary::Process;
use crate::thread::ThreadState;
use std::cell::Cell;
use std::ptr::null;
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering, compiler_fence,
};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::{Duration, SystemTime};

/// The recording. It is never freed: threads may use it while the process exits.
pub struct Core {
    pub paths: Mutex<Paths>,
    pub threads: Mutex<Vec<Arc<ThreadState>>>,
    notes: Notes,
    next_thread: AtomicU64,
    collector: Mutex<Collector>,
    /// The thread that collects, where one could be started.
    worker: OnceLock<Thread>,
    ended: AtomicBool,
    lines: bool,
}

/// Stack of threads of the library: that of a thread of the program may be as small as the system allows.
const STACK: usize = 1 << 20;

/// Works on a thread of its own; where none can be started, on this one.
fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let work = Mutex::new(Some(work));
    let run = || {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        work.map(|w| w())
    };
    let done = std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("greenup-start".into());
        let thread = builder.stack_size(STACK).spawn_scoped(scope, run).ok()?;
        // A thread that panicked leaves no result.
        thread.join().ok().flatten()
    });
    done.or_else(run)
}

/// Not known yet, off, on, over.
const UNKNOWN: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;
const OVER: u8 = 3;

static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);
static CORE: AtomicPtr<Core> = AtomicPtr::new(std::ptr::null_mut());
/// Rises with each fork: what a thread knows of an older one is not of this process.
static GENERATION: AtomicU32 = AtomicU32::new(1);
/// Id of the process of which a thread holds [`Starting`], or 0.
static STARTING: AtomicU32 = AtomicU32::new(0);
static HOOKED: AtomicBool = AtomicBool::new(false);
static CONFIG: Spin<Option<Config>> = Spin::new(None);
static INTERRUPTED: AtomicU64 = AtomicU64::new(0);

struct Local {
    core: Cell<*const Core>,
    state: Cell<*const ThreadState>,
    generation: Cell<u32>,
    /// A call is under way: a signal handler that calls must not wait for it.
    busy: Cell<bool>,
    over: Cell<bool>,
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            core: Cell::new(null()),
            state: Cell::new(null()),
            generation: Cell::new(0),
            busy: Cell::new(false),
            over: Cell::new(false),
        }
    };
    /// Dropped when the thread ends.
    static ENDING: Ending = const { Ending };
}

struct Ending;

impl Drop for Ending {
    fn drop(&mut self) {
        LOCAL.with(|l| {
            l.over.set(true);
            let state = l.state.replace(null());
            if !state.is_null() && l.generation.get() == GENERATION.load(Ordering::Acquire) {
                // SAFETY: both pointers are of this generation; the state's count was taken for this thread.
                let (core, state) = unsafe { (&*l.core.get(), Arc::from_raw(state)) };
                state.finish(&core.notes);
            }
        });
    }
}

/// Whether nothing is recorded.
#[inline]
pub fn is_off() -> bool {
    matches!(MODE.load(Ordering::Relaxed), OFF | OVER)
}

/// Calls `f` with the recording and this thread; `None` if nothing is recorded.
#[inline]
pub fn with_thread<R>(f: impl FnOnce(&'static Core, &ThreadState) -> R) -> Option<R> {
    if is_off() {
        return None;
    }
    LOCAL.with(|l| {
        if l.over.get() {
            return None;
        }
        if l.busy.replace(true) {
            INTERRUPTED.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        // What follows must not be moved before the mark, which a signal handler of this thread looks at.
        compiler_fence(Ordering::SeqCst);
        let _free = Free(&l.busy);
        if l.generation.get() != GENERATION.load(Ordering::Acquire) {
            join(l)?;
        }
        // SAFETY: both pointers are of this generation: the core is never freed, and this thread holds its state.
        let (core, state) = unsafe { (&*l.core.get(), &*l.state.get()) };
        Some(f(core, state))
    })
}

struct Free<'a>(&'a Cell<bool>);

impl Drop for Free<'_> {
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.0.set(false);
    }
}

/// Makes this thread known to the recording, and starts that if need be.
#[cold]
fn join(l: &Local) -> Option<()> {
    let core = start()?;
    let state = Arc::new(ThreadState::new(
        core.next_thread.fetch_add(1, Ordering::Relaxed),
        core.lines,
    ));
    let before = l.state.get();
    if !before.is_null() {
        // Regions that were open at a fork go on in the child.
        // SAFETY: this thread's state of the parent process, which the child has a copy of and never frees.
        for name in unsafe { &*before }.open() {
            state.begin(&name, &core.paths, &core.notes);
        }
    }
    core.threads
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(state.clone());
    l.core.set(core);
    l.state.set(Arc::into_raw(state));
    l.generation.set(GENERATION.load(Ordering::Acquire));
    // From now on it is dropped when the thread ends.
    let _ = ENDING.try_with(|_| ());
    Some(())
}

/// The recording, if there is one.
pub fn running() -> Option<&'static Core> {
    // SAFETY: null, or a leaked box.
    unsafe { CORE.load(Ordering::Acquire).as_ref() }
}

/// The recording, started if need be; `None` if it is off.
pub fn start() -> Option<&'static Core> {
    if is_off() {
        return None;
    }
    if let Some(core) = running() {
        return Some(core);
    }
    let _starting = Starting::lock();
    if is_off() {
        return None;
    }
    running().or_else(|| on_own_stack(create).flatten())
}

/// The right to start or configure the recording, of one thread at a time. That thread handles no signal meanwhile, as a
/// handler with a region would wait for it, and the threads that it starts leave signals to those of the program.
struct Starting {
    _quiet: Quiet,
}

impl Starting {
    fn lock() -> Self {
        let starting = Self {
            _quiet: Quiet::new(),
        };
        let own = std::process::id();
        loop {
            match STARTING.compare_exchange(0, own, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => break,
                Err(holder) if holder == own => std::thread::sleep(Duration::from_millis(1)),
                // A thread of the process that forked this one: it does not exist here.
                Err(holder) => {
                    let _ =
                        STARTING.compare_exchange(holder, 0, Ordering::Relaxed, Ordering::Relaxed);
                }
            }
        }
        if !HOOKED.load(Ordering::Relaxed) {
            // SAFETY: both functions live until the process ends, also after dlclose (build.rs).
            unsafe {
                libc::pthread_atfork(None, None, Some(in_child));
                libc::atexit(at_exit);
            }
            // Only now: a child that is forked in between hooks once more, which does no harm.
            HOOKED.store(true, Ordering::Relaxed);
        }
        starting
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        STARTING.store(0, Ordering::Release);
    }
}

/// Starts the recording; called by the thread that holds [`Starting`].
fn create() -> Option<&'static Core> {
    // A thread that a fork left behind may hold it.
    let chosen = CONFIG.lock_soon().and_then(|c| c.clone());
    let (config, wrong) = chosen.map_or_else(Config::from_env, |c| (c, Vec::new()));
    if !config.output.any() {
        MODE.store(OFF, Ordering::Relaxed);
        return None;
    }
    let lines = config.output.lines;
    let (collector, more) = Collector::new(config, this_process());
    let core: &'static Core = Box::leak(Box::new(Core {
        paths: Mutex::new(Paths::new()),
        threads: Mutex::new(Vec::new()),
        notes: Notes::default(),
        next_thread: AtomicU64::new(0),
        collector: Mutex::new(collector),
        worker: OnceLock::new(),
        ended: AtomicBool::new(false),
        lines,
    }));
    for text in wrong.into_iter().chain(more) {
        core.notes.add(Note::Run, || text);
    }
    CORE.store(std::ptr::from_ref(core).cast_mut(), Ordering::Release);
    MODE.store(ON, Ordering::Relaxed);
    let builder = std::thread::Builder::new().name("greenup-regions".into());
    match builder
        .stack_size(STACK)
        .spawn(|| core.keep_collecting())
    {
        Ok(thread) => {
            let _ = core.worker.set(thread.thread().clone());
        }
        Err(e) => core.notes.add(Note::Run, || {
            format!("no thread for reading sensors ({e}): energies are known at flushes and at exit alone")
        }),
    }
    Some(core)
}

fn this_process() -> Process {
    let program = std::env::current_exe()
        .ok()
        .and_then(|p| Some(p.file_name()?.to_string_lossy().into_owned()))
        .unwrap_or_default();
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Process {
        program,
        host: config::host(),
        pid: std::process::id(),
        rank: config::rank(),
        start_unix_ns: since.map_or(0, |d| d.as_nanos() as u64),
    }
}

/// Sets what is recorded, for a recording that has not started.
///
/// Returns whether it had not.
pub fn configure(config: Config) -> bool {
    let _starting = Starting::lock();
    if running().is_some() || MODE.load(Ordering::Relaxed) == OVER {
        return false;
    }
    let Some(mut chosen) = CONFIG.lock_soon() else {
        return false;
    };
    *chosen = Some(config);
    MODE.store(UNKNOWN, Ordering::Relaxed);
    true
}

impl Core {
    /// The collector; waits at most two seconds, as a process that exits may have lost the thread that held it.
    pub fn collector(&self) -> Option<MutexGuard<'_, Collector>> {
        lock_within(&self.collector, Duration::from_secs(2))
    }

    /// Where what goes wrong is counted.
    pub fn note(&self) -> &Notes {
        &self.notes
    }

    /// All notes as sentences.
    pub fn notes(&self) -> Vec<String> {
        let interrupted = INTERRUPTED.swap(0, Ordering::Relaxed);
        if interrupted > 0 {
            self.notes
                .add_many(Note::Interrupted, interrupted, String::new);
        }
        self.notes.texts()
    }

    /// Waits until a thread's lines are taken.
    #[cold]
    pub fn make_room(&self, thread: &ThreadState) {
        let _quiet = Quiet::new();
        while thread.is_full() && !self.ended.load(Ordering::Acquire) {
            if let Some(worker) = self.worker.get() {
                // This thread's stack may be small.
                worker.unpark();
            } else if let Some(mut collector) = lock_soon(&self.collector) {
                collector.round(self);
            }
            if thread.is_full() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    fn keep_collecting(&self) {
        let mut alone = Alone::default();
        while !self.ended.load(Ordering::Acquire) {
            let rest = {
                let mut collector = self
                    .collector
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                if self.ended.load(Ordering::Acquire) {
                    return;
                }
                collector.round(self);
                collector.rest()
            };
            if alone.is_so() {
                // As the last thread of a program does: the handlers of the exit end the recording.
                // SAFETY: no thread of the program is left that could exit at the same time.
                unsafe { libc::exit(0) };
            }
            std::thread::park_timeout(rest);
        }
    }
}

extern "C" fn at_exit() {
    let _ = std::panic::catch_unwind(finish);
}

/// Writes what is to be written at the end; later regions are not recorded.
fn finish() {
    if MODE.swap(OVER, Ordering::AcqRel) != ON {
        return;
    }
    let Some(core) = running() else { return };
    let _quiet = Quiet::new();
    on_own_stack(|| end(core));
}

fn end(core: &'static Core) {
    let Some(mut collector) = core.collector() else {
        return;
    };
    let threads = lock_soon(&core.threads).map_or_else(Vec::new, |t| t.clone());
    for thread in threads {
        thread.finish(&core.notes);
    }
    core.ended.store(true, Ordering::Release);
    collector.finish(core);
}

/// In the child after a fork: other threads are gone, and what they held stays locked. So the child starts anew.
extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::AcqRel);
    CORE.store(std::ptr::null_mut(), Ordering::Release);
    INTERRUPTED.store(0, Ordering::Relaxed);
    let mode = MODE.load(Ordering::Relaxed);
    if mode == ON {
        MODE.store(UNKNOWN, Ordering::Relaxed);
    }
}
