//! Images, cuts and curves with their coordinates, and tables of databases.

use super::bench::{Bench, error};
use greenup_testing::{succeeds, text};
use std::f64::consts::PI;
use std::fs;

/// The numbers of a CSV file without its comments and header.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let lines = text.lines().filter(|l| !l.starts_with('#')).skip(1);
    lines
        .map(|l| l.split(',').map(|v| v.parse().unwrap()).collect())
        .collect()
}

#[test]
fn every_pixel_has_its_q_and_angles() {
    let bench = Bench::new();
    succeeds(&mut bench.command("simulate small.toml -o a.csv --coordinates c.csv"));
    succeeds(&mut bench.command("simulate small.toml -o a.npz"));
    let image = fs::read_to_string(bench.at("a.csv")).unwrap();
    let image: Vec<f64> = image
        .split([',', '\n'])
        .filter_map(|v| v.parse().ok())
        .collect();
    let all = fs::read_to_string(bench.at("c.csv")).unwrap();
    assert!(all.starts_with("row,column,qx_1/nm,qy_1/nm,qz_1/nm,phi_deg,alpha_deg,intensity\n"));
    let all = rows(&all);
    assert_eq!(all.len(), 1600);
    let k = 2.0 * PI / 0.1;
    for (n, r) in all.iter().enumerate() {
        assert_eq!((r[0], r[1]), ((n / 40) as f64, (n % 40) as f64));
        let (phi, alpha, incidence) = (r[5].to_radians(), r[6].to_radians(), 0.2_f64.to_radians());
        assert!((r[5] - (-1.0 + 0.05 * (r[1] + 0.5))).abs() < 1e-8);
        let q = [
            k * (alpha.cos() * phi.cos() - incidence.cos()),
            k * alpha.cos() * phi.sin(),
            k * (alpha.sin() + incidence.sin()),
        ];
        assert!((0..3).all(|a| (q[a] - r[2 + a]).abs() < 1e-7), "{r:?}");
        assert_eq!(r[7], image[n]);
    }
    let npz = fs::read(bench.at("a.npz")).unwrap();
    let has = |word: &str| npz.windows(word.len()).any(|w| w == word.as_bytes());
    for name in ["intensity", "qx", "qy", "qz", "phi", "alpha"] {
        assert!(has(&format!("{name}.npy")), "{name}");
    }
    assert!(npz.len() > 6 * 8 * 1600);
    let e = error(&bench.run("simulate small.toml -o a.npy --coordinates c.txt"));
    assert!(e.contains("known: .csv, .npz"), "{e}");
}

#[test]
fn cuts_by_q_are_rows_and_columns() {
    let bench = Bench::new();
    let run = "simulate small.toml -o a.csv --cut qz=0.4 --cut alpha=0.165 --cut qy=2e-2/A --cut alpha=2.88mrad";
    succeeds(&mut bench.command(run));
    let cut = |n: usize| fs::read_to_string(bench.at(&format!("a.cut{n}.csv"))).unwrap();
    assert!(cut(0).starts_with("# q_z = 0.4 nm⁻¹\n") && cut(2).starts_with("# q_y = 0.2 nm⁻¹\n"));
    // q_z = k (sin 0.2° + sin 0.165°); 2.88 mrad are 0.165°.
    for other in [1, 3] {
        for (a, b) in rows(&cut(0)).iter().zip(rows(&cut(other))) {
            assert!(
                a[..2] == b[..2] && (a[2] - b[2]).abs() < 1e-5,
                "{a:?} {b:?}"
            );
        }
    }
    let (along, up) = (rows(&cut(0)), rows(&cut(2)));
    assert!(
        along
            .iter()
            .all(|r| (r[2] - 62.83 * r[0].to_radians().sin()).abs() < 0.01)
    );
    assert_eq!((along.len(), up.len()), (40, 40));
    let e = error(&bench.run("simulate small.toml -o a.csv --cut qz=9"));
    assert!(e.contains("misses the detector: its q_z runs from"), "{e}");
    // A cut of q is data of a fit as others are.
    let free = "[[parameters]]\npath = 'particles.0.form.height'\nfrom = 3.0\nto = 8.0\n";
    bench.put("q.toml", &format!("sample = 'small.toml'\ndata = 'a.cut0.csv'\ncut = 'qz=0.4'\nswarm = 4\nsteps = 2\n{free}"));
    succeeds(&mut bench.command("fit q.toml"));
}

