//! Several ranks: as threads, and as processes with each MPI that is installed.

use super::fmm;
use greenup_testing::mpi::{launchers, with_ranks};
use greenup_testing::{is_refused, names, on_a_full_disk, succeeds, text};
use std::process::Command;

const INPUT: &str = "run -n 3001 --distribution clusters --gradient --ncrit 40";

/// The results of a run, and its JSON.
fn results(mut command: Command, folder: &std::path::Path) -> (Vec<u8>, serde_json::Value) {
    let path = folder.join("out.npy");
    command.arg("--json").arg("-o").arg(&path);
    let out = succeeds(&mut command);
    let json = serde_json::from_str(&text(&out.stdout)).expect("one object");
    (std::fs::read(path).expect("the results"), json)
}

#[test]
fn ranks_as_threads_have_the_same_digits() {
    let dir = tempfile::tempdir().unwrap();
    let (one, json) = results(fmm(INPUT), dir.path());
    assert_eq!(json["ranks"], 1);
    for ranks in [2, 3, 4] {
        let (some, json) = results(fmm(&format!("{INPUT} --ranks {ranks}")), dir.path());
        assert!(some == one, "{ranks} ranks");
        assert_eq!(json["ranks"], ranks);
        assert_eq!(json["targets"], 3001);
    }
}

#[test]
fn digits_do_not_depend_on_the_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    for method in ["fft", "compressed"] {
        let of = |threads| {
            let words = format!("{INPUT} --m2l {method} --threads {threads}");
            results(fmm(&words), dir.path()).0
        };
        let one = of(1);
        assert!(of(2) == one && of(3) == one, "{method}");
    }
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let said = is_refused(&mut fmm("run -n 100 --ranks 2 --measure"));
    assert!(said.contains("--measure"), "{said}");
    for words in [
        "--ranks 0",
        "--device cuda:0,x",
        "--device cpu,cpu",
        "--device cpu+cpu",
    ] {
        is_refused(&mut fmm(&format!("run -n 100 {words}")));
    }
    // A GPU and the cores are one rank.
    for words in ["--ranks 2", "--distributed"] {
        let said = is_refused(&mut fmm(&format!("run -n 100 --device cuda+cpu {words}")));
        assert!(
            said.contains("cuda+cpu does not work") && said.contains("cuda:all"),
            "{said}"
        );
    }
    let said = is_refused(&mut fmm("run -n 100 --device cuda:0+gpu"));
    assert!(said.contains("cuda:N+cpu"), "{said}");
    let said = is_refused(&mut fmm("tune -n 100 --device cuda+cpu"));
    assert!(said.contains("use cpu, cuda or cuda:N"), "{said}");
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_ranks_have_the_same_digits() {
    let dir = tempfile::tempdir().unwrap();
    let (one, _) = results(fmm(INPUT), dir.path());
    for launcher in launchers() {
        for ranks in [1, 2, 3] {
            let mut command = fmm(INPUT);
            command
                .arg("--json")
                .arg("-o")
                .arg(dir.path().join("out.npy"));
            let out = succeeds(&mut with_ranks(launcher, ranks, &command));
            let json: serde_json::Value = serde_json::from_str(&text(&out.stdout)).unwrap();
            assert_eq!(json["ranks"], ranks, "{launcher}");
            let some = std::fs::read(dir.path().join("out.npy")).unwrap();
            assert!(some == one, "{launcher} {ranks}");
        }
    }
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_an_error_is_said_once() {
    for launcher in launchers() {
        let out = with_ranks(launcher, 2, &fmm("run --points none.csv"))
            .output()
            .unwrap();
        let said = text(&out.stderr);
        assert!(!out.status.success(), "{launcher}");
        assert_eq!(said.matches("error: ").count(), 1, "{launcher}: {said}");
        assert!(
            said.contains("none.csv cannot be read"),
            "{launcher}: {said}"
        );
    }
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_what_one_rank_cannot_read_or_write_ends_all() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("other")).unwrap();
    std::fs::write(at("p.csv"), "0,0,0,1\n1,1,1,1\n").unwrap();
    let wrapper =
        "r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; [ \"$r\" = 1 ] && cd other; exec \"$0\" \"$@\"";
    for launcher in launchers() {
        for flag in ["", "--distributed"] {
            let mut command = Command::new("sh");
            command
                .args(["-c", wrapper])
                .arg(fmm("").get_program())
                .args("run --points p.csv -o out.csv".split_whitespace())
                .args(flag.split_whitespace())
                .current_dir(dir.path());
            let out = with_ranks(launcher, 2, &command).output().unwrap();
            let said = text(&out.stderr);
            assert!(!out.status.success(), "{launcher}");
            assert_eq!(said.matches("error: ").count(), 1, "{launcher}: {said}");
            assert!(said.contains("rank 1: p.csv cannot be read"), "{said}");
            // On a full disk: MPI has files of some MB of its own.
            let mut command = fmm("run -n 250000 -a 1e-2 -o out.csv");
            command
                .args(flag.split_whitespace())
                .current_dir(dir.path());
            let full = on_a_full_disk(&command, 32_768);
            let out = with_ranks(launcher, 2, &full).output().unwrap();
            let said = text(&out.stderr);
            assert!(!out.status.success(), "{launcher}");
            assert_eq!(said.matches("error: ").count(), 1, "{launcher}: {said}");
            assert!(said.contains("out.csv cannot be written"), "{said}");
            assert_eq!(names(dir.path()), ["other", "p.csv"]);
            assert!(names(&at("other")).is_empty());
        }
    }
}

