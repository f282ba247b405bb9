//! Kernels on the host: the same source text, compiled by the C++ compiler and loaded; one fiber per CUDA thread. For tests.

use super::program::{for_host, run};
use super::{Backend, SHIM, unknown_kernel, unknown_memory};
use crate::cuda::{Arguments, CudaError, Shape};
use crate::library::Library;
use crate::memory::bytes_mut;
use std::cell::RefCell;
use std::ffi::c_void;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// What the loaded library exports: kernel, grid, block, dynamic shared memory, and the structure.
type Entry = unsafe extern "C" fn(i32, *const u32, *const u32, u32, *const c_void);

/// Kernels compiled for the host, with memory of the host.
pub struct Emulator {
    kernels: Vec<&'static str>,
    entry: Entry,
    memory: RefCell<Vec<Vec<u128>>>,
}

impl Emulator {
    /// Compiles a source in `folder`. Every kernel takes one structure.
    ///
    /// # Errors
    /// The C++ compiler is missing, or its message.
    pub fn compile(text: &str, kernels: &[&'static str], folder: &Path) -> Result<Self, CudaError> {
        let failed = |what: String| CudaError::Compile(what);
        let mut source = format!("#include \"shim.hpp\"\n{}\n", for_host(text));
        source.push_str(
            "extern \"C\" __attribute__((visibility(\"default\"))) void greenup_launch(int kernel, const unsigned *g, const unsigned *b, unsigned shared, \
             const void *structure) {\n    \
             const dim3 grid = {g[0], g[1], g[2]}, block = {b[0], b[1], b[2]};\n    \
             void *a[1] = {(void *)structure};\n    switch (kernel) {\n",
        );
        for (i, name) in kernels.iter().enumerate() {
            let _ = writeln!(
                source,
                "    case {i}: greenup::launch_kernel({name}, a, grid, block, shared); break;"
            );
        }
        source.push_str("    }\n}\n");
        let at = |name: &str| folder.join(name);
        let io = |e: std::io::Error| failed(e.to_string());
        std::fs::write(at("shim.hpp"), SHIM).map_err(io)?;
        std::fs::write(at("kernels.cc"), source).map_err(io)?;
        // Hidden, as the loader would merge the shared memory of inline functions of all loaded libraries.
        run(Command::new("c++")
            .args(["-std=c++17", "-O1", "-w", "-fPIC", "-fvisibility=hidden"])
            .args(["-shared", "-o"])
            .args([at("kernels.so"), at("kernels.cc")]))?;
        let library = Library::open(&at("kernels.so")).map_err(|e| failed(e.to_string()))?;
        let entry = library
            .symbol("greenup_launch")
            .map_err(|e| failed(e.to_string()))?;
        Ok(Self {
            kernels: kernels.to_vec(),
            // SAFETY: the source above defines it with this signature.
            entry: unsafe { std::mem::transmute::<*mut c_void, Entry>(entry) },
            memory: RefCell::new(Vec::new()),
        })
    }

    fn with<T>(&self, address: u64, f: impl FnOnce(&mut [u8]) -> T) -> Result<T, CudaError> {
        let mut all = self.memory.borrow_mut();
        let found = all.iter_mut().find(|m| m.as_ptr() as u64 == address);
        Ok(f(bytes_mut(found.ok_or_else(|| unknown_memory(address))?)))
    }
}

impl Backend for Emulator {
    fn alloc_bytes(&self, bytes: usize) -> Result<u64, CudaError> {
        // Not a number until it is written.
        let new = vec![u128::MAX; bytes.div_ceil(16).max(1)];
        let address = new.as_ptr() as u64;
        self.memory.borrow_mut().push(new);
        Ok(address)
    }

    fn upload_bytes(&self, to: u64, from: &[u8]) -> Result<(), CudaError> {
        self.with(to, |m| m[..from.len()].copy_from_slice(from))
    }

    fn download_bytes(&self, from: u64, to: &mut [u8]) -> Result<(), CudaError> {
        let n = to.len();
        self.with(from, |m| to.copy_from_slice(&m[..n]))
    }

    unsafe fn launch<A: Arguments>(
        &self,
        kernel: &'static str,
        shape: &Shape,
        arguments: &A,
    ) -> Result<(), CudaError> {
        let () = A::FITS;
        let index = self.kernels.iter().position(|k| *k == kernel);
        let index = index.ok_or_else(|| unknown_kernel(kernel))? as i32;
        let structure = std::ptr::from_ref(arguments).cast();
        // SAFETY: the caller's promise; the library is never unloaded.
        unsafe {
            (self.entry)(
                index,
                shape.grid.as_ptr(),
                shape.block.as_ptr(),
                shape.shared,
                structure,
            );
        }
        Ok(())
    }

    unsafe fn launch_cooperative<A: Arguments>(
        &self,
        kernel: &'static str,
        shape: &Shape,
        arguments: &A,
    ) -> Result<(), CudaError> {
        if shape.grid.iter().product::<u32>() > 1 {
            return Err(CudaError::Driver {
                what: "the emulator runs blocks one after the other",
                cause: format!("a cooperative launch of {kernel} with several blocks"),
            });
        }
        // SAFETY: the caller's promise.
        unsafe { self.launch(kernel, shape, arguments) }
    }

    fn wait(&self) -> Result<(), CudaError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::Pointer;

    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Scale {
        x: Pointer<f64>,
        count: i64,
        factor: f64,
    }
    // SAFETY: as in the kernel below.
    unsafe impl Arguments for Scale {}

    const TEXT: &str = "struct Scale { double *x; long long count; double factor; };
        extern \"C\" __global__ void scale(Scale a) {
            const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
            if (i < a.count) a.x[i] *= a.factor;
        }";

    #[test]
    fn a_kernel_takes_a_structure() {
        let folder = tempfile::tempdir().unwrap();
        let e = Emulator::compile(TEXT, &["scale"], folder.path()).unwrap();
        let x = e.alloc_with(&[1.0, 2.0, 3.0]).unwrap();
        let arguments = Scale {
            x,
            count: 2,
            factor: 10.0,
        };
        // SAFETY: the memory has three numbers.
        unsafe { e.launch("scale", &Shape::line(1, 32), &arguments) }.unwrap();
        let mut out = [0.0; 3];
        e.download(x, &mut out).unwrap();
        assert_eq!(out, [10.0, 20.0, 3.0]);
        // SAFETY: as above.
        unsafe { e.launch_cooperative("scale", &Shape::line(1, 32), &arguments) }.unwrap();
        e.download(x, &mut out).unwrap();
        assert_eq!(out, [100.0, 200.0, 3.0]);
        // SAFETY: refused before it runs.
        assert!(unsafe { e.launch_cooperative("scale", &Shape::line(2, 32), &arguments) }.is_err());
        assert!(e.upload(Pointer::new(1), &[0u32]).is_err());
        // SAFETY: there is no such kernel.
        assert!(unsafe { e.launch("none", &Shape::line(1, 32), &arguments) }.is_err());
    }
}
