//! Tables of q and F.

use super::stopped;
use greenup_app::{Result, interrupt};
use greenup_gisaxs::mesh_form_factor::QGrid;
use greenup_gisaxs::table::{Column, Layout, PER_NM};
use greenup_gisaxs::{Complex64, Q};
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
            absent: Some(0.0),
        },
    ],
    // Of our own output.
    unused: &["fre", "fim"],
    more: false,
    gaps: false,
};

/// The q of a file, runs with the same q_z together, and the line of each q.
pub fn listed(path: &Path) -> Result<(Vec<QGrid>, Vec<usize>)> {
    let rows = COLUMNS.read(path)?;
    let q: Vec<[f64; 4]> = (rows.iter())
        .map(|(_, v)| [v[0], v[1], v[2], v[3]])
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
