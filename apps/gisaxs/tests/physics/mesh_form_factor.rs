//! Every way to a mesh's form factor against its exact transform, triangle by triangle.

use greenup_gisaxs::form::Polyhedron;
use greenup_gisaxs::mesh::Mesh;
use greenup_gisaxs::mesh_form_factor::{
    Blocks, DetectorNufft, Extent, Method, Precision, QGrid, Quadrature, Sampling, Settings,
    Surface, Watch, direct, grid as nufft_grid, prepare,
};
use greenup_gisaxs::{Complex64, FormFactor, GisaxsError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// An ellipsoid of 2 (rows − 1) columns triangles, tilted and off the origin.
fn ellipsoid(rows: usize, columns: usize) -> Mesh {
    let mut vertices = vec![[0.0, 0.0, 1.0]];
    for i in 1..rows {
        let theta = std::f64::consts::PI * i as f64 / rows as f64;
        for j in 0..columns {
            let phi = std::f64::consts::TAU * j as f64 / columns as f64;
            vertices.push([
                theta.sin() * phi.cos(),
                theta.sin() * phi.sin(),
                theta.cos(),
            ]);
        }
    }
    vertices.push([0.0, 0.0, -1.0]);
    let at = |i: usize, j: usize| 1 + (i - 1) * columns + j % columns;
    let mut triangles = Vec::new();
    for j in 0..columns {
        triangles.push([0, at(1, j), at(1, j + 1)]);
        for i in 1..rows - 1 {
            triangles.push([at(i, j), at(i + 1, j), at(i + 1, j + 1)]);
            triangles.push([at(i, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
        triangles.push([at(rows - 1, j), vertices.len() - 1, at(rows - 1, j + 1)]);
    }
    let (s, c) = 0.6_f64.sin_cos();
    let vertices = vertices
        .iter()
        .map(|v| {
            let v = [6.0 * v[0], 4.0 * v[1], 9.0 * v[2]];
            [
                c * v[0] - s * v[2] + 1.5,
                v[1] - 2.0,
                s * v[0] + c * v[2] + 8.0,
            ]
        })
        .collect();
    Mesh {
        vertices,
        triangles,
    }
}

fn nothing() -> (impl Fn(u64) + Sync, AtomicBool) {
    (|_| {}, AtomicBool::new(false))
}

/// Largest difference over the largest |F|, and over the volume.
fn off(mesh: &Mesh, grids: &[QGrid], values: &[Vec<Complex64>]) -> f64 {
    let exact = Polyhedron::new(mesh).unwrap();
    let mut worst = 0.0_f64;
    for (s, v) in grids.iter().zip(values) {
        assert_eq!(s.len(), v.len());
        for (n, got) in v.iter().enumerate() {
            worst = worst.max((got - exact.at(&s.q(n).vector())).norm());
        }
    }
    worst / exact.volume()
}

fn range(from: f64, to: f64, n: usize) -> Vec<f64> {
    (0..n)
        .map(|k| from + (to - from) * k as f64 / (n - 1) as f64)
        .collect()
}

fn tensor(damping: f64) -> QGrid {
    let z: Vec<Complex64> = range(-0.4, 2.2, 23)
        .iter()
        .map(|&z| Complex64::new(z, damping * (1.0 + z)))
        .collect();
    QGrid::grid(&[-0.3, 0.0, 0.07], &range(-1.7, 1.9, 31), &z)
}

/// Arcs as of a detector: both q_x and q_y differ from row to row.
fn arcs(damping: f64) -> Vec<QGrid> {
    range(0.001, 0.04, 13)
        .iter()
        .map(|alpha: &f64| QGrid {
            xy: range(-0.03, 0.03, 37)
                .iter()
                .map(|phi: &f64| {
                    let k = 62.8;
                    [
                        k * (1.0 - alpha.cos() * phi.cos()),
                        -k * alpha.cos() * phi.sin(),
                    ]
                })
                .collect(),
            z: [-1.0, 1.0, 0.3, -0.3]
                .map(|s| Complex64::new(62.8 * alpha.sin() * s + 0.1, damping * s))
                .to_vec(),
        })
        .collect()
}

#[test]
fn the_transform_keeps_its_accuracy_on_grids_and_arcs() {
    let mesh = ellipsoid(12, 16);
    let (progress, stop) = nothing();
    let watch = Watch {
        progress: &progress,
        stop: &stop,
    };
    for damping in [0.0, 0.03] {
        for accuracy in [1e-4, 1e-7, 1e-10] {
            let grid = tensor(damping);
            let most = Extent::of(std::slice::from_ref(&grid)).most;
            let surface = Surface::new(&mesh, most, Sampling::Within(accuracy));
            let got = nufft_grid(&surface, &grid, accuracy, &watch).unwrap();
            let e = off(&mesh, std::slice::from_ref(&grid), &[got]);
            assert!(e < 4.0 * accuracy, "grid {damping} {accuracy}: {e}");

            let grids = arcs(damping);
            let extent = Extent::of(&grids);
            let surface = Surface::new(&mesh, extent.most, Sampling::Within(accuracy));
            let got = DetectorNufft::new(surface, &extent, accuracy, &watch)
                .and_then(|d| d.grids(&grids, &watch))
                .unwrap();
            let e = off(&mesh, &grids, &got);
            assert!(e < 4.0 * accuracy, "arcs {damping} {accuracy}: {e}");
        }
    }
}

#[test]
fn direct_sums_are_right_to_their_precision_and_rule() {
    let mesh = ellipsoid(24, 32);
    let (progress, stop) = nothing();
    let watch = Watch {
        progress: &progress,
        stop: &stop,
    };
    for damping in [0.0, 0.03] {
        let grids = [tensor(damping)];
        let most = Extent::of(&grids).most;
        let run = |sampling, corrected, precision, blocks| {
            let surface = Surface::new(&mesh, most, sampling);
            let got = direct(&surface, &grids, corrected, (precision, blocks), &watch).unwrap();
            (off(&mesh, &grids, &got), surface.nodes.error)
        };
        let blocks = Blocks::default();
        let fine = Sampling::Within(1e-12);
        let (e, _) = run(fine, false, Precision::F64, blocks);
        assert!(e < 1e-11, "{e}");
        let (e, _) = run(fine, false, Precision::F32, blocks);
        assert!(e < 4e-7, "{e}");
        let (centroid, bound) = run(
            Sampling::Every(Quadrature::Centroid),
            false,
            Precision::F64,
            blocks,
        );
        assert!(
            centroid < bound && centroid > 1e-3 * bound,
            "{centroid} {bound}"
        );
        let (corrected, _) = run(
            Sampling::Every(Quadrature::Centroid),
            true,
            Precision::F64,
            blocks,
        );
        assert!(corrected < 0.1 * centroid, "{corrected} {centroid}");
        let (three, bound) = run(
            Sampling::Every(Quadrature::Three),
            false,
            Precision::F64,
            blocks,
        );
        assert!(three < bound && three < 0.1 * centroid, "{three} {bound}");
        for (points, nodes, unroll) in [(64, 7, 1), (100, 1000, 4), (4096, 64, 2)] {
            let blocks = Blocks {
                points,
                nodes,
                unroll,
            };
            let (e, _) = run(fine, false, Precision::F32, blocks);
            assert!(e < 4e-7, "{blocks:?}: {e}");
        }
    }
}

#[test]
fn products_are_right_on_grids_and_on_blocks_of_rows() {
    let mesh = ellipsoid(12, 16);
    let form = Polyhedron::new(&mesh).unwrap();
    let (progress, stop) = nothing();
    let watch = Watch {
        progress: &progress,
        stop: &stop,
    };
    for damping in [0.0, 0.03] {
        for grids in [vec![tensor(damping)], arcs(damping)] {
            for (precision, accuracy, least) in [
                (Precision::F64, 1e-9, 1e-9),
                (Precision::F32, 1e-6, 1e-6),
                (Precision::F64, 1e-4, 1e-4),
            ] {
                let settings = Settings {
                    method: Some(Method::Gemm),
                    accuracy,
                    precision: Some(precision),
                    ..Settings::default()
                };
                let ready = prepare(&form, &grids, &settings, &greenup_ranks::Alone, &watch)
                    .unwrap()
                    .unwrap();
                let got = ready.grids(&grids, &watch).unwrap().unwrap();
                let e = off(&mesh, &grids, &got);
                assert!(e < least, "{damping} {accuracy}: {e}");
            }
        }
    }
}

#[test]
fn every_way_keeps_the_accuracy_that_it_reports() {
    let mesh = ellipsoid(20, 30);
    let form = Polyhedron::new(&mesh).unwrap();
    let (progress, stop) = nothing();
    let watch = Watch {
        progress: &progress,
        stop: &stop,
    };
    for grids in [vec![tensor(0.02)], arcs(0.02)] {
        for method in [
            None,
            Some(Method::Direct),
            Some(Method::Exact),
            Some(Method::Gemm),
            Some(Method::Nufft),
        ] {
            for accuracy in [1e-3, 1e-6, 1e-9] {
                let settings = Settings {
                    method,
                    accuracy,
                    ..Settings::default()
                };
                let ready = prepare(&form, &grids, &settings, &greenup_ranks::Alone, &watch)
                    .unwrap()
                    .unwrap();
                let e = off(
                    &mesh,
                    &grids,
                    &ready.grids(&grids, &watch).unwrap().unwrap(),
                );
                let most = 4.0 * accuracy;
                assert!(
                    e <= ready.error.min(most),
                    "{method:?} {accuracy}: {e} {}",
                    ready.error
                );
            }
        }
    }
}

#[test]
fn work_that_is_stopped_gives_nothing() {
    let mesh = ellipsoid(6, 8);
    let progress = |_| {};
    let stop = AtomicBool::new(true);
    let watch = Watch {
        progress: &progress,
        stop: &stop,
    };
    let surface = Surface::new(&mesh, 2.0, Sampling::Within(1e-6));
    let grid = tensor(0.0);
    assert!(
        direct(
            &surface,
            std::slice::from_ref(&grid),
            false,
            (Precision::F32, Blocks::default()),
            &watch
        )
        .is_none()
    );
    assert!(nufft_grid(&surface, &grid, 1e-6, &watch).is_none());
    assert!(DetectorNufft::new(surface, &Extent::of(&arcs(0.0)), 1e-6, &watch).is_none());
    assert!(matches!(
        Polyhedron::until(&mesh, &stop),
        Err(GisaxsError::Interrupted)
    ));
    assert!(Surface::until(&mesh, 2.0, Sampling::Within(1e-6), &stop).is_none());
    let form = Polyhedron::new(&mesh).unwrap();
    let settings = Settings::default();
    let ready = prepare(&form, &[grid], &settings, &greenup_ranks::Alone, &watch);
    assert!(ready.unwrap().is_none());
}

/// A list of q of which no two share factors: costs are estimated q by q.
fn scattered(n: u32) -> Vec<[f64; 4]> {
    let part = |k: u32, by: f64| (f64::from(k) * by).fract() * 2.0 - 1.0;
    (0..n)
        .map(|k| [part(k, 0.618), part(k, 0.414), part(k, 0.732), 0.0])
        .collect()
}

#[test]
fn the_preparation_for_many_q_stops_soon() {
    let form = Polyhedron::new(&ellipsoid(12, 16)).unwrap();
    let never = AtomicBool::new(false);
    let grids = QGrid::joined(&scattered(300_000), &never).unwrap().unwrap();
    // In the common pool it would wait for the work of other tests.
    let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
    let prepared = |stop: &AtomicBool| {
        pool.install(|| {
            let watch = Watch {
                progress: &|_| {},
                stop,
            };
            let settings = Settings::default();
            prepare(&form, &grids, &settings, &greenup_ranks::Alone, &watch)
                .unwrap()
                .is_some()
        })
    };
    let timed = || {
        let begin = Instant::now();
        assert!(prepared(&never));
        begin.elapsed()
    };
    let whole = timed().min(timed()).min(timed());
    let stopped_soon = || {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let work = scope.spawn(|| (prepared(&stop), Instant::now()));
            std::thread::sleep(whole / 4);
            stop.store(true, Ordering::Relaxed);
            let set = Instant::now();
            let (ready, end) = work.join().unwrap();
            !ready && end.duration_since(set) < whole / 2
        })
    };
    // On a busy host the signal or the end may come late.
    assert!((0..5).any(|_| stopped_soon()), "{whole:?}");
}
