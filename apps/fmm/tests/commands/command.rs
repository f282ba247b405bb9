//! The command as a user would use it.

use assert_cmd::Command;
use std::path::Path;

fn fmm(words: &str) -> (bool, String, String) {
    let out = Command::cargo_bin("fmm")
        .unwrap()
        .args(words.split_whitespace())
        .output()
        .unwrap();
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    (out.status.success(), text(&out.stdout), text(&out.stderr))
}

#[test]
fn a_run_says_its_error_and_phases() {
    let (ok, out, _) = fmm("run -n 4000 --gradient --check 100 --distribution plummer");
    assert!(ok);
    for word in ["set-up", "evaluation", "P2P", "M2L Hadamard", "gradient"] {
        assert!(out.contains(word), "{word}: {out}");
    }
    let (ok, out, _) = fmm("run -n 4000 --check 100 --json");
    assert!(ok);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(json["errors"]["potential"].as_f64().unwrap() < 1e-6);
    assert!(
        json["work"]
            .as_array()
            .unwrap()
            .iter()
            .all(|w| w["flops"].as_f64().unwrap() > 0.0)
    );
}

#[test]
fn files_go_in_and_out() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let csv = "x,y,z,charge\n# two charges\n0,0,0,1\n1,0,0,2\n";
    std::fs::write(at("in.csv"), csv).unwrap();
    for out in ["out.csv", "out.npy", "out.vtu"] {
        let (ok, _, err) = fmm(&format!("run --points {} -o {}", at("in.csv"), at(out)));
        assert!(ok, "{err}");
        assert!(Path::new(&at(out)).exists());
    }
    let text = std::fs::read_to_string(at("out.csv")).unwrap();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|l| l.split(',').map(|x| x.parse().unwrap()).collect())
        .collect();
    let four_pi = 4.0 * std::f64::consts::PI;
    assert!((rows[0][3] - 2.0 / four_pi).abs() < 1e-9 && (rows[1][3] - 1.0 / four_pi).abs() < 1e-9);
    // What was written is read: the potential becomes the charge.
    let (ok, _, err) = fmm(&format!(
        "run --points {} --targets {}",
        at("out.npy"),
        at("in.csv")
    ));
    assert!(ok, "{err}");
    for (name, text, words) in [
        ("a.csv", "0,0,0\n1,2\n", "line 2"),
        (
            "b.csv",
            "0,0,zero\n",
            "line 1: `zero` is not a finite number",
        ),
        ("c.csv", "1,2,3,4,5\n", "laplace takes 1"),
        ("d.npy", "x", "not a NumPy array"),
        ("e.txt", "1", "csv or npy"),
        ("f.csv", "0,0,0,1\n1,0,0,NaN\n", "line 2: `NaN`"),
    ] {
        std::fs::write(at(name), text).unwrap();
        let (ok, _, err) = fmm(&format!("run --points {}", at(name)));
        assert!(
            !ok && err.contains(words) && err.starts_with("error: "),
            "{name}: {err}"
        );
    }
}

#[test]
fn sizes_far_from_one_keep_their_digits() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("far.csv");
    for size in ["1e300", "1e-290"] {
        let rows = format!("x,y,z,q\n{size},0,0,{size}\n0,{size},0,{size}\n0,0,{size},-{size}\n");
        std::fs::write(&path, rows).unwrap();
        let (ok, out, said) = fmm(&format!(
            "run --points {} --check 3 --ncrit 1 --json",
            path.display()
        ));
        assert!(ok, "{said}");
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(
            json["errors"]["potential"].as_f64().unwrap() < 1e-10,
            "{out}"
        );
    }
}

#[test]
fn what_cannot_be_is_refused() {
    for (words, want) in [
        ("run --precision f32 -a 1e-16", "reach 5e-5"),
        ("run --ncrit 0", "1 or more"),
        ("run --device gpu", "use cpu, cuda or cuda:N"),
        ("run --points nowhere.csv", "cannot be read"),
        ("run -n 10 -o x.txt", ".csv, .npy, .vtu"),
        ("run --order 40", "3 to 16"),
        ("run --edge 40", "unexpected argument '--edge'"),
        ("nbody -n 10 --dt 0", "time step"),
        ("nbody -n 0", "no bodies"),
        ("direct -n 0", "no pairs"),
        ("run -n 10 -a 0", "such as 1e-6"),
    ] {
        let (ok, _, err) = fmm(words);
        assert!(!ok && err.contains(want), "{words}: {err}");
    }
    for n in [0, 1, 2] {
        let (ok, _, err) = fmm(&format!("run -n {n} --ncrit 1 --check 5"));
        assert!(ok, "{n}: {err}");
    }
}

#[test]
fn bodies_keep_their_energy() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    let words = "nbody -n 500 --distribution plummer --steps 20 --dt 1e-3";
    let (ok, out, err) = fmm(&format!(
        "{words} -o {} --bodies {}",
        at("e.csv"),
        at("b.vtu")
    ));
    assert!(ok, "{err}");
    let drift: f64 = out.split("drift ").nth(1).unwrap().trim().parse().unwrap();
    assert!(drift < 1e-4, "{out}");
    assert_eq!(
        std::fs::read_to_string(at("e.csv"))
            .unwrap()
            .lines()
            .count(),
        22
    );
    assert!(fmm(&format!("{words} -o {}", at("e.png"))).0);
}

