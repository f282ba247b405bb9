//! Several ranks: as threads, and as processes with each MPI that is installed.

use super::common::{BIN, one_more_step};
use greenup_testing::Busy;
use greenup_testing::mpi::{launchers, with_ranks};
use greenup_testing::{fails, is_refused, names, on_a_full_disk, succeeds, text, unfinished};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn hydro(words: &str) -> Command {
    let mut command = Command::new(BIN);
    command.args(words.split_whitespace()).stdin(Stdio::null());
    command
}

fn json(command: &mut Command) -> Value {
    let out = text(&succeeds(command.arg("--json")).stdout);
    let value: Value = serde_json::from_str(out.trim()).expect("one object");
    value
}

/// Steps and time step must be equal, energies nearly.
fn agree(a: &Value, b: &Value, what: &str) {
    for key in ["steps", "rejected", "t", "zones", "unknowns"] {
        assert_eq!(a[key], b[key], "{what}: {key}");
    }
    for key in ["dt", "internal", "kinetic", "e_norm"] {
        let [x, y] = [a, b].map(|v| v[key].as_f64().unwrap());
        assert!(
            (x - y).abs() <= 1e-12 * x.abs().max(1.0),
            "{what}: {key} {x} {y}"
        );
    }
}

const CASES: [&str; 7] = [
    "run --problem 1 --mesh square01_quad --refine 2 --t-final 0.1",
    "run --problem 1 --mesh cube01_hex --refine 1 --order 2 --steps 25",
    "run --problem 0 --mesh square01_quad --refine 1 --order 4 --steps 20 --ode rk2avg",
    "run --problem 3 --refine 1 --order 2 --steps 12 --ode ssp-rk3",
    "run --problem 7 --mesh rt2D --refine 1 --steps 20 --ode rk6",
    "run --problem 2 --mesh segment01 --refine 3 --steps 30 --ode euler",
    "run --problem 1 --mesh square01_tri --refine 1 --steps 20",
];

#[test]
fn ranks_make_the_same_steps() {
    for case in CASES {
        let one = json(&mut hydro(case));
        assert_eq!(one["ranks"], 1);
        for ranks in [1, 2, 3, 4] {
            let some = json(&mut hydro(&format!("{case} --ranks {ranks}")));
            assert_eq!(some["ranks"], ranks);
            agree(&one, &some, &format!("{case}, {ranks} ranks"));
        }
    }
}

/// The history of a run and its last fields over the radius.
fn state(words: &str, folder: &Path) -> Vec<u8> {
    let path = folder.join("history.csv");
    let radial = folder.join("radial.csv");
    let mut command = hydro(words);
    succeeds(
        command
            .arg("--radial")
            .arg(&radial)
            .arg("--history")
            .arg(&path),
    );
    [std::fs::read(radial).unwrap(), std::fs::read(path).unwrap()].concat()
}

#[test]
fn sums_without_rounding_have_the_same_bits_on_any_number_of_ranks() {
    let dir = tempfile::tempdir().unwrap();
    let assembled = [
        format!("{} --assembly full", CASES[0]),
        "run --problem 3 --refine 1 --order 2 --steps 3 --assembly full --ode ssp-rk3".to_owned(),
        "run --problem 7 --mesh rt2D --refine 1 --steps 10 --assembly full".to_owned(),
        // Simplices have no other.
        CASES[6].to_owned(),
    ];
    let cases = CASES[..6].iter().map(|c| (*c).to_owned());
    for case in cases.chain(assembled) {
        let one = state(&format!("{case} --reproducible"), dir.path());
        for ranks in [2, 3, 4] {
            let some = state(
                &format!("{case} --reproducible --ranks {ranks}"),
                dir.path(),
            );
            assert!(some == one, "{case}, {ranks} ranks");
        }
    }
}

