//! Fig. 2 of Anzt et al. (2015), from a config: how blocks, stripes, warps and threads divide a matrix product.

use crate::PaperError;
use crate::records::{Records, broken};
use greenup_report::chart::shapes::{Arrow, Label, Shape};
use greenup_report::chart::{Chart, Ink, Series, Sign};
use greenup_report::diagram::{Diagram, diagram};
use greenup_tune::{Objective, Sweep};
use serde::Deserialize;

/// The tiling of a sweep's fastest config.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiling {
    /// A sweep of `crates/gemm/src/kernels/gpu`.
    pub record: String,
}

/// Values of a config, as `gemm.cu` knows them; sizes in elements.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tiles {
    dim: [i64; 2],
    blk: [i64; 3],
    use_mma: i64,
    vec_tile: i64,
    swizzle: bool,
}

impl Tiles {
    fn of(sweep: &Sweep) -> Option<Self> {
        let config = &sweep.trials[sweep.winner(Objective::Time)?].config;
        let value = |name: &str| {
            let i = sweep.facts.parameters.iter().position(|p| p == name)?;
            config.get(i)?.as_int().filter(|v| *v >= 0)
        };
        let all = Self {
            dim: [value("dim_m")?, value("dim_n")?],
            blk: [value("blk_m")?, value("blk_n")?, value("blk_k")?],
            use_mma: value("use_mma")?,
            vec_tile: value("vec_tile")?.max(1),
            swizzle: value("swizzle")? > 0,
        };
        (all.dim.iter().chain(&all.blk).all(|v| *v > 0)).then_some(all)
    }

    /// Elements of a thread along m and n.
    fn tile(&self) -> [i64; 2] {
        [self.blk[0] / self.dim[0], self.blk[1] / self.dim[1]]
    }

    /// Rows and columns of C that the first thread computes, as `part.cuh` places them.
    fn first_thread(&self) -> [Vec<i64>; 2] {
        let [m, n] = self.tile();
        if self.use_mma == 0 {
            let all = |count: i64, dim: i64| {
                (0..count)
                    .map(|i| i / self.vec_tile * dim * self.vec_tile + i % self.vec_tile)
                    .collect()
            };
            return [all(m, self.dim[0]), all(n, self.dim[1])];
        }
        let apart = if self.vec_tile == 2 { 1 } else { 8 };
        let column = if self.swizzle { 4 } else { 1 };
        [
            (0..m).map(|i| i / 2 * 16 + i % 2 * apart).collect(),
            (0..n).map(|j| j / 2 * 8 + j % 2 * column).collect(),
        ]
    }
}

impl Tiling {
    /// The chart.
    ///
    /// # Errors
    /// The sweep is missing, or is not one of the GEMM family with a config that works.
    pub fn chart(&self, records: &Records) -> Result<Chart, PaperError> {
        match Tiles::of(&records.sweep(&self.record)?.sweep) {
            Some(tiles) => Ok(drawn(&tiles)),
            None => Err(broken(
                &records.path(&self.record)?,
                "it has no measured config of the GEMM family".to_owned(),
            )),
        }
    }
}

fn drawn(t: &Tiles) -> Chart {
    let [m, n] = t.tile();
    Chart {
        least_width: 420.0,
        ..diagram(
            &format!(
                "Tiling of the fastest config: dim {} × {}, blk {} × {} × {}",
                t.dim[0], t.dim[1], t.blk[0], t.blk[1], t.blk[2]
            ),
            vec![
                Series::new("", Ink::Series(0), Sign::Dot),
                Series::new("", Ink::Series(1), Sign::Dot),
            ],
            vec![
                blocks(t),
                threads(
                    t,
                    &format!("A block of C; dots: the {m} × {n} elements of its first thread"),
                ),
            ],
        )
    }
}

