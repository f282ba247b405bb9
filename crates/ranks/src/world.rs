//! The ranks that the launcher of this process started.

use crate::alone::Alone;
use crate::interface::Ranks;
use crate::launcher::launched;
use crate::mpi::{Mpi, RanksError};
use std::sync::{Arc, Mutex, PoisonError};

static WORLD: Mutex<Option<Arc<Mpi>>> = Mutex::new(None);

/// The ranks that a launcher started, which talk by MPI; one alone without a launcher. MPI is loaded by the first call,
/// on whose thread it is best used.
///
/// # Errors
/// No MPI is found, or not the one of the launcher.
pub fn world() -> Result<Arc<dyn Ranks>, RanksError> {
    let Some(launched) = launched() else {
        return Ok(Arc::new(Alone));
    };
    let mut world = WORLD.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(mpi) = &*world {
        return Ok(mpi.clone());
    }
    let mpi = Arc::new(Mpi::start(launched)?);
    *world = Some(mpi.clone());
    Ok(mpi)
}

/// The ranks of [`world`], if MPI was loaded and has not ended.
pub fn joined() -> Option<Arc<dyn Ranks>> {
    let world = WORLD.lock().unwrap_or_else(PoisonError::into_inner);
    world.clone().map(|mpi| mpi as Arc<dyn Ranks>)
}

/// Ends MPI; waits for the other ranks to do the same. Call it last in `main`.
pub fn finish() {
    let mpi = WORLD.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(mpi) = mpi {
        mpi.finish();
    }
}