#[test]
fn tuning_and_direct_sums_answer() {
    let (ok, out, err) = fmm("tune -n 3000 -a 1e-4 --ncrit 30,100");
    assert!(
        ok && out.contains("fastest:") && out.contains("compressed"),
        "{out}{err}"
    );
    let (ok, out, _) = fmm("direct -n 2000 --precision f32");
    assert!(
        ok && out.contains("pairs/s") && out.contains("the sums reach"),
        "{out}"
    );
    // Its file has the numbers that the method approximates.
    let dir = tempfile::tempdir().unwrap();
    let rows = |command: &str, options: &str| -> Vec<Vec<f64>> {
        let file = dir.path().join("out.csv").display().to_string();
        let (ok, _, err) = fmm(&format!("{command} -n 300 --gradient {options} -o {file}"));
        assert!(ok, "{err}");
        let text = std::fs::read_to_string(&file).unwrap();
        let row = |l: &str| l.split(',').map(|x| x.parse().unwrap()).collect();
        text.lines().skip(1).map(row).collect()
    };
    for kernel in ["", "--kernel yukawa --kappa 2"] {
        let (exact, fast) = (
            rows("direct", kernel),
            rows("run --ncrit 20 -a 1e-9", kernel),
        );
        assert_eq!((exact.len(), exact[0].len()), (300, 7));
        for (e, f) in exact.iter().flatten().zip(fast.iter().flatten()) {
            assert!((e - f).abs() < 1e-6 * (1.0 + e.abs()), "{kernel}: {e} {f}");
        }
    }
    let (ok, _, err) = fmm("direct -n 10 --device cuda -o out.csv");
    assert!(!ok && err.contains("sums of CPUs"), "{err}");
}

#[test]
fn a_study_goes_on_where_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("sweep").display().to_string();
    let study = |first: usize| {
        fmm(&format!(
            "study --device cpu --scale 0.002 --repeat 1 --first {first} -o {out}"
        ))
    };
    let lines = || {
        let text = std::fs::read_to_string(format!("{out}/trials.jsonl")).unwrap();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let (ok, said, _) = study(1);
    assert!(ok && said.contains("cube"), "{said}");
    let before = lines();
    assert!(study(2).0);
    let after = lines();
    assert_eq!((before.len(), after.len()), (1, 2));
    assert_eq!(before[0], after[0]);
    // The third case alone, as another GPU would measure it.
    let skipped =
        format!("study --device cpu --scale 0.002 --repeat 1 --skip 2 --first 3 --quick -o {out}");
    assert!(fmm(&skipped).0);
    assert_eq!(lines().len(), 3);
    let (ok, _, said) = fmm(&format!("study --device cpu --skip 1000 -o {out}"));
    assert!(
        !ok && said.contains("there are ") && said.contains(" cases"),
        "{said}"
    );
    let head = format!("{out}/sweep.json");
    let other = std::fs::read_to_string(&head)
        .unwrap()
        .replace("\"device\": \"", "\"device\": \"another ");
    std::fs::write(&head, other).unwrap();
    let (ok, _, said) = fmm(&format!(
        "study --device cpu --scale 0.002 --repeat 1 --first 3 -o {out}"
    ));
    assert!(!ok && said.contains("a study of another"), "{said}");
    let (ok, _, said) = fmm("study --device cpu --scale nan");
    assert!(!ok && said.contains("above 0"), "{said}");
    // Without a GPU it says what is missing, and measures nothing.
    let (ok, _, said) = fmm(&format!("study --device cuda:99 -o {out}x"));
    assert!(!ok && said.contains("error"), "{said}");
}

#[test]
fn a_machine_predicts_phases() {
    let (ok, out, said) = fmm("run -n 4000 --machine h200 --json");
    assert!(ok, "{said}");
    let j: serde_json::Value = serde_json::from_str(&out).unwrap();
    let (work, by) = (&j["work"], j["bound"].as_array().unwrap());
    assert_eq!(work.as_array().unwrap().len(), by.len());
    for (w, p) in work.as_array().unwrap().iter().zip(by) {
        // The f64 unit alone: 33.5 Tflop/s at most.
        let least = w["flops"].as_f64().unwrap() / 34e12;
        assert!(p["time_s"].as_f64().unwrap() >= least, "{w} {p}");
        assert!(p["energy_j"].as_f64().unwrap() > 0.0);
    }
    // A machine without special functions: roots are flops.
    let (ok, out, said) = fmm("run -n 4000 --machine i7-950");
    assert!(
        ok && out.contains("lower bound on ") && !out.contains("T_min"),
        "{said}"
    );
    let (ok, _, said) = fmm("run -n 10 --machine nowhere.toml");
    assert!(!ok && said.contains("nowhere.toml"), "{said}");
}

#[test]
fn versions_completions_and_manual_pages() {
    let out = |args: &[&str]| {
        let done = assert_cmd::Command::cargo_bin("fmm")
            .unwrap()
            .args(args)
            .output()
            .unwrap();
        assert!(done.status.success(), "{args:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    assert!(out(&["--version"]).contains("\ncommit: "));
    assert!(out(&["completions", "bash"]).contains("_fmm()"));
    assert!(out(&["man"]).contains(".TH fmm 1"));
}

#[test]
fn every_command_of_the_papers_parses() {
    let all = greenup_testing::commands_of_papers("fmm");
    assert!(!all.is_empty());
    for args in all {
        let (ok, _, e) = fmm(&format!("{} --help", args.join(" ")));
        assert!(ok, "{args:?}: {e}");
    }
}

#[test]
fn outputs_name_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.npy");
    let (ok, out, err) = fmm(&format!("run -n 50 --gradient -o {}", path.display()));
    assert!(ok, "{err}");
    assert!(
        err.contains("p.npy: x, y, z, potential, gradient_x, gradient_y, gradient_z"),
        "{err}"
    );
    assert!(
        out.contains("phase") && out.contains("performance") && out.contains("bytes"),
        "{out}"
    );
    let (ok, out, _) = fmm(&format!("run -n 50 --json -o {}", path.display()));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(
        ok && json["columns"] == serde_json::json!(["potential"]),
        "{out}"
    );
}
