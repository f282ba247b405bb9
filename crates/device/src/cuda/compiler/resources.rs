//! Registers and memory of compiled kernels, from the report of the assembler.

use serde::{Deserialize, Serialize};

/// Resources of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Its name in the assembler: mangled, unless it is `extern "C"`.
    pub name: String,
    /// Registers per thread.
    pub registers: u32,
    /// Static shared memory of a block, bytes.
    pub shared_bytes: u32,
    /// Local memory of a thread, bytes.
    pub stack_bytes: u32,
    /// Spill stores, bytes.
    pub spill_store_bytes: u32,
    /// Spill loads, bytes.
    pub spill_load_bytes: u32,
}

/// Splits a log into the resources of each kernel and the other lines.
pub fn parse(log: &str) -> (Vec<Resources>, String) {
    let mut kernels: Vec<Resources> = Vec::new();
    let mut warnings = String::new();
    let mut functions: Vec<Resources> = Vec::new();
    for line in log.lines() {
        let report = line
            .strip_prefix("ptxas info")
            .map(|l| l.trim_start_matches([' ', ':', '\t']));
        let number = |before: &str| -> u32 {
            // `16896 bytes smem`: the number stands before the word.
            line.find(before)
                .and_then(|at| line[..at].split_whitespace().last()?.parse().ok())
                .unwrap_or(0)
        };
        if let Some(r) = report {
            if let Some(rest) = r.strip_prefix("Compiling entry function '") {
                let name = rest.split('\'').next().unwrap_or_default().to_owned();
                kernels.push(Resources {
                    name,
                    ..Resources::default()
                });
            } else if let Some(name) = r.strip_prefix("Function properties for ") {
                functions.push(Resources {
                    name: name.trim().to_owned(),
                    ..Resources::default()
                });
            } else if r.starts_with("Used ")
                && let Some(k) = kernels.last_mut()
            {
                k.registers = number(" registers");
                k.shared_bytes = number(" bytes smem");
                // Without a line of properties it has no stack.
                if let Some(f) = functions.iter().find(|f| f.name == k.name) {
                    k.stack_bytes = f.stack_bytes;
                    k.spill_store_bytes = f.spill_store_bytes;
                    k.spill_load_bytes = f.spill_load_bytes;
                }
            }
        } else if line.contains("bytes stack frame") {
            if let Some(f) = functions.last_mut() {
                f.stack_bytes = number(" bytes stack frame");
                f.spill_store_bytes = number(" bytes spill stores");
                f.spill_load_bytes = number(" bytes spill loads");
            }
        } else if !line.trim().is_empty() {
            warnings.push_str(line);
            warnings.push('\n');
        }
    }
    (kernels, warnings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let log = "a.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n\
            ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'gemm' for 'sm_90'\n\
            ptxas info    : Function properties for gemm\n    \
            6104 bytes stack frame, 8756 bytes spill stores, 10484 bytes spill loads\n\
            ptxas info    : Used 70 registers, used 1 barriers, 16896 bytes smem, 400 bytes cmem[0]\n\
            ptxas info    : Compile time = 12.3 ms\n\
            ptxas info    : Compiling entry function 'small' for 'sm_90'\n\
            ptxas info    : Function properties for small\n    \
            0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 8 registers\n";
        let (kernels, warnings) = parse(log);
        assert_eq!(
            kernels[0],
            Resources {
                name: "gemm".into(),
                registers: 70,
                shared_bytes: 16896,
                stack_bytes: 6104,
                spill_store_bytes: 8756,
                spill_load_bytes: 10484,
            }
        );
        assert_eq!((kernels.len(), kernels[1].registers), (2, 8));
        assert!(warnings.starts_with("a.cu(3): warning") && warnings.lines().count() == 1);
    }
}
