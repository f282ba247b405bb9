//! Shared libraries, loaded at run time and kept to the end of the process.

use std::ffi::{CStr, CString, c_void};
use std::path::Path;

/// A loaded shared library; never unloaded, as its threads may live on.
#[derive(Clone, Copy)]
pub struct Library {
    handle: *mut c_void,
}

impl Library {
    /// Loads a library; a bare name is looked for where the system keeps its libraries.
    ///
    /// # Errors
    /// The loader's own words.
    pub fn open(path: &Path) -> Result<Self, String> {
        let name = CString::new(path.as_os_str().as_encoded_bytes()).map_err(|e| e.to_string())?;
        // SAFETY: the name is a valid string; what the library runs at loading is the user's own.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(why());
        }
        Ok(Self { handle })
    }

    /// Address of a symbol, never null.
    ///
    /// # Errors
    /// The loader's own words.
    pub fn symbol(&self, name: &str) -> Result<*mut c_void, String> {
        let name = CString::new(name).map_err(|e| e.to_string())?;
        // SAFETY: the handle is open and is never closed.
        let symbol = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        if symbol.is_null() {
            return Err(why());
        }
        Ok(symbol)
    }
}

fn why() -> String {
    // SAFETY: dlerror gives null or a string that lives until the next call.
    unsafe {
        let e = libc::dlerror();
        if e.is_null() {
            "unknown reason".to_owned()
        } else {
            CStr::from_ptr(e).to_string_lossy().into_owned()
        }
    }
}
