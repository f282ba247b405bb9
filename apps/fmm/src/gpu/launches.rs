//! Launches of the phases.

use super::Gpu;
use super::arguments::{
    Apply, Clear, CopyBoxes, Hadamard, P2p, Permute, PointsToSurfaces, SurfacesToPoints, Transform,
};
use super::layout::{Dense, Exchanged, Items, Stage};
use crate::operators::surface::{INNER, OUTER};
use crate::precision::Real;
use greenup_device::cuda::{Arguments, Backend, CudaError, Pointer, Shape};

type Result<T = ()> = std::result::Result<T, CudaError>;

impl<R: Real, B: Backend> Gpu<R, B> {
    fn parameter(&self) -> f64 {
        self.plan.options.kernel.parameter(self.plan.unit)
    }

    /// # Safety
    /// As [`Backend::launch`].
    unsafe fn launch<A: Arguments>(
        &self,
        kernel: &'static str,
        grid: [usize; 3],
        threads: usize,
        shared_bytes: usize,
        arguments: &A,
    ) -> Result {
        if grid.contains(&0) {
            return Ok(());
        }
        let shape = Shape {
            grid: grid.map(|n| n as u32),
            block: [threads as u32, 1, 1],
            shared: shared_bytes as u32,
        };
        // SAFETY: the caller's promise.
        unsafe { self.backend.launch(kernel, &shape, arguments) }
    }

    pub(super) fn clear(&self, values: Pointer<R>, count: usize) -> Result {
        let blocks = count.div_ceil(256).min(16384);
        let arguments = Clear {
            count: count as i64,
            values,
        };
        // SAFETY: the memory holds that many values.
        unsafe { self.launch("clear", [blocks, 1, 1], 256, 0, &arguments) }
    }

    /// y (+)= A x of boxes, with these values per box.
    fn apply(
        &self,
        a: &Dense<R>,
        x: (Pointer<R>, &Items, usize),
        y: (Pointer<R>, &Items, usize),
        add: bool,
    ) -> Result {
        let count = x.1.count;
        let arguments = Apply {
            matrix: a.memory,
            x: x.0,
            x_boxes: x.1.memory,
            y: y.0,
            y_boxes: y.1.memory,
            rows: a.rows as i32,
            depth: a.columns as i32,
            count: count as i32,
            x_stride: x.2 as i32,
            y_stride: y.2 as i32,
            add: i32::from(add),
        };
        let grid = [count.div_ceil(64), a.rows.div_ceil(64), 1];
        // SAFETY: lists name boxes, and memories hold as many values per box as the strides say.
        unsafe { self.launch("apply", grid, 256, 0, &arguments) }
    }

    /// Both factors of an inverse.
    fn inverse(
        &self,
        m: &[Dense<R>; 2],
        from: Pointer<R>,
        to: Pointer<R>,
        boxes: &Items,
    ) -> Result {
        let n = self.plan.surface_values();
        let product = self.layout.product;
        self.apply(&m[0], (from, boxes, n), (product, boxes, n), false)?;
        self.apply(&m[1], (product, boxes, n), (to, boxes, n), false)
    }

    fn points_to_surfaces(&self, items: &Items, radius: f64) -> Result {
        let l = &self.layout;
        let arguments = PointsToSurfaces {
            positions: l.positions,
            more: l.more,
            boxes: l.boxes,
            surface: l.unit_surface,
            items: items.memory,
            ranges: l.x_ranges,
            check: l.check,
            scales: l.scales,
            radius,
            parameter: self.parameter(),
        };
        let grid = [items.count, 1, 1];
        // SAFETY: items name boxes and ranges of sources.
        unsafe { self.launch("points_to_surfaces", grid, 128, 0, &arguments) }
    }

    /// P2M and M2M of the boxes that this rank computes alone.
    pub(super) fn upward(&self) -> Result {
        let l = &self.layout;
        let all = self.plan.tree.nodes.len() * self.plan.surface_values();
        self.clear(l.up, all)?;
        self.clear(l.check, all)?;
        let n = self.plan.surface_values();
        for (k, stage) in l.stages.iter().enumerate().rev() {
            let operators = &l.operators[stage.operators];
            self.points_to_surfaces(&stage.from_points, OUTER)?;
            self.inverse(&operators.up, l.check, l.up, &stage.leaves)?;
            if k > 0 {
                let above = &l.operators[l.stages[k - 1].operators];
                for (m, (children, parents)) in above.to_parent.iter().zip(&stage.rising) {
                    self.apply(m, (l.up, children, n), (l.up, parents, n), true)?;
                }
            }
        }
        Ok(())
    }

    /// M2M of the boxes that several ranks compute, with the equivalent charges from other ranks.
    pub(super) fn upward_shared(&self) -> Result {
        let l = &self.layout;
        let Exchanged {
            boxes,
            places,
            values,
        } = &l.received;
        self.copy_boxes((*values, places), (l.up, boxes))?;
        let n = self.plan.surface_values();
        for (k, stage) in l.stages.iter().enumerate().skip(1).rev() {
            let above = &l.operators[l.stages[k - 1].operators];
            for (m, (children, parents)) in above.to_parent.iter().zip(&stage.shared) {
                self.apply(m, (l.up, children, n), (l.up, parents, n), true)?;
            }
        }
        Ok(())
    }

    /// The equivalent charges that other ranks need, into their memory.
    pub(super) fn pack_sent(&self) -> Result {
        let Exchanged {
            boxes,
            places,
            values,
        } = &self.layout.sent;
        self.copy_boxes((self.layout.up, boxes), (*values, places))
    }