#[test]
fn a_checkpoint_continues_on_another_number_of_ranks() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("run.ckpt");
    let case = "run --problem 1 --mesh square01_quad --refine 2 --t-final 0.08 --reproducible";
    let whole = json(&mut hydro(case));
    let begun = format!("{case} --ranks 3 --steps 30");
    succeeds(hydro(&begun).arg("--checkpoint").arg(&file));
    for ranks in [1, 2, 4] {
        let copy = dir.path().join(format!("{ranks}.ckpt"));
        std::fs::copy(&file, &copy).unwrap();
        let mut command = hydro("restart");
        command
            .arg(&copy)
            .args(["--reproducible", "--ranks", &ranks.to_string()]);
        let ended = json(&mut command);
        for key in ["steps", "dt", "internal", "kinetic", "e_norm"] {
            assert_eq!(ended[key], whole[key], "{ranks} ranks: {key}");
        }
    }
}

/// The matrices of the zones are those that are assembled without the flag.
#[test]
fn sums_without_rounding_are_nearly_those_with() {
    for case in [
        &format!("{} --assembly full", CASES[0]),
        "run --problem 7 --mesh rt2D --refine 1 --steps 10 --assembly full",
        CASES[1],
        CASES[6],
    ] {
        let plain = json(&mut hydro(case));
        let exact = json(&mut hydro(&format!("{case} --reproducible --ranks 2")));
        agree(&plain, &exact, case);
    }
}

/// A mesh from a file is cut before its last refinements.
#[test]
fn a_mesh_of_which_no_rank_has_the_whole_gives_the_same_steps() {
    let case = "run --problem 1 --mesh square01_tri --refine 5 --order 1 --steps 2";
    let one = json(&mut hydro(case));
    let three = json(&mut hydro(&format!("{case} --ranks 3")));
    agree(&one, &three, case);
}

#[test]
fn each_rank_writes_its_piece_of_the_fields() {
    let dir = tempfile::tempdir().unwrap();
    let case = "run --problem 3 --refine 1 --steps 2 --snapshots 1 --ranks 3";
    succeeds(hydro(case).arg("--vtu").arg(dir.path()));
    let names = names(dir.path());
    for name in [
        "fields_0000.pvtu",
        "fields_0000_0.vtu",
        "fields_0000_2.vtu",
        "run.pvd",
    ] {
        assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
    }
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert!(read("run.pvd").contains("file=\"fields_0000.pvtu\""));
    let joined = read("fields_0000.pvtu");
    let mut cells = 0;
    for rank in 0..3 {
        let piece = format!("fields_0000_{rank}.vtu");
        assert!(
            joined.contains(&format!("<Piece Source=\"{piece}\"/>")),
            "{joined}"
        );
        let text = read(&piece);
        let (_, rest) = text.split_once("NumberOfCells=\"").unwrap();
        cells += rest.split_once('"').unwrap().0.parse::<usize>().unwrap();
    }
    let whole = json(&mut hydro("run --problem 3 --refine 1 --steps 1"));
    assert_eq!(whole["zones"], cells);
}

#[test]
fn a_full_disk_ends_all_ranks_with_one_message() {
    let dir = tempfile::tempdir().unwrap();
    let case = "run --problem 1 --mesh cube01_hex --refine 2 --steps 4 --ranks 3";
    for (flag, name) in [("--every 2 --checkpoint", "run.ckpt"), ("--vtu", "fields")] {
        let mut command = hydro(case);
        command.args(flag.split(' ')).arg(dir.path().join(name));
        let said = fails(&mut on_a_full_disk(&command, 16));
        assert_eq!(said.matches("error:").count(), 1, "{said}");
        assert!(said.contains(name), "{said}");
    }
    assert!(unfinished(dir.path()).is_empty());
}

#[test]
fn a_rank_without_mpi_says_what_is_missing() {
    let mut command = hydro("run --problem 1 --refine 0 --steps 1");
    command
        .env("PMI_RANK", "0")
        .env("PMI_SIZE", "2")
        .env("GREENUP_MPI", "/nowhere/libmpi.so");
    let said = is_refused(&mut command);
    assert!(
        said.contains("/nowhere/libmpi.so") && said.contains("GREENUP_MPI"),
        "{said}"
    );
}

