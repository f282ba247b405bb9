//! Examples of help texts: each command has one, all are understood, and run where the host can.

use crate::{succeeds, text, words};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The commands of a program with the examples of their help texts.
pub struct Examples {
    program: PathBuf,
    called: String,
    /// Commands without their program, and their examples.
    commands: Vec<(Vec<String>, Vec<String>)>,
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
}

/// The tests of a program's examples, by its name, how users call it, and a plan.
#[macro_export]
macro_rules! tests_of_examples {
    ($program:literal, $called:literal, $plan:expr) => {
        fn examples() -> $crate::examples::Examples {
            let program = env!(concat!("CARGO_BIN_EXE_", $program));
            $crate::examples::Examples::of(std::path::Path::new(program), $called)
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
    /// A help text has no example.
    pub fn of(program: &Path, called: &str) -> Self {
        let out = succeeds(Command::new(program).arg("describe"));
        let tree: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let mut examples = Self {
            program: program.to_owned(),
            called: called.to_owned(),
            commands: Vec::new(),
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
            // Programs beside this one have their own help, which their own tests read.
            if below["args"][0]["id"] == "args" {
                continue;
            }
            let name = below["name"].as_str().unwrap_or_default().to_owned();
            self.read(below, [path.clone(), vec![name]].concat());
        }
    }

    /// All examples, each once.
    fn all(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for example in self.commands.iter().flat_map(|c| &c.1) {
            if !all.contains(&example.as_str()) {
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
        for example in self.all() {
            for part in parts(example) {
                let Some(args) = part.strip_prefix(own.as_slice()) else {
                    continue;
                };
                // With it, the parser accepts any complete line, and refuses what it does not know before it.
                let end = args.iter().position(|w| w == "--").or_else(|| {
                    let runs = ["run", "profile"].contains(&args.first()?.as_str());
                    args.iter().position(|w| runs && w.contains(' '))
                });
                let args = &args[..end.unwrap_or(args.len())];
                let args = args.iter().map(|w| with_values(w));
                succeeds(Command::new(&self.program).args(args).arg("--help"));
                known += 1;
            }
        }
        assert!(known >= self.commands.len(), "{known} of {:?}", self.all());
    }

    /// Runs the examples, or those that take minutes, in a copy of the repository, each after those before it.
    ///
    /// # Panics
    /// One fails, or a part of the plan fits none.
    pub fn run(&self, plan: &Plan, slow: bool) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for name in READ {
            let copy = Command::new("cp")
                .arg("-r")
                .arg(root.join(name))
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
                all.iter().any(|e| e.contains(part)),
                "`{part}` is in no example: {all:#?}"
            );
        }
        let mut failed = Vec::new();
        for example in all {
            let is_elsewhere = plan.elsewhere.iter().any(|e| example.contains(e.0));
            let is_slow = plan.slow.iter().any(|s| example.contains(s));
            if is_elsewhere || is_slow != slow {
                continue;
            }
            let line = (plan.instead.iter()).fold(example.to_owned(), |l, (a, b)| l.replace(a, b));
            let out = self.shell(folder.path(), &line);
            if let Err(why) = out {
                failed.push(format!("{line}\n{why}"));
            }
        }
        assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    }

    fn shell(&self, folder: &Path, line: &str) -> Result<(), String> {
        let path = std::env::var("PATH").unwrap_or_default();
        let home = folder.join("home");
        let out = Command::new("timeout")
            .args(["300", "sh", "-e", "-c", line])
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", folder.join("bin").display()))
            .env("HOME", &home)
            .env("XDG_DATA_HOME", home.join("data"))
            .env("XDG_CACHE_HOME", home.join("cache"))
            .env("GREENUP_WISDOM", home.join("wisdom.toml"))
            .stdin(Stdio::null())
            .output()
            .map_err(|e| e.to_string())?;
        if out.status.success() {
            return Ok(());
        }
        Err(format!("{}: {}", out.status, text(&out.stderr)))
    }
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
}
