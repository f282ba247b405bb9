//! Solves by several ranks on the host's fibers, as processes that see each other's memory, and in parts.

use super::part::{RankPart, addresses, their_places};
use crate::fem::mass_matrix::Csr;
use crate::gpu::{Config, Sizes, source_of_rank};
use crate::hydro::Hydro;
use crate::mesh::Mesh;
use crate::part::{Halo, Lists, Part, PartMesh, Whole};
use crate::problem::Standard;
use crate::problem::initial_state::Orders;
use greenup_device::cuda::on_fibers;
use greenup_ranks::threads;
use std::sync::Arc;

const SHARED_BYTES: usize = 227 * 1024;

/// What the program on fibers takes of a list of contributions.
fn list(
    lists: Option<&Lists>,
    own: &[u32],
    theirs: &[Vec<u32>],
    r: (usize, usize, bool),
) -> [Vec<f64>; 4] {
    let (me, ranks, staged) = r;
    let Some(lists) = lists else {
        return std::array::from_fn(|_| Vec::new());
    };
    let at = |rank: usize, place: u32| ((rank as u64) << 40) + u64::from(place);
    let dim = 3;
    let mut received = 0;
    let from: Vec<Vec<u64>> = lists
        .peers
        .iter()
        .zip(theirs)
        .map(|(rank, places)| {
            places
                .iter()
                .map(|place| {
                    received += 1;
                    if staged {
                        at(ranks, dim * (received - 1))
                    } else {
                        at(*rank, *place)
                    }
                })
                .collect()
        })
        .collect();
    let own_at: Vec<u64> = own.iter().map(|i| at(me, *i)).collect();
    let mut lengths = vec![0.0; 2 * ranks + 1];
    for (p, rank) in lists.peers.iter().enumerate() {
        lengths[2 * rank] = lists.send[p].len() as f64;
        lengths[2 * rank + 1] = lists.receive[p] as f64;
    }
    lengths[2 * ranks] = f64::from(received);
    [
        lists.begin.iter().map(|n| f64::from(*n)).collect(),
        addresses(lists, &own_at, &from)
            .iter()
            .map(|n| *n as f64)
            .collect(),
        lists
            .send
            .iter()
            .flatten()
            .map(|i| f64::from(own[*i as usize]))
            .collect(),
        lengths,
    ]
}

/// Solves with forces that differ from zone to zone; returns for each rank where it lies in the whole, its accelerations,
/// and {stopped, solves}.
type Solved = Vec<(Arc<Whole>, Vec<f64>, [f64; 2])>;

fn solved(
    whole: &Hydro,
    (mesh, order): (&str, usize),
    forces: &[f64],
    ranks: usize,
    (staged, full): (bool, bool),
    lost: f64,
) -> Solved {
    let (e, d) = (&whole.space.element, whole.space.dim);
    let config = Config {
        solve_threads: 64,
        ..Config::default_for(e, SHARED_BYTES)
    };
    let parts = threads::run(ranks, |r| {
        let mesh = PartMesh::open(mesh, 0, &*r, &mut |_, _| Ok(())).unwrap();
        let Part {
            hydro: h,
            around,
            partition,
            map,
            whole: place,
            ..
        } = Part::new(mesh, Standard::Sedov.into(), &orders(order), 1.0, &r).unwrap();
        let halo = |by_zone| Halo::new(&around, &partition, &map, Arc::clone(&r), by_zone);
        let part = RankPart::new(
            &h,
            Arc::clone(&r),
            map.owned.clone(),
            halo(true),
            full.then(|| halo(false)),
        );
        let mut shares: Vec<u32> = h
            .space
            .shares
            .iter()
            .map(|(z, i)| ((*z as usize * e.local + *i as usize) * d) as u32)
            .collect();
        part.number(&h, &mut shares);
        let nodes = h.space.nodes;
        let constrained: Vec<f64> = (0..nodes)
            .map(|n| {
                let bits: u32 = (0..d)
                    .map(|c| u32::from(h.space.constrained[c * nodes + n]) << c)
                    .sum();
                f64::from(bits)
                    + if part.owned[n] {
                        0.0
                    } else {
                        f64::from(super::NOT_COUNTED)
                    }
            })
            .collect();
        let numbers = |x: &[u32]| -> Vec<f64> { x.iter().map(|i| f64::from(*i)).collect() };
        let csr = full.then(|| Csr::of_mass(&h));
        let of_csr = |f: &dyn Fn(&Csr) -> Vec<f64>| csr.as_ref().map_or_else(Vec::new, f);
        let me = (r.rank(), ranks, staged);
        let (places, rows) = (part.places(&h), part.rows(&h));
        let theirs = their_places(&part.by_zone, &*r, &places);
        let theirs_of_rows =
            (part.by_rank.as_ref()).map_or_else(Vec::new, |l| their_places(l, &*r, &rows));
        let mut out = vec![
            vec![h.space.zones as f64, nodes as f64],
            numbers(&h.space.of_zone),
            numbers(&part.begin(&h)),
            numbers(&shares),
            constrained,
            h.matrix_mass().to_vec(),
            h.diagonal().iter().map(|d| 1.0 / d).collect(),
            of_zones(forces, &place.zones.of, e.local * d),
            of_csr(&|m| numbers(&m.begin)),
            of_csr(&|m| numbers(&m.columns)),
            of_csr(&|m| m.values.clone()),
        ];
        out.extend(list(Some(&part.by_zone), &places, &theirs, me));
        out.extend(list(part.by_rank.as_ref(), &rows, &theirs_of_rows, me));
        Ok::<_, ()>((place, out))
    })
    .unwrap();
    let head = vec![
        ranks as f64,
        f64::from(u8::from(staged)),
        f64::from(u8::from(full)),
        Sizes::of(e).solve_bytes(&config) as f64,
        lost,
    ];
    let mut arrays = vec![head];
    arrays.extend(parts.iter().flat_map(|p| p.1.clone()));
    let folder = tempfile::tempdir().unwrap();
    let text = source_of_rank(e, &config, whole.affine, false);
    let program = include_str!("../../../tests/twin_ranks.cpp");
    let out = on_fibers(&text, program, &arrays, folder.path())
        .unwrap_or_else(|e| panic!("order {order}: {e}"));
    let mut rest = out.as_slice();
    parts
        .into_iter()
        .map(|(place, _)| {
            let (v, later) = rest.split_at(d * place.nodes.of.len());
            let (last, later) = later.split_at(2);
            rest = later;
            (place, v.to_vec(), [last[0], last[1]])
        })
        .collect()
}

