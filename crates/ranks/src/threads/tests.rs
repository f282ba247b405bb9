use super::*;
use crate::exact::{Exact, sum_exact};

#[test]
fn all_ranks_get_the_same_results() {
    for n in 1..=5 {
        let all = run(n, |r| {
            let me = r.rank() as f64;
            let mut x = [me, 1.0 / (me + 3.0)];
            r.sum(&mut x);
            let mut i = [i64::MAX, r.rank() as i64];
            r.sum_integers(&mut i);
            let mut m = [if r.rank() == n - 1 { f64::NAN } else { 1.0 }, -me];
            r.max(&mut m);
            let mut b = vec![r.rank() as u8 + 7; 3];
            r.broadcast(&mut b);
            let g = r.gather(&vec![r.rank() as u8; r.rank()]);
            Ok::<_, ()>((x, i, m, b, g))
        })
        .unwrap();
        for (rank, (x, i, m, b, g)) in all.iter().enumerate() {
            assert_eq!(x[0], (n * (n - 1) / 2) as f64);
            assert_eq!(x, &all[0].0);
            assert_eq!(i[1], (n * (n - 1) / 2) as i64);
            assert_eq!(*m, [f64::INFINITY, 0.0]);
            assert_eq!(*b, [7; 3]);
            let want: Vec<Vec<u8>> = (0..n).map(|r| vec![r as u8; r]).collect();
            assert_eq!(*g, (rank == 0).then_some(want));
        }
    }
}

#[test]
fn all_exchange_messages_of_any_length() {
    for n in 1..=5 {
        run(n, |r| {
            let me = r.rank();
            for round in 0..50 {
                let message = |from: usize, to: usize| {
                    let length = (7 * from + 3 * to + round) % 11;
                    vec![(16 * from + to) as u8; length]
                };
                let got = r.exchange((0..n).map(|to| message(me, to)).collect());
                let want: Vec<_> = (0..n).map(|from| message(from, me)).collect();
                assert_eq!(got, want);
            }
            Ok::<_, ()>(())
        })
        .unwrap();
    }
}

#[test]
fn messages_arrive_in_order_around_a_ring() {
    run(3, |r| {
        let (me, n) = (r.rank(), r.size());
        let peer = |rank| Peer {
            rank,
            send: me + 1,
            receive: rank + 1,
        };
        let (next, last) = ((me + 1) % n, (me + n - 1) % n);
        let mut link = r.link(&[peer(next), peer(last)]);
        for round in 0..500 {
            for p in 0..2 {
                link.outgoing(p).fill((10 * round + me) as f64);
            }
            link.begin();
            link.finish();
            for (p, rank) in [next, last].into_iter().enumerate() {
                assert_eq!(link.incoming(p), vec![(10 * round + rank) as f64; rank + 1]);
            }
        }
        Ok::<_, ()>(())
    })
    .unwrap();
}

#[test]
fn an_error_of_one_rank_ends_all() {
    for when in 0..3 {
        let e = run(3, |r| {
            let mut link = r.link(&[]);
            for step in 0.. {
                if r.rank() == 1 && step == when {
                    return Err(format!("no memory in step {step}"));
                }
                link.begin();
                r.barrier();
            }
            Ok(())
        });
        assert_eq!(e, Err(format!("no memory in step {when}")));
    }
    let panic = catch_unwind(|| {
        run(2, |r| {
            assert!(r.rank() == 0, "rank 1 is broken");
            r.barrier();
            Ok::<_, ()>(())
        })
    });
    assert!(panic.is_err());
}

#[test]
fn exact_sums_do_not_depend_on_the_ranks() {
    let terms: Vec<f64> = (0..1000)
        .map(|i| (f64::from(i) * 0.7).sin() * 10f64.powi(i % 40))
        .collect();
    let total = |n| {
        let all = run(n, |r| {
            let mut sums = [Exact::default(), Exact::default()];
            for x in terms.iter().skip(r.rank()).step_by(r.size()) {
                sums[0].add(*x);
                sums[1].add(-x * x);
            }
            sum_exact(&*r, &mut sums);
            Ok::<_, ()>([sums[0].value(), sums[1].value()])
        })
        .unwrap();
        assert!(all.iter().all(|x| x == &all[0]));
        all[0]
    };
    let one = total(1);
    assert!((2..=6).all(|n| total(n) == one));
}