/// Matrices of three by three blocks, the block in the middle with its stripes.
fn blocks(t: &Tiles) -> Diagram {
    let [m, n, k] = t.blk.map(|v| v as f64);
    let gap = 0.45 * m.max(n);
    let depth = (1.5 * m.max(n) / k).round().max(4.0) * k;
    let (rows, columns) = (3.0 * m, 3.0 * n);
    let c = depth + gap;
    let b = rows + gap;
    let at = ((depth / k / 2.0).floor()) * k;
    let outline = |a: (f64, f64), b: (f64, f64)| Shape::rect(a, b).edged(Ink::Text, 1.3);
    let mut shapes = vec![
        outline((0.0, 0.0), (depth, rows)),
        outline((c, 0.0), (c + columns, rows)),
        outline((c, b), (c + columns, b + depth)),
    ];
    // The parts of A and B that the block reads, then the stripe of one step.
    shapes.push(Shape::rect((0.0, m), (depth, 2.0 * m)).filled(Ink::Series(1), 0.15));
    shapes.push(Shape::rect((c + n, b), (c + 2.0 * n, b + depth)).filled(Ink::Series(2), 0.15));
    shapes.push(
        Shape::rect((at, m), (at + k, 2.0 * m))
            .filled(Ink::Series(1), 0.85)
            .edged(Ink::Text, 1.0),
    );
    shapes.push(
        Shape::rect((c + n, b + depth - at - k), (c + 2.0 * n, b + depth - at))
            .filled(Ink::Series(2), 0.85)
            .edged(Ink::Text, 1.0),
    );
    for i in 0..3 {
        for j in 0..3 {
            let (x, y) = (c + f64::from(j) * n, f64::from(i) * m);
            let mut tile = Shape::rect((x, y), (x + n, y + m)).edged(Ink::Text, 0.7);
            if (i, j) == (1, 1) {
                tile = tile
                    .filled(Ink::Series(0), 0.35)
                    .says(format!("{} × {}", t.blk[0], t.blk[1]));
            }
            shapes.push(tile);
        }
    }
    let label = |x: f64, y: f64, text: String| Label::new((x, y), &text);
    Diagram {
        title: "Blocks of C, stripes of A and B".into(),
        x: (-0.1 * m, c + columns + 0.1 * n),
        y: (-0.35 * m, b + depth + 0.35 * m),
        shapes,
        arrows: vec![
            Arrow::new((at + 1.5 * k, 1.5 * m), (at + 1.5 * k + 0.35 * m, 1.5 * m)),
            Arrow::new(
                (c + 1.5 * n, b + depth - at - 1.5 * k),
                (c + 1.5 * n, b + depth - at - 1.5 * k - 0.35 * m),
            ),
        ],
        labels: vec![
            label(0.5 * depth, rows + 0.16 * m, "A".into()).bold(),
            label(c + 0.5 * columns, b + depth + 0.16 * m, "B".into()).bold(),
            label(c + 0.5 * columns, rows + 0.16 * m, "C".into()).bold(),
            label(0.5 * depth, 0.5 * m, format!("{} × {}", t.blk[0], t.blk[2])),
            label(
                c + 0.5 * n,
                b + 0.5 * depth,
                format!("{} × {}", t.blk[2], t.blk[1]),
            ),
        ],
        ..Diagram::default()
    }
}

/// A block with its warps, where these are rectangles, and the elements of its first thread; row 0 is on top.
fn threads(t: &Tiles, title: &str) -> Diagram {
    let [m, n] = [t.blk[0] as f64, t.blk[1] as f64];
    let [tile_m, tile_n] = t.tile();
    let mut shapes = vec![
        Shape::rect((0.0, 0.0), (n, m))
            .filled(Ink::Series(0), 0.12)
            .edged(Ink::Text, 1.3),
    ];
    let mut labels = Vec::new();
    if t.use_mma > 0 {
        let (down, along) = (t.dim[0] / 8, t.dim[1] / 4);
        let (high, wide) = ((8 * tile_m) as f64, (4 * tile_n) as f64);
        for i in 0..down {
            for j in 0..along {
                let (x, y) = (j as f64 * wide, m - i as f64 * high);
                shapes.push(Shape::rect((x, y - high), (x + wide, y)).edged(Ink::Text, 1.0));
                let text = format!("warp {}", j * down + i);
                labels.push(Label::new((x + 0.5 * wide, y - high + 0.06 * m), &text));
            }
        }
        // One product on the tensor cores.
        shapes.push(
            Shape::rect((0.0, m - 16.0), (8.0, m))
                .filled(Ink::Series(2), 0.35)
                .edged(Ink::Text, 1.0),
        );
        let text = format!("16 × 8 × {}: one product on the tensor cores", t.use_mma);
        labels.push(Label::new((0.5 * n, -0.055 * m), &text));
    } else {
        let text = format!("{} × {} threads, interleaved", t.dim[0], t.dim[1]);
        labels.push(Label::new((0.5 * n, -0.055 * m), &text));
    }
    let [rows, columns] = t.first_thread();
    let dots = (rows.iter())
        .flat_map(|r| {
            let y = m - *r as f64 - 0.5;
            columns.iter().map(move |c| (*c as f64 + 0.5, y))
        })
        .collect();
    Diagram {
        title: title.into(),
        x: (-0.03 * n, 1.03 * n),
        y: (-0.12 * m, 1.03 * m),
        shapes,
        dots: vec![(1, dots, 4.0)],
        labels,
        ..Diagram::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const BEST: Tiles = Tiles {
        dim: [16, 16],
        blk: [128, 128, 16],
        use_mma: 8,
        vec_tile: 2,
        swizzle: true,
    };

    #[test]
    fn a_thread_has_its_share_of_a_block() {
        let plain = Tiles {
            use_mma: 0,
            swizzle: false,
            ..BEST
        };
        for t in [BEST, plain] {
            let [rows, columns] = t.first_thread();
            for (places, size) in [(rows, t.blk[0]), (columns, t.blk[1])] {
                let different: BTreeSet<i64> = places.iter().copied().collect();
                assert_eq!(different.len(), 8);
                assert!(different.iter().all(|p| (0..size).contains(p)));
            }
        }
        // Two rows side by side, then 16 on; columns four apart in eights.
        assert_eq!(BEST.first_thread()[0][..4], [0, 1, 16, 17]);
        assert_eq!(BEST.first_thread()[1][..4], [0, 4, 8, 12]);
        // In twos, the rest 32 on.
        assert_eq!(plain.first_thread()[0][..4], [0, 1, 32, 33]);
    }

    #[test]
    fn the_tiling_is_drawn() {
        let chart = drawn(&BEST);
        let svg = chart.svg(greenup_report::chart::Style::Light, 880.0);
        for words in ["warp 7", "128 × 128", "16 × 8 × 8"] {
            assert!(svg.contains(words), "{words}");
        }
    }
}
