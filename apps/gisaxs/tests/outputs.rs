//! Outputs are whole or not there, spare every input, and are checked before the work.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What a command may take to end: the two seconds that are promised, and half a second until a busy host has reaped it.
const LIMIT_S: f64 = 2.5;

const BINARY: &str = env!("CARGO_BIN_EXE_gisaxs");

/// A folder with inputs of every command.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let beam = "[beam]\nwavelength = 0.1\nangle = 0.2\n";
        let layers = "[[layers]]\n[[layers]]\ndelta = 6e-6\n";
        let sample = |n: usize, form: &str| {
            format!(
                "{beam}[detector]\nphi = {{ from = -1.0, to = 1.0, n = {n} }}\n\
                 alpha = {{ from = 0.0, to = 1.0, n = {n} }}\n\
                 [materials]\nglass = {{ file = 'glass.csv' }}\n{layers}\
                 [[particles]]\nform = {form}\nmaterial = 'glass'\ndensity = 0.01\n"
            )
        };
        let a_box = "{ shape = 'box', length_x = 5.0, width_y = 5.0, height = 5.0 }";
        bench.put("small.toml", &sample(40, a_box));
        bench.put("large.toml", &sample(3000, a_box));
        bench.put(
            "solid.toml",
            &sample(8, "{ shape = 'mesh', file = 'box.obj' }"),
        );
        bench.put("film.toml", &format!("{beam}{layers}"));
        bench.put(
            "glass.csv",
            "energy,delta,beta\n1000,1e-5,1e-7\n100000,1e-6,1e-8\n",
        );
        bench.put("shape.toml", "shape = 'icosahedron'\nedge = 5.0\n");
        bench.put("mesh.toml", "shape = 'mesh'\nfile = 'box.obj'\n");
        let mut obj = String::new();
        for (x, y, z) in (0..8).map(|i| (i & 1, i >> 1 & 1, i >> 2)) {
            obj.push_str(&format!("v {x} {y} {z}\n"));
        }
        obj.push_str("f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n");
        bench.put("box.obj", &obj);
        let angles: String = (0..4000)
            .map(|i| format!("{}\n", f64::from(i) * 1e-3))
            .collect();
        bench.put("angles.csv", &angles);
        bench.put("q.csv", "qx,qy,qz_re,qz_im\n0,1,0,0\n0,2,1,0\n");
        let counts: String = (0..40)
            .map(|i| {
                let row: Vec<String> = (0..40).map(|j| format!("{}", 1 + (i * j) % 7)).collect();
                row.join(",") + "\n"
            })
            .collect();
        bench.put("data.csv", &counts);
        let free = "[[parameters]]\npath = 'particles.0.form.height'\nfrom = 3.0\nto = 8.0\n";
        let fit = |swarm: usize, steps: usize| {
            format!(
                "sample = 'small.toml'\ndata = 'data.csv'\nswarm = {swarm}\nsteps = {steps}\n{free}"
            )
        };
        bench.put("fit.toml", &fit(0, 1));
        bench.put("long.toml", &fit(400, 100_000));
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn command(&self, args: &str) -> Command {
        let mut c = Command::new(BINARY);
        c.current_dir(self.dir.path())
            .env("XDG_DATA_HOME", self.at("home"))
            .args(args.split_whitespace())
            .stdin(Stdio::null());
        c
    }

    fn run(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }

    /// Files that are neither inputs nor whole outputs.
    fn unfinished(&self) -> Vec<PathBuf> {
        fs::read_dir(self.dir.path())
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| {
                p.extension()
                    .is_some_and(|e| e == "unfinished" || e == "tmp")
            })
            .collect()
    }
}

fn error(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// Every command that writes, without its output, and the endings it knows.
const WRITERS: [(&str, &[&str]); 4] = [
    ("simulate small.toml", &["csv", "npy", "tif", "png", "html"]),
    (
        "form-factor shape.toml --grid 0 -2:2:160 0:2:160",
        &["csv", "npy"],
    ),
    ("reflectivity film.toml --angles angles.csv", &["csv"]),
    ("fit fit.toml", &["svg", "png", "html"]),
];

fn writers() -> impl Iterator<Item = (String, String)> {
    WRITERS.into_iter().flat_map(|(args, endings)| {
        endings.iter().map(move |e| {
            let out = format!("out.{e}");
            (format!("{args} -o {out}"), out)
        })
    })
}

/// As on a full disk, files cannot grow beyond `blocks` of 512 bytes.
fn limited(bench: &Bench, blocks: u32, args: &str) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    Command::new("sh")
        .current_dir(bench.dir.path())
        .env("XDG_DATA_HOME", bench.at("home"))
        .args(["-c", &script, BINARY])
        .args(args.split_whitespace())
        .output()
        .unwrap()
}

#[test]
fn a_full_disk_leaves_the_older_file() {
    let bench = Bench::new();
    for (args, out) in writers() {
        for blocks in [0, 2] {
            bench.put(&out, "old");
            let run = limited(&bench, blocks, &args);
            let said = error(&run);
            assert_eq!(run.status.code(), Some(1), "{args}: {said}");
            assert!(
                said.contains("cannot be written") && said.contains("hint:"),
                "{said}"
            );
            assert_eq!(fs::read(bench.at(&out)).unwrap(), b"old", "{args}");
            fs::remove_file(bench.at(&out)).unwrap();
            limited(&bench, blocks, &args);
            assert!(!bench.at(&out).exists(), "{args}");
            assert_eq!(bench.unfinished(), [] as [PathBuf; 0], "{args}");
        }
    }
}

