//! Digits of Laghos (CEED, BSD-3; its regression values with `-cgt 1e-14 -rs 0` and the runs of its README),
//! of master 97d75b32 with MFEM 5581b0c0.

// Digits as they were printed.
#![allow(clippy::excessive_precision)]

use greenup_hydro::cpu::{Cpu, FullAssembly, PartialAssembly};
use greenup_hydro::engine::{Engine, State};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::Mesh;
use greenup_hydro::problem::initial_state::Orders;
use greenup_hydro::problem::{Problem, Standard};
use greenup_hydro::time::integrator::Ode;
use greenup_hydro::time::stepping::{Clock, Report};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const TIGHT: Orders = Orders {
    kinematic: 2,
    energy: 1,
    cg_tol: 1e-14,
    cg_max: 300,
    cfl: 0.5,
};

/// A run's report, its mesh, and its end, by an operator.
fn run_by(
    full: bool,
    (problem, mesh, refine): (usize, &str, usize),
    end: (f64, Option<usize>),
    orders: &Orders,
    ode: Ode,
) -> (Report, usize, State) {
    let mesh = Mesh::open(mesh, refine).unwrap();
    let problem = Problem::from(Standard::ALL[problem]);
    let (hydro, state) = Hydro::new(&mesh, problem, orders, 1.0).unwrap();
    let hydro = Arc::new(hydro);
    let mut engine: Box<dyn Engine> = if full {
        Box::new(Cpu::new(
            FullAssembly::new(Arc::clone(&hydro)).unwrap(),
            ode,
            &hydro,
        ))
    } else {
        let operator = PartialAssembly::new(Arc::clone(&hydro)).unwrap();
        Box::new(Cpu::new(operator, ode, &hydro))
    };
    let rate = engine.start(&state).unwrap();
    let (inner, outer) = engine.energies().unwrap();
    let mut clock = Clock::new(rate, hydro.cfl).unwrap();
    let stop = AtomicBool::new(false);
    clock
        .advance(&mut *engine, hydro.cfl, end, &stop, &mut |_, _| Ok(()))
        .unwrap();
    let report = clock.report(&mut *engine, Some(inner + outer)).unwrap();
    (report, hydro.space.nodes, engine.state().unwrap())
}

fn run(
    what: (usize, &str, usize),
    end: (f64, Option<usize>),
    orders: &Orders,
    ode: Ode,
) -> (Report, usize, State) {
    run_by(false, what, end, orders, ode)
}

fn norm(full: bool, problem: usize, mesh: &str, steps: usize) -> f64 {
    let r = run_by(
        full,
        (problem, mesh, 0),
        (0.6, Some(steps)),
        &TIGHT,
        Ode::Rk4,
    )
    .0;
    assert_eq!(r.steps, steps, "{problem} {mesh}");
    r.e_norm
}

#[test]
fn regression_values_of_all_problems() {
    let flat = [
        [(5, 6.546538624534384e0), (27, 7.588576357792927e0)],
        [(5, 3.508254945225794e0), (15, 2.756444596823211e0)],
        [(5, 1.020745795651244e1), (59, 1.721590205901898e1)],
        [(5, 8.0), (16, 8.0)],
        [(5, 3.446324942352448e1), (18, 3.446844033767240e1)],
        [(5, 1.030899557252528e1), (36, 1.057362418574309e1)],
        [(5, 8.039707010835693e0), (36, 8.316970976817373e0)],
        [(5, 1.514929259650760e1), (25, 1.514931278155159e1)],
    ];
    let solid = [
        [(5, 1.198510951452527e3), (188, 1.199384410059154e3)],
        [(5, 6.695818592962833e0), (20, 4.267902387082487e0)],
        [(5, 2.041491591302486e1), (59, 3.443180411803796e1)],
        [(5, 16.0), (16, 16.0)],
        [(5, 6.892649884704898e1), (18, 6.893688067534482e1)],
        [(5, 2.061984481890964e1), (36, 2.114519664792607e1)],
        [(5, 1.607988713996459e1), (36, 1.662736010353023e1)],
        [(5, 3.029858112572883e1), (24, 3.029858832743707e1)],
    ];
    for (mesh, all) in [("square01_quad", flat), ("cube01_hex", solid)] {
        for (problem, values) in all.into_iter().enumerate() {
            for (steps, want) in values {
                for full in [false, true] {
                    let got = norm(full, problem, mesh, steps);
                    assert!(
                        (got / want - 1.0).abs() < 2e-13,
                        "{problem} {mesh} {steps}: {got:e}"
                    );
                }
            }
        }
    }
}

