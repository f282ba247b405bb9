//! Building and running programs with regions.

use greenup_regions::{Entry, Line, Region, Summary};
use greenup_testing::text;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The crate.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder with the shared library of this build.
pub fn libraries() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let folder = exe.parent().unwrap().to_owned();
    assert!(folder.join("libgreenup_regions.so").exists(), "{folder:?}");
    folder
}

/// Compiles `sources` into `folder`.
pub fn compile(
    folder: &Path,
    compiler: &str,
    flags: &[&str],
    sources: &[PathBuf],
    name: &str,
) -> PathBuf {
    let program = folder.join(name);
    let out = Command::new(compiler)
        .args(flags)
        .args(sources)
        .arg("-I")
        .arg(root().join("include"))
        .arg("-L")
        .arg(libraries())
        .args(["-lgreenup_regions", "-lm", "-ldl", "-pthread", "-o"])
        .arg(&program)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|e| panic!("{compiler} is needed: {e}"));
    assert!(out.status.success(), "{compiler}: {}", text(&out.stderr));
    program
}

/// The program of `data/cases.c`.
fn cases() -> &'static Path {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, program) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let flags = ["-O1", "-Wall", "-Wextra", "-Werror"];
        let source = root().join("tests/data/cases.c");
        let program = compile(folder.path(), "cc", &flags, &[source], "cases");
        (folder, program)
    });
    program
}

/// 100 W, by a counter that is faster than it is read: so energies are right also on a busy host.
pub const SENSOR: &str = "simulated:100:0.001";

/// A run of it.
pub struct Case {
    pub command: Command,
    pub folder: tempfile::TempDir,
}

impl Case {
    /// One that writes a summary to a file, with a simulated sensor of 100 W.
    pub fn new(args: &[&str]) -> Self {
        Self::of(cases(), args)
    }

    /// The same of another program.
    pub fn of(program: &Path, args: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        command
            .args(args)
            .env("LD_LIBRARY_PATH", libraries())
            .env("GREENUP_REGIONS_FILE", folder.path().join("out.jsonl"))
            .env("GREENUP_REGIONS_SENSOR", SENSOR)
            .env_remove("GREENUP_REGIONS")
            .env_remove("GREENUP_REGIONS_EVERY");
        Self { command, folder }
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it, whatever it ends with.
    pub fn run(&mut self) -> Output {
        self.command.output().unwrap()
    }

    /// Runs it; it must succeed. Returns its standard error.
    pub fn ok(&mut self) -> String {
        let out = self.run();
        assert!(
            out.status.success(),
            "{:?} {}",
            out.status,
            text(&out.stderr)
        );
        text(&out.stderr)
    }

    pub fn entries(&self) -> Vec<Entry> {
        let text = std::fs::read_to_string(self.folder.path().join("out.jsonl")).unwrap();
        // The kernel cuts what a killed process is writing: a line without its end is none.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        whole
            .lines()
            .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e}: {l}")))
            .collect()
    }

    pub fn summaries(&self) -> Vec<Summary> {
        let summary = |e| match e {
            Entry::Summary(s) => Some(*s),
            Entry::Region(_) => None,
        };
        self.entries().into_iter().filter_map(summary).collect()
    }

    pub fn lines(&self) -> Vec<Line> {
        let line = |e| match e {
            Entry::Region(l) => Some(*l),
            Entry::Summary(_) => None,
        };
        self.entries().into_iter().filter_map(line).collect()
    }

    /// The only summary.
    pub fn summary(&self) -> Summary {
        let mut all = self.summaries();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }
}

/// The region with this path.
pub fn region<'a>(summary: &'a Summary, path: &[&str]) -> &'a Region {
    summary
        .regions
        .iter()
        .find(|r| r.path == path)
        .unwrap_or_else(|| panic!("{path:?}: {:?}", summary.regions))
}

/// Joules of a region by the simulated sensor.
pub fn joules(region: &Region) -> f64 {
    *region.joules.as_ref().unwrap().values().next().unwrap()
}
