//! y = A x for a sparse matrix with seven numbers a row, in blocks of rows; prints the time and the sum of y.

use std::time::Instant;

fn main() {
    let number = |k: usize| std::env::args().nth(k).and_then(|a| a.parse::<usize>().ok());
    let (Some(rows), Some(block)) = (number(1), number(2)) else {
        eprintln!("usage: spmv ROWS BLOCK");
        std::process::exit(2);
    };
    let block = block.max(1);
    let x: Vec<f64> = (0..rows).map(|i| ((i * 37) % 101) as f64).collect();
    let column = |i: usize, k: usize| (i * 7919 + k * 104_729) % rows;
    let columns: Vec<u32> = (0..7 * rows).map(|j| column(j / 7, j % 7) as u32).collect();
    let values: Vec<f64> = (0..7 * rows).map(|j| (j % 5) as f64 - 2.0).collect();
    let mut y = vec![0.0; rows];
    let start = Instant::now();
    for first in (0..rows).step_by(block) {
        for i in first..(first + block).min(rows) {
            let row = 7 * i..7 * (i + 1);
            y[i] = (columns[row.clone()].iter().zip(&values[row])).map(|(&c, v)| v * x[c as usize]).sum();
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    println!("{{\"seconds\": {seconds:e}}}");
    // Whole numbers: the sum is exact.
    println!("sum {}", y.iter().map(|v| v * v).sum::<f64>());
}
