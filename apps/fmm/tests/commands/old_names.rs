//! Flags of version 0.1 still work, with a note on standard error.

use assert_cmd::Command;

/// Standard output and error of a run that must succeed.
fn run(args: &str) -> (String, String) {
    let out = Command::cargo_bin("fmm")
        .unwrap()
        .args(args.split_whitespace())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(out.stdout), text(out.stderr));
    assert!(out.status.success(), "{args}: {stderr}");
    (stdout, stderr)
}

#[test]
fn old_flags_mean_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let (_, err) = run(&format!(
        "run -n 2000 --ncrit 40 --order 5 --precision f64 --threads 1 -o {}",
        at("new.npy")
    ));
    assert!(!err.contains("note:"), "{err}");
    for (n, q) in ["-q 40", "-q40", "--q=40"].into_iter().enumerate() {
        let file = format!("old{n}.npy");
        let (_, err) = run(&format!(
            "run -n 2000 {q} --edge 5 --real f64 --threads 1 -o {}",
            at(&file)
        ));
        for note in [
            "is now `--ncrit`",
            "`--edge` is now `--order`",
            "`--real` is now `--precision`",
        ] {
            assert!(err.contains(note), "{note}: {err}");
        }
        let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
        assert!(read("new.npy") == read(&file), "{q}");
    }
    // Without a number it is what it is in the other programs.
    let (out, err) = run("run -n 500 --threads 1 -q");
    assert!(!out.is_empty() && err.is_empty(), "{err}");
}
