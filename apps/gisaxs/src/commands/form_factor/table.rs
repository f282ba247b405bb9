//! Tables of q and F.

use super::stopped;
use crate::mesh_form_factor::QGrid;
use crate::table::{Column, Layout, PER_NM, fail};
use crate::{Complex64, Q};
use greenup_app::{Result, interrupt};
use std::path::Path;

const COLUMNS: Layout = Layout {
    columns: &[
        Column {
            names: &["qx"],
            units: PER_NM,
            absent: None,
        },
        Column {
            names: &["qy"],
            units: PER_NM,
            absent: None,
        },
        Column {
            names: &["qzre", "qz", "reqz", "qzr", "qzreal"],
            units: PER_NM,
            absent: None,
        },
        Column {
            names: &["qzim", "imqz", "qzi", "qzimag"],
            units: PER_NM,
            // Known from a flag then.
            absent: Some(f64::NAN),
        },
    ],
    // Of our own output.
    unused: &["fre", "fim"],
    plain: 4,
    more: false,
    gaps: false,
};

/// The q of a file, runs with the same q_z together, and the line of each q. `im_qz` is that of a file without such a column.
pub fn listed(path: &Path, im_qz: Option<f64>) -> Result<(Vec<QGrid>, Vec<usize>)> {
    let rows = COLUMNS.read(path)?;
    if im_qz.is_some() && rows.iter().any(|r| !r.1[3].is_nan()) {
        return Err(fail(path, "has its own column qz_im: remove it, or --im-qz").into());
    }
    let own = |im: f64| {
        if im.is_nan() {
            im_qz.unwrap_or(0.0)
        } else {
            im
        }
    };
    let q: Vec<[f64; 4]> = (rows.iter())
        .map(|(_, v)| [v[0], v[1], v[2], own(v[3])])
        .collect();
    let grids = QGrid::joined(&q, interrupt::flag())?.ok_or_else(stopped)?;
    Ok((grids, rows.into_iter().map(|r| r.0).collect()))
}

pub fn csv(grids: &[QGrid], values: &[Vec<Complex64>]) -> String {
    let mut text = String::from("qx,qy,qz_re,qz_im,F_re,F_im\n");
    for (s, v) in grids.iter().zip(values) {
        for (n, f) in v.iter().enumerate() {
            let Q { x, y, z } = s.q(n);
            let cells = [x, y, z.re, z.im, f.re, f.im].map(|x| format!("{x:.17e}"));
            text.push_str(&cells.join(","));
            text.push('\n');
        }
    }
    text
}
