//! Inputs of the command: meshes, measured data, tables, names of files.

use super::bench::Bench;
use greenup_testing::{fails, succeeds};
use std::fs;

const BOX: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                   f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

fn said(bench: &Bench, args: &str) -> String {
    fails(&mut bench.command(args))
}

#[test]
fn meshes_that_enclose_a_volume_twice_or_not_at_all_are_refused() {
    let bench = Bench::new();
    bench.put("m.toml", "shape = 'mesh'\nfile = 'm.obj'\n");
    bench.put("q.csv", "qx,qy,qz\n0,0,0\n1,0.5,0.7\n");
    let run = "form-factor m.toml --q q.csv -o f.csv";
    bench.put("m.obj", BOX);
    succeeds(&mut bench.command(run));
    let text = fs::read_to_string(bench.at("f.csv")).unwrap();
    let f: Vec<f64> = text
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .map(|x| x.parse().unwrap())
        .collect();
    assert!((f[4] - 1.0).abs() < 1e-12, "{text}");
    let faces = &BOX[BOX.find('f').unwrap()..];
    let back: String = faces
        .lines()
        .map(|l| {
            let mut n: Vec<&str> = l.split(' ').skip(1).collect();
            n.reverse();
            format!("f {}\n", n.join(" "))
        })
        .collect();
    for (more, message) in [
        (faces, "occur more than once"),
        (&back, "encloses no volume"),
    ] {
        bench.put("m.obj", &format!("{BOX}{more}"));
        let said = said(&bench, run);
        assert!(said.contains(message), "{said}");
    }
}

#[test]
fn headers_decide() {
    let bench = Bench::new();
    let run = "form-factor shape.toml --q q.csv -o f.csv";
    let rows = |table: &str| {
        bench.put("q.csv", table);
        succeeds(&mut bench.command(run));
        fs::read_to_string(bench.at("f.csv")).unwrap()
    };
    let want = rows("0.1,0.2,0.3,0\n0.4,0.5,0.6,0\n");
    assert_eq!(rows("qz,qy,qx\n0.3,0.2,0.1\n0.6,0.5,0.4\n"), want);
    assert_eq!(
        rows("qx (1/nm);qy;qz_re;qz_im\n0.1;0.2;0.3;0\n0.4;0.5;0.6;0\n"),
        want
    );
    for (table, message) in [
        ("0.1,0.2,0.3\n", "4 are expected: qx,qy,qzre,qzim"),
        ("qx,qy,kz\n1,2,3\n", "\"kz\" is unknown"),
        ("qx (1/m),qy,qz\n1,2,3\n", "the unit of \"qx (1/m)\""),
    ] {
        bench.put("q.csv", table);
        let said = said(&bench, run);
        assert!(said.contains(message), "{said}");
    }
    let run = "reflectivity film.toml --angles a.csv -o r.csv";
    let rows = |table: &str| {
        bench.put("a.csv", table);
        succeeds(&mut bench.command(run));
        fs::read_to_string(bench.at("r.csv")).unwrap()
    };
    let want = rows("0.5\n");
    assert_eq!(rows("r,alpha\n0.3,0.5\n"), want);
    assert_eq!(rows("alpha_deg,R\n0.5,0.3\n"), want);
    bench.put("a.csv", "q\n0.5\n");
    assert!(said(&bench, run).contains("\"q\" is unknown"));
}

#[test]
fn im_qz_is_that_of_tables_without_it() {
    let bench = Bench::new();
    let run = |table: &str, more: &str| {
        bench.put("q.csv", table);
        bench.command(&format!("form-factor shape.toml --q q.csv -o f.csv{more}"))
    };
    let rows = |table: &str, more: &str| {
        succeeds(&mut run(table, more));
        fs::read_to_string(bench.at("f.csv")).unwrap()
    };
    let (own, without) = ("qx,qy,qz,qz_im\n1,2,3,0.1\n", "qx,qy,qz\n1,2,3\n");
    assert_eq!(rows(without, " --im-qz 0.1"), rows(own, ""));
    assert_eq!(rows(without, ""), rows("1,2,3,0\n", ""));
    let said = fails(&mut run(own, " --im-qz 0.1"));
    assert!(said.contains("has its own column qz_im"), "{said}");
    let said = greenup_testing::is_refused(&mut run(without, " --im-qz inf"));
    assert!(said.contains("is not a finite number"), "{said}");
}

