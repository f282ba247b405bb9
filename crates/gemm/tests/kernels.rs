//! The kernel family: configs of every kind at odd sizes, against sums in twice the precision.

use greenup_device::CpuFacts;
use greenup_gemm::check::check;
use greenup_gemm::{Faer, GemmError, Kernel, Matrices, Product, Size, family};
use greenup_space::{Index, Limits};
use greenup_tune::Problem;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

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

/// A problem whose compiler is a script, which names the version that stands in a file.
fn with_compiler(dir: &Path) -> Problem {
    let script = dir.join("compiler");
    let version = dir.join("version");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exec cat '{}'\nexec cc \"$@\"\n",
        version.display()
    );
    std::fs::write(&version, "cc 1\n").unwrap();
    greenup_testing::program(&script, text);
    let mut problem = family::problem(&dir.join("family"), SIZES[0], &CpuFacts::read()).unwrap();
    problem.build.compiler = Some(script.display().to_string());
    problem
}

/// The libraries of a cache.
fn libraries(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "so"))
        .collect();
    paths.sort();
    paths
}

#[test]
fn a_cached_library_serves_one_compiler_and_is_made_again_when_damaged() {
    let dir = tempfile::tempdir().unwrap();
    let problem = with_compiler(dir.path());
    let config = family::untuned(&problem, &CpuFacts::read());
    let cache = dir.path().join("kernels");
    let build = || {
        let kernel = Kernel::build(&problem, &config, "kernel", &cache).unwrap();
        check(&kernel, &mut Matrices::random(SIZES[1], 1), 100).unwrap();
    };
    build();
    let made = libraries(&cache);
    assert_eq!(made.len(), 1);
    let whole = std::fs::read(&made[0]).unwrap();
    let age = || std::fs::metadata(&made[0]).unwrap().modified().unwrap();
    let first = age();
    build();
    assert_eq!(age(), first, "the library is not made twice");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [&whole[..whole.len() / 2], b"", &flipped] {
        // A new file: the old one is loaded.
        std::fs::remove_file(&made[0]).unwrap();
        std::fs::write(&made[0], damaged).unwrap();
        build();
        assert_eq!(std::fs::read(&made[0]).unwrap().len(), whole.len());
    }
    std::fs::write(dir.path().join("version"), "cc 2\n").unwrap();
    build();
    assert_eq!(libraries(&cache).len(), 2, "another compiler, another file");
}

#[test]
fn nothing_is_loaded_from_a_folder_that_all_may_replace() {
    let dir = tempfile::tempdir().unwrap();
    let problem = with_compiler(dir.path());
    let config = family::untuned(&problem, &CpuFacts::read());
    let open = dir.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
    let Err(e) = Kernel::build(&problem, &config, "kernel", &open.join("kernels")) else {
        panic!("anybody may put another library there");
    };
    assert!(e.to_string().contains("all users may write"), "{e}");
    // The folder itself is made private.
    Kernel::build(&problem, &config, "kernel", &open).unwrap();
    let mode = std::fs::metadata(&open).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}
