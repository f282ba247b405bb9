//! Examples of help texts and of the guide: each command has one, all are understood, and run where the host can.

use crate::{succeeds, text, words};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The commands of a program with the examples of their help texts and of the guide.
pub struct Examples {
    program: PathBuf,
    called: String,
    /// Commands without their program, and their examples.
    commands: Vec<(Vec<String>, Vec<String>)>,
    /// Lines of the guide by their folders below that of the examples.
    guide: Vec<(PathBuf, String)>,
    /// Commands that are programs of their own: their own tests read their examples.
    beside: Vec<String>,
}

/// How the examples of a program run in a test.
#[derive(Default)]
pub struct Plan<'a> {
    /// Parts of the examples that do not run here, and why: devices, files of the user.
    pub elsewhere: &'a [(&'a str, &'a str)],
    /// Parts of the examples that take minutes.
    pub slow: &'a [&'a str],
    /// Texts in place of others, for a smaller problem.
    pub instead: &'a [(&'a str, &'a str)],
    /// Pages of the guide, in the order in which they run; only at length.
    pub pages: &'a [&'a str],
}

/// The tests of a program's examples, by its name, how users call it, and a plan.
#[macro_export]
macro_rules! tests_of_examples {
    ($program:literal, $called:literal, $plan:expr) => {
        fn examples() -> $crate::examples::Examples {
            let program = env!(concat!("CARGO_BIN_EXE_", $program));
            $crate::examples::Examples::of(std::path::Path::new(program), $called, $plan.pages)
        }

        #[test]
        fn every_help_has_examples_that_are_understood() {
            examples().are_understood();
        }

        #[test]
        fn examples_run() {
            examples().run(&$plan, false);
        }

        #[test]
        #[ignore = "slow: minutes"]
        fn long_examples_run_at_length() {
            examples().run(&$plan, true);
        }
    };
}

/// Folders of the repository that examples read.
const READ: [&str; 8] = [
    "apps", "crates", "docs", "examples", "machines", "papers", "spaces", "sweeps",
];
/// Columns of the terminal that examples see.
const WIDTH: usize = 80;
/// Parts of examples that print data for programs, whose lines have any length.
const DATA: [&str; 7] = [
    "--json",
    "--format",
    "--export",
    "completions",
    " man",
    "export -",
    "best ",
];
/// Folders of a home that examples write to.
const HOME: [&str; 3] = [
    ".local/share/bash-completion/completions",
    ".config/fish/completions",
    ".zfunc",
];

impl Examples {
    /// Reads the help texts of a program, which is called by these words, and of all its commands.
    ///
    /// # Panics
    /// A help text has no example, or a page none of this program.
    pub fn of(program: &Path, called: &str, pages: &[&str]) -> Self {
        let out = succeeds(Command::new(program).arg("describe"));
        let tree: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let mut examples = Self {
            program: program.to_owned(),
            called: called.to_owned(),
            commands: Vec::new(),
            guide: Vec::new(),
            beside: Vec::new(),
        };
        examples.read(&tree, Vec::new());
        if !called.contains(' ') {
            for common in ["completions", "man"] {
                examples.read(
                    &serde_json::json!({ "commands": [] }),
                    vec![common.to_owned()],
                );
            }
        }
        for page in pages {
            let text = fs::read_to_string(root().join(page)).expect("a page");
            let lines = of_a_page(&text, called).into_iter().filter(|(_, line)| {
                let command = words(line).into_iter().nth(1);
                !command.is_some_and(|c| examples.beside.contains(&c))
            });
            let lines: Vec<(PathBuf, String)> = lines.collect();
            assert!(!lines.is_empty(), "no `{called}` in {page}");
            examples.guide.extend(lines);
        }
        examples
    }

