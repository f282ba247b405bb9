//! Ranks as processes, with the MPI that is installed: Open MPI, MPICH and its kin, or any with the standard interface of
//! MPI 5. It is loaded when a launcher started this process, so that no build needs it.

mod collectives;
mod error;
mod library;
mod link;

use crate::interface::Ranks as _;
use crate::launcher::Launched;
use library::{Functions, Handle};
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use error::{RanksError, VARIABLE};

/// Length of the parts in which long messages are sent: MPI counts in 32 bits.
const PART: usize = 1 << 27;

/// Tags of the messages of a link, of gathered bytes, and of exchanges.
const LINK: c_int = 1;
const GATHER: c_int = 2;
const EXCHANGE: c_int = 3;

/// Time in which a launcher forwards the last output of a rank.
const FORWARDING: Duration = Duration::from_millis(200);

/// Tests of a message before the core is offered to others.
const SPINS: u32 = 2_000;

/// MPI calls come one at a time, from any thread.
struct Calls {
    f: Functions,
    one: Mutex<()>,
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.one.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for messages. The core is offered to others, as it may be shared.
    ///
    /// # Safety
    /// The requests are of messages whose buffers still exist.
    unsafe fn wait(&self, requests: &mut Vec<Handle>) {
        let mut tries = 0u32;
        requests.retain_mut(|request| {
            loop {
                let mut done: c_int = 0;
                let guard = self.lock();
                // SAFETY: the caller's requests; `done` outlives the call.
                unsafe { (self.f.test)(request, &raw mut done, self.f.constants.no_status) };
                drop(guard);
                if done != 0 {
                    return false;
                }
                tries += 1;
                if tries > SPINS {
                    std::thread::yield_now();
                } else {
                    std::hint::spin_loop();
                }
            }
        });
    }
}

/// The ranks that MPI knows.
pub struct Mpi {
    calls: Arc<Calls>,
    rank: usize,
    size: usize,
    local: (usize, usize),
}

/// The first line of a version, which some libraries end with a zero byte.
fn first_line(version: &str) -> &str {
    let text = version.split('\0').next().unwrap_or_default();
    text.lines().next().unwrap_or_default().trim()
}

impl Mpi {
    /// Loads and starts MPI.
    ///
    /// # Errors
    /// There is none, or not the launcher's.
    pub fn start(launched: Launched) -> Result<Self, RanksError> {
        let f = library::load(std::env::var_os("OMPI_COMM_WORLD_SIZE").is_some())?;
        let (mut provided, mut rank, mut size) = (0, 0, 0);
        let world = f.constants.world;
        // SAFETY: null arguments are allowed since MPI 2; the numbers outlive the calls.
        let code = unsafe {
            let none = std::ptr::null_mut();
            let code = (f.init)(
                none,
                std::ptr::null_mut(),
                f.constants.serialized,
                &raw mut provided,
            );
            if code == 0 {
                (f.rank)(world, &raw mut rank);
                (f.size)(world, &raw mut size);
            }
            code
        };
        if code != 0 {
            return Err(RanksError::Init {
                library: f.name,
                code,
            });
        }
        if size as usize != launched.size {
            // SAFETY: MPI was started.
            unsafe { (f.finalize)() };
            return Err(RanksError::Foreign {
                library: f.name,
                launched: launched.size,
                seen: size as usize,
            });
        }
        let mut out = Self {
            calls: Arc::new(Calls {
                f,
                one: Mutex::new(()),
            }),
            rank: rank as usize,
            size: size as usize,
            local: (0, 1),
        };
        out.end_with_the_launcher();
        out.local = out.count_local();
        Ok(out)
    }

    /// The ranks of a communicator of a program that started MPI itself, such as mpi4py; it ends MPI, too. The
    /// communicator must be for these calls alone (a duplicate), and MPI started with `MPI_THREAD_SERIALIZED` or more.
    /// `version` is what `MPI_Get_library_version` tells the program: the same library must be found here.
    ///
    /// # Errors
    /// No MPI is found, or not the program's.
    pub fn within(communicator: u64, version: &str) -> Result<Self, RanksError> {
        let mut f = library::load(version.contains("Open MPI"))?;
        f.constants.world = communicator;
        let mut out = Self {
            calls: Arc::new(Calls {
                f,
                one: Mutex::new(()),
            }),
            rank: 0,
            size: 1,
            local: (0, 1),
        };
        let first = first_line(version);
        let own = out.version();
        if own != first {
            return Err(RanksError::Other {
                library: out.calls.f.name.clone(),
                found: own,
                expected: first.to_owned(),
            });
        }
        let (mut rank, mut size) = (0, 0);
        let f = &out.calls.f;
        // SAFETY: the communicator is of this library, which is started; the numbers outlive the calls.
        unsafe {
            (f.rank)(communicator, &raw mut rank);
            (f.size)(communicator, &raw mut size);
        }
        (out.rank, out.size) = (rank as usize, size as usize);
        out.local = out.count_local();
        Ok(out)
    }