/// Steps, the last time step as printed, and the norm of the energies, by an operator.
fn same_by(
    full: bool,
    what: (usize, &str, usize),
    (order, ode): (usize, Ode),
    end: f64,
    want: (usize, &str, f64),
) {
    let orders = Orders {
        kinematic: order,
        energy: order - 1,
        ..TIGHT
    };
    let r = run_by(full, what, (end, None), &orders, ode).0;
    assert_eq!(
        (r.steps, format!("{:.6}", r.dt).as_str()),
        (want.0, want.1),
        "{what:?} {full}"
    );
    assert!(
        (r.e_norm / want.2 - 1.0).abs() < 1e-10,
        "{what:?} {full}: {:e}",
        r.e_norm
    );
}

fn same(what: (usize, &str, usize), end: f64, want: (usize, &str, f64)) {
    for full in [false, true] {
        same_by(full, what, (2, Ode::Rk4), end, want);
    }
}

#[test]
fn other_orders_integrators_and_shapes() {
    let square = (1, "square01_quad", 2);
    let triangles = |refine| (1, "square01_tri", refine);
    for (full, what, how, end, want) in [
        (
            false,
            square,
            (1, Ode::Rk4),
            0.4,
            (261, "0.000544", 7.823_322_829_6),
        ),
        (
            false,
            square,
            (3, Ode::Rk4),
            0.4,
            (503, "0.001357", 37.386_875_335),
        ),
        (
            false,
            square,
            (2, Ode::Rk2),
            0.4,
            (520, "0.000970", 21.192_492_676),
        ),
        (
            false,
            square,
            (2, Ode::Rk2avg),
            0.4,
            (520, "0.000471", 21.269_694_983),
        ),
        (
            false,
            (5, "square01_quad", 2),
            (3, Ode::Rk6),
            0.2,
            (109, "0.000990", 62.415_918_153),
        ),
        (
            false,
            (3, "box01_hex", 1),
            (2, Ode::Rk4),
            0.5,
            (24, "0.020043", 48.062_382_250),
        ),
        (
            true,
            triangles(1),
            (2, Ode::Rk4),
            0.3,
            (62, "0.002732", 9.771_876_071_8),
        ),
        (
            true,
            triangles(1),
            (3, Ode::Rk4),
            0.3,
            (159, "0.001043", 15.624_918_928),
        ),
        (
            true,
            triangles(1),
            (1, Ode::Rk4),
            0.3,
            (17, "0.016758", 4.376_389_436_3),
        ),
    ] {
        same_by(full, what, how, end, want);
    }
}

#[test]
fn sod_to_its_end() {
    same((2, "segment01", 5), 0.2, (413, "0.000470", 3.2012077410e1));
}

#[test]
#[ignore = "takes a minute"]
fn taylor_green_in_2d_runs_to_its_end() {
    same(
        (0, "square01_quad", 3),
        0.75,
        (339, "0.000702", 4.9695537349e1),
    );
}

#[test]
#[ignore = "takes a minute"]
fn taylor_green_in_3d_runs_to_its_end_at_length() {
    same(
        (0, "cube01_hex", 1),
        0.75,
        (1041, "0.000121", 3.3909635545e3),
    );
}

#[test]
#[ignore = "takes a minute"]
fn sedov_runs_to_its_end() {
    same(
        (1, "square01_quad", 3),
        0.8,
        (1154, "0.001655", 4.6303396055e1),
    );
}

#[test]
#[ignore = "takes a minute"]
fn the_triple_point_runs_to_its_end_at_length() {
    same(
        (3, "rectangle01_quad", 2),
        3.0,
        (2872, "0.000064", 5.6547019553e1),
    );
}