    fn copy_boxes(
        &self,
        (from, from_boxes): (Pointer<R>, &Items),
        (to, to_boxes): (Pointer<R>, &Items),
    ) -> Result {
        let arguments = CopyBoxes {
            count: from_boxes.count as i64,
            each: self.plan.surface_values() as i64,
            from,
            from_boxes: from_boxes.memory,
            to,
            to_boxes: to_boxes.memory,
        };
        let blocks = from_boxes.count.min(1 << 20);
        // SAFETY: lists of the same length name boxes of both memories.
        unsafe { self.launch("copy_boxes", [blocks, 1, 1], 128, 0, &arguments) }
    }

    pub(super) fn m2l_fft(&self, stage: &Stage) -> Result {
        let l = &self.layout;
        // Where there is no neighbour, the spectrum is zero: that of one parent more.
        let parents = stage.source_children.count + 1;
        let components = self.plan.options.kernel.inputs();
        self.clear(l.from, components * self.frequency_count * parents * 16)?;
        let arguments = Transform {
            twiddles: l.twiddles,
            grid: l.grid,
            children: stage.source_children.memory,
            surfaces: l.up,
            spectra: l.from,
            parents: parents as i64,
        };
        self.transform("m2l_fft", stage.source_children.count, &arguments)
    }

    pub(super) fn m2l_inverse_fft(&self, stage: &Stage) -> Result {
        let l = &self.layout;
        let arguments = Transform {
            twiddles: l.twiddles,
            grid: l.grid,
            children: stage.target_children.memory,
            surfaces: l.check,
            spectra: l.to,
            parents: stage.target_children.count as i64,
        };
        self.transform("m2l_inverse_fft", stage.target_children.count, &arguments)
    }

    fn transform(&self, kernel: &'static str, parents: usize, arguments: &Transform<R>) -> Result {
        let grid = [
            parents,
            8 / self.siblings,
            self.plan.options.kernel.inputs(),
        ];
        // SAFETY: spectra hold the parents of the largest level, and one more for sources.
        unsafe { self.launch(kernel, grid, 256, self.shared_bytes, arguments) }
    }

    pub(super) fn m2l_hadamard(&self, stage: &Stage) -> Result {
        let l = &self.layout;
        let Some(blocks) = l.operators[stage.operators].blocks else {
            return Ok(());
        };
        let targets = stage.target_children.count;
        let arguments = Hadamard {
            blocks,
            neighbours: stage.neighbours.memory,
            from: l.from,
            to: l.to,
            sources: stage.source_children.count as i64 + 1,
            targets: targets as i64,
        };
        let grid = [self.frequency_count, targets.div_ceil(128), 1];
        // SAFETY: as for transforms.
        unsafe { self.launch("m2l_hadamard", grid, 256, 0, &arguments) }
    }

    /// P2L and L2L.
    pub(super) fn downward(&self) -> Result {
        let (l, n) = (&self.layout, self.plan.surface_values());
        for stage in &l.stages {
            let operators = &l.operators[stage.operators];
            for (m, (children, parents)) in operators.to_child.iter().zip(&stage.falling) {
                self.apply(m, (l.down, parents, n), (l.check, children, n), true)?;
            }
            self.points_to_surfaces(&stage.x, INNER)?;
            self.inverse(&operators.down, l.check, l.down, &stage.with_targets)?;
        }
        Ok(())
    }

    /// L2P and M2P.
    pub(super) fn evaluate_expansions(&self) -> Result {
        let l = &self.layout;
        let [x, y, z] = l.targets;
        let arguments = SurfacesToPoints {
            boxes: l.boxes,
            surface: l.unit_surface,
            down: l.down,
            up: l.up,
            x,
            y,
            z,
            items: l.expansions.memory,
            w: l.w,
            out: l.out,
            stride: self.plan.share.len() as i64,
            outer: OUTER,
            inner: INNER,
            parameter: self.parameter(),
        };
        let grid = [l.expansions.count, 1, 1];
        // SAFETY: items name boxes, their targets and W lists.
        unsafe { self.launch("surfaces_to_points", grid, 128, 0, &arguments) }
    }

    pub(super) fn p2p(&self) -> Result {
        let l = &self.layout;
        let [x, y, z] = l.targets;
        let arguments = P2p {
            positions: l.positions,
            more: l.more,
            x,
            y,
            z,
            items: l.p2p.memory,
            ranges: l.ranges,
            out: l.out,
            stride: self.plan.share.len() as i64,
            parameter: self.parameter(),
        };
        let grid = [l.p2p.count, 1, 1];
        // SAFETY: items name targets and ranges of sources.
        unsafe { self.launch("p2p", grid, self.config.threads, 0, &arguments) }
    }

    /// Charges into the order of the boxes.
    pub(super) fn permute_charges(&self) -> Result {
        let l = &self.layout;
        let count = self.plan.source_from.len();
        let arguments = Permute {
            count: count as i64,
            index: l.source_from,
            from: l.charges,
            to: l.positions,
            more: l.more,
        };
        // SAFETY: indices are below the count.
        unsafe {
            self.launch(
                "permute_charges",
                [count.div_ceil(256), 1, 1],
                256,
                0,
                &arguments,
            )
        }
    }

    /// Results into the order of the targets.
    pub(super) fn permute_results(&self) -> Result {
        let l = &self.layout;
        let count = self.plan.places.len();
        let arguments = Permute {
            count: count as i64,
            index: l.places,
            from: l.out,
            to: l.result,
            more: Pointer::default(),
        };
        // SAFETY: indices are below the count.
        unsafe {
            self.launch(
                "permute_results",
                [count.div_ceil(256), 1, 1],
                256,
                0,
                &arguments,
            )
        }
    }
}