/// A cylinder of 1e9 photons.
fn cylinder(bench: &Bench) {
    let small = fs::read_to_string(bench.at("small.toml")).unwrap();
    let upright = small
        .replace(
            "{ shape = 'box', length_x = 5.0, width_y = 5.0, height = 5.0 }",
            "{ shape = 'cylinder', radius = 2.5, height = 5.0 }",
        )
        .replace("angle = 0.2\n", "angle = 0.2\nintensity = 1e9\n");
    assert_ne!(upright, small);
    bench.put("s.toml", &upright);
}

fn fitted(bench: &Bench, fit: &str, search: &str) -> serde_json::Value {
    bench.put("f.toml", &format!("sample = 's.toml'\n{search}\n{fit}"));
    let out = bench.run("fit f.toml --json");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    serde_json::from_slice(&out.stdout).unwrap()
}

#[test]
fn errors_of_an_averaged_cut_are_those_of_all_its_counts() {
    let bench = Bench::new();
    cylinder(&bench);
    let intensity =
        "[[parameters]]\npath = 'beam.intensity'\nfrom = 1e8\nto = 1e10\nstart = 2e9\nlog = true\n";
    // Rows of 0.025°: 16 have their centres within 0.2° of 0.5°.
    for (cut, rows) in [("alpha=0.5", 1.0), ("alpha=0.5:0.2", 16.0)] {
        succeeds(&mut bench.command(&format!("simulate s.toml -o s.csv --cut {cut}")));
        let text = fs::read_to_string(bench.at("s.cut0.csv")).unwrap();
        let means = text
            .lines()
            .filter_map(|l| l.split(',').nth(1)?.parse::<f64>().ok());
        let counts: f64 = rows * means.sum::<f64>();
        let fit = format!("data = 's.cut0.csv'\ncut = '{cut}'\n{intensity}");
        let j = fitted(&bench, &fit, "swarm = 0");
        let of = |key: &str| j["parameters"][0][key].as_f64().unwrap();
        // The intensity alone is known as well as the number of all counts.
        let share = of("error") / of("value");
        assert!(
            (share * counts.sqrt() - 1.0).abs() < 1e-4,
            "{cut}: {share} {counts}"
        );
    }
}

#[test]
fn errors_that_the_data_do_not_determine_are_not_known() {
    let bench = Bench::new();
    cylinder(&bench);
    succeeds(&mut bench.command("simulate s.toml -o s.npy"));
    let free = |path: &str, from: f64, to: f64| {
        format!(
            "[[parameters]]\npath = 'particles.0.{path}'\nfrom = {from}\nto = {to}\nstart = {from}\n"
        )
    };
    let height = free("form.height", 4.5, 8.0);
    let alone = fitted(&bench, &format!("data = 's.npy'\n{height}"), "swarm = 0");
    let both = format!("data = 's.npy'\n{height}{}", free("rotation", 10.0, 90.0));
    let j = fitted(&bench, &both, "swarm = 0");
    assert!(j["parameters"][1]["error"].is_null(), "{j:#}");
    assert!(j["covariance"][0][1].is_null() && j["correlations"][1][1].is_null());
    let error = |j: &serde_json::Value| j["parameters"][0]["error"].as_f64().unwrap();
    assert!((error(&j) / error(&alone) - 1.0).abs() < 1e-4);
    assert_eq!(alone["warnings"].as_array().unwrap().len(), 0);
    let warning = j["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("the error of particles.0.rotation is not known"),
        "{warning}"
    );
    let text = greenup_testing::text(&bench.run("fit f.toml").stdout);
    assert!(
        text.contains("± not known\n") && text.contains("warning: the error of"),
        "{text}"
    );
}

