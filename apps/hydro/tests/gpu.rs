//! Kernels of GPUs without one: all of them compile, and those without stored matrices are right on the host's fibers, from the
//! same text.

// Result nodes are exactly 0, and a count is one.
#![allow(clippy::float_cmp)]

use greenup_device::HostIsa;
use greenup_device::cuda::{Compiler, Source, on_fibers as fibers};
use greenup_hydro::cpu::{Corner, Cpu, PartialAssembly};
use greenup_hydro::engine::{Engine as _, State};
use greenup_hydro::fem::basis::{gauss, lobatto};
use greenup_hydro::fem::element::{Element, Shape};
use greenup_hydro::fem::mass_matrix::Csr;
use greenup_hydro::gpu::{Config, Matrix, Sizes, source, source_of_rank};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::Mesh;
use greenup_hydro::problem::Standard;
use greenup_hydro::problem::initial_state::Orders;
use greenup_hydro::time::integrator::Ode;
use greenup_hydro::time::stepping::Clock;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Shared memory that a block of an H200 may have.
const H200: usize = 227 * 1024;

fn all_shapes() -> impl Iterator<Item = (Shape, usize)> {
    [Shape::Segment, Shape::Quad, Shape::Hex]
        .into_iter()
        .flat_map(|shape| (1..=8).map(move |order| (shape, order)))
}

#[test]
fn every_order_fits_an_h200() {
    for (shape, order) in all_shapes() {
        for energy_order in [0, order - 1, 7] {
            let e = Element::new(shape, order, energy_order);
            let (c, m) = (Config::default_for(&e, H200), Matrix::of(Sizes::of(&e)));
            let what = format!("{shape:?} {order} {energy_order}: {c:?} {m:?}");
            c.check(&e, H200).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(c.threads <= 1024 && c.threads.is_multiple_of(32), "{what}");
            assert!(c.threads * c.blocks <= 2048, "{what}");
            assert!(c.solve_threads * c.solve_blocks <= 2048, "{what}");
            assert!(m.threads <= 256 && m.threads.is_multiple_of(32), "{what}");
            assert!(m.piece * m.pieces >= e.local, "{what}");
            assert_eq!(
                c.planes,
                shape == Shape::Hex
                    && Sizes::of(&e).corner_bytes(&Config { planes: false, ..c }) > H200,
                "{what}"
            );
        }
    }
    // Without planes of points the first order that does not fit is the sixth.
    let e = Element::new(Shape::Hex, 6, 5);
    let c = Config::default_for(&e, H200);
    let words = Config { planes: false, ..c }
        .check(&e, H200)
        .unwrap_err()
        .to_string();
    assert!(
        words.contains("350 KiB") && words.contains("227 KiB"),
        "{words}"
    );
    let e = Element::new(Shape::Quad, 2, 1);
    assert!(Config { planes: true, ..c }.check(&e, H200).is_err());
}

#[test]
fn defaults_of_low_orders_are_those_that_were_measured() {
    for (shape, order, want) in [
        (Shape::Quad, 2, (8, 128, 4, 16, 4)),
        (Shape::Hex, 1, (16, 128, 4, 8, 4)),
        (Shape::Hex, 2, (2, 128, 4, 8, 4)),
        (Shape::Hex, 3, (1, 128, 4, 2, 4)),
        (Shape::Hex, 4, (1, 256, 2, 1, 4)),
        (Shape::Hex, 5, (1, 256, 2, 1, 4)),
    ] {
        let c = Config::default_for(&Element::new(shape, order, order - 1), H200);
        let got = (c.zones, c.threads, c.blocks, c.solve_zones, c.solve_blocks);
        assert_eq!(got, want, "{shape:?} {order}");
        assert!(!c.planes);
    }
    // A GPU with less takes fewer zones a block, and planes earlier.
    let e = Element::new(Shape::Hex, 4, 3);
    let c = Config::default_for(&e, 99 * 1024);
    assert!(c.planes);
    c.check(&e, 99 * 1024).unwrap();
}

fn compiles(compiler: &Compiler, shape: Shape, order: usize, energy_order: usize, taken: usize) {
    let e = Element::new(shape, order, energy_order);
    let config = Config::default_for(&e, H200);
    // Each kernel is in two of the four, and in one of the first two.
    let all = [(false, false), (true, true), (true, false), (false, true)];
    for &(stored, is_rank) in &all[..taken] {
        let of = if is_rank { source_of_rank } else { source };
        let text = of(&e, &config, !stored, stored);
        let what = format!("{shape:?} {order} {energy_order} {stored} {is_rank}");
        let begin = Instant::now();
        let compiled = compiler
            .compile(&Source {
                name: "hydro.cu",
                text: &text,
                arch: "sm_90",
                options: &[],
            })
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        let seconds = begin.elapsed().as_secs_f64();
        assert!(compiled.warnings.is_empty(), "{}", compiled.warnings);
        // Whatever is spilled is little.
        for k in &compiled.kernels {
            assert!(k.spill_store_bytes <= 512, "{what}: {k:?}");
            assert!(k.shared_bytes <= 48 * 1024, "{what}: {k:?}");
        }
        eprint_line(&format!("{what}: {seconds:.1} s"));
    }
}

