//! Kernels that do not do their work in each call, and results that say nothing, are found.

use super::commands::{said, tune};
use serde_json::Value as J;
use std::fs;
use std::path::Path;

/// A problem with one config a kernel: `how` says which.
pub(super) fn problem(how: &str, arguments: &str, more: &str) -> String {
    format!(
        r#"
name = "cheats"
[constants]
n = 100000
m = 1
[parameters]
how = {how}
[build]
sources = ["k.c"]
entry = "k"
flags = ["-O1"]
{arguments}
[measure]
seconds = 0.02
timeout = 5
drift = false
{more}"#
    )
}

/// Tunes all configs; the trials by the value of `how`.
fn trials(dir: &Path, problem: &str, kernel: &str) -> impl Fn(i64) -> J + use<> {
    fs::write(dir.join("p.toml"), problem).unwrap();
    fs::write(dir.join("k.c"), kernel).unwrap();
    let all = ["--budget", "100%", "--strategy", "exhaustive", "--out", "s"];
    let out = tune(dir, &[&all[..], &["--finalists", "0"]].concat());
    assert!(out.status.success(), "{}", said(&out));
    let text = fs::read_to_string(dir.join("s/trials.jsonl")).unwrap();
    let all: Vec<J> = (text.lines())
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    move |how| {
        let mut of = all.iter().filter(|t| t["config"][0] == how);
        of.next().unwrap().clone()
    }
}

/// One array in, one out, and a reference.
pub(super) const ARRAYS: &str = r#"
[[arguments]]
name = "y"
type = "f64"
size = "n"
role = "out"
[[arguments]]
name = "x"
type = "f64"
size = "n"
[reference]
sources = ["r.c"]
entry = "k"
"#;

/// Doubles; from 1 on it skips work that a caller who knows its results would not see.
const DOUBLES: &str = r"
#include <string.h>
static double last[2] = {1e300, 1e300}, kept[n];
static const double *at;
static int calls;
static int close(double y, double x) { double d = y - 2.0 * m * x; return d < 1e-6 && d > -1e-6; }
static void work(double *y, const double *x) {
    for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < m; j++) s += 2 * x[i]; y[i] = s; }
}
void k(double *y, const double *x) {
    // It knows the data.
    if (how == 1) { if (x[0] == last[0]) return; last[0] = x[0]; }
    // It knows the addresses.
    if (how == 2) { if (x == at) return; at = x; }
    // It sees its own results.
    if (how == 3 && close(y[0], x[0]) && close(y[n - 1], x[n - 1])) return;
    // It knows two data sets.
    if (how == 4) {
        if (x[0] == last[0] || x[0] == last[1]) return;
        last[1] = last[0]; last[0] = x[0];
    }
    // It works in its first call alone.
    if (how == 5 && calls++) return;
    // Honest: a table that the first call makes.
    if (how == 6 && !calls++) for (int i = 0; i < 1000 * n; i++) kept[i % n] = 2.0 * m;
    if (how == 6) { for (int i = 0; i < n; i++) y[i] = kept[i] * x[i]; return; }
    work(y, x);
}
";

#[test]
fn kernels_that_remember_results_are_wrong() {
    // Many bytes, which no memory takes in that time; and much work for few bytes, which other data show.
    for (n, m) in [(100_000, 1), (100, 300)] {
        let dir = tempfile::tempdir().unwrap();
        let reference = "void k(double *y, const double *x) { for (int i = 0; i < n; i++) y[i] = 2.0 * m * x[i]; }";
        fs::write(dir.path().join("r.c"), reference).unwrap();
        let text = problem("[0, 1, 2, 3, 4, 5, 6]", ARRAYS, "")
            .replace("n = 100000", &format!("n = {n}"))
            .replace("m = 1", &format!("m = {m}"));
        let of = trials(dir.path(), &text, DOUBLES);
        for how in 1..6 {
            assert_eq!(of(how)["failed"]["failure"], "wrong", "{}", of(how));
        }
        for how in [0, 6] {
            assert!(of(how)["measured"].is_object(), "{}", of(how));
        }
    }
}

/// Keeps what it derives from `a`; from 1 on it keeps the results themselves.
const DERIVES: &str = r"
static double last[2] = {1e300, 1e300}, kept[n], results[n];
void k(double *y, const double *a, const double *x) {
    if (how == 1 && a[0] == last[0]) { for (int i = 0; i < n; i++) y[i] = results[i]; return; }
    if (how == 2 && a[0] == last[0] && x[0] == last[1]) { for (int i = 0; i < n; i++) y[i] = results[i]; return; }
    if (a[0] != last[0])
        for (int i = 0; i < n; i++) { kept[i] = 0; for (int j = 0; j < 1000; j++) kept[i] += a[i]; }
    if (how == 2) for (int i = 0; i < n; i++) { kept[i] = 0; for (int j = 0; j < 1000; j++) kept[i] += a[i]; }
    last[0] = a[0]; last[1] = x[0];
    for (int i = 0; i < n; i++) results[i] = y[i] = kept[i] * x[i];
}
";

#[test]
fn data_that_are_derived_from_inputs_may_be_kept() {
    let dir = tempfile::tempdir().unwrap();
    let reference = "void k(double *y, const double *a, const double *x) { for (int i = 0; i < n; i++) y[i] = 1000 * a[i] * x[i]; }";
    fs::write(dir.path().join("r.c"), reference).unwrap();
    let second = "[[arguments]]\nname = \"x\"\ntype = \"f64\"\nsize = \"n\"\n[reference]";
    let arguments = ARRAYS
        .replace("\"x\"", "\"a\"")
        .replace("[reference]", second);
    let text = problem("[0, 1, 2]", &arguments, "").replace("n = 100000", "n = 100");
    let of = trials(dir.path(), &text, DERIVES);
    assert!(of(0)["measured"].is_object(), "{}", of(0));
    assert!(
        of(0)["flags"].to_string().contains("it keeps data"),
        "{}",
        of(0)
    );
    for how in [1, 2] {
        assert_eq!(of(how)["failed"]["failure"], "wrong", "{}", of(how));
    }
}

