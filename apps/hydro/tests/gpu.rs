//! Kernels of GPUs without one: all of them compile, and those without stored matrices are right on the host's fibers, from the
//! same text.

// Held nodes are exactly 0, and a count is one.
#![allow(clippy::float_cmp)]

use greenup_device::Isa;
use greenup_device::cuda::{Compiler, Source, on_fibers as fibers};
use greenup_hydro::basis::{gauss, lobatto};
use greenup_hydro::cpu::{Corner, Cpu, MatrixFree};
use greenup_hydro::csr::Csr;
use greenup_hydro::element::{Element, Shape};
use greenup_hydro::engine::{Engine as _, State};
use greenup_hydro::gpu::{Config, Sizes, source};
use greenup_hydro::hydro::Hydro;
use greenup_hydro::mesh::Mesh;
use greenup_hydro::ode::Ode;
use greenup_hydro::problem::Standard;
use greenup_hydro::run::Clock;
use greenup_hydro::start::Orders;
use std::path::Path;
use std::sync::atomic::AtomicBool;

#[test]
fn kernels_compile_for_every_zone() {
    let Ok(compiler) = Compiler::new(None) else {
        // NVRTC is not here.
        return;
    };
    for (shape, order, energy_order) in [
        (Shape::Segment, 3, 2),
        (Shape::Quad, 1, 0),
        (Shape::Quad, 2, 1),
        (Shape::Quad, 5, 4),
        (Shape::Hex, 1, 0),
        (Shape::Hex, 2, 1),
        (Shape::Hex, 3, 2),
        (Shape::Hex, 4, 3),
        (Shape::Hex, 2, 2),
    ] {
        let e = Element::new(shape, order, energy_order);
        let config = Config::default_for(&e);
        for stored in [false, true] {
            let text = source(&e, &config, !stored, stored);
            let compiled = compiler
                .compile(&Source {
                    name: "hydro.cu",
                    text: &text,
                    arch: "sm_90",
                    options: &[],
                })
                .unwrap_or_else(|e| panic!("{shape:?} {order} {stored}: {e}"));
            assert!(compiled.warnings.is_empty(), "{}", compiled.warnings);
            let bytes = Sizes::of(&e).corner_bytes(&config);
            assert!(bytes < 227 * 1024, "{shape:?} {order}: {bytes}");
            // Whatever is spilled is little.
            for k in &compiled.kernels {
                assert!(k.spill_store_bytes <= 512, "{shape:?} {order}: {k:?}");
            }
        }
    }
}

/// What the host's header has not: the rest that these kernels call.
const MORE: &str = "
#include <cmath>
#include <cstring>
inline double rsqrt(double x) { return 1 / sqrt(x); }
inline long long __double_as_longlong(double x) { long long i; memcpy(&i, &x, 8); return i; }
inline double __longlong_as_double(long long i) { double x; memcpy(&x, &i, 8); return x; }
template <class T> T atomicMax(T *p, T v) { const T old = *p; if (v > old) *p = v; return old; }
template <class T> void __stcg(T *p, T v) { *p = v; }
inline void __threadfence() {}
inline void __nanosleep(unsigned) {}
#define __CUDACC_RTC__ 1
";