fn all_compile(wanted: fn(Shape, usize) -> bool, taken: usize) {
    let compiler = Compiler::new(None).unwrap();
    for (shape, order) in all_shapes().filter(|(s, o)| wanted(*s, *o)) {
        compiles(&compiler, shape, order, order - 1, taken);
    }
}

#[test]
#[ignore = "needs NVRTC (GREENUP_CUDA); half a minute"]
fn kernels_of_flat_zones_compile() {
    all_compile(|s, order| s != Shape::Hex && order <= 4, 2);
}

#[test]
#[ignore = "needs NVRTC (GREENUP_CUDA); half a minute"]
fn kernels_of_hexahedra_compile() {
    all_compile(|s, order| s == Shape::Hex && order <= 4, 2);
    // Energies of the kinematic order.
    compiles(&Compiler::new(None).unwrap(), Shape::Hex, 2, 2, 4);
}

#[test]
#[ignore = "needs NVRTC (GREENUP_CUDA); a minute"]
fn kernels_compile_in_every_source_at_length() {
    all_compile(|_, order| order <= 4, 4);
}

#[test]
#[ignore = "needs NVRTC (GREENUP_CUDA); minutes"]
fn kernels_of_high_orders_compile_at_length() {
    all_compile(|_, order| order > 4, 2);
}

/// What kernels on fibers gave.
struct OnFibers {
    forces: Vec<f64>,
    work: Vec<f64>,
    /// Both by stored matrices, where stresses are stored.
    by_matrices: Option<(Vec<f64>, Vec<f64>)>,
    accelerations: Vec<f64>,
    rate: f64,
    solves: f64,
}

/// Runs the kernels on fibers; `affine` says how they are given the start's inverses.
fn on_fibers(h: &Hydro, s: &State, (stored, planes, affine): (bool, bool, bool)) -> OnFibers {
    let (space, e) = (&h.space, &h.space.element);
    let config = Config::default_for(e, H200);
    let config = Config {
        threads: 64,
        solve_threads: 64,
        zones: if planes { 1 } else { config.zones },
        planes: planes || config.planes,
        ..config
    };
    let d = space.dim;
    let sizes = Sizes::of(e);
    let rules = h.rules();
    let numbers = |x: &[u32]| -> Vec<f64> { x.iter().map(|i| f64::from(*i)).collect() };
    let shares: Vec<f64> = space
        .shares
        .iter()
        .map(|(z, i)| ((*z as usize * e.local + *i as usize) * d) as f64)
        .collect();
    let constrained: Vec<f64> = (0..space.nodes)
        .map(|n| {
            (0..d)
                .map(|c| f64::from(u8::from(space.constrained[c * space.nodes + n]) << c))
                .sum()
        })
        .collect();
    let start = if affine {
        h.inverse.clone()
    } else {
        let (points, dd) = (e.points(), d * d);
        let mut out = vec![0.0; space.zones * points * dd];
        for z in 0..space.zones {
            for q in 0..points {
                for (k, x) in h.inverse_at(z, q).iter().enumerate() {
                    out[(z * dd + k) * points + q] = *x;
                }
            }
        }
        out
    };
    let arrays = [
        vec![
            rules.h0,
            rules.order,
            rules.viscous as f64,
            rules.vorticity as f64,
            rules.source as f64,
            space.zones as f64,
            space.nodes as f64,
            sizes.corner_bytes(&config) as f64,
            sizes.solve_bytes(&config) as f64,
        ],
        numbers(&space.of_zone),
        numbers(&space.begin),
        shares,
        constrained,
        s.x.clone(),
        s.v.clone(),
        s.e.clone(),
        h.gas.iter().map(|g| g.gamma).collect(),
        h.gas.iter().map(|g| g.p_inf).collect(),
        h.mass.clone(),
        start,
        h.diagonal().iter().map(|d| 1.0 / d).collect(),
    ];
    let dir = tempfile::tempdir().unwrap();
    let text = source(e, &config, affine, stored);
    let out = fibers(&text, include_str!("twin.cpp"), &arrays, dir.path())
        .unwrap_or_else(|e| panic!("{e}"));
    let mut rest = out.as_slice();
    let mut next = |n: usize| {
        let (now, later) = rest.split_at(n);
        rest = later;
        now.to_vec()
    };
    let (forces, work) = (space.zones * e.local * d, space.zones * e.energies);
    OnFibers {
        forces: next(forces),
        work: next(work),
        by_matrices: stored.then(|| (next(forces), next(work))),
        accelerations: next(d * space.nodes),
        rate: next(1)[0],
        solves: next(1)[0],
    }
}