fn orders(order: usize) -> Orders {
    Orders {
        kinematic: order,
        energy: order - 1,
        cg_tol: 1e-13,
        cg_max: 300,
        cfl: 0.5,
    }
}

/// What some zones have of a field of the whole.
fn of_zones(field: &[f64], zones: &[u32], each: usize) -> Vec<f64> {
    let of = |z: &u32| field[*z as usize * each..][..each].to_vec();
    zones.iter().flat_map(of).collect()
}

fn problem(mesh: &str, order: usize) -> (Hydro, Vec<f64>) {
    let mesh = Mesh::open(mesh, 0).unwrap();
    let (h, _) = Hydro::new(&mesh, Standard::Sedov.into(), &orders(order), 1.0).unwrap();
    let n = h.space.zones * h.space.element.local * h.space.dim;
    let forces = (0..n).map(|i| (i as f64 * 0.37).sin()).collect();
    (h, forces)
}

#[test]
fn ranks_solve_together_with_the_same_bits_at_shared_nodes() {
    for (mesh, order, ranks) in [("3x2x2", 1, 2), ("2x2x2", 2, 3)] {
        let (h, forces) = problem(mesh, order);
        let (s, d) = (&h.space, h.space.dim);
        let mut right = vec![0.0; d * s.nodes];
        for (i, n) in s.of_zone.iter().enumerate() {
            for c in 0..d {
                right[c * s.nodes + *n as usize] += forces[i * d + c];
            }
        }
        let mut bits: Vec<Vec<u64>> = Vec::new();
        for way in [(false, false), (true, false), (false, true), (true, true)] {
            let all = solved(&h, (mesh, order), &forces, ranks, way, -1.0);
            let mut v = vec![f64::NAN; d * s.nodes];
            for (place, own, [stopped, solves]) in &all {
                let nodes = &place.nodes.of;
                let n = nodes.len();
                assert_eq!(*stopped as u32, 0);
                assert_eq!(*solves as u32, if way.0 { 0 } else { 2 });
                for (i, x) in own.iter().enumerate() {
                    let to = &mut v[i / n * s.nodes + nodes[i % n] as usize];
                    // The other ranks have the same.
                    assert!(to.is_nan() || to.to_bits() == x.to_bits(), "{way:?}");
                    *to = *x;
                }
            }
            let mut image = vec![0.0; v.len()];
            Csr::of_mass(&h).multiply(&v, &mut image);
            for i in 0..v.len() {
                if s.constrained[i] {
                    assert_eq!(v[i].abs().to_bits(), 0);
                } else {
                    assert!(
                        (image[i] - right[i]).abs() <= 1e-10,
                        "{way:?} {i}: {} {}",
                        image[i],
                        right[i]
                    );
                }
            }
            bits.push(v.iter().map(|x| x.to_bits()).collect());
        }
        // With one block a GPU, messages and memory give the same sums.
        assert!(bits[0] == bits[1] && bits[2] == bits[3], "{mesh}");
    }
}

#[test]
fn a_rank_that_ends_stops_the_others() {
    let (h, forces) = problem("3x2x2", 1);
    let all = solved(&h, ("3x2x2", 1), &forces, 2, (false, false), 1.0);
    let [stopped, solves] = all[0].2;
    assert_eq!((stopped as u32, solves as u32), (1, 0));
}
