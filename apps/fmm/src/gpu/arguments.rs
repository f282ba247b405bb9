//! Parameters of the kernels: one structure a kernel, passed by value. CUDA has the same structures, whose sizes are checked
//! against these.

use crate::precision::Real;
use greenup_device::cuda::{Arguments, Pointer};

/// Declares structures, and the macros by which the CUDA source checks their sizes.
macro_rules! arguments {
    ($($(#[$doc:meta])* $name:ident $macro_name:literal { $($field:ident: $type:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            #[repr(C)]
            pub(super) struct $name<R: Real> { $(pub $field: $type,)* }
            // SAFETY: `repr(C)`, with the fields of the structure in CUDA; the source checks the size.
            unsafe impl<R: Real> Arguments for $name<R> {}
        )*
        /// Names and values of the macros of their sizes.
        pub(super) const SIZES: &[(&str, usize)] = &[$(($macro_name, size_of::<$name<f64>>()),)*];
    };
}

arguments! {
    /// `p2p`: U lists.
    P2p "P2P_BYTES" {
        positions: Pointer<R>,
        more: Pointer<R>,
        x: Pointer<R>,
        y: Pointer<R>,
        z: Pointer<R>,
        items: Pointer<u32>,
        ranges: Pointer<u32>,
        out: Pointer<R>,
        stride: i64,
        parameter: f64,
    }
    /// `points_to_surfaces`: P2M of leaves, and X lists.
    PointsToSurfaces "POINTS_TO_SURFACES_BYTES" {
        positions: Pointer<R>,
        more: Pointer<R>,
        boxes: Pointer<R>,
        surface: Pointer<R>,
        items: Pointer<u32>,
        ranges: Pointer<u32>,
        check: Pointer<R>,
        scales: Pointer<R>,
        radius: f64,
        parameter: f64,
    }
    /// `surfaces_to_points`: L2P and W lists.
    SurfacesToPoints "SURFACES_TO_POINTS_BYTES" {
        boxes: Pointer<R>,
        surface: Pointer<R>,
        down: Pointer<R>,
        up: Pointer<R>,
        x: Pointer<R>,
        y: Pointer<R>,
        z: Pointer<R>,
        items: Pointer<u32>,
        w: Pointer<u32>,
        out: Pointer<R>,
        stride: i64,
        outer: f64,
        inner: f64,
        parameter: f64,
    }
    /// `permute_charges` and `permute_results`.
    Permute "PERMUTE_BYTES" {
        count: i64,
        index: Pointer<u32>,
        from: Pointer<R>,
        to: Pointer<R>,
        more: Pointer<R>,
    }
    /// `copy_boxes`: values of boxes to other boxes.
    CopyBoxes "COPY_BOXES_BYTES" {
        count: i64,
        each: i64,
        from: Pointer<R>,
        from_boxes: Pointer<u32>,
        to: Pointer<R>,
        to_boxes: Pointer<u32>,
    }
    /// `clear`.
    Clear "CLEAR_BYTES" {
        count: i64,
        values: Pointer<R>,
    }
    /// `apply`: a matrix times vectors of boxes.
    Apply "APPLY_BYTES" {
        matrix: Pointer<R>,
        x: Pointer<R>,
        x_boxes: Pointer<u32>,
        y: Pointer<R>,
        y_boxes: Pointer<u32>,
        rows: i32,
        depth: i32,
        count: i32,
        x_stride: i32,
        y_stride: i32,
        add: i32,
    }
    /// `m2l_fft` and `m2l_inverse_fft`.
    Transform "TRANSFORM_BYTES" {
        twiddles: Pointer<R>,
        grid: Pointer<u32>,
        children: Pointer<u32>,
        surfaces: Pointer<R>,
        spectra: Pointer<R>,
        parents: i64,
    }
    /// `mix_unrolled` and `mix_loop`.
    Mix "MIX_BYTES" {
        positions: Pointer<R>,
        out: Pointer<R>,
        rounds: i64,
        parameter: f64,
    }
    /// `m2l_hadamard`.
    Hadamard "HADAMARD_BYTES" {
        blocks: Pointer<R>,
        neighbours: Pointer<u32>,
        from: Pointer<R>,
        to: Pointer<R>,
        sources: i64,
        targets: i64,
    }
}
