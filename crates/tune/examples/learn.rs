#![allow(missing_docs, clippy::all, clippy::print_stdout, clippy::unwrap_used)]
use greenup_tune::analyze::{Row, learn};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seeds: u64 = args[0].parse().unwrap();
    for f in &args[1..] {
        let s = greenup_tune::sweep::read_any(f.as_ref()).unwrap();
        let rows: Vec<Row> = s
            .trials
            .iter()
            .enumerate()
            .filter(|(_, t)| t.effort >= 1.0)
            .filter_map(|(trial, t)| {
                let c = t.cost()?;
                Some(Row {
                    trial,
                    time_s: c.time_s,
                    energy_j: c.energy_j,
                    performance: 1.0,
                    efficiency: None,
                })
            })
            .collect();
        let t = std::time::Instant::now();
        let mut o = Vec::new();
        for seed in 1..=seeds {
            if let Some(l) = learn(&s, &rows, &|r| Some(r.time_s), 0.1, seed) {
                o.push(l);
            }
        }
        let name: String = f
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap()
            .chars()
            .take(27)
            .collect();
        if o.is_empty() {
            println!("{name:28} too few");
            continue;
        }
        println!(
            "{name:28} n {} sample {} | mean {} | median {} | best {} | {:?} {:.1} s",
            rows.len(),
            o[0].sample,
            o.iter()
                .map(|l| format!("{:.1}", 100.0 * l.mean_error))
                .collect::<Vec<_>>()
                .join(" "),
            o.iter()
                .map(|l| format!("{:.1}", 100.0 * l.median_error))
                .collect::<Vec<_>>()
                .join(" "),
            o.iter()
                .map(|l| format!("{:.3}", l.best_fraction))
                .collect::<Vec<_>>()
                .join(" "),
            o.iter()
                .map(|l| format!("{:?}", l.model).chars().next().unwrap())
                .collect::<String>(),
            t.elapsed().as_secs_f64()
        );
    }
}