#[test]
fn what_ranks_cannot_do_is_refused() {
    for (words, want) in [
        ("--refine 0 --ranks 5", "fewer ranks"),
        ("--ranks 2 --tune", "--tune"),
        ("--ranks 2 --profile", "--profile"),
        ("--ranks 2 --device cuda+cpu", "cuda:all"),
        ("--reproducible --device cuda", "--reproducible"),
        ("--device cuda:0,x", "cuda:all"),
        ("--ranks 0", "between 1 and"),
    ] {
        let said = is_refused(&mut hydro(&format!("run --mesh square01_quad {words}")));
        assert!(said.contains(want), "{words}: {said}");
    }
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_ranks_make_the_same_steps() {
    let dir = tempfile::tempdir().unwrap();
    for case in [
        "run --problem 1 --mesh cube01_hex --refine 1 --order 2 --steps 3",
        "run --problem 1 --mesh square01_tri --refine 1 --steps 3",
    ] {
        let one = json(&mut hydro(case));
        for launcher in launchers() {
            for ranks in [1, 2, 3] {
                let mut command = hydro(case);
                command
                    .arg("--json")
                    .arg("--vtu")
                    .arg(dir.path().join("vtu"));
                let out = succeeds(&mut with_ranks(launcher, ranks, &command));
                let some: Value = serde_json::from_str(text(&out.stdout).trim()).unwrap();
                assert_eq!(some["ranks"], ranks, "{launcher}");
                agree(&one, &some, &format!("{case}: {launcher}, {ranks} ranks"));
            }
        }
    }
    let case = "run --problem 1 --mesh square01_quad --refine 2 --steps 3 --reproducible";
    let one = json(&mut hydro(case));
    let case = format!("{case} --json");
    for launcher in launchers() {
        for ranks in [2, 3] {
            let out = succeeds(&mut with_ranks(launcher, ranks, &hydro(&case)));
            let some: Value = serde_json::from_str(text(&out.stdout).trim()).unwrap();
            for key in ["steps", "dt", "internal", "kinetic", "e_norm"] {
                assert_eq!(some[key], one[key], "{launcher}, {ranks} ranks: {key}");
            }
        }
    }
}

/// A copy of the binary that says to be of another commit.
fn another_version(folder: &Path) -> PathBuf {
    let mut bytes = std::fs::read(BIN).unwrap();
    let version = text(&succeeds(hydro("").arg("--version")).stdout);
    let commit = version.lines().find_map(|l| l.strip_prefix("commit: "));
    let commit = commit.expect("a commit").as_bytes();
    let windows = bytes.windows(commit.len()).enumerate();
    let at: Vec<usize> = windows
        .filter(|(_, w)| *w == commit)
        .map(|(at, _)| at)
        .collect();
    assert!(!at.is_empty(), "{version}");
    for at in at {
        bytes[at + commit.len() - 1] = b'x';
    }
    let path = folder.join("hydro");
    greenup_testing::program(&path, bytes);
    path
}

/// A launch of one process of each of two commands.
fn one_of_each(launcher: &str, [a, b]: [&Command; 2]) -> Command {
    let mut both = with_ranks(launcher, 1, a);
    both.args([":", "-np", "1"])
        .arg(b.get_program())
        .args(b.get_args());
    both
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_other_versions_and_arguments_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let words = "run --problem 1 --refine 0 --steps 2";
    let own = hydro(words);
    let mut older = Command::new(another_version(dir.path()));
    older.args(words.split_whitespace());
    succeeds(&mut older);
    let other_arguments = hydro("run --problem 1 --refine 0 --steps 3");
    for launcher in launchers() {
        for other in [&older, &other_arguments] {
            let out = one_of_each(launcher, [&own, other]).output().unwrap();
            let said = text(&out.stderr);
            assert!(!out.status.success(), "{launcher}: {said}");
            assert_eq!(said.matches("error:").count(), 1, "{launcher}: {said}");
            assert!(said.contains("rank 1 runs another program"), "{said}");
            assert!(said.contains("same version on all hosts"), "{said}");
        }
        succeeds(&mut one_of_each(launcher, [&own, &own]));
    }
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_a_full_disk_ends_all_with_one_message() {
    let dir = tempfile::tempdir().unwrap();
    let case = "run --problem 1 --mesh cube01_hex --refine 2 --steps 4";
    for launcher in launchers() {
        for (flag, name) in [("--every 2 --checkpoint", "run.ckpt"), ("--vtu", "fields")] {
            let mut command = hydro(case);
            command.args(flag.split(' ')).arg(dir.path().join(name));
            // UCX's files for shared memory would be too large too.
            command.env("UCX_TLS", "tcp,self");
            let limited = on_a_full_disk(&command, 16);
            let out = with_ranks(launcher, 2, &limited).output().unwrap();
            let said = text(&out.stderr);
            assert!(!out.status.success(), "{launcher}: {said}");
            assert_eq!(said.matches("error:").count(), 1, "{launcher}: {said}");
            assert!(said.contains(name), "{launcher}: {said}");
        }
    }
    assert!(unfinished(dir.path()).is_empty());
    // The launcher may end first.
    let ended = Instant::now();
    while !running(&dir.path().display().to_string()).is_empty() {
        assert!(ended.elapsed() < Duration::from_secs(10), "a rank is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs MPI, and takes all cores"]
fn with_mpi_two_ranks_end_beside_a_busy_loop() {
    let case = "run --problem 1 --mesh square01_quad --refine 2 --steps 20";
    let one = json(&mut hydro(case));
    let case = format!("{case} --json");
    for launcher in launchers() {
        let busy = Busy::new(1);
        let begun = Instant::now();
        let out = succeeds(&mut with_ranks(launcher, 2, &hydro(&case)));
        let took = begun.elapsed();
        drop(busy);
        let two: Value = serde_json::from_str(text(&out.stdout).trim()).unwrap();
        agree(&one, &two, launcher);
        assert!(took < Duration::from_secs(120), "{launcher}: {took:?}");
    }
}

/// Processes whose command line has a word.
fn running(word: &str) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|e| e.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let of_hydro = line
                .split(|b| *b == 0)
                .next()
                .is_some_and(|p| p.ends_with(b"hydro"));
            of_hydro && text(&line).contains(word)
        })
        .collect()
}

#[test]
#[ignore = "needs MPI; ten kills take a minute"]
fn with_mpi_a_killed_rank_ends_all_and_keeps_the_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(7);
    for launcher in launchers() {
        for round in 0..5 {
            let file = dir.path().join(format!("{launcher}{round}.ckpt"));
            let mut command =
                hydro("run --problem 1 --mesh cube01_hex --refine 2 --every 1 --t-final 0.6");
            command.arg("--checkpoint").arg(&file);
            let mut launch = with_ranks(launcher, 2, &command);
            launch.stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = launch.spawn().expect("it starts");
            let word = file.display().to_string();
            let begun = Instant::now();
            while !file.exists() {
                assert!(begun.elapsed() < Duration::from_secs(30), "no checkpoint");
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(Duration::from_millis(rng.u64(0..700)));
            let ranks = running(&word);
            assert_eq!(ranks.len(), 2, "{launcher}: {ranks:?}");
            let victim = ranks[rng.usize(0..2)];
            succeeds(Command::new("kill").args(["-9", &victim.to_string()]));
            let killed = Instant::now();
            let out = child.wait_with_output().expect("it ends");
            assert!(!out.status.success(), "{launcher}: {out:?}");
            // Open MPI says it on standard error, MPICH on standard output.
            let said = [text(&out.stdout), text(&out.stderr)]
                .concat()
                .to_lowercase();
            assert!(said.contains("signal"), "{launcher}: {said}");
            while !running(&word).is_empty() {
                assert!(
                    killed.elapsed() < Duration::from_secs(10),
                    "{launcher}: a rank is left"
                );
                std::thread::sleep(Duration::from_millis(20));
            }
            assert!(killed.elapsed() < Duration::from_secs(10), "{launcher}");
            one_more_step(&word);
        }
    }
}