    /// The name and version of the library, a line.
    pub fn version(&self) -> String {
        let mut text = [0u8; 8192];
        let mut length = 0;
        // SAFETY: MPI writes at most MPI_MAX_LIBRARY_VERSION_STRING bytes, 256 to 8192.
        unsafe { (self.calls.f.version)(text.as_mut_ptr().cast(), &raw mut length) };
        let text = &text[..(length.max(0) as usize).min(text.len())];
        first_line(&String::from_utf8_lossy(text)).to_owned()
    }

    /// A launcher that is killed takes its ranks with it.
    fn end_with_the_launcher(&self) {
        #[cfg(target_os = "linux")]
        // SAFETY: asks for a signal; changes nothing else.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
        }
    }

    /// Number of this rank among those of its host, and their number.
    fn count_local(&self) -> (usize, usize) {
        let mut name = [0u8; 256];
        // SAFETY: the buffer is as long as said.
        unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
        let mut all = self.gather(&name).map(|n| n.concat()).unwrap_or_default();
        self.broadcast(&mut all);
        let same: Vec<usize> = all
            .chunks_exact(name.len())
            .enumerate()
            .filter(|(_, n)| *n == name)
            .map(|(rank, _)| rank)
            .collect();
        let before = same.iter().filter(|r| **r < self.rank).count();
        (before, same.len().max(1))
    }

    fn reduce<T>(&self, x: &mut [T], kind: Handle, op: Handle) {
        let (f, guard) = (&self.calls.f, self.calls.lock());
        for part in x.chunks_mut(PART) {
            let (data, n) = (part.as_mut_ptr().cast(), part.len() as c_int);
            // SAFETY: `data` holds n values of the type; all ranks call it with the same length.
            unsafe { (f.all_reduce)(f.constants.in_place, data, n, kind, op, f.constants.world) };
        }
        drop(guard);
    }

    /// Begins to send or receive words.
    ///
    /// # Safety
    /// The words stay where they are, and no one else uses them, until the requests are done.
    unsafe fn begin(
        calls: &Calls,
        message: unsafe extern "C" fn(
            *mut c_void,
            c_int,
            Handle,
            c_int,
            c_int,
            Handle,
            *mut Handle,
        ) -> c_int,
        (data, length): (*mut u64, usize),
        (kind, rank, tag): (Handle, usize, c_int),
        requests: &mut Vec<Handle>,
    ) {
        let guard = calls.lock();
        let world = calls.f.constants.world;
        let mut at = 0;
        while at < length {
            let n = PART.min(length - at);
            let mut request = 0;
            // SAFETY: as the caller says.
            unsafe {
                message(
                    data.add(at).cast(),
                    n as c_int,
                    kind,
                    rank as c_int,
                    tag,
                    world,
                    &raw mut request,
                );
            }
            requests.push(request);
            at += n;
        }
        drop(guard);
    }

    /// Sends or receives words, and waits.
    fn words(&self, words: &mut [u64], rank: usize, receive: bool) {
        let f = &self.calls.f;
        let message = if receive { f.receive } else { f.send };
        let mut requests = Vec::new();
        // SAFETY: `words` outlives the wait.
        unsafe {
            let data = (words.as_mut_ptr(), words.len());
            let to = (f.constants.int64, rank, GATHER);
            Self::begin(&self.calls, message, data, to, &mut requests);
            self.calls.wait(&mut requests);
        }
    }

    /// Sends words to one rank while it receives words from another, and waits for both.
    fn pass(&self, (out, to): (&mut [u64], usize), (into, from): (&mut [u64], usize)) {
        let (f, mut requests) = (&self.calls.f, Vec::new());
        let kind = f.constants.int64;
        // SAFETY: both messages outlive the wait.
        unsafe {
            let data = (into.as_mut_ptr(), into.len());
            let of = (kind, from, EXCHANGE);
            Self::begin(&self.calls, f.receive, data, of, &mut requests);
            let data = (out.as_mut_ptr(), out.len());
            let of = (kind, to, EXCHANGE);
            Self::begin(&self.calls, f.send, data, of, &mut requests);
            self.calls.wait(&mut requests);
        }
    }

    /// Ends MPI.
    pub fn finish(&self) {
        let guard = self.calls.lock();
        // SAFETY: MPI was started, and all ranks come here.
        unsafe { (self.calls.f.finalize)() };
        drop(guard);
    }
}