/// Compares the kernels for a problem with the CPU's after a few steps, so that everything moves.
fn are_right(problem: Standard, mesh: &str, refine: usize, order: usize, planes: bool) {
    let close = |a: &[f64], b: &[f64], what: &str| {
        let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(b) {
            assert!(
                (a - b).abs() <= 1e-11 * size,
                "{what} of {problem:?} {order}: {a} {b} of {size}"
            );
        }
    };
    let mesh = Mesh::open(mesh, refine).unwrap();
    let orders = Orders {
        kinematic: order,
        energy: order - 1,
        cg_tol: 1e-13,
        cg_max: 300,
        cfl: 0.5,
    };
    let (h, state) = Hydro::new(&mesh, problem.into(), &orders, 1.0).unwrap();
    let h = Arc::new(h);
    let mut engine = Cpu::new(PartialAssembly::new(Arc::clone(&h)).unwrap(), Ode::Rk4, &h);
    let rate = engine.start(&state).unwrap();
    let mut clock = Clock::new(rate, h.cfl).unwrap();
    let stop = AtomicBool::new(false);
    clock
        .advance(
            &mut engine,
            h.cfl,
            (1.0, Some(4)),
            &stop,
            &mut |_, _| Ok(()),
        )
        .unwrap();
    let state = engine.state().unwrap();
    let (space, e) = (&h.space, &h.space.element);
    let mut corner = Corner::new(&h, HostIsa::best(), false, 0..space.zones).unwrap();
    let rate = corner.stresses(&state.x, &state.v, &state.e);
    let mut own = vec![0.0; corner.forces_len()];
    corner.forces(&mut own);
    let mut forces = vec![0.0; space.zones * e.local * space.dim];
    corner.by_zone(&own, &mut forces);
    let mut right = vec![0.0; space.zones * e.energies];
    corner.work(&state.v, None, &mut right);
    // M v = Σ forces where no wall holds.
    let mut sums = vec![0.0; space.dim * space.nodes];
    for (i, n) in space.of_zone.iter().enumerate() {
        for c in 0..space.dim {
            sums[c * space.nodes + *n as usize] += forces[i * space.dim + c];
        }
    }
    let mass = Csr::of_mass(&h);
    for (stored, affine) in [(false, h.affine), (true, false)] {
        let got = on_fibers(&h, &state, (stored, planes, affine));
        close(&got.forces, &forces, "forces");
        close(&got.work, &right, "work");
        if let Some((f, w)) = &got.by_matrices {
            close(f, &forces, "forces by matrices");
            close(w, &right, "work by matrices");
        }
        close(&[got.rate], &[rate], "rate");
        let v = &got.accelerations;
        let mut image = vec![0.0; v.len()];
        mass.multiply(v, &mut image);
        for (i, constrained) in space.constrained.iter().enumerate() {
            if *constrained {
                assert_eq!(v[i], 0.0);
                image[i] = sums[i];
            }
        }
        close(&image, &sums, "solve");
        assert!(v.iter().any(|x| *x != 0.0) && got.solves == 1.0);
    }
}

#[test]
fn kernels_are_right_on_fibers() {
    are_right(Standard::Sedov, "cube01_hex", 0, 2, false);
    are_right(Standard::TaylorGreen, "square01_quad", 0, 3, false);
    are_right(Standard::Saltzman, "saltzman01_quad", 0, 2, false);
    are_right(Standard::Sod, "segment01", 1, 2, false);
    are_right(Standard::Sedov, "2x2", 0, 8, false);
}

#[test]
fn kernels_that_go_plane_by_plane_are_right_on_fibers() {
    are_right(Standard::Sedov, "cube01_hex", 0, 2, true);
    are_right(Standard::TaylorGreen, "2x1x1", 0, 3, true);
}

#[test]
#[ignore = "a minute"]
fn kernels_of_high_orders_are_right_on_fibers_at_length() {
    for order in 5..=7 {
        are_right(Standard::Sedov, "2x1x1", 0, order, false);
    }
}

#[test]
#[ignore = "a minute"]
fn kernels_of_the_highest_order_are_right_on_fibers_at_length() {
    are_right(Standard::Sedov, "2x1x1", 0, 8, false);
}

/// The tables that the tuning problem's sources have, for orders 2 to 4.
fn tables_text() -> String {
    let list = |x: &[f64]| {
        x.iter()
            .map(|x| format!("{x:e}"))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut out = String::from(
        "// One-dimensional tables of orders 2 to 4: values, gradients and energies at the points of Gauss, weights, and the nodes.\n",
    );
    for order in 2..5 {
        let e = Element::new(Shape::Segment, order, order - 1);
        let f = e.factors.clone().unwrap();
        let (ends, word) = (lobatto(order), if order == 2 { "#if" } else { "#elif" });
        out.push_str(&format!("{word} degree == {order}\n"));
        for (name, table) in [
            ("VALUE", &f.value),
            ("SLOPE", &f.gradient),
            ("ENERGY", &f.energy),
            ("WEIGHTS", &gauss(2 * order).1),
            ("ENDS", &ends),
        ] {
            out.push_str(&format!("#define {name} {}\n", list(table)));
        }
    }
    out + "#endif\n"
}

#[test]
fn tables_of_the_tuning_problem_are_ours() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/kernels/tune/tables.h");
    let want = tables_text();
    if std::env::var_os("UPDATE_TABLES").is_some() {
        std::fs::write(&path, &want).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        want,
        "run with UPDATE_TABLES=1"
    );
}

/// A figure for who reads the test's output.
fn eprint_line(text: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "{text}");
}
