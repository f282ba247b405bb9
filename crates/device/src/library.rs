//! Shared libraries, loaded at run time and never unloaded.

use libloading::os::unix::{Library as Loaded, RTLD_GLOBAL, RTLD_LOCAL, RTLD_NOW};
use std::ffi::c_void;
use std::path::Path;

/// A library or a symbol that cannot be loaded: the message of the loader.
#[derive(Debug, thiserror::Error)]
#[error("{}", message(.0))]
pub struct LibraryError(#[from] libloading::Error);

/// The message of the loader, which libloading keeps as the source.
fn message(e: &libloading::Error) -> String {
    std::error::Error::source(e).map_or_else(|| e.to_string(), ToString::to_string)
}

/// A loaded shared library. It is never unloaded, as its threads may outlive the handle.
#[derive(Clone, Copy)]
pub struct Library(&'static Loaded);

impl Library {
    /// Loads a library; a bare name is searched where the system keeps its libraries.
    ///
    /// # Errors
    /// The message of the loader.
    pub fn open(path: &Path) -> Result<Self, LibraryError> {
        Self::load(path, RTLD_LOCAL)
    }

    /// The same, with its symbols available to libraries that are loaded later.
    ///
    /// # Errors
    /// The message of the loader.
    pub fn open_global(path: &Path) -> Result<Self, LibraryError> {
        Self::load(path, RTLD_GLOBAL)
    }

    fn load(path: &Path, scope: i32) -> Result<Self, LibraryError> {
        // SAFETY: the code that a library runs when it is loaded is the user's own.
        let loaded = unsafe { Loaded::open(Some(path), RTLD_NOW | scope) }?;
        Ok(Self(Box::leak(Box::new(loaded))))
    }

    /// Address of a symbol, never null.
    ///
    /// # Errors
    /// The message of the loader.
    pub fn symbol(&self, name: &str) -> Result<*mut c_void, LibraryError> {
        // SAFETY: only the address is taken; it is used as what the caller knows it to be.
        let symbol = unsafe { self.0.get::<*mut c_void>(name.as_bytes()) }?;
        Ok(symbol.into_raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_found_and_missing_ones_named() {
        let c = Library::open(Path::new("libc.so.6")).unwrap();
        assert!(!c.symbol("malloc").unwrap().is_null());
        let e = c.symbol("no_such_symbol").err().unwrap().to_string();
        assert!(e.contains("no_such_symbol"), "{e}");
        assert!(Library::open(Path::new("/none.so")).is_err());
    }
}
