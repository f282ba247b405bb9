//! What the targets share: a limit on every allocation, and files for readers that take paths.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Largest allocation, bytes.
const LIMIT: usize = 1_000_000_000;

struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

fn check(bytes: usize) {
    if bytes > LIMIT {
        // Neither formatting nor a panic may allocate here.
        let _ = std::io::stderr().write_all(b"an allocation of more than 1 GB\n");
        std::process::abort();
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        check(layout.size());
        // SAFETY: the caller's contract is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        check(size);
        // SAFETY: the caller's contract is the same.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's contract is the same.
        unsafe { System.dealloc(block, layout) }
    }
}

/// A folder of this process, in memory where `TMPDIR` is (`run.sh` sets and removes it).
pub struct Folder(PathBuf);

impl Folder {
    /// Makes it, with these files in it.
    pub fn new(files: &[(&str, &[u8])]) -> Self {
        let path = std::env::temp_dir().join(format!("greenup-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        let folder = Self(path);
        for (name, bytes) in files {
            folder.put(name, bytes);
        }
        folder
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file.
    pub fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("the temporary folder can be written");
        path
    }
}
