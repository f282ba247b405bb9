//! A product on fibers, and how far it is from the same in double precision.

use greenup_device::cuda::Gpu;
use greenup_gemm::gpu;
use greenup_meter::observe::Silent;
use greenup_space::{Facts, Value};
use greenup_tune::Problem;
use greenup_tune::build::emulator;
use greenup_tune::worker::inputs::arguments::Arguments;
use std::path::Path;

/// op(A) op(B) with a complex element type, or with the real part alone.
pub struct Case {
    pub elem: i64,
    pub trans: [i64; 2],
    pub size: [usize; 3],
}

/// The problem with f32 or complex elements, alpha and beta, and a C that is read.
pub fn problem(dir: &Path, case: &Case) -> Problem {
    let gpu = Gpu::known("h200").unwrap();
    let file = gpu::unpack(dir).unwrap();
    let mut text = std::fs::read_to_string(&file).unwrap();
    text = text.replace("role = \"out\"", "role = \"inout\"");
    for (name, value) in [
        ("alpha", "1.5"),
        ("alpha_im", "0.25"),
        ("beta", "-0.5"),
        ("beta_im", "0.75"),
    ] {
        let at = text.find(&format!("name = \"{name}\"")).unwrap();
        let from = at + text[at..].find("value = ").unwrap();
        let to = from + text[from..].find('\n').unwrap();
        text.replace_range(from..to, &format!("value = \"{value}\""));
    }
    let file = dir.join("case.toml");
    std::fs::write(&file, text).unwrap();
    let facts: Facts = gpu
        .named()
        .iter()
        .map(|(k, v)| ((*k).to_owned(), Value::Int(*v)))
        .collect();
    let int = |n: &str, v: i64| (n.to_owned(), toml::Value::Integer(v));
    let [m, n, k] = case.size.map(|x| i64::try_from(x).unwrap());
    Problem::read_with(
        &file,
        &facts,
        &[
            int("size_m", m),
            int("size_n", n),
            int("size_k", k),
            int("elem", case.elem),
            int("trans_a", case.trans[0]),
            int("trans_b", case.trans[1]),
        ],
    )
    .unwrap()
}

type Complex = (f64, f64);

/// An array of the problem as complex numbers.
fn numbers(inside: &[u8], elem: i64) -> Vec<Complex> {
    let reals: Vec<f64> = if elem % 2 == 0 {
        let each = inside.chunks_exact(4);
        each.map(|c| f64::from(f32::from_ne_bytes(c.try_into().unwrap())))
            .collect()
    } else {
        let each = inside.chunks_exact(8);
        each.map(|c| f64::from_ne_bytes(c.try_into().unwrap()))
            .collect()
    };
    if elem < 2 {
        reals.into_iter().map(|x| (x, 0.0)).collect()
    } else {
        reals.chunks_exact(2).map(|c| (c[0], c[1])).collect()
    }
}

fn times(x: Complex, y: Complex) -> Complex {
    (x.0 * y.0 - x.1 * y.1, x.0 * y.1 + x.1 * y.0)
}

/// Runs a config on fibers; returns the largest error over the largest value.
pub fn error_of(p: &Problem, case: &Case, config: &[Value], dir: &Path) -> f64 {
    let built =
        emulator::compile(p, config, &dir.join("build"), &Silent).unwrap_or_else(|e| panic!("{e}"));
    let mut args = Arguments::new(&p.data, 3, dir).unwrap();
    let all = |args: &Arguments| -> Vec<Vec<Complex>> {
        args.blocks()
            .map(|(_, array)| numbers(array.contents(), case.elem))
            .collect()
    };
    let before = all(&args);
    emulator::run(&built, &mut args).unwrap();
    args.verify(None, greenup_tune::problem::Tolerance::default())
        .unwrap();
    let after = all(&args);
    let [m, n, k] = case.size;
    let real = case.elem < 2;
    let (alpha, beta) = if real {
        ((1.5, 0.0), (-0.5, 0.0))
    } else {
        ((1.5, 0.25), (-0.5, 0.75))
    };
    let element = |x: &[Complex], rows: usize, columns: usize, trans: i64, i: usize, j: usize| {
        let v = x[if trans == 0 {
            i + j * rows
        } else {
            j + i * columns
        }];
        if trans == 2 { (v.0, -v.1) } else { v }
    };
    let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
    for j in 0..n {
        for i in 0..m {
            let mut sum = (0.0, 0.0);
            for q in 0..k {
                let v = times(
                    element(&before[0], m, k, case.trans[0], i, q),
                    element(&before[1], k, n, case.trans[1], q, j),
                );
                sum = (sum.0 + v.0, sum.1 + v.1);
            }
            let (x, y) = (times(alpha, sum), times(beta, before[2][i + j * m]));
            let want = (x.0 + y.0, x.1 + y.1);
            let got = after[2][i + j * m];
            let e = (got.0 - want.0).hypot(got.1 - want.1);
            assert!(e.is_finite(), "C[{i}, {j}] is {got:?}");
            worst = worst.max(e);
            largest = largest.max(want.0.hypot(want.1));
        }
    }
    worst / largest
}
