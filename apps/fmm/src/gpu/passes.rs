//! The passes, as launches.

use super::layout::{Dense, Items, Stage};
use super::place::{At, Place};
use super::{Done, Gpu};
use crate::operators::surface::{INNER, OUTER};
use crate::real::Real;
use greenup_device::cuda::{Arg, Shape};

impl<R: Real, P: Place> Gpu<'_, R, P> {
    fn real(x: f64) -> Arg {
        if R::DOUBLE {
            Arg::Double(x)
        } else {
            Arg::Float(x as f32)
        }
    }

    fn parameter(&self) -> Arg {
        Self::real(self.plan.options.kernel.parameter(self.plan.unit))
    }

    /// # Safety
    /// As [`Place::call`].
    unsafe fn go(
        &self,
        kernel: &'static str,
        grid: [usize; 3],
        threads: usize,
        shared: usize,
        arguments: &[Arg],
    ) -> Done {
        if grid.contains(&0) {
            return Ok(());
        }
        let shape = Shape {
            grid: grid.map(|n| n as u32),
            block: [threads as u32, 1, 1],
            shared: shared as u32,
        };
        // SAFETY: the caller's promise.
        unsafe { self.place.call(kernel, &shape, arguments) }
    }

    pub(super) fn clear(&self, m: &At, numbers: usize) -> Done {
        let blocks = numbers.div_ceil(256).min(16384);
        // SAFETY: the memory holds that many numbers.
        unsafe { self.go("clear", [blocks, 1, 1], 256, 0, &[numbers.into(), m.into()]) }
    }

    /// y (+)= A x of boxes; places of x and y by boxes, or by their order in the list.
    fn apply(
        &self,
        a: &Dense,
        x: (&At, &Items, usize),
        y: (&At, &Items, usize),
        add: bool,
    ) -> Done {
        let count = x.1.count;
        let arguments = [
            Arg::Int(a.rows as i32),
            Arg::Int(a.columns as i32),
            (&a.memory).into(),
            Arg::Int(count as i32),
            x.0.into(),
            (&x.1.memory).into(),
            Arg::Int(x.2 as i32),
            y.0.into(),
            (&y.1.memory).into(),
            Arg::Int(y.2 as i32),
            Arg::Int(i32::from(add)),
        ];
        let grid = [count.div_ceil(64), a.rows.div_ceil(64), 1];
        // SAFETY: lists name boxes, and memories hold as many numbers a box as strides say.
        unsafe { self.go("apply", grid, 256, 0, &arguments) }
    }

    /// Both factors of an inverse.
    fn inverse(&self, m: &[Dense; 2], from: &At, to: &At, boxes: &Items) -> Done {
        let n = self.plan.shell_numbers();
        self.apply(&m[0], (from, boxes, n), (&self.on.middle, boxes, n), false)?;
        self.apply(&m[1], (&self.on.middle, boxes, n), (to, boxes, n), false)
    }

    fn to_shells(&self, items: &Items, radius: f64) -> Done {
        let on = &self.on;
        let arguments = [
            (&on.places).into(),
            (&on.more).into(),
            (&on.boxes).into(),
            (&on.shell).into(),
            Self::real(radius),
            (&items.memory).into(),
            (&on.x_ranges).into(),
            (&on.check).into(),
            (&on.scales).into(),
            self.parameter(),
        ];
        // SAFETY: items name boxes and ranges of sources.
        unsafe { self.go("to_shells", [items.count, 1, 1], 128, 0, &arguments) }
    }

    pub(super) fn upward(&self) -> Done {
        let on = &self.on;
        let all = self.plan.tree.nodes.len() * self.plan.shell_numbers();
        self.clear(&on.up, all)?;
        self.clear(&on.check, all)?;
        let n = self.plan.shell_numbers();
        for (k, stage) in on.stages.iter().enumerate().rev() {
            let operators = &on.operators[stage.operators];
            self.to_shells(&stage.from_points, OUTER)?;
            self.inverse(&operators.up, &on.check, &on.up, &stage.leaves)?;
            if k > 0 {
                let above = &on.operators[on.stages[k - 1].operators];
                for (m, (children, parents)) in above.to_parent.iter().zip(&stage.rising) {
                    self.apply(m, (&on.up, children, n), (&on.up, parents, n), true)?;
                }
            }
        }
        Ok(())
    }

    fn transform(&self, kernel: &'static str, stage: &Stage, forward: bool) -> Done {
        let on = &self.on;
        let children = if forward {
            &stage.source_children
        } else {
            &stage.target_children
        };
        let (boxes, spectra, stride) = if forward {
            (&on.up, &on.from, children.count + 1)
        } else {
            (&on.check, &on.to, children.count)
        };
        let mut arguments: Vec<Arg> = vec![
            (&on.turns).into(),
            (&on.grid).into(),
            (&children.memory).into(),
        ];
        if forward {
            arguments.extend([Arg::from(boxes), spectra.into()]);
        } else {
            arguments.extend([Arg::from(spectra), boxes.into()]);
        }
        arguments.push(stride.into());
        let grid = [
            children.count,
            8 / self.sisters,
            self.plan.options.kernel.inputs(),
        ];
        // SAFETY: spectra hold the parents of the largest level, and one more of sources.
        unsafe { self.go(kernel, grid, 256, self.room, &arguments) }
    }

    pub(super) fn forward(&self, stage: &Stage) -> Done {
        // Where there is no parent beside, spectra are zero.
        let (d, waves) = (self.plan.options.kernel.inputs(), self.waves);
        self.clear(
            &self.on.from,
            d * waves * (stage.source_children.count + 1) * 16,
        )?;
        self.transform("forward", stage, true)
    }

    pub(super) fn products(&self, stage: &Stage) -> Done {
        let on = &self.on;
        let Some(blocks) = &on.operators[stage.operators].blocks else {
            return Ok(());
        };
        let targets = stage.target_children.count;
        let arguments = [
            blocks.into(),
            (&stage.beside.memory).into(),
            (&on.from).into(),
            (stage.source_children.count + 1).into(),
            (&on.to).into(),
            targets.into(),
        ];
        // SAFETY: as for transforms.
        unsafe {
            self.go(
                "products",
                [self.waves, targets.div_ceil(128), 1],
                256,
                0,
                &arguments,
            )
        }
    }

    pub(super) fn back(&self, stage: &Stage) -> Done {
        self.transform("back", stage, false)
    }

    pub(super) fn downward(&self) -> Done {
        let (on, n) = (&self.on, self.plan.shell_numbers());
        for stage in &on.stages {
            let operators = &on.operators[stage.operators];
            for (m, (children, parents)) in operators.to_child.iter().zip(&stage.falling) {
                self.apply(m, (&on.down, parents, n), (&on.check, children, n), true)?;
            }
            self.to_shells(&stage.x, INNER)?;
            self.inverse(&operators.down, &on.check, &on.down, &stage.with_targets)?;
        }
        Ok(())
    }

    pub(super) fn local(&self) -> Done {
        let on = &self.on;
        let [x, y, z] = &on.targets;
        let arguments = [
            (&on.boxes).into(),
            (&on.shell).into(),
            Self::real(OUTER),
            Self::real(INNER),
            (&on.down).into(),
            (&on.up).into(),
            x.into(),
            y.into(),
            z.into(),
            (&on.local.memory).into(),
            (&on.w).into(),
            (&on.out).into(),
            self.plan.targets[0].len().into(),
            self.parameter(),
        ];
        // SAFETY: items name boxes, their targets and W lists.
        unsafe { self.go("from_shells", [on.local.count, 1, 1], 128, 0, &arguments) }
    }

    pub(super) fn near(&self) -> Done {
        let on = &self.on;
        let [x, y, z] = &on.targets;
        let arguments = [
            (&on.places).into(),
            (&on.more).into(),
            x.into(),
            y.into(),
            z.into(),
            (&on.near.memory).into(),
            (&on.ranges).into(),
            (&on.out).into(),
            self.plan.targets[0].len().into(),
            self.parameter(),
        ];
        // SAFETY: items name targets and ranges of sources.
        unsafe {
            self.go(
                "near_points",
                [on.near.count, 1, 1],
                self.config.threads,
                0,
                &arguments,
            )
        }
    }

    pub(super) fn order(&self, into: bool) -> Done {
        let on = &self.on;
        let (f, n, arguments) = if into {
            let n = self.plan.source_from.len();
            let a = [
                n.into(),
                (&on.source_from).into(),
                (&on.charges).into(),
                (&on.places).into(),
                (&on.more).into(),
            ];
            ("order_charges", n, a.to_vec())
        } else {
            let n = self.plan.target_from.len();
            let a = [
                n.into(),
                (&on.target_from).into(),
                (&on.out).into(),
                (&on.result).into(),
            ];
            ("order_sums", n, a.to_vec())
        };
        // SAFETY: orders name places below the count.
        unsafe { self.go(f, [n.div_ceil(256), 1, 1], 256, 0, &arguments) }
    }
}
