//! Evaluations through the library. One program: the library's generic code is compiled for it once.

mod accuracy;
mod clouds;
mod gpu;
mod hybrid;
mod ranks;

/// Largest difference of results at `targets` points, relative to the largest of each component: gradients and potentials
/// differ in magnitude.
fn largest_difference(got: &[f64], want: &[f64], targets: usize) -> f64 {
    assert_eq!(got.len(), want.len());
    (got.chunks(targets).zip(want.chunks(targets)))
        .map(|(g, w)| {
            let size = w.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let away = g.iter().zip(w).map(|(a, b)| (a - b).abs());
            away.fold(0.0, f64::max) / size
        })
        .fold(0.0, f64::max)
}