    fn read(&mut self, tree: &serde_json::Value, path: Vec<String>) {
        let mut help = Command::new(&self.program);
        // So wide that no example is wrapped.
        help.args(&path).arg("--help").env("COLUMNS", "1000");
        let help = text(&succeeds(&mut help).stdout);
        let lines = help.lines().skip_while(|l| !l.starts_with("Example"));
        let found: Vec<String> = (lines.skip(1).take_while(|l| l.starts_with("  ")))
            .map(|l| l.split(" #").next().unwrap_or_default().trim().to_owned())
            .collect();
        assert!(
            !found.is_empty(),
            "no example in {} {path:?} --help",
            self.called
        );
        self.commands.push((path.clone(), found));
        for below in tree["commands"].as_array().into_iter().flatten() {
            let name = below["name"].as_str().unwrap_or_default().to_owned();
            if below["args"][0]["id"] == "args" {
                self.beside.push(name);
                continue;
            }
            self.read(below, [path.clone(), vec![name]].concat());
        }
    }

    /// All examples, each once: its folder, the line, and whether it is of the guide.
    fn all(&self) -> Vec<(&Path, &str, bool)> {
        let help = self.commands.iter().flat_map(|c| &c.1);
        let help = help.map(|line| (Path::new(""), line.as_str(), false));
        let guide = self
            .guide
            .iter()
            .map(|(f, line)| (f.as_path(), line.as_str(), true));
        let mut all: Vec<(&Path, &str, bool)> = Vec::new();
        for example in help.chain(guide) {
            if !all.iter().any(|a| (a.0, a.1) == (example.0, example.1)) {
                all.push(example);
            }
        }
        all
    }

    /// Checks that no example has an unknown command or flag.
    ///
    /// # Panics
    /// One has.
    pub fn are_understood(&self) {
        let own = words(&self.called);
        let mut known = 0;
        for (_, example, _) in self.all() {
            for part in parts(example) {
                let Some(args) = part.strip_prefix(own.as_slice()) else {
                    continue;
                };
                // With it, the parser accepts any complete line, and refuses what it does not know before it.
                let end = args.iter().position(|w| w == "--").or_else(|| {
                    let runs = self.called == "greenup"
                        && ["run", "profile"].contains(&args.first()?.as_str());
                    let is_command = |w: &String| w.contains(' ') || w.starts_with("./");
                    args.iter().position(|w| runs && is_command(w))
                });
                let args = &args[..end.unwrap_or(args.len())];
                let args = args.iter().map(|w| with_values(w));
                succeeds(Command::new(&self.program).args(args).arg("--help"));
                known += 1;
            }
        }
        assert!(known >= self.commands.len(), "{known} of {:?}", self.all());
    }