#[test]
fn long_averages_are_told_before_the_work() {
    let bench = Bench::new();
    let small = fs::read_to_string(bench.at("small.toml")).unwrap();
    let spread = "height = 20.0\n[[particles.distributions]]\nof = 'orientation'\nkind = 'isotropic'\nsamples = 3\n\
                  [[particles.distributions]]\nof = 'form.height'\nkind = 'gaussian'\nwidth = 0.5\nsamples = 5\n";
    bench.put("many.toml", &(small + spread));
    let run = bench.run("simulate many.toml -o a.csv --cut up=20");
    let said = error(&run);
    let want = "particles number 0: 135 particles: 27 orientations (3 of each of three angles) × 5 values of form.height";
    assert!(said.contains(want), "{said}");
    assert!(said.find(want) < said.find("misses"), "{said}");
    let run = bench.run("simulate small.toml -o a.csv");
    assert!(!error(&run).contains("particles number"), "{}", error(&run));
}

#[test]
fn detectors_and_angles_are_ranges_in_one_text() {
    let bench = Bench::new();
    let image = |out: &str| fs::read(bench.at(out)).unwrap();
    succeeds(&mut bench.command("simulate small.toml -o a.csv --set detector.phi=-1:1:40"));
    succeeds(&mut bench.command("simulate small.toml -o b.csv"));
    assert!(image("a.csv") == image("b.csv"));
    for (value, why) in [
        ("-1:1", "FROM:TO:N"),
        ("-200:1:40", "between -180 and 180"),
        ("1:-1:40", "from < to"),
    ] {
        let e = error(&bench.run(&format!(
            "simulate small.toml -o a.csv --set detector.phi={value}"
        )));
        assert!(e.contains(why), "{value}: {e}");
    }
    bench.put("three.csv", "0\n0.5\n1\n");
    succeeds(&mut bench.command("reflectivity film.toml --angles 0:1:3 -o a.csv"));
    succeeds(&mut bench.command("reflectivity film.toml --angles three.csv -o b.csv"));
    assert!(image("a.csv") == image("b.csv"));
    succeeds(&mut bench.command("reflectivity film.toml --angles 0:2:101 -o r.svg"));
    assert!(text(&image("r.svg")).contains("reflectivity"));
    for (angles, why) in [
        ("0:1:x", "FROM:TO:N"),
        ("0:91:3", "91° is not between"),
        ("none.csv", "none.csv"),
    ] {
        let e = error(&bench.run(&format!(
            "reflectivity film.toml --angles {angles} -o r.csv"
        )));
        assert!(e.contains(why), "{angles}: {e}");
    }
}

/// Pictures say what their colours span; marks of cuts are white lines on wider dark ones.
#[test]
fn colours_are_percentiles() {
    let bench = Bench::new();
    let svg = |flags: &str| {
        succeeds(&mut bench.command(&format!("simulate small.toml -o a.svg {flags}")));
        fs::read_to_string(bench.at("a.svg")).unwrap()
    };
    assert!(svg("").contains("percentile 99.9 of the intensities and at most 6 decades"));
    assert!(svg("--percentiles 1,99.9").contains("percentiles 1 to 99.9"));
    assert!(svg("--percentiles 5:95").contains("percentiles 5 to 95"));
    assert!(!svg("--decades 3").contains("percentiles"));
    let cut = svg("--cut alpha=0.3");
    let paths = cut.split("<path ").skip(1);
    let paths: Vec<&str> = paths.filter_map(|p| p.split("/>").next()).collect();
    let is_white = |p: &str| p.contains("stroke=\"#ffffff\"");
    let mut marks = 0;
    for pair in paths.windows(2).filter(|pair| is_white(pair[1])) {
        let [dark, white] = [0, 1].map(|k| pair[k].split_once(" fill=").unwrap());
        assert_eq!(dark.0, white.0);
        assert!(!is_white(dark.1) && dark.1.contains("stroke-width=\"4\""));
        assert!(white.1.contains("stroke-width=\"1.6\""), "{white:?}");
        marks += 1;
    }
    // The cut and the Yoneda line.
    assert!(marks == 2 && !is_white(paths[0]), "{marks}");
    let e = error(&bench.run("simulate small.toml -o a.svg --percentiles 5,95 --decades 3"));
    assert!(e.contains("cannot be used with"), "{e}");
}
