//! A folder with inputs of every command.

use greenup_testing::text;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder with inputs of every command.
pub struct Bench {
    pub dir: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
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

    pub fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn put(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    pub fn command(&self, args: &str) -> Command {
        let mut c = Command::new(env!("CARGO_BIN_EXE_gisaxs"));
        c.current_dir(self.dir.path())
            .env("XDG_DATA_HOME", self.at("home"))
            .args(args.split_whitespace())
            .stdin(Stdio::null());
        c
    }

    pub fn run(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }
}

/// Standard error.
pub fn error(out: &Output) -> String {
    text(&out.stderr)
}
