//! How many blocks of a kernel fit on a multiprocessor, by the rules of the CUDA C++ Programming
//! Guide (tables of features and specifications by compute capability).

use super::Resources;
use serde::Serialize;

/// Limits of a multiprocessor, by compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
    /// Maximum number of resident threads.
    pub threads: u32,
    /// Maximum number of resident blocks.
    pub blocks: u32,
    /// Registers of 32 bits.
    pub registers: u32,
    /// Shared memory, bytes.
    pub shared_bytes: u32,
    /// Maximum shared memory of a block, bytes.
    pub block_shared_bytes: u32,
    /// Shared memory that the system reserves per block, bytes.
    pub reserved_bytes: u32,
    /// Allocation granularity of shared memory, bytes.
    shared_step: u32,
}

/// (major, minor, threads, blocks, shared KiB, KiB a block).
const TABLE: [(u32, u32, u32, u32, u32, u32); 10] = [
    (7, 0, 2048, 32, 96, 96),
    (7, 5, 1024, 16, 64, 64),
    (8, 0, 2048, 32, 164, 163),
    (8, 6, 1536, 16, 100, 99),
    (8, 7, 1536, 16, 164, 163),
    (8, 9, 1536, 24, 100, 99),
    (9, 0, 2048, 32, 228, 227),
    (10, 0, 2048, 32, 228, 227),
    (10, 3, 2048, 32, 228, 227),
    (12, 0, 1536, 24, 100, 99),
];

const WARP: u32 = 32;
/// Allocation granularity of registers per warp; warps are allocated by four.
const REGISTER_STEP: u32 = 256;
const WARP_STEP: u32 = 4;
const MAX_REGISTERS: u32 = 255;
const MAX_THREADS: u32 = 1024;

impl Capability {
    /// By architecture, like `sm_90` or `sm_90a`.
    pub fn of(arch: &str) -> Option<Self> {
        let digits = arch
            .strip_prefix("sm_")?
            .trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let number: u32 = digits.parse().ok()?;
        TABLE.iter().find(|t| t.0 * 10 + t.1 == number).map(
            |&(major, minor, threads, blocks, shared, block)| Self {
                major,
                minor,
                threads,
                blocks,
                registers: 65_536,
                shared_bytes: shared << 10,
                block_shared_bytes: block << 10,
                reserved_bytes: if major >= 8 { 1024 } else { 0 },
                shared_step: if major >= 8 { 128 } else { 256 },
            },
        )
    }

    /// Names of all known architectures.
    pub fn known() -> impl Iterator<Item = String> {
        TABLE.iter().map(|t| format!("sm_{}{}", t.0, t.1))
    }

    /// Occupancy of a kernel with this number of threads per block and dynamic shared memory, bytes.
    pub fn occupancy(&self, r: &Resources, threads: u32, dynamic_bytes: u32) -> Occupancy {
        let shared = r.shared_bytes + dynamic_bytes;
        let warps = threads.div_ceil(WARP);
        let by_threads = self.threads / (warps.max(1) * WARP);
        let register_warps = if r.registers == 0 {
            self.threads / WARP
        } else {
            let per_warp = (r.registers * WARP).next_multiple_of(REGISTER_STEP);
            self.registers / per_warp / WARP_STEP * WARP_STEP
        };
        let by_registers = register_warps / warps.max(1);
        let block = (shared + self.reserved_bytes).next_multiple_of(self.shared_step);
        let by_shared = self.shared_bytes.checked_div(block).unwrap_or(self.blocks);
        let impossible = threads == 0
            || threads > MAX_THREADS
            || r.registers > MAX_REGISTERS
            || shared > self.block_shared_bytes;
        let (blocks, limit) = [
            (self.blocks, Limit::Blocks),
            (by_threads, Limit::Threads),
            (by_registers, Limit::Registers),
            (by_shared, Limit::SharedMemory),
        ]
        .into_iter()
        .min_by_key(|b| b.0)
        .unwrap_or((0, Limit::Blocks));
        let blocks = if impossible { 0 } else { blocks };
        Occupancy {
            blocks,
            warps: blocks * warps,
            share: f64::from(blocks * warps * WARP) / f64::from(self.threads),
            limit,
        }
    }
}

/// What limits the number of resident blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The number of blocks.
    Blocks,
    /// The number of threads.
    Threads,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
}

impl std::fmt::Display for Limit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Blocks => "blocks",
            Self::Threads => "threads",
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
        })
    }
}

/// Resident blocks and warps of a multiprocessor; 0 if the kernel cannot be launched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Occupancy {
    /// Resident blocks.
    pub blocks: u32,
    /// Resident warps.
    pub warps: u32,
    /// Resident threads as a fraction of the maximum.
    pub share: f64,
    /// What limits them.
    pub limit: Limit,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(registers: u32, shared_bytes: u32, threads: u32) -> (u32, Limit) {
        let r = Resources {
            registers,
            shared_bytes,
            ..Resources::default()
        };
        let o = Capability::of("sm_90a").unwrap().occupancy(&r, threads, 0);
        (o.blocks, o.limit)
    }

    #[test]
    fn hopper_limits() {
        // 65,536 registers: 255 leave 8 warps, 128 leave 16, 32 all 64.
        assert_eq!(of(255, 0, 256), (1, Limit::Registers));
        assert_eq!(of(128, 0, 256), (2, Limit::Registers));
        assert_eq!(of(32, 0, 1024), (2, Limit::Threads));
        assert_eq!(of(32, 0, 32), (32, Limit::Blocks));
        // 70 registers are given as 72: 28 warps.
        assert_eq!(of(70, 0, 32), (28, Limit::Registers));
        // 48 KiB and the reserved one: four blocks in 228 KiB.
        assert_eq!(of(32, 48 << 10, 128), (4, Limit::SharedMemory));
        assert_eq!(of(32, 227 << 10, 128).0, 1);
        assert_eq!(of(32, 228 << 10, 128).0, 0, "more than a block may have");
        assert_eq!(of(32, 0, 1025).0, 0);
        assert_eq!(Capability::of("sm_13"), None);
        assert_eq!(Capability::known().count(), TABLE.len());
    }
}