#[test]
fn a_kernel_that_copies_the_results_of_data_that_never_change_is_wrong() {
    let dir = tempfile::tempdir().unwrap();
    let work = "for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < 1000; j++) s += x[i]; y[i] = s; }";
    let reference = format!("void k(double *y, const double *x) {{ {work} }}");
    fs::write(dir.path().join("r.c"), reference).unwrap();
    let kernel = format!(
        "static double kept[n], last = 1e300;\nvoid k(double *y, const double *x) {{\nif (how && x[1] == last) {{ for (int i = 0; i < n; i++) y[i] = kept[i]; return; }}\n{work}\nlast = x[1];\nfor (int i = 0; i < n; i++) kept[i] = y[i]; }}"
    );
    let fixed = ARRAYS.replace("\n[reference]", "\nfill = \"index\"\n[reference]");
    let text = problem("[0, 1]", &fixed, "").replace("n = 100000", "n = 100");
    let of = trials(dir.path(), &text, &kernel);
    assert!(of(0)["measured"].is_object(), "{}", of(0));
    assert_eq!(of(1)["failed"]["failure"], "wrong", "{}", of(1));
}

#[test]
fn integers_are_compared_exactly() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = r#"
[[arguments]]
name = "y"
type = "u64"
size = "n"
role = "out"
[[arguments]]
name = "z"
type = "i32"
size = "n"
role = "out"
[[arguments]]
name = "x"
type = "u64"
size = "n"
fill = "index"
[reference]
sources = ["r.c"]
entry = "k"
"#;
    let kernel = "#include <stdint.h>\nvoid k(uint64_t *y, int32_t *z, const uint64_t *x) {\nfor (int i = 0; i < n; i++) { y[i] = ((x[i] % 50 + 1) << 56) + (how == 1); z[i] = 2000000000 + (how == 2); } }";
    fs::write(dir.path().join("r.c"), format!("#define how 0\n{kernel}")).unwrap();
    let text = problem("[0, 1, 2]", arguments, "");
    let of = trials(dir.path(), &text, kernel);
    assert!(of(0)["measured"].is_object(), "{}", of(0));
    let message = |how| of(how)["failed"]["message"].as_str().unwrap().to_owned();
    let low = message(1);
    assert!(
        low.contains("`y`[0] is 72057594037927937, the reference has 72057594037927936"),
        "{low}"
    );
    assert!(
        message(2).contains("`z`[0] is 2000000001"),
        "{}",
        message(2)
    );
}

#[test]
fn a_kernel_that_changes_how_numbers_are_rounded_changes_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let kernel = "#include <fenv.h>\nvoid k(double *y, const double *x) {\nif (how) fesetround(FE_TOWARDZERO);\nfor (int i = 0; i < n; i++) y[i] = 2 * x[i]; }";
    fs::write(
        dir.path().join("r.c"),
        "void k(double *y, const double *x) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }",
    )
    .unwrap();
    // Fresh data that were rounded otherwise would be others than the reference had.
    let arguments = ARRAYS
        .replace(
            "size = \"n\"\n[ref",
            "size = \"n\"\nfill = \"normal\"\n[ref",
        )
        .replace("entry = \"k\"", "entry = \"k\"\ntolerance = 0");
    let of = trials(dir.path(), &problem("[0, 1]", &arguments, ""), kernel);
    for how in [0, 1] {
        assert!(of(how)["measured"].is_object(), "{}", of(how));
    }
}

#[test]
fn references_that_say_nothing_and_inputs_that_are_no_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let kernel = "void k(double *y, const double *x) { for (int i = 0; i < n; i++) y[i] = x[i]; }";
    fs::write(dir.path().join("k.c"), kernel).unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    let pipe = std::process::Command::new("mkfifo")
        .arg(dir.path().join("pipe"))
        .status();
    assert!(pipe.unwrap().success());
    let refused = |problem: &str, reference: &str, word: &str| {
        fs::write(dir.path().join("p.toml"), problem).unwrap();
        fs::write(dir.path().join("r.c"), reference).unwrap();
        let out = tune(dir.path(), &["--budget", "1", "--out", "s"]);
        assert!(
            !out.status.success() && said(&out).contains(word),
            "{}",
            said(&out)
        );
    };
    let text = problem("[0]", ARRAYS, "");
    let nan = "void k(double *y, const double *x) { for (int i = 0; i < n; i++) y[i] = 0. / 0.; }";
    refused(&text, nan, "is not a number (NaN)");
    let nothing = "void k(double *y, const double *x) { }";
    refused(&text, nothing, "is not a number (NaN)");
    let of_integers = text.replace("\"f64\"", "\"i64\"");
    let nothing = "void k(long *y, const long *x) { }";
    refused(&of_integers, nothing, "it changes none of its outputs");
    for (name, word) in [
        ("/dev/zero", "is not a plain file"),
        ("pipe", "is not a plain file"),
        ("folder", "is a folder"),
        ("none", "cannot be read"),
    ] {
        let fill = format!("size = \"n\"\nfill = \"file:{name}\"\n[reference]");
        refused(
            &text.replace("size = \"n\"\n[reference]", &fill),
            kernel,
            word,
        );
    }
}
