//! Tuning parameters of the kernels, and the source for a config.

use super::arguments::sizes;
use crate::fem::element::Element;
use greenup_setting::setting;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

const POINT: &str = include_str!("../kernels/point.h");
const ARGUMENTS: &str = include_str!("../kernels/arguments.cuh");
const TABLES: &str = include_str!("../kernels/tables.cuh");
const CORNER: &str = include_str!("../kernels/corner.cu");
const PLANES: &str = include_str!("../kernels/planes.cu");
const GRID: &str = include_str!("../kernels/grid.cuh");
const RANKS: &str = include_str!("../kernels/ranks.cuh");
const SOLVE: &str = include_str!("../kernels/solve.cu");
const PARTS: &str = include_str!("../kernels/parts.cu");
const FULL: &str = include_str!("../kernels/full.cu");

/// Tuning parameters of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Zones per block of the corner-force kernel.
    pub zones: usize,
    /// Threads per block of the corner-force kernel, a multiple of 32.
    pub threads: usize,
    /// Blocks per multiprocessor that the registers of the corner-force kernel must allow.
    pub blocks: usize,
    /// Whether one kernel computes stresses, forces and work.
    pub fused: bool,
    /// Whether a block processes the points of its one zone plane by plane, for hexahedra whose fields at all points
    /// exceed shared memory.
    pub planes: bool,
    /// Zones per block of the solve.
    pub solve_zones: usize,
    /// Threads per block of the solve, a multiple of 32.
    pub solve_threads: usize,
    /// Blocks per multiprocessor that the registers of the solve must allow.
    pub solve_blocks: usize,
    /// Whether ranks use the memory of each other's GPUs, where that is possible; else they exchange messages.
    #[serde(default = "yes")]
    pub peer: bool,
}

fn yes() -> bool {
    true
}

/// Tuning parameters that are invalid, or that a GPU cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// An unknown name or an invalid value.
    #[error(
        "`{0}`: tuning parameters are zones, threads, blocks, fused (0 or 1), planes (0 or 1), solve_zones, solve_threads, solve_blocks, peer (0 or 1), each =N with N from 1 to 1024"
    )]
    Parameter(String),
    /// A number of threads is not a multiple of 32.
    #[error("threads and solve_threads must be multiples of 32")]
    Warps,
    /// The kernels that work plane by plane do not fit.
    #[error("planes=1 is for hexahedra, with zones=1")]
    Planes,
    /// Shared memory is too small.
    #[error(
        "{parameter}={zones}: at order {order} a block of the {kernel} needs {} KiB of shared memory, and this GPU has {} KiB; use fewer zones per block, a lower {} or {}",
        needed.div_ceil(1024),
        available / 1024,
        setting("order"),
        setting("device").to("cpu")
    )]
    SharedMemory {
        /// The parameter that can be lowered.
        parameter: &'static str,
        /// Its value.
        zones: usize,
        /// Kinematic order.
        order: usize,
        /// The kernel.
        kernel: &'static str,
        /// Bytes per block.
        needed: usize,
        /// Bytes per block on this GPU.
        available: usize,
    },
}

impl Config {
    /// Sets parameters from a text such as `zones=2,fused=0`.
    ///
    /// # Errors
    /// A name is unknown, or a value invalid.
    pub fn with(mut self, text: &str) -> Result<Self, ConfigError> {
        for pair in text.split(',').filter(|p| !p.is_empty()) {
            let wrong = || ConfigError::Parameter(pair.to_owned());
            let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
            let n: usize = value.parse().map_err(|_| wrong())?;
            if !["fused", "planes", "peer"].contains(&name) && !(1..=1024).contains(&n) {
                return Err(wrong());
            }
            *match name {
                "zones" => &mut self.zones,
                "threads" => &mut self.threads,
                "blocks" => &mut self.blocks,
                "solve_zones" => &mut self.solve_zones,
                "solve_threads" => &mut self.solve_threads,
                "solve_blocks" => &mut self.solve_blocks,
                "fused" if n <= 1 => {
                    self.fused = n == 1;
                    continue;
                }
                "peer" if n <= 1 => {
                    self.peer = n == 1;
                    continue;
                }
                "planes" if n <= 1 => {
                    self.planes = n == 1;
                    continue;
                }
                _ => return Err(wrong()),
            } = n;
        }
        if !self.threads.is_multiple_of(32) || !self.solve_threads.is_multiple_of(32) {
            return Err(ConfigError::Warps);
        }
        Ok(self)
    }