/// Where the core is not in its shell there is no model: half of the swarm's positions.
#[test]
fn a_fit_stays_where_the_core_is_in_its_shell() {
    let bench = Bench::new();
    cylinder(&bench);
    let core =
        "core = { form = { shape = 'cylinder', radius = 1.5, height = 4.0 }, delta = 1e-6 }\n";
    let text = fs::read_to_string(bench.at("s.toml")).unwrap();
    bench.put("s.toml", &format!("{text}{core}"));
    succeeds(&mut bench.command("simulate s.toml -o s.npy"));
    let free =
        |path: &str| format!("[[parameters]]\npath = 'particles.0.{path}'\nfrom = 1.0\nto = 4.0\n");
    let page = [free("form.radius"), free("core.form.radius")].concat();
    let j = fitted(
        &bench,
        &format!("data = 's.npy'\n{page}"),
        "swarm = 10\nsteps = 20",
    );
    for (k, want) in [2.5, 1.5].into_iter().enumerate() {
        let value = j["parameters"][k]["value"].as_f64().unwrap();
        assert!((value / want - 1.0).abs() < 1e-3, "{j:#}");
    }
}

#[test]
fn a_core_that_touches_its_shell_has_an_error_and_other_numbers_theirs() {
    let bench = Bench::new();
    cylinder(&bench);
    // The top of the core is that of its shell: it cannot grow.
    let core = "core = { form = { shape = 'cylinder', radius = 1.5, height = 4.0 }, at = [0.0, 0.0, 1.0], delta = 1e-6 }\n";
    let text = fs::read_to_string(bench.at("s.toml")).unwrap();
    bench.put("s.toml", &format!("{text}{core}"));
    succeeds(&mut bench.command("simulate s.toml -o s.npy"));
    let free = |path: &str, from: f64, to: f64| {
        format!("[[parameters]]\npath = '{path}'\nfrom = {from:?}\nto = {to:?}\n")
    };
    let page = [
        free("particles.0.core.form.height", 3.0, 5.0),
        free("particles.0.form.radius", 2.0, 3.0),
    ]
    .concat();
    let j = fitted(
        &bench,
        &format!("data = 's.npy'\n{page}"),
        "swarm = 12\nsteps = 30",
    );
    for (k, want) in [4.0, 2.5].into_iter().enumerate() {
        let p = &j["parameters"][k];
        let value = p["value"].as_f64().unwrap();
        assert!((value / want - 1.0).abs() < 1e-2, "{j:#}");
        assert!(p["error"].as_f64().is_some_and(|e| e > 0.0), "{j:#}");
    }
    // Never inside: the cause is said.
    let never = free("particles.0.core.form.height", 4.5, 5.0);
    bench.put(
        "f.toml",
        &format!("sample = 's.toml'\ndata = 's.npy'\n{never}"),
    );
    let said = fails(&mut bench.command("fit f.toml"));
    assert!(said.contains("not inside of its shell"), "{said}");
}

#[test]
fn zeros_have_no_relative_error() {
    let bench = Bench::new();
    let rows: String = (0..40)
        .map(|i| format!("{}{}\n", ["0", "2"][i % 2], ",3".repeat(39)))
        .collect();
    bench.put("data.csv", &rows);
    let fit = fs::read_to_string(bench.at("fit.toml")).unwrap();
    for (noise, zeros) in [("relative", 20), ("poisson", 0)] {
        bench.put("fit.toml", &format!("noise = '{noise}'\n{fit}"));
        let out = bench.run("fit fit.toml --json");
        let j: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(
            (&j["left_out"]["zero"], &j["points"]),
            (&zeros.into(), &(1600 - zeros).into())
        );
        let said =
            String::from_utf8_lossy(&out.stderr).contains("20 zero, which has no relative error");
        assert_eq!(said, zeros > 0);
    }
}

#[cfg(unix)]
#[test]
fn names_of_files_need_not_be_text() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let bench = Bench::new();
    for (args, ending) in [
        ("simulate small.toml", "csv"),
        ("form-factor shape.toml --grid 0 0:1:3 0:1:3", "npy"),
        ("reflectivity film.toml --angles angles.csv", "csv"),
        ("mesh bicontinuous --triangles 20000 --size 40 40 40", "ply"),
    ] {
        let mut name = b"x\xff.".to_vec();
        name.extend(ending.bytes());
        let name = OsString::from_vec(name);
        let mut run = bench.command(&format!("{args} --json -o"));
        let out = run.arg(&name).output().unwrap();
        assert!(
            out.status.success(),
            "{args}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        let value: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        assert_eq!(value["file"], format!("x\u{fffd}.{ending}"), "{args}");
        assert!(bench.dir.path().join(&name).exists());
    }
}

