//! The kernel family: configs of every kind at odd sizes, against sums in twice the precision.

use greenup_device::CpuFacts;
use greenup_gemm::check::check;
use greenup_gemm::{Faer, GemmError, Kernel, Matrices, Product, Size, family};
use greenup_space::{Index, Limits};

const SIZES: [Size; 6] = [
    Size { m: 1, n: 1, k: 1 },
    Size { m: 3, n: 65, k: 2 },
    Size {
        m: 129,
        n: 67,
        k: 255,
    },
    // Deeper than any kc, wider than the smallest nc, blocks of uneven height.
    Size {
        m: 301,
        n: 17,
        k: 803,
    },
    Size {
        m: 37,
        n: 4201,
        k: 131,
    },
    Size {
        m: 256,
        n: 256,
        k: 256,
    },
];

#[test]
fn configs_are_right_at_odd_sizes() {
    let dir = tempfile::tempdir().unwrap();
    let cpu = CpuFacts::read();
    let problem = family::problem(&dir.path().join("family"), SIZES[0], &cpu).unwrap();
    let index = Index::build(&problem.space, &Limits::default()).unwrap();
    let mut rng = fastrand::Rng::with_seed(7);
    let mut configs: Vec<_> = (0..8)
        .map(|_| index.get(rng.u64(..index.len())).unwrap())
        .collect();
    let untuned = family::untuned(&problem, &cpu);
    assert!(
        index.position(&untuned).is_some(),
        "{untuned:?} is no point of the space"
    );
    configs.push(untuned);
    for config in configs {
        let kernel =
            Kernel::build(&problem, &config, "kernel", &dir.path().join("kernels")).unwrap();
        for (i, size) in SIZES.into_iter().enumerate() {
            let mut x = Matrices::random(size, i as u64);
            if let Err(e) = check(&kernel, &mut x, 3000) {
                panic!("{config:?} at {size}: {e}");
            }
        }
    }
}

/// Right but for one entry.
struct Slip(Faer);

impl Product for Slip {
    fn name(&self) -> &str {
        "slip"
    }

    fn multiply(&self, x: &mut Matrices) {
        self.0.multiply(x);
        x.c.as_mut_slice()[5] *= 1.0 + 1e-12;
    }
}

#[test]
fn one_wrong_entry_is_seen() {
    let size = Size { m: 9, n: 11, k: 13 };
    let faer = Faer { threads: 1 };
    let worst = check(&faer, &mut Matrices::random(size, 3), 1000).unwrap();
    assert!(worst > 0.0, "rounding leaves something");
    let wrong = check(&Slip(faer), &mut Matrices::random(size, 3), 1000).unwrap_err();
    assert!(
        matches!(
            wrong,
            GemmError::Wrong {
                row: 0,
                column: 5,
                ..
            }
        ),
        "{wrong}"
    );
}