/// Forces, work, accelerations, rate and solves of the kernels on fibers.
fn on_fibers(h: &Hydro, s: &State, stored: bool) -> (Vec<f64>, Vec<f64>, Vec<f64>, f64, f64) {
    let (space, e) = (&h.space, &h.space.element);
    let config = Config {
        threads: 64,
        solve_threads: 64,
        ..Config::default_for(e)
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
    let held: Vec<f64> = (0..space.nodes)
        .map(|n| {
            (0..d)
                .map(|c| f64::from(u8::from(space.held[c * space.nodes + n]) << c))
                .sum()
        })
        .collect();
    let start = if h.affine {
        h.inverse.clone()
    } else {
        let (points, dd) = (e.points(), d * d);
        let mut out = vec![0.0; h.inverse.len()];
        for (i, x) in h.inverse.iter().enumerate() {
            let (z, q, k) = (i / (points * dd), i / dd % points, i % dd);
            out[(z * dd + k) * points + q] = *x;
        }
        out
    };
    let arrays = [
        vec![
            rules.h0,
            rules.order,
            rules.viscous as f64,
            rules.turning as f64,
            rules.source as f64,
            space.zones as f64,
            space.nodes as f64,
            sizes.corner_bytes(&config) as f64,
            sizes.solve_bytes(&config) as f64,
        ],
        numbers(&space.of_zone),
        numbers(&space.begin),
        shares,
        held,
        s.x.clone(),
        s.v.clone(),
        s.e.clone(),
        h.gas.iter().map(|g| g.gamma).collect(),
        h.gas.iter().map(|g| g.stiffness).collect(),
        h.mass.clone(),
        start,
        h.diagonal().iter().map(|d| 1.0 / d).collect(),
    ];
    let dir = tempfile::tempdir().unwrap();
    let text = format!("{MORE}{}", source(e, &config, h.affine, stored));
    let out = fibers(&text, include_str!("twin.cpp"), &arrays, dir.path())
        .unwrap_or_else(|e| panic!("{e}"));
    let (forces, rest) = out.split_at(space.zones * e.local * d);
    let (right, rest) = rest.split_at(space.zones * e.energies);
    let (v, last) = rest.split_at(d * space.nodes);
    (
        forces.to_vec(),
        right.to_vec(),
        v.to_vec(),
        last[0],
        last[1],
    )
}

#[test]
fn kernels_are_right_on_fibers() {
    let close = |a: &[f64], b: &[f64], what: &str| {
        let size = b.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (a, b) in a.iter().zip(b) {
            assert!((a - b).abs() <= 1e-11 * size, "{what}: {a} {b} of {size}");
        }
    };
    for (problem, mesh, refine, order) in [
        (Standard::Sedov, "cube01_hex", 0, 2),
        (Standard::TaylorGreen, "square01_quad", 0, 3),
        (Standard::Saltzman, "saltzman01_quad", 0, 2),
        (Standard::Sod, "segment01", 1, 2),
    ] {
        let mesh = Mesh::open(mesh, refine).unwrap();
        let orders = Orders {
            kinematic: order,
            energy: order - 1,
            cg_tol: 1e-13,
            cg_max: 300,
            cfl: 0.5,
        };
        let (h, state) = Hydro::new(&mesh, problem.into(), &orders, 1.0).unwrap();
        // A few steps, so that everything moves.
        let mut engine = Cpu::new(MatrixFree::new(&h).unwrap(), Ode::Rk4, &h);
        let rate = engine.start(&state).unwrap();
        let mut clock = Clock::new(rate, h.cfl).unwrap();
        let stop = AtomicBool::new(false);
        clock
            .go(
                &mut engine,
                h.cfl,
                (1.0, Some(4)),
                &stop,
                &mut |_, _| Ok(()),
            )
            .unwrap();
        let state = engine.state().unwrap();
        let (space, e) = (&h.space, &h.space.element);
        let mut corner = Corner::new(&h, Isa::best(), false, 0..space.zones).unwrap();
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
        for stored in [false, true] {
            let (f, r, v, most, solves) = on_fibers(&h, &state, stored);
            close(&f, &forces, "forces");
            close(&r, &right, "work");
            close(&[most], &[rate], "rate");
            let mut image = vec![0.0; v.len()];
            mass.multiply(&v, &mut image);
            for (i, held) in space.held.iter().enumerate() {
                if *held {
                    assert_eq!(v[i], 0.0);
                    image[i] = sums[i];
                }
            }
            close(&image, &sums, "solve");
            assert!(v.iter().any(|x| *x != 0.0) && solves == 1.0);
        }
    }
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
        "// One-dimensional tables of orders 2 to 4: values, slopes and energies at the points of Gauss, weights, and the nodes.\n",
    );
    for order in 2..5 {
        let e = Element::new(Shape::Segment, order, order - 1);
        let f = e.factors.clone().unwrap();
        let (ends, word) = (lobatto(order), if order == 2 { "#if" } else { "#elif" });
        out.push_str(&format!("{word} degree == {order}\n"));
        for (name, table) in [
            ("VALUE", &f.value),
            ("SLOPE", &f.slope),
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
