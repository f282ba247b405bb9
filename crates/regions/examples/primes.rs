//! Regions in a Rust program: `cargo run -p greenup-regions --example primes`.

use greenup_regions::region;

fn is_prime(n: u64) -> bool {
    n > 1
        && (2..)
            .take_while(|d| d * d <= n)
            .all(|d| !n.is_multiple_of(d))
}

fn count(from: u64, to: u64) -> usize {
    // Until the end of the function.
    region!("count");
    (from..to).filter(|&n| is_prime(n)).count()
}

#[allow(clippy::print_stdout)]
fn main() {
    let all = region("all");
    let threads: Vec<_> = (0..2)
        .map(|i| {
            std::thread::spawn(move || {
                region!("thread");
                (0..10u64)
                    .map(|k| count((10 * i + k) * 10_000, (10 * i + k + 1) * 10_000))
                    .sum::<usize>()
            })
        })
        .collect();
    let primes: usize = threads.into_iter().filter_map(|t| t.join().ok()).sum();
    all.end();
    println!("{primes} primes below 200000");
}
