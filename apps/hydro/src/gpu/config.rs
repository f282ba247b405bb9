//! What of the kernels is tuned, and their source.

use crate::element::Element;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

const POINT: &str = include_str!("../kernels/point.h");
const TABLES: &str = include_str!("../kernels/tables.cuh");
const CORNER: &str = include_str!("../kernels/corner.cu");
const SOLVE: &str = include_str!("../kernels/solve.cu");
const FULL: &str = include_str!("../kernels/full.cu");

/// Free choices of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Zones and threads of a block, and blocks of a multiprocessor that registers are kept for, at the points.
    pub zones: usize,
    pub threads: usize,
    pub blocks: usize,
    /// Whether forces and work follow the stresses in the same kernel.
    pub fused: bool,
    /// The same of the solves.
    pub solve_zones: usize,
    pub solve_threads: usize,
    pub solve_blocks: usize,
}

impl Config {
    /// With some choices of a text such as `zones=2,fused=0`.
    ///
    /// # Errors
    /// A name or a value that is none.
    pub fn with(mut self, text: &str) -> Result<Self, String> {
        for pair in text.split(',').filter(|p| !p.is_empty()) {
            let wrong = || {
                format!(
                    "`{pair}`: choices are zones, threads, blocks, fused (0 or 1), solve_zones, solve_threads, solve_blocks, each =N"
                )
            };
            let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
            let n: usize = value.parse().map_err(|_| wrong())?;
            if name != "fused" && !(1..=1024).contains(&n) {
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
                _ => return Err(wrong()),
            } = n;
        }
        if !self.threads.is_multiple_of(32) || !self.solve_threads.is_multiple_of(32) {
            return Err("threads come in warps of 32".into());
        }
        Ok(self)
    }

    /// What was best on an H200 (docs/results), or is like it.
    pub fn default_for(e: &Element) -> Self {
        let points = e.points();
        let large = points > 256;
        let threads = if large { 256 } else { 128 };
        let solve_zones = match (e.dim(), e.order) {
            (3, 0..=2) => 8,
            (3, 3) => 2,
            (3, _) => 1,
            _ => (256 / points).clamp(1, 16),
        };
        Self {
            zones: (threads / points).max(1),
            threads,
            blocks: if large { 2 } else { 4 },
            fused: true,
            solve_zones,
            solve_threads: 256,
            solve_blocks: 4,
        }
    }
}

/// Sizes of a zone.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub dim: usize,
    pub n: usize,
    pub e: usize,
    pub q: usize,
}

impl Sizes {
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

    /// Bytes of shared memory of a block at the points.
    pub fn corner_bytes(self, c: &Config) -> usize {
        let fields = 2 * self.dim;
        let zone = fields * (self.power(self.n) + 2 * self.first() + 3 * self.second())
            + self.power(self.e)
            + (self.dim * self.dim + 1) * self.power(self.q);
        8 * c.zones * zone
    }

    /// Of the solves.
    pub fn solve_bytes(self, c: &Config) -> usize {
        8 * c.solve_zones * self.dim * (self.power(self.n) + self.first() + self.second())
    }
}

/// The source of all kernels for a zone, with everything that is known when it is compiled.
pub fn source(e: &Element, c: &Config, affine: bool, stored: bool) -> String {
    let s = Sizes::of(e);
    let mut out = String::new();
    let list = |x: &[f64]| -> String {
        x.iter().fold(String::new(), |mut t, x| {
            let _ = write!(t, "{x:e},");
            t
        })
    };
    let empty = Vec::new();
    let (value, slope, energy) = e.factors.as_ref().map_or((&empty, &empty, &empty), |f| {
        (&f.value, &f.slope, &f.energy)
    });
    let (_, weights) = crate::basis::gauss(s.q);
    let rows = s.dim * s.power(s.n);
    let energies = s.power(s.e);
    // Tiles of the products of matrices: about four by four, as many as threads go round.
    let (tile_r, tile_e) = (4, energies.min(4));
    let tiles = rows.div_ceil(tile_r) * energies.div_ceil(tile_e);
    let matrix_threads = tiles.next_multiple_of(32).clamp(32, 256);
    let each = tiles.div_ceil(matrix_threads);
    // Points at a time that leave room in 48 KiB.
    let matrix_points = (44 * 1024 / 8 / (rows + energies + 2)).clamp(1, s.power(s.q).min(32));
    for (name, value) in [
        ("D", s.dim),
        ("N", s.n),
        ("E", s.e),
        ("Q", s.q),
        ("ZONES", c.zones),
        ("THREADS", c.threads),
        ("BLOCKS", c.blocks),
        ("FUSED", usize::from(c.fused && !stored)),
        ("STORED", usize::from(stored || !c.fused)),
        ("AFFINE", usize::from(affine)),
        ("SOLVE_ZONES", c.solve_zones),
        ("SOLVE_THREADS", c.solve_threads),
        ("SOLVE_BLOCKS", c.solve_blocks),
        ("TILE_R", tile_r),
        ("TILE_E", tile_e),
        ("TILES_EACH", each),
        ("MATRIX_THREADS", matrix_threads),
        ("MATRIX_POINTS", matrix_points),
    ] {
        let _ = writeln!(out, "#define {name} {value}");
    }
    for (name, table) in [
        ("VALUE", value),
        ("SLOPE", slope),
        ("ENERGY", energy),
        ("WEIGHTS", &weights),
    ] {
        let _ = writeln!(out, "#define {name} {}", list(table));
    }
    out.push_str(
        "#ifndef INFINITY\n#define INFINITY __longlong_as_double(0x7ff0000000000000ll)\n#endif\n",
    );
    for part in [POINT, TABLES, CORNER, SOLVE, FULL] {
        out.push_str(part);
    }
    out
}

/// Threads of the products of matrices, as the source has them.
pub fn matrix_threads(e: &Element) -> usize {
    let s = Sizes::of(e);
    let energies = s.power(s.e);
    let tiles = (s.dim * s.power(s.n)).div_ceil(4) * energies.div_ceil(energies.min(4));
    tiles.next_multiple_of(32).clamp(32, 256)
}