    /// Runs the examples, or those that take minutes and the guide's, in a copy of the repository, each after those before it.
    ///
    /// # Panics
    /// One fails, or a part of the plan fits none.
    pub fn run(&self, plan: &Plan, slow: bool) {
        let folder = tempfile::tempdir().expect("a folder");
        for name in READ {
            let copy = Command::new("cp")
                .arg("-r")
                .arg(root().join(name))
                .arg(folder.path())
                .output();
            assert!(copy.expect("cp").status.success(), "{name}");
        }
        for name in HOME {
            fs::create_dir_all(folder.path().join("home").join(name)).expect("a folder");
        }
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).expect("a folder");
        let own = words(&self.called);
        match own.as_slice() {
            [name] => symlink(&self.program, bin.join(name)).expect("a link"),
            // As `greenup NAME` starts it.
            [greenup, ..] => {
                let file = bin.join(greenup);
                let script = format!(
                    "#!/bin/sh\nshift\nexec '{}' \"$@\"\n",
                    self.program.display()
                );
                fs::write(&file, script).expect("a file");
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("permissions");
            }
            [] => panic!("a name"),
        }
        let all = self.all();
        for part in (plan.elsewhere.iter().map(|e| e.0)).chain(plan.slow.iter().copied()) {
            assert!(
                all.iter().any(|e| e.1.contains(part)),
                "`{part}` is in no example: {all:#?}"
            );
        }
        let mut failed = Vec::new();
        for (below, example, of_the_guide) in all {
            let is_elsewhere = plan.elsewhere.iter().any(|e| example.contains(e.0));
            let is_slow = of_the_guide || plan.slow.iter().any(|s| example.contains(s));
            if is_elsewhere || is_slow != slow {
                continue;
            }
            let line = (plan.instead.iter()).fold(example.to_owned(), |l, (a, b)| l.replace(a, b));
            let out = self.shell(folder.path(), below, &line);
            if let Err(why) = out {
                failed.push(format!("{line}\n{why}"));
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    }

    fn shell(&self, folder: &Path, below: &Path, line: &str) -> Result<(), String> {
        let path = std::env::var("PATH").unwrap_or_default();
        let home = folder.join("home");
        let out = Command::new("timeout")
            .args(["300", "sh", "-e", "-c", line])
            .current_dir(folder.join(below))
            .env("PATH", format!("{}:{path}", folder.join("bin").display()))
            .env("HOME", &home)
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("GREENUP_WISDOM", home.join("wisdom.toml"))
            .env("COLUMNS", WIDTH.to_string())
            .stdin(Stdio::null())
            .output()
            .map_err(|e| e.to_string())?;
        if !out.status.success() {
            return Err(format!("{}: {}", out.status, text(&out.stderr)));
        }
        let is_data = DATA.iter().any(|word| line.contains(word));
        match text(&out.stdout).lines().find(|l| !is_data && is_long(l)) {
            Some(long) => Err(format!("wider than {WIDTH} columns: {long}")),
            None => Ok(()),
        }
    }
}

/// Whether a line is wider than the terminal, though it could be broken.
fn is_long(line: &str) -> bool {
    let longest = line.split(' ').map(|w| w.chars().count()).max();
    line.chars().count() > WIDTH && longest.is_some_and(|w| w < WIDTH - 8)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The lines of a program in the shell blocks of a page, with the folders that `cd` leads to.
fn of_a_page(text: &str, called: &str) -> Vec<(PathBuf, String)> {
    let mut out = Vec::new();
    let mut folder = None;
    let text = text.replace("\\\n", " ");
    for line in text.lines() {
        let Some(below) = &mut folder else {
            folder = (line == "```sh").then(PathBuf::new);
            continue;
        };
        if line.starts_with("```") {
            folder = None;
        } else if let Some(name) = line.strip_prefix("cd ") {
            below.push(name.split_whitespace().next().unwrap_or_default());
        } else if line
            .strip_prefix(called)
            .is_some_and(|l| l.starts_with(' '))
        {
            let line = line.split(" #").next().unwrap_or_default().trim();
            out.push((below.clone(), line.to_owned()));
        }
    }
    out
}

/// A word with a number in place of each variable of the shell.
fn with_values(word: &str) -> String {
    let mut pieces = word.split('$');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push('1');
        out += piece.trim_start_matches(|c: char| c.is_ascii_uppercase() || c == '_');
    }
    out
}

/// The commands of a shell line, without what is redirected.
fn parts(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut is_file = false;
    for word in words(line) {
        let begins = word.strip_prefix("$(");
        if begins.is_some() || word == "|" {
            all.push(Vec::new());
        }
        let word = begins.unwrap_or(&word);
        let end = word.trim_end_matches([';', ')']);
        match end {
            "|" | "" => {}
            ">" => is_file = true,
            _ if std::mem::take(&mut is_file) => {}
            _ => all.last_mut().expect("one").push(end.to_owned()),
        }
        if end.len() < word.len() {
            all.push(Vec::new());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_several_commands() {
        let of = |line: &str| -> Vec<String> {
            let all = parts(line).into_iter().filter(|p| !p.is_empty());
            all.map(|p| p.join(" ")).collect()
        };
        assert_eq!(of("a b > f; c 'd e'"), ["a b", "c d e"]);
        assert_eq!(of("cc $(a b) -c x.c"), ["cc", "a b", "-c x.c"]);
        assert_eq!(of("a - | b"), ["a -", "b"]);
        assert_eq!(with_values("part-$TASK_ID/8"), "part-1/8");
    }

    #[test]
    fn a_page_has_blocks_of_lines() {
        let page = "hydro is\n```sh\ncd a # there\nhydro b \\\n  c  # d\nother\n```\n```text\nhydro x\n```\n```sh\nhydro y\n```";
        let lines = [("a", "hydro b    c"), ("", "hydro y")];
        let lines = lines.map(|(f, l)| (PathBuf::from(f), l.to_owned()));
        assert_eq!(of_a_page(page, "hydro"), lines);
    }
}
