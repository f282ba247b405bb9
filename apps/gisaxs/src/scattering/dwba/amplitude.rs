//! The amplitude that a part of a particle adds to each pixel.

use super::Scene;
use super::row::DetectorRow;
use super::terms::Place;
use crate::GisaxsError;
use crate::form::Polyhedron;
use crate::mesh_form_factor::{Method, Prepared, QGrid, Watch, prepare};
use crate::scattering::layers::Waves;
use crate::scattering::lines::Lines;
use crate::scattering::momentum::Q;
use crate::scattering::particle::Part;
use crate::scattering::shares::Shares;
use greenup_ranks::Ranks;
use num_complex::Complex64;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of values of F in memory at once.
const HELD: usize = 1 << 21;

impl Scene {
    /// Adds a part with an analytic form factor, pixel by pixel; `None` if stopped.
    pub(super) fn shape(
        &self,
        part: &Part,
        position: &Place,
        (rows, shares): (&[DetectorRow], &Shares),
        (amplitude, watch): (&mut [Complex64], &Watch),
    ) -> Option<()> {
        let contrast = self.contrast(part, position.layer);
        let columns = self.detector.columns();
        amplitude
            .par_chunks_mut(columns.max(1))
            .zip(rows)
            .enumerate()
            .filter(|(r, _)| shares.has(*r))
            .for_each(|(_, (out, row))| {
                if watch.stopped() {
                    return;
                }
                let mut level = row
                    .up
                    .first()
                    .filter(|_| row.up.len() == 1)
                    .map(|up| up.as_ref().map(|up| self.terms(position, up)));
                for (c, to) in out.iter_mut().enumerate() {
                    let terms = match &mut level {
                        Some(t) => *t,
                        None => row.up(c).map(|up| self.terms(position, up)),
                    };
                    let Some((terms, n)) = terms else { continue };
                    let [x, y] = row.xy[c];
                    let mut sum = Complex64::ZERO;
                    for (weight, z) in &terms[..n] {
                        if weight.norm_sqr() != 0.0 {
                            sum += weight * part.form.at(&Q { x, y, z: *z }.vector());
                        }
                    }
                    let shift = Complex64::from_polar(1.0, x * part.at[0] + y * part.at[1]);
                    *to += contrast * shift * sum;
                }
                watch.tick(columns as u64);
            });
        (!watch.stopped()).then_some(())
    }

    /// Adds a polyhedron, many pixels at once; `None` if stopped.
    pub(super) fn solid(
        &self,
        form: &Polyhedron,
        part: &Part,
        position: &Place,
        (rows, shares, ranks): (&[DetectorRow], &Shares, &dyn Ranks),
        (amplitude, watch): (&mut [Complex64], &Watch),
    ) -> Result<Option<()>, GisaxsError> {
        let columns = self.detector.columns();
        let contrast = self.contrast(part, position.layer);
        let reach = form.mesh().reach([0.0; 3]);
        let lines: Vec<Lines> = rows
            .par_iter()
            .map(|row| {
                let ups = row.up.iter().flatten();
                // By exit angle: at the surface k_z falls from −k₀ sin α.
                let height = |up: &&Vec<Waves>| up[0].kz.re;
                let ends = ups
                    .clone()
                    .max_by(|a, b| height(a).total_cmp(&height(b)))
                    .zip(ups.min_by(|a, b| height(a).total_cmp(&height(b))));
                ends.map_or_else(Lines::default, |(low, high)| {
                    let (low, n) = self.terms(position, low);
                    let (high, _) = self.terms(position, high);
                    let ends: Vec<_> = (0..n).map(|k| (low[k].1, high[k].1)).collect();
                    Lines::new(&ends, reach, 0.1 * self.numeric.accuracy)
                })
            })
            .collect();
        let grids: Vec<QGrid> = lines
            .iter()
            .zip(rows)
            .map(|(l, row)| QGrid {
                xy: if l.z.is_empty() {
                    Arc::default()
                } else {
                    Arc::clone(&row.xy)
                },
                z: l.z.clone(),
            })
            .collect();
        let ready = prepare(form, &grids, &self.numeric, ranks, watch)
            .map_err(|m| GisaxsError::Sample(format!("a mesh: {m}")))?;
        let Some(ready) = ready else {
            return Ok(None);
        };
        let per = (HELD / grids.iter().map(QGrid::len).max().unwrap_or(1).max(1)).max(1);
        let quiet = Watch {
            progress: &|_| {},
            stop: watch.stop,
        };
        for blocks in shares.blocks().chunks((per / shares.rows()).max(1)) {
            let Some(values) = each_block(&ready, &grids, blocks, &quiet)? else {
                return Ok(None);
            };
            let values: Vec<(usize, &Vec<Complex64>)> = blocks
                .iter()
                .flat_map(Clone::clone)
                .zip(values.iter().flatten())
                .collect();
            let sums: Vec<(usize, Vec<Complex64>)> = values
                .into_par_iter()
                .filter(|(r, _)| !lines[*r].z.is_empty())
                .map(|(r, f)| {
                    let (row, l) = (&rows[r], &lines[r]);
                    let at = |c: usize| {
                        let Some(up) = row.up(c) else {
                            return Complex64::ZERO;
                        };
                        let (terms, n) = self.terms(position, up);
                        let [x, y] = row.xy[c];
                        let shift = Complex64::from_polar(1.0, x * part.at[0] + y * part.at[1]);
                        let sum: Complex64 = terms[..n]
                            .iter()
                            .enumerate()
                            .map(|(k, (weight, z))| {
                                weight * l.between(k, *z, |at| f[at * columns + c])
                            })
                            .sum();
                        contrast * shift * sum
                    };
                    (r, (0..columns).map(at).collect())
                })
                .collect();
            for (r, sum) in sums {
                for (to, v) in amplitude[r * columns..(r + 1) * columns]
                    .iter_mut()
                    .zip(sum)
                {
                    *to += v;
                }
            }
            let done: usize = blocks.iter().map(ExactSizeIterator::len).sum();
            watch.tick((done * columns) as u64);
        }
        Ok(Some(()))
    }
}

/// F on the rows of each block; `None` if stopped. A CPU computes each block by itself, so that its digits do not depend
/// on which other blocks this rank has.
fn each_block(
    ready: &Prepared,
    grids: &[QGrid],
    blocks: &[Range<usize>],
    watch: &Watch,
) -> Result<Option<Vec<Vec<Vec<Complex64>>>>, GisaxsError> {
    if ready.accelerated() {
        let all: Vec<QGrid> = blocks
            .iter()
            .flat_map(|b| grids[b.clone()].iter().cloned())
            .collect();
        return Ok(ready.grids(&all, watch)?.map(|values| vec![values]));
    }
    let one = |b: &Range<usize>| ready.grids(&grids[b.clone()], watch);
    // Factors of matrix products may use all of the memory given.
    if ready.method == Method::Gemm {
        return blocks.iter().map(one).collect();
    }
    blocks.par_iter().map(one).collect()
}