#[test]
fn distributed_points_give_the_same_digits() {
    let dir = tempfile::tempdir().unwrap();
    for method in ["fft", "compressed"] {
        let input = format!("{INPUT} --m2l {method} --check 20");
        let (one, json) = results(fmm(&input), dir.path());
        let error = json["errors"]["potential"].as_f64().unwrap();
        for ranks in [1, 2, 3] {
            let words = format!("{input} --distributed --ranks {ranks}");
            let (some, json) = results(fmm(&words), dir.path());
            assert!(some == one, "{method} {ranks} ranks");
            assert_eq!(json["targets"], 3001);
            let own = json["own_points"].as_array().unwrap();
            assert_eq!(own.len(), ranks);
            let here = json["errors"]["potential"].as_f64().unwrap();
            assert!((here / error - 1.0).abs() < 1e-3, "{here} {error}");
            let exchange_s = json["timings"]["results_exchange_s"].as_f64();
            assert!(exchange_s.is_some_and(|s| s > 0.0), "{json}");
            assert!(json["imbalance"].as_f64().is_some_and(|x| x >= 1.0));
        }
    }
    is_refused(&mut fmm("run -n 100 --distributed --targets x.csv"));
    // Each rank sends several messages.
    for ending in ["csv", "npy", "vtu"] {
        let of = |flags: &str| {
            let path = dir.path().join("out").with_extension(ending);
            let words = format!("run -n 150001 -a 1e-2 --ncrit 300 {flags} -o");
            succeeds(fmm(&words).arg(&path));
            std::fs::read(path).unwrap()
        };
        assert!(of("--distributed --ranks 2") == of(""), "{ending}");
    }
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_distributed_points_give_the_same_digits() {
    let dir = tempfile::tempdir().unwrap();
    let (one, _) = results(fmm(INPUT), dir.path());
    for launcher in launchers() {
        for ranks in [2, 3] {
            let mut command = fmm(&format!("{INPUT} --distributed"));
            let path = dir.path().join("distributed.npy");
            command.arg("-o").arg(&path);
            succeeds(&mut with_ranks(launcher, ranks, &command));
            assert!(std::fs::read(&path).unwrap() == one, "{launcher} {ranks}");
        }
    }
}