    /// The fastest config measured on an H200 (docs/results), adapted to other elements and to `shared` bytes of shared
    /// memory per block.
    pub fn default_for(e: &Element, shared: usize) -> Self {
        let sizes = Sizes::of(e);
        let points = e.points();
        let large = points > 256;
        let threads = if large { 256 } else { 128 };
        let mut out = Self {
            zones: 1,
            threads,
            blocks: if large { 2 } else { 4 },
            fused: true,
            planes: false,
            solve_zones: 1,
            solve_threads: 256,
            solve_blocks: 4,
            peer: true,
        };
        let room = |bytes: usize| (shared / bytes).max(1);
        if e.dim() == 3 && sizes.corner_bytes(&out) > shared {
            out.planes = true;
            out.threads = (sizes.q * sizes.q).next_multiple_of(32).clamp(64, 256);
        } else {
            let zones = (threads / points).max(1);
            out.zones = zones.min(room(sizes.corner_bytes(&out)));
        }
        let solve_zones = match (e.dim(), e.order) {
            (3, 0..=2) => 8,
            (3, 3) => 2,
            (3, _) => 1,
            _ => (256 / points).clamp(1, 16),
        };
        out.solve_zones = solve_zones.min(room(sizes.solve_bytes(&out)));
        // Lines of high orders need registers, and shared memory has no room for more blocks.
        let most = if e.dim() == 3 && e.order > 5 { 3 } else { 4 };
        out.solve_blocks = room(sizes.solve_bytes(&out)).min(most);
        out
    }

    /// Checks that the config runs on a GPU with `shared` bytes of shared memory per block.
    ///
    /// # Errors
    /// It does not; the message states the reason.
    pub fn check(&self, e: &Element, shared: usize) -> Result<(), ConfigError> {
        let sizes = Sizes::of(e);
        if self.planes && (e.dim() != 3 || self.zones != 1) {
            return Err(ConfigError::Planes);
        }
        for (kernel, parameter, zones, bytes) in [
            ("stresses", "zones", self.zones, sizes.corner_bytes(self)),
            (
                "solves",
                "solve_zones",
                self.solve_zones,
                sizes.solve_bytes(self) + sizes.solve_static_bytes(),
            ),
        ] {
            if bytes > shared {
                return Err(ConfigError::SharedMemory {
                    parameter,
                    zones,
                    order: e.order,
                    kernel,
                    needed: bytes,
                    available: shared,
                });
            }
        }
        Ok(())
    }
}

/// One-dimensional sizes of a tensor-product zone.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Dimension, 1 to 3.
    pub dim: usize,
    /// Kinematic nodes per direction.
    pub n: usize,
    /// Energy basis functions per direction.
    pub e: usize,
    /// Quadrature points per direction.
    pub q: usize,
}

impl Sizes {
    /// Sizes of a reference zone.
    pub fn of(e: &Element) -> Self {
        Self {
            dim: e.dim(),
            n: e.order + 1,
            e: e.energy_order + 1,
            q: e.factors.as_ref().map_or(1, |f| f.points),
        }
    }

    fn power(self, x: usize) -> usize {
        x.pow(self.dim as u32)
    }

    fn first(self) -> usize {
        match self.dim {
            1 => 0,
            2 => self.n * self.q,
            _ => self.n * self.n * self.q,
        }
    }

    fn second(self) -> usize {
        if self.dim == 3 {
            self.n * self.q * self.q
        } else {
            0
        }
    }

    /// Shared memory per block of the corner-force kernel, bytes.
    pub fn corner_bytes(self, c: &Config) -> usize {
        if c.planes {
            return 8 * self.plane_doubles();
        }
        let fields = 2 * self.dim;
        let zone = fields * (self.power(self.n) + 2 * self.first() + 3 * self.second())
            + self.power(self.e)
            + (self.dim * self.dim + 1) * self.power(self.q);
        8 * c.zones * zone
    }

    /// Length of `plane_room` in `planes.cu`, doubles.
    fn plane_doubles(self) -> usize {
        let Self { n, e, q, .. } = self;
        let pitch = |x: usize| x | 1;
        let tables = (2 * n + e) * q;
        let zone = 9 * n.pow(3) + 2 * e.pow(3);
        let along_z = 12 * n * n + e * e;
        let at = 10 * q * pitch(q);
        let along_y = q * (18 * pitch(n) + pitch(e));
        tables + zone + along_z.max(at) + along_y + 6 * n * n + e * e
    }

    /// Static shared memory per block of the solve, in addition to [`Self::solve_bytes`].
    fn solve_static_bytes(self) -> usize {
        8 * self.dim * (1 + 32)
    }

    /// Dynamic shared memory per block of the solve, bytes.
    pub fn solve_bytes(self, c: &Config) -> usize {
        8 * c.solve_zones * self.dim * (self.power(self.n) + self.first() + self.second())
    }
}

