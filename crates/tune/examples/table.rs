#![allow(missing_docs, clippy::all, clippy::print_stdout, clippy::unwrap_used)]
use greenup_tune::replay::*;
use greenup_tune::{Objective, strategy, synthetic};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let strategies: Vec<String> = args[0].split(',').map(str::to_owned).collect();
    let budgets: Vec<f64> = args[1].split(',').map(|b| b.parse().unwrap()).collect();
    let seeds: u64 = args[2].parse().unwrap();
    let mut tot = vec![0.0; strategies.len()];
    println!(
        "{:28}{:>6}{:>6}  {}",
        "sweep",
        "n",
        "evals",
        strategies.join("  ")
    );
    for f in &args[3..] {
        let s = match f.parse::<synthetic::Synthetic>() {
            Ok(s) => synthetic::sweep(s),
            Err(_) => greenup_tune::sweep::read_any(f.as_ref()).unwrap(),
        };
        let what = Comparison {
            strategies: &strategies,
            budgets: &budgets,
            seeds,
            first_seed: 1,
            objective: Objective::Time,
            threads: 2,
        };
        let t = std::time::Instant::now();
        let r = compare(&s, what, &|n| strategy(n, None).unwrap(), &|| false).unwrap();
        let tt = t.elapsed().as_secs_f64();
        for b in &budgets {
            let row: Vec<&Reached> = r.iter().filter(|r| r.budget == *b).collect();
            let best = row.iter().skip(1).map(|r| r.mean).fold(0.0, f64::max);
            let name: String = f.rsplit('/').next().unwrap().chars().take(27).collect();
            let mark = if row[0].mean < best - 0.005 {
                if row[0].mean + row[0].half_width < best - 0.005 {
                    "**"
                } else {
                    "*"
                }
            } else {
                ""
            };
            println!(
                "{:28}{:>6}{:>6}  {} {mark}",
                name,
                s.trials.len(),
                row[0].evaluations,
                row.iter()
                    .map(|r| format!("{:.4}±{:.3}", r.mean, r.half_width))
                    .collect::<Vec<_>>()
                    .join("  ")
            );
            for (t, r) in tot.iter_mut().zip(&row) {
                *t += r.mean;
            }
        }
        println!("   {tt:.1} s");
    }
    println!("sum {tot:?}");
}