/// Whether a file is written.
fn under_way(bench: &Bench, out: &Path, old: u64) -> bool {
    let changed = fs::metadata(out).map_or(true, |m| m.len() != old);
    changed
        || bench
            .unfinished()
            .iter()
            .any(|p| fs::metadata(p).is_ok_and(|m| m.len() > 0))
}

#[test]
fn a_kill_while_writing_leaves_a_whole_file() {
    let bench = Bench::new();
    for (args, out) in writers() {
        let path = bench.at(&out);
        let reference = bench.run(&args);
        assert!(reference.status.success(), "{args}: {}", error(&reference));
        let new = fs::read(&path).unwrap();
        for n in 0..5 {
            fs::write(&path, "old").unwrap();
            for rest in bench.unfinished() {
                fs::remove_file(rest).unwrap();
            }
            let mut child = bench
                .command(&args)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            while child.try_wait().unwrap().is_none() && !under_way(&bench, &path, 3) {}
            std::thread::sleep(Duration::from_micros(200 * n));
            child.kill().unwrap();
            child.wait().unwrap();
            let left = fs::read(&path).unwrap();
            // A page names the seconds it took.
            let whole = left == new
                || (out.ends_with("html") && left.trim_ascii_end().ends_with(b"</html>"));
            assert!(left == b"old" || whole, "{args}: {} bytes", left.len());
        }
    }
}

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
            "reflectivity film.toml --angles angles.csv -o r.png",
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
        ("fit long.toml -o f.jpg", "known: .svg, .png, .html"),
        ("study -o rows.csv", "known: .json"),
        // Minutes of work.
        ("simulate large.toml -o x.bmp", "known: .csv, .npy, .tif"),
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
    let run = bench.run("form-factor shape.toml --grid 0.5 0:1:3 0 --damping -1e6 -o f.csv");
    assert!(error(&run).contains("q = (0.5, "), "{}", error(&run));
}

#[test]
fn lost_standard_output_is_an_error() {
    let bench = Bench::new();
    for args in [
        "simulate small.toml -o x.csv",
        "simulate small.toml -o x.csv --json",
        "form-factor shape.toml --q q.csv -o f.csv",
        "reflectivity film.toml --angles angles.csv -o r.csv --json",
        "fit fit.toml --json",
    ] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let run = bench
            .command(args)
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(1), "{args}");
        assert!(
            error(&run).contains("standard output"),
            "{args}: {}",
            error(&run)
        );
    }
}

/// Whether the process handles this signal by now.
fn handles(pid: u32, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|l| {
        l.strip_prefix("SigCgt:").is_some_and(|mask| {
            u64::from_str_radix(mask.trim(), 16).is_ok_and(|m| m >> (signal - 1) & 1 == 1)
        })
    })
}

#[test]
fn an_interrupt_ends_every_command_within_two_seconds() {
    let bench = Bench::new();
    let made = Command::new("mkfifo").arg(bench.at("pipe.csv")).status();
    assert!(made.unwrap().success());
    for args in [
        "simulate large.toml -o x.npy",
        "form-factor shape.toml --grid 0 -2:2:3000 0:2:3000 --way exact -o x.npy",
        "fit long.toml -o x.svg",
        "study --cases all --sensor none -o x.json",
        "reflectivity film.toml --angles pipe.csv -o x.csv",
    ] {
        for (name, number) in [("INT", 2), ("TERM", 15)] {
            let mut child = bench
                .command(args)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            while !handles(child.id(), number) {
                assert!(
                    child.try_wait().unwrap().is_none(),
                    "{args} ended by itself"
                );
                std::thread::sleep(Duration::from_millis(5));
            }
            std::thread::sleep(Duration::from_millis(300));
            let pid = child.id().to_string();
            let sent = Command::new("kill")
                .args([&format!("-{name}"), &pid])
                .status();
            assert!(sent.unwrap().success());
            let start = Instant::now();
            let out = child.wait_with_output().unwrap();
            let seconds = start.elapsed().as_secs_f64();
            assert_eq!(
                out.status.code(),
                Some(130),
                "{args}: {:?} {}",
                out.status.signal(),
                error(&out)
            );
            assert!(
                seconds < LIMIT_S,
                "{args} went on for {seconds} s after {name}"
            );
            for ending in ["npy", "svg", "csv"] {
                assert!(!bench.at(&format!("x.{ending}")).exists(), "{args}");
            }
            assert_eq!(bench.unfinished(), [] as [PathBuf; 0], "{args}");
        }
    }
}

#[test]
fn a_study_predicts_by_a_shipped_machine() {
    let bench = Bench::new();
    let run = bench
        .run("study --machine gtx-580 --way nufft --window 0.01 --sensor none -o new/rows.json");
    assert!(run.status.success(), "{}", error(&run));
    let text = fs::read_to_string(bench.at("new/rows.json")).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(rows["machine"], "gtx-580");
    assert!(rows["rows"][0]["predicted_s"].as_f64().unwrap() > 0.0);
}