/// CUDA source of all kernels for an element and a config, with all compile-time constants. `affine`: all zones are
/// affine; `stored`: stresses are kept in memory.
pub fn source(e: &Element, c: &Config, affine: bool, stored: bool) -> String {
    source_of(e, c, (affine, stored), false)
}

/// As [`source`], for a GPU that shares the zones with those of other ranks.
pub fn source_of_rank(e: &Element, c: &Config, affine: bool, stored: bool) -> String {
    source_of(e, c, (affine, stored), true)
}

fn source_of(e: &Element, c: &Config, (affine, stored): (bool, bool), ranks: bool) -> String {
    let s = Sizes::of(e);
    let mut out = String::new();
    let list = |x: &[f64]| -> String {
        x.iter().fold(String::new(), |mut t, x| {
            let _ = write!(t, "{x:e},");
            t
        })
    };
    let empty = Vec::new();
    let (value, gradient, energy) = e.factors.as_ref().map_or((&empty, &empty, &empty), |f| {
        (&f.value, &f.gradient, &f.energy)
    });
    let (_, weights) = crate::fem::basis::gauss(s.q);
    let matrix = Matrix::of(s);
    for (name, value) in [
        ("D", s.dim),
        ("N", s.n),
        ("E", s.e),
        ("Q", s.q),
        ("ZONES", c.zones),
        ("THREADS", c.threads),
        ("BLOCKS", c.blocks),
        ("PLANES", usize::from(c.planes)),
        ("CORNER_BYTES", s.corner_bytes(c)),
        ("FUSED", usize::from(c.fused && !stored)),
        ("STORED", usize::from(stored || !c.fused)),
        ("AFFINE", usize::from(affine)),
        ("RANKS", usize::from(ranks)),
        ("SOLVE_ZONES", c.solve_zones),
        ("SOLVE_THREADS", c.solve_threads),
        ("SOLVE_BLOCKS", c.solve_blocks),
        ("TILE_R", TILE),
        ("TILE_E", matrix.tile_e),
        ("TILES_EACH", matrix.each),
        ("PIECE", matrix.piece),
        ("MATRIX_THREADS", matrix.threads),
        ("MATRIX_POINTS", matrix.points),
    ] {
        let _ = writeln!(out, "#define {name} {value}");
    }
    for (name, bytes) in sizes(ranks) {
        let _ = writeln!(out, "#define {name} {bytes}");
    }
    for (name, table) in [
        ("VALUE", value),
        ("SLOPE", gradient),
        ("ENERGY", energy),
        ("WEIGHTS", &weights),
    ] {
        let _ = writeln!(out, "#define {name} {}", list(table));
    }
    out.push_str(
        "#ifndef INFINITY\n#define INFINITY __longlong_as_double(0x7ff0000000000000ll)\n#endif\n",
    );
    let (of_rank, parts) = if ranks { (RANKS, PARTS) } else { ("", "") };
    for part in [
        POINT, TABLES, ARGUMENTS, CORNER, PLANES, GRID, of_rank, SOLVE, parts, FULL,
    ] {
        out.push_str(part);
    }
    out
}

/// Rows of a tile of the matrix products, which a thread keeps in registers.
const TILE: usize = 4;

/// Maximum number of tiles per thread: more exceed the registers and take minutes to compile.
const MOST_TILES: usize = 6;

/// Tiling of the matrix products of full assembly.
#[derive(Clone, Copy, Debug)]
pub struct Matrix {
    /// Threads per block.
    pub threads: usize,
    /// Kinematic nodes of a zone per block.
    pub piece: usize,
    /// Blocks per zone.
    pub pieces: usize,
    tile_e: usize,
    each: usize,
    points: usize,
}

impl Matrix {
    /// Tiling for a zone.
    pub fn of(s: Sizes) -> Self {
        let (local, energies) = (s.power(s.n), s.power(s.e));
        // About four by four, as many as threads go round.
        let tile_e = energies.min(TILE);
        let tiles = |piece: usize| (s.dim * piece).div_ceil(TILE) * energies.div_ceil(tile_e);
        let each = |piece: usize| tiles(piece).div_ceil(256);
        let pieces = (1..local)
            .find(|n| each(local.div_ceil(*n)) <= MOST_TILES)
            .unwrap_or(local);
        let piece = local.div_ceil(pieces);
        let threads = tiles(piece).next_multiple_of(32).clamp(32, 256);
        // Points at a time that leave room in 48 KiB.
        let row = s.dim * piece + energies + 2;
        Self {
            threads,
            piece,
            pieces: local.div_ceil(piece),
            tile_e,
            each: tiles(piece).div_ceil(threads),
            points: (44 * 1024 / 8 / row).clamp(1, s.power(s.q).min(32)),
        }
    }
}