#[test]
fn flags_without_an_effect_are_refused() {
    let bench = Bench::new();
    bench.put("ball.toml", "shape = 'sphere'\nradius = 5.0\n");
    for (args, flag) in [
        ("simulate small.toml -o x.csv --axes q", "--axes"),
        ("simulate small.toml -o x.npy --decades 3", "--decades"),
        (
            "simulate small.toml -o x.tif --color-range 1,2",
            "--color-range",
        ),
        ("simulate small.toml -o x.csv --style dark", "--style"),
        ("simulate small.toml -o x.svg --dpi=100", "--dpi"),
        ("simulate small.toml -o x.html --width 300", "--width"),
        ("fit fit.toml --cut alpha=0.5", "--cut"),
        ("fit fit.toml --decades 3", "--decades"),
        (
            "form-factor ball.toml --grid 0 0 0 -o x.csv --method exact",
            "--method",
        ),
        (
            "form-factor ball.toml --grid 0 0 0 -o x.csv --accuracy 1e-3",
            "--accuracy",
        ),
    ] {
        let said = said(&bench, args);
        assert!(
            said.contains(&format!("{flag} has no effect here")),
            "{args}: {said}"
        );
    }
}

#[test]
fn values_of_any_type_are_set() {
    let bench = Bench::new();
    let size = |set: &str| {
        let out = bench
            .command(&format!("simulate small.toml --json -o x.csv {set}"))
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{set}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        serde_json::from_slice::<serde_json::Value>(&out.stdout).unwrap()
    };
    assert_eq!(size("--set detector.phi.n=7")["columns"], 7);
    assert_eq!(size("--set detector.phi.n=7.0")["columns"], 7);
    let dwba = size("")["maximum"].as_f64().unwrap();
    assert_ne!(size("--set mode=born")["maximum"].as_f64().unwrap(), dwba);
    assert_ne!(
        size("--set background=1e9")["maximum"].as_f64().unwrap(),
        dwba
    );
    assert_ne!(
        size("--set resolution.across=0.1 --set resolution.up=0.1")["maximum"]
            .as_f64()
            .unwrap(),
        dwba
    );
    let warned = bench
        .command("simulate small.toml -o x.csv --set beam.wavelength=100")
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&warned.stderr).contains("wavelength is in nm"));
    // Keys at their default, which no table or list holds yet.
    let raised = size("--set particles.0.height=2")["maximum"]
        .as_f64()
        .unwrap();
    let at = size("--set particles.0.at.2=2")["maximum"]
        .as_f64()
        .unwrap();
    assert!(
        raised != dwba && (at / raised - 1.0).abs() < 1e-9,
        "{at} {raised}"
    );
    assert_eq!(
        size("--set particles.0.layer=0.0")["maximum"]
            .as_f64()
            .unwrap(),
        dwba
    );
    for (set, message) in [
        ("detector.phi.m=7", "unknown field"),
        ("detectr.phi.n=7", "did you mean `detector`?"),
        ("particles.0.form.radis=7", "unknown field"),
        ("particles.7.form.radius=7", "indices 0 to 0"),
        ("mode=fast", "unknown variant"),
    ] {
        let said = said(&bench, &format!("simulate small.toml -o x.csv --set {set}"));
        assert!(said.contains(message), "{set}: {said}");
    }
}

/// Threads that cannot be started, or too many of them, are an error with its fix, not a panic.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_do_not_start_are_an_error() {
    let bench = Bench::new();
    for args in [
        "simulate small.toml -o x.csv",
        "fit fit.toml",
        "form-factor shape.toml --grid 0 0:1:3 0:1:3 -o x.csv",
        "mesh bicontinuous --triangles 20000 --size 40 40 40 -o x.ply",
        "simulate small.toml -o x.csv --ranks 2",
    ] {
        for (name, value, message) in [
            (
                "RAYON_NUM_THREADS",
                "100000",
                "RAYON_NUM_THREADS=100000: the number of threads must lie",
            ),
            // Stacks beyond the address space: as with a limit of processes.
            (
                "RUST_MIN_STACK",
                "1000000000000000",
                "threads cannot be started",
            ),
        ] {
            let said = fails(bench.command(args).env(name, value));
            assert!(
                said.contains(message) && !said.contains("panicked"),
                "{args}: {said}"
            );
        }
    }
}
