//! MPI's functions and constants, found in the library that is installed.
//!
//! Open MPI's handles are addresses of symbols, MPICH's are 32-bit integers, those of the standard interface of MPI 5 are
//! small integers. All are passed as 64-bit words here: MPICH reads the low half.

use super::RanksError;
use super::error::VARIABLE;
use greenup_device::Library;
use std::ffi::{c_char, c_int, c_void};
use std::path::{Path, PathBuf};

/// A handle of any MPI.
pub type Handle = u64;

/// Names of libraries, the standard interface first.
const NAMES: [&str; 6] = [
    "libmpi_abi.so.1",
    "libmpi_abi.so.0",
    "libmpi.so.40",
    "libmpi.so.80",
    "libmpi.so.12",
    "libmpich.so.12",
];

/// Constants of an MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// All processes.
    pub world: Handle,
    /// Type of `f64`.
    pub double: Handle,
    /// Type of `i64`.
    pub int64: Handle,
    /// Sum.
    pub sum: Handle,
    /// Maximum.
    pub max: Handle,
    /// Buffer of a reduction that is input and output.
    pub in_place: usize,
    /// No status wanted.
    pub no_status: usize,
    /// Calls come from any thread, one at a time.
    pub serialized: c_int,
}

const MPICH: Constants = Constants {
    world: 0x4400_0000,
    double: 0x4c00_080b,
    int64: 0x4c00_083a,
    sum: 0x5800_0003,
    max: 0x5800_0001,
    in_place: usize::MAX,
    no_status: 1,
    serialized: 2,
};

const STANDARD: Constants = Constants {
    world: 0x101,
    double: 0x214,
    int64: 0x258,
    sum: 0x21,
    max: 0x23,
    in_place: 1,
    no_status: 0,
    serialized: 2048,
};

type Init = unsafe extern "C" fn(*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int) -> c_int;
type Done = unsafe extern "C" fn() -> c_int;
type OfWorld = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
type Reduce = unsafe extern "C" fn(usize, *mut c_void, c_int, Handle, Handle, Handle) -> c_int;
type Message =
    unsafe extern "C" fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int;
type Test = unsafe extern "C" fn(*mut Handle, *mut c_int, usize) -> c_int;
type Broadcast = unsafe extern "C" fn(*mut c_void, c_int, Handle, c_int, Handle) -> c_int;
type Barrier = unsafe extern "C" fn(Handle) -> c_int;
type Abort = unsafe extern "C" fn(Handle, c_int) -> c_int;
type Version = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;

/// A loaded MPI.
pub struct Functions {
    /// Where it was found.
    pub name: PathBuf,
    /// Its constants.
    pub constants: Constants,
    pub(super) init: Init,
    pub(super) finalize: Done,
    pub(super) rank: OfWorld,
    pub(super) size: OfWorld,
    pub(super) all_reduce: Reduce,
    pub(super) send: Message,
    pub(super) receive: Message,
    pub(super) test: Test,
    pub(super) broadcast: Broadcast,
    pub(super) barrier: Barrier,
    pub(super) abort: Abort,
    pub(super) version: Version,
}

/// Loads the MPI that fits the launcher, or the one that [`VARIABLE`] names.
///
/// # Errors
/// There is none, or it lacks a function.
pub fn load(launched_by_open_mpi: bool) -> Result<Functions, RanksError> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return open(Path::new(&path));
    }
    // A host may have several: the launcher tells which it belongs to.
    let is_open_mpi = |n: &&str| matches!(*n, "libmpi.so.40" | "libmpi.so.80");
    let (fit, rest): (Vec<&str>, Vec<&str>) = NAMES
        .iter()
        .partition(|n| is_open_mpi(n) == launched_by_open_mpi);
    let mut tried = Vec::new();
    for name in fit.into_iter().chain(rest) {
        match open(Path::new(name)) {
            Err(RanksError::NotFound { reasons }) => tried.extend(reasons),
            found => return found,
        }
    }
    Err(RanksError::NotFound { reasons: tried })
}

fn open(path: &Path) -> Result<Functions, RanksError> {
    let library = Library::open_global(path).map_err(|e| RanksError::NotFound {
        reasons: vec![format!("{}: {e}", path.display())],
    })?;
    let symbol = |name: &str| {
        library.symbol(name).map_err(|e| RanksError::Incomplete {
            library: path.to_owned(),
            cause: e.to_string(),
        })
    };
    let address = |name: &str| symbol(name).map(|p| p as Handle);
    let constants = if library.symbol("ompi_mpi_comm_world").is_ok() {
        Constants {
            world: address("ompi_mpi_comm_world")?,
            double: address("ompi_mpi_double")?,
            int64: address("ompi_mpi_int64_t")?,
            sum: address("ompi_mpi_op_sum")?,
            max: address("ompi_mpi_op_max")?,
            in_place: 1,
            no_status: 0,
            serialized: 2,
        }
    } else if path.to_string_lossy().contains("libmpi_abi") {
        STANDARD
    } else {
        MPICH
    };
    // SAFETY: MPI's standard defines the types of these functions.
    unsafe {
        use std::mem::transmute;
        Ok(Functions {
            name: path.to_owned(),
            constants,
            init: transmute::<*mut c_void, Init>(symbol("MPI_Init_thread")?),
            finalize: transmute::<*mut c_void, Done>(symbol("MPI_Finalize")?),
            rank: transmute::<*mut c_void, OfWorld>(symbol("MPI_Comm_rank")?),
            size: transmute::<*mut c_void, OfWorld>(symbol("MPI_Comm_size")?),
            all_reduce: transmute::<*mut c_void, Reduce>(symbol("MPI_Allreduce")?),
            send: transmute::<*mut c_void, Message>(symbol("MPI_Isend")?),
            receive: transmute::<*mut c_void, Message>(symbol("MPI_Irecv")?),
            test: transmute::<*mut c_void, Test>(symbol("MPI_Test")?),
            broadcast: transmute::<*mut c_void, Broadcast>(symbol("MPI_Bcast")?),
            barrier: transmute::<*mut c_void, Barrier>(symbol("MPI_Barrier")?),
            abort: transmute::<*mut c_void, Abort>(symbol("MPI_Abort")?),
            version: transmute::<*mut c_void, Version>(symbol("MPI_Get_library_version")?),
        })
    }
}
