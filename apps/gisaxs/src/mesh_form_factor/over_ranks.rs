//! F computed by several ranks, on the first of them.

use super::accelerator::{DeviceTimes, MakeMeter};
use super::each::{each, on_any};
use super::q_grid::{QGrid, part_of};
use super::{Method, Prepared, Watch};
use crate::GisaxsError;
use crate::form::FormFactor;
use greenup_meter::Measurement;
use greenup_ranks::Ranks;
use greenup_setting::setting;
use num_complex::Complex64;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Grids that stay together, if there are several.
const TOGETHER: usize = 64;

impl Prepared<'_> {
    /// F on all grids that it was prepared for, nm³, on the first rank; the others have none. `None` if one was stopped.
    /// The digits do not depend on the number of ranks.
    ///
    /// # Errors
    /// Another device fails.
    pub fn over(
        &self,
        grids: &[QGrid],
        ranks: &dyn Ranks,
        watch: &Watch,
    ) -> Result<Option<Vec<Vec<Complex64>>>, GisaxsError> {
        let own = match grids {
            [grid] => {
                let range = self.heights(grid, ranks.rank(), ranks.size());
                self.heights_of(grid, range, watch)?.map(|v| vec![v])
            }
            _ => {
                let range = rows(grids, ranks.rank(), ranks.size());
                self.rows_of(&grids[range], watch)?
            }
        };
        let stopped = on_any(ranks, own.is_none());
        let own = own.filter(|_| !stopped);
        Ok(own.map(|own| gathered(own, grids, ranks)))
    }

    /// Where the time of each device of this rank went since the last call.
    pub fn take_times(&self) -> Vec<DeviceTimes> {
        self.on().map_or_else(Vec::new, |(on, _)| on.take_times())
    }

    /// Measures the kernels of this rank's share of a tensor grid, on each of its devices at the same time.
    ///
    /// # Errors
    /// No other device than the CPU computes, the q are no tensor grid, there is no meter, or the device fails.
    pub fn measure(
        &self,
        grids: &[QGrid],
        ranks: &dyn Ranks,
        meter: &Arc<MakeMeter>,
    ) -> Result<Vec<Measurement>, GisaxsError> {
        let (Some((on, request)), [grid]) = (self.on(), grids) else {
            return Err(format!(
                "only tensor grids on GPUs are measured: use {} and {}",
                setting("grid"),
                setting("device").to("cuda")
            )
            .into());
        };
        let part = grid.at_heights(self.heights(grid, ranks.rank(), ranks.size()));
        let nodes = part_of(self.nodes, ranks.rank(), (ranks.size(), 1));
        on.measure(request, &part, nodes, meter)
    }

    /// The q_z of a rank.
    fn heights(&self, grid: &QGrid, rank: usize, ranks: usize) -> Range<usize> {
        part_of(grid.z.len(), rank, (ranks, self.grain()))
    }

    /// F at some q_z.
    fn heights_of(
        &self,
        grid: &QGrid,
        range: Range<usize>,
        watch: &Watch,
    ) -> Result<Option<Vec<Complex64>>, GisaxsError> {
        let one = |range: Range<usize>| {
            let part = grid.at_heights(range);
            if part.is_empty() {
                return Ok(Some(Vec::new()));
            }
            let values = self.grids(&[part], watch)?;
            Ok(values.and_then(|mut v| v.pop()))
        };
        // Matrix products of the CPU choose their blocks by the number of q.
        if self.method != Method::Gemm || self.accelerated() {
            return one(range);
        }
        let mut out = Vec::new();
        for from in range.clone().step_by(self.grain()) {
            let Some(some) = one(from..range.end.min(from + self.grain()))? else {
                return Ok(None);
            };
            out.extend(some);
        }
        Ok(Some(out))
    }

    /// F on some grids of many.
    fn rows_of(
        &self,
        grids: &[QGrid],
        watch: &Watch,
    ) -> Result<Option<Vec<Vec<Complex64>>>, GisaxsError> {
        if self.accelerated() {
            return self.grids(grids, watch);
        }
        let one = |some: &[QGrid]| self.grids(some, watch);
        let all: Result<Option<Vec<_>>, GisaxsError> = match self.method {
            // Factors of matrix products may use all of the memory given.
            Method::Gemm => grids.chunks(TOGETHER).map(one).collect(),
            _ => grids.par_chunks(TOGETHER).map(one).collect(),
        };
        Ok(all?.map(|blocks| blocks.concat()))
    }
}

/// The grids of a rank, of many.
fn rows(grids: &[QGrid], rank: usize, ranks: usize) -> Range<usize> {
    part_of(grids.len(), rank, (ranks, TOGETHER))
}

/// The values of all ranks, on the first. Ranks have consecutive values of the same grid, or consecutive grids.
fn gathered(own: Vec<Vec<Complex64>>, grids: &[QGrid], ranks: &dyn Ranks) -> Vec<Vec<Complex64>> {
    if ranks.size() == 1 {
        return own;
    }
    let bytes: Vec<u8> = own
        .iter()
        .flatten()
        .flat_map(|f| [f.re.to_le_bytes(), f.im.to_le_bytes()])
        .flatten()
        .collect();
    let Some(all) = ranks.gather(&bytes) else {
        return Vec::new();
    };
    let mut numbers = all.iter().flat_map(|b| {
        b.as_chunks::<16>().0.iter().map(|f| {
            let (parts, _) = f.as_chunks::<8>();
            Complex64::new(f64::from_le_bytes(parts[0]), f64::from_le_bytes(parts[1]))
        })
    });
    grids
        .iter()
        .map(|g| numbers.by_ref().take(g.len()).collect())
        .collect()
}

/// F of a form by its formula on the first rank; the others have none. `None` if stopped.
pub fn each_over<F: FormFactor + ?Sized>(
    form: &F,
    grids: &[QGrid],
    ranks: &dyn Ranks,
    watch: &Watch,
) -> Option<Vec<Vec<Complex64>>> {
    let own = match grids {
        [grid] => {
            let range = part_of(grid.z.len(), ranks.rank(), (ranks.size(), 1));
            each(form, &[grid.at_heights(range)], watch)
        }
        _ => each(form, &grids[rows(grids, ranks.rank(), ranks.size())], watch),
    };
    let stopped = on_any(ranks, own.is_none());
    own.filter(|_| !stopped)
        .map(|own| gathered(own, grids, ranks))
}