#[test]
fn averaged_stages_conserve_energy() {
    // A triple point: the published total is 10.05.
    let tight = Orders {
        kinematic: 3,
        energy: 2,
        ..TIGHT
    };
    let (r, ..) = run((3, "rectangle01_quad", 1), (0.1, None), &tight, Ode::Rk2avg);
    let drift = r.energy_drift.unwrap();
    assert!(drift.abs() < 1e-13, "{drift:e}");
    assert!((r.internal + r.kinetic - 10.05).abs() < 1e-11);
    // Others do not.
    let (r, ..) = run((3, "rectangle01_quad", 1), (0.1, None), &tight, Ode::Rk2);
    let drift = r.energy_drift.unwrap();
    assert!(drift.abs() > 1e-12, "{drift:e}");
}

#[test]
fn velocities_converge_with_their_order() {
    for order in [1, 2, 3] {
        let orders = Orders {
            kinematic: order,
            energy: order - 1,
            cfl: 0.1,
            ..TIGHT
        };
        let error = |refine: usize| -> f64 {
            let (_, n, end) = run(
                (0, "square01_quad", refine),
                (0.05, None),
                &orders,
                Ode::Rk4,
            );
            // A steady flow: at each node's position the velocity is that of the start.
            let sum: f64 = (0..n)
                .map(|i| {
                    let x = [end.x[i], end.x[n + i]];
                    let v = Standard::TaylorGreen.velocity(&x);
                    (end.v[i] - v[0]).powi(2) + (end.v[n + i] - v[1]).powi(2)
                })
                .sum();
            (sum / n as f64).sqrt()
        };
        let rate = (error(1) / error(2)).log2();
        assert!(rate > order as f64 + 0.6, "{order}: {rate}");
    }
}

#[test]
fn every_integrator_reaches_the_end() {
    for (ode, off) in [
        (Ode::Euler, 3e-2),
        (Ode::Rk2, 2e-3),
        (Ode::Rk2avg, 2e-3),
        (Ode::SspRk3, 2e-3),
        (Ode::Rk6, 1e-5),
    ] {
        let orders = Orders { cfl: 0.1, ..TIGHT };
        let want = run((0, "square01_quad", 1), (0.1, None), &orders, Ode::Rk4)
            .0
            .e_norm;
        let got = run((0, "square01_quad", 1), (0.1, None), &orders, ode).0;
        assert!((got.t - 0.1).abs() < 1e-15);
        assert!(
            (got.e_norm / want - 1.0).abs() < off,
            "{ode:?}: {}",
            got.e_norm / want - 1.0
        );
    }
}

#[test]
fn operators_agree_where_energies_have_more_coefficients_than_zones_have_nodes() {
    for mesh in ["2x2", "2x2x1"] {
        let orders = Orders { energy: 3, ..TIGHT };
        let by = |full| run_by(full, (1, mesh, 0), (0.6, Some(5)), &orders, Ode::Rk4).0;
        let (a, b) = (by(false), by(true));
        assert_eq!(a.steps, b.steps);
        for (a, b) in [(a.e_norm, b.e_norm), (a.kinetic, b.kinetic), (a.dt, b.dt)] {
            assert!((a / b - 1.0).abs() < 1e-10, "{mesh}: {a:e} {b:e}");
        }
    }
}

/// Mass matrices of energies are near singular at high orders: their inverses must be applied as they were computed. The
/// transpose lost 9e-12.
#[test]
fn high_orders_conserve_energy() {
    let orders = Orders {
        kinematic: 6,
        energy: 5,
        cg_max: 2000,
        ..TIGHT
    };
    let end = (10.0, Some(20));
    let (report, ..) = run((1, "cube01_hex", 0), end, &orders, Ode::Rk2avg);
    let drift = report.energy_drift.unwrap();
    assert!(drift.abs() < 2e-12, "{drift:e}");
}

/// Far from the blast gradients are so small that their squares are zero.
#[test]
fn both_operators_begin_on_a_fine_mesh() {
    let orders = Orders {
        kinematic: 1,
        energy: 0,
        ..TIGHT
    };
    let [a, b] = [false, true].map(|full| {
        let what = (1, "square01_quad", 6);
        run_by(full, what, (10.0, Some(1)), &orders, Ode::Rk4).0
    });
    let (a, b) = (a.internal, b.internal);
    assert!((a / b - 1.0).abs() < 1e-2, "{a:e} {b:e}");
}
