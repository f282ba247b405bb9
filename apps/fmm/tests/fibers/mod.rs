//! Launches noted down, and run on the host's fibers when their results are asked for.

use greenup_device::cuda::{Arg, CudaError, Shape, on_fibers};
use greenup_fmm::gpu::{At, KERNELS, Place};
use std::cell::RefCell;
use std::fmt::Write as _;

/// What the host's header has not: the rest that these kernels call.
const MORE: &str = "
#include <cmath>
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
";

/// Memory and launches to come.
pub struct Fibers {
    text: String,
    memory: RefCell<Vec<Vec<u8>>>,
    launches: RefCell<Vec<f64>>,
}

impl Fibers {
    pub fn new(text: &str) -> Self {
        Self {
            text: format!("{MORE}{text}"),
            memory: RefCell::new(Vec::new()),
            launches: RefCell::new(Vec::new()),
        }
    }
}

/// Bytes in the form of numbers, which nobody counts with.
fn numbers(bytes: &[u8]) -> Vec<f64> {
    let (whole, _) = bytes.as_chunks::<8>();
    whole.iter().map(|b| f64::from_le_bytes(*b)).collect()
}

impl Place for Fibers {
    fn alloc(&self, bytes: usize) -> Result<At, CudaError> {
        let mut all = self.memory.borrow_mut();
        // Not a number until it is written.
        all.push(vec![0xff; bytes.next_multiple_of(16)]);
        Ok(At(all.len() as u64 - 1))
    }

    fn upload(&self, to: At, from: &[u8]) -> Result<(), CudaError> {
        self.memory.borrow_mut()[to.0 as usize][..from.len()].copy_from_slice(from);
        Ok(())
    }

    fn download(&self, from: At, to: &mut [u8]) -> Result<(), CudaError> {
        let mut cases = String::new();
        for (i, name) in KERNELS.iter().enumerate() {
            let _ = writeln!(
                cases,
                "        case {i}: greenup::launch_kernel({name}, a.data(), grid, shape, shared); break;"
            );
        }
        let main = include_str!("twin.cpp").replace("        // KERNELS\n", &cases);
        let memory = self.memory.borrow();
        let mut arrays = vec![
            self.launches.borrow().clone(),
            vec![from.0 as f64, memory.len() as f64],
        ];
        arrays.extend(memory.iter().map(|m| numbers(m)));
        let dir = tempfile::tempdir().unwrap();
        let out = on_fibers(&self.text, &main, &arrays, dir.path()).map_err(CudaError::Compile)?;
        let bytes: Vec<u8> = out.iter().flat_map(|x| x.to_le_bytes()).collect();
        to.copy_from_slice(&bytes[..to.len()]);
        Ok(())
    }

    unsafe fn call(
        &self,
        kernel: &'static str,
        shape: &Shape,
        arguments: &[Arg],
    ) -> Result<(), CudaError> {
        let which = KERNELS.iter().position(|k| *k == kernel).unwrap();
        let mut to = self.launches.borrow_mut();
        to.push(which as f64);
        to.extend(shape.grid.map(f64::from));
        to.extend([shape.block[0], shape.shared, arguments.len() as u32].map(f64::from));
        for a in arguments {
            to.extend(match *a {
                Arg::At(x) => [0.0, x as f64],
                Arg::Long(x) => [1.0, x as f64],
                Arg::Int(x) => [2.0, f64::from(x)],
                Arg::Double(x) => [3.0, x],
                Arg::Float(x) => [4.0, f64::from(x)],
                Arg::Words(_) => unreachable!("no kernel takes one"),
            });
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), CudaError> {
        Ok(())
    }
}
