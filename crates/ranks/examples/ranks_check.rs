//! Checks the operations of the ranks that a launcher started; `crates/ranks/tests/processes.rs` runs it with each MPI.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use greenup_ranks::{Exact, Peer, Ranks, finish, sum_exact, world};
use std::process::ExitCode;

fn check(ranks: &dyn Ranks) -> Result<(), String> {
    let (me, n) = (ranks.rank(), ranks.size());
    let want = |what: &str, ok: bool| {
        if ok {
            Ok(())
        } else {
            Err(format!("rank {me}: {what}"))
        }
    };
    let mut x = [me as f64, 1.5];
    ranks.sum(&mut x);
    want("sum", x == [(n * (n - 1) / 2) as f64, 1.5 * n as f64])?;
    let mut i = [i64::MAX, me as i64];
    ranks.sum_integers(&mut i);
    want("sum of integers", i[1] == (n * (n - 1) / 2) as i64)?;
    want("wrapping sum", i[0] == i64::MAX.wrapping_mul(n as i64))?;
    let mut m = [-(me as f64), if me + 1 == n { f64::NAN } else { 0.0 }];
    ranks.max(&mut m);
    want("maximum", m == [0.0, f64::INFINITY])?;
    let mut sums = [Exact::default()];
    (0..100)
        .filter(|i| i % n == me)
        .for_each(|i| sums[0].add(0.1 * 10f64.powi(i as i32 % 30)));
    sum_exact(ranks, &mut sums);
    let mut all = Exact::default();
    (0..100).for_each(|i| all.add(0.1 * 10f64.powi(i % 30)));
    want("exact sum", sums[0].value() == all.value())?;
    let mut bytes = format!("of rank {me}{}", "!".repeat(me)).into_bytes();
    let gathered = ranks.gather(&bytes);
    want("gather", gathered.is_some() == (me == 0))?;
    for (rank, b) in gathered.into_iter().flatten().enumerate() {
        want(
            "gathered bytes",
            b == format!("of rank {rank}{}", "!".repeat(rank)).into_bytes(),
        )?;
    }
    ranks.broadcast(&mut bytes);
    want("broadcast", bytes == b"of rank 0")?;
    ranks.barrier();
    for round in 0..20 {
        // Some are empty, some longer than what MPI sends at once without a receiver.
        let message = |from: usize, to: usize| {
            let length = (from + 2 * to + round) % 3 * 100_003;
            vec![(16 * from + to) as u8; length]
        };
        let got = ranks.exchange((0..n).map(|to| message(me, to)).collect());
        for (from, m) in got.iter().enumerate() {
            want("exchange", *m == message(from, me))?;
        }
    }
    let others: Vec<Peer> = (0..n)
        .filter(|r| *r != me)
        .map(|rank| Peer {
            rank,
            send: 1000 * (me + 1),
            receive: 1000 * (rank + 1),
        })
        .collect();
    let mut link = ranks.link(&others);
    for round in 0..100 {
        for p in 0..others.len() {
            link.outgoing(p).fill((1000 * round + me) as f64);
        }
        link.begin();
        link.finish();
        for (p, peer) in others.iter().enumerate() {
            let sent = (1000 * round + peer.rank) as f64;
            want("message", link.incoming(p).iter().all(|x| *x == sent))?;
        }
    }
    let (local, count) = ranks.local();
    want("host", local < count && count <= n)
}

fn main() -> ExitCode {
    let ranks = match world() {
        Ok(ranks) => ranks,
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::FAILURE;
        }
    };
    if std::env::args().any(|a| a == "--die") && ranks.rank() + 1 == ranks.size() {
        ranks.abort("the last rank ends", 3);
    }
    let result = check(&*ranks);
    if let Err(e) = result {
        ranks.abort(&e, 1);
    }
    if ranks.rank() == 0 {
        println!("{} ranks agree", ranks.size());
    }
    drop(ranks);
    finish();
    ExitCode::SUCCESS
}
