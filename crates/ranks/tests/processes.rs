//! The operations of ranks between processes, with each MPI that is installed.

use std::process::{Command, Output};

/// Runs the check on some ranks by a launcher; `None` if the launcher is not installed.
fn launch(launcher: &str, ranks: usize, arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new(launcher);
    if launcher.ends_with("openmpi") {
        command.args([
            "--allow-run-as-root",
            "--oversubscribe",
            "--bind-to",
            "none",
        ]);
    }
    let program = example();
    command
        .args(["-np", &ranks.to_string(), &program])
        .args(arguments);
    command.output().ok()
}

/// The example, which Cargo builds with the tests.
fn example() -> String {
    let tests = std::env::current_exe().expect("the test has a file");
    let folder = tests.ancestors().nth(2).expect("it lies in `deps`");
    folder
        .join("examples/ranks_check")
        .to_string_lossy()
        .into_owned()
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_all_operations_agree() {
    let mut found = 0;
    for launcher in ["mpirun.openmpi", "mpirun.mpich"] {
        for ranks in 1..=3 {
            let Some(out) = launch(launcher, ranks, &[]) else {
                continue;
            };
            found += 1;
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            assert!(out.status.success(), "{launcher}: {out:?}");
            assert_eq!(text.trim(), format!("{ranks} ranks agree"), "{launcher}");
        }
    }
    assert!(found > 0, "neither Open MPI nor MPICH is installed");
}

#[test]
#[ignore = "needs MPI"]
fn with_mpi_a_rank_that_ends_takes_all_with_it() {
    let mut found = 0;
    for launcher in ["mpirun.openmpi", "mpirun.mpich"] {
        let Some(out) = launch(launcher, 3, &["--die"]) else {
            continue;
        };
        found += 1;
        assert!(!out.status.success(), "{launcher}: {out:?}");
        let err = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(err.contains("the last rank ends"), "{launcher}: {err}");
    }
    assert!(found > 0, "neither Open MPI nor MPICH is installed");
}

/// `GREENUP_TEST_MPI_ABI` is the folder of an MPI with the standard interface, with `bin` and `lib`.
#[test]
#[ignore = "needs MPICH 5"]
fn with_mpi_the_standard_interface_of_mpi_5_agrees() {
    let folder = std::env::var("GREENUP_TEST_MPI_ABI")
        .expect("GREENUP_TEST_MPI_ABI names the folder of MPICH 5: see .ci/run");
    for ranks in 1..=3 {
        let out = Command::new(format!("{folder}/bin/mpiexec.hydra"))
            .args(["-n", &ranks.to_string(), &example()])
            .env("GREENUP_MPI", format!("{folder}/lib/libmpi_abi.so.1"))
            .output()
            .expect("the launcher starts");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(out.status.success(), "{out:?}");
        assert_eq!(text.trim(), format!("{ranks} ranks agree"));
    }
}
