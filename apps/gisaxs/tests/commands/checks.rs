//! Outputs spare every input and are checked before the work; messages name the line.

use super::bench::{Bench, error};
use std::fs;

#[test]
fn no_output_is_an_input() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("angles.csv", bench.at("link.csv")).unwrap();
    for (args, input) in [
        (
            "reflectivity film.toml --angles angles.csv -o angles.csv",
            "angles.csv",
        ),
        (
            "reflectivity film.toml --angles angles.csv -o link.csv",
            "angles.csv",
        ),
        ("simulate small.toml -o glass.csv", "glass.csv"),
        ("simulate small.toml -o ./glass.csv", "glass.csv"),
        ("form-factor shape.toml --q q.csv -o q.csv", "q.csv"),
    ] {
        let before = fs::read(bench.at(input)).unwrap();
        let run = bench.run(args);
        assert_eq!(run.status.code(), Some(1), "{args}");
        assert!(
            error(&run).contains("is also an input"),
            "{args}: {}",
            error(&run)
        );
        assert_eq!(fs::read(bench.at(input)).unwrap(), before, "{args}");
    }
    // Names without a known ending are refused as such; here they have one.
    for (args, input, name) in [
        (
            "form-factor shape.csv --q q.csv -o shape.csv",
            "shape.toml",
            "shape.csv",
        ),
        (
            "form-factor mesh.toml --grid 0 0:1:3 0 -o solid.csv",
            "box.obj",
            "solid.csv",
        ),
        ("simulate page.csv -o page.csv", "small.toml", "page.csv"),
        ("fit fit.svg -o fit.svg", "fit.toml", "fit.svg"),
        ("fit fit.toml -o data.png", "data.csv", "data.png"),
    ] {
        fs::copy(bench.at(input), bench.at(name)).unwrap();
        bench.put("mesh.toml", "shape = 'mesh'\nfile = 'solid.csv'\n");
        let fit = fs::read_to_string(bench.at("fit.toml")).unwrap();
        bench.put("fit.toml", &fit.replace("data.csv", "data.png"));
        let before = fs::read(bench.at(name)).unwrap();
        let run = bench.run(args);
        assert_eq!(run.status.code(), Some(1), "{args}");
        assert!(
            error(&run).contains("is also an input"),
            "{args}: {}",
            error(&run)
        );
        assert_eq!(fs::read(bench.at(name)).unwrap(), before, "{args}");
    }
}

#[test]
fn outputs_are_checked_before_the_work() {
    let bench = Bench::new();
    for (args, word) in [
        (
            "reflectivity film.toml --angles angles.csv -o r.bmp",
            "known: .csv",
        ),
        (
            "reflectivity film.toml --angles angles.csv -o r",
            "known: .csv",
        ),
        ("form-factor shape.toml --q q.csv -o f.npy", "known: .csv"),
        (
            "form-factor shape.toml --grid 0 0:1:3 0 -o f.png",
            "known: .csv, .npy",
        ),
        ("fit long.toml -o f.jpg", "known: .svg, .png, .pdf, .html"),
        ("study -o rows.csv", "known: .json"),
        // Minutes of work.
        (
            "simulate large.toml -o x.bmp",
            "known: .csv, .npy, .npz, .tif",
        ),
        (
            "simulate large.toml -o x.csv --cut up=20",
            "misses the detector",
        ),
        (
            "simulate large.toml -o x.csv --cut phi=-7:0.1",
            "misses the detector",
        ),
        (
            "simulate large.toml -o film.toml/x.csv",
            "cannot be written",
        ),
        ("simulate large.toml -o -", "standard output"),
        (
            "study --cases all --machine nosuch",
            "there is no machine `nosuch`",
        ),
        ("study --cases all --machine nosuch.toml", "nosuch.toml"),
    ] {
        let run = bench.run(args);
        assert_eq!(run.status.code(), Some(1), "{args}");
        assert!(error(&run).contains(word), "{args}: {}", error(&run));
    }
    for name in ["r.png", "r", "f.npy", "x.bmp", "x.csv", "-"] {
        assert!(!bench.at(name).exists(), "{name}");
    }
    let run = bench.run("simulate small.toml -o a/new/folder/x.NPY");
    assert!(run.status.success(), "{}", error(&run));
    assert!(bench.at("a/new/folder/x.NPY").is_file());
}

#[test]
fn a_form_factor_beyond_numbers_names_the_line_of_its_q() {
    let bench = Bench::new();
    // Three with one q_z, then the one that overflows.
    bench.put(
        "q.csv",
        "# four\nqx,qy,qz_re,qz_im\n0,1,0,0\n0,2,0,0\n0,3,0,0\n0,1,0,-1e6\n",
    );
    let run = bench.run("form-factor shape.toml --q q.csv -o f.csv");
    assert!(error(&run).contains("q.csv: line 6: "), "{}", error(&run));
    let run = bench.run("form-factor shape.toml --grid 0.5 0:1:3 0 --im-qz -1e6 -o f.csv");
    assert!(error(&run).contains("q = (0.5, "), "{}", error(&run));
}

#[test]
fn a_study_predicts_by_a_shipped_machine() {
    let bench = Bench::new();
    let run = bench
        .run("study --machine gtx-580 --method nufft --window 0.01 --sensor none -o new/rows.json");
    assert!(run.status.success(), "{}", error(&run));
    let text = fs::read_to_string(bench.at("new/rows.json")).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(rows["machine"], "gtx-580");
    assert!(rows["rows"][0]["predicted_s"].as_f64().unwrap() > 0.0);
}
