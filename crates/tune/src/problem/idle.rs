//! Parameters that nothing uses: configs that differ in them alone are the same.

use super::{Problem, ProblemFile};
use crate::build::included::included;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Tables that say which configs there are, not what they are.
const OF_THE_SPACE: [&str; 4] = ["name", "default", "hard", "soft"];

impl ProblemFile {
    /// Parameters that occur in no command, source, launch or derived value.
    pub fn idle(&self, problem: &Problem) -> Vec<String> {
        let mut used = BTreeSet::new();
        for (name, value) in &self.table {
            match value {
                _ if OF_THE_SPACE.contains(&name.as_str()) => {}
                // The values of one may depend on another.
                toml::Value::Table(all) if name == "parameters" => {
                    all.values().for_each(|v| words(&v.to_string(), &mut used));
                }
                v => words(&v.to_string(), &mut used),
            }
        }
        let hosts = [
            problem.reference.as_ref().map(|r| &r.sources),
            problem.setup.as_ref().map(|s| &s.sources),
        ];
        let sources: Vec<PathBuf> = (problem.build.sources.iter())
            .chain(hosts.into_iter().flatten().flatten())
            .map(|file| problem.dir.join(file))
            .collect();
        for file in included(&sources) {
            match greenup_files::read_text(&file) {
                Ok(text) => words(&text, &mut used),
                // Whatever is in it.
                Err(_) => return Vec::new(),
            }
        }
        let names = problem.space.names().filter(|n| !used.contains(*n));
        names.map(str::to_owned).collect()
    }
}

fn words(text: &str, all: &mut BTreeSet<String>) {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    all.extend(text.split(|c| !is_word(c)).map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_space::Facts;
    use std::path::Path;

    fn idle(dir: &Path, text: &str) -> Vec<String> {
        let file = ProblemFile::of(&dir.join("p.toml"), text.to_owned());
        file.idle(&file.problem(&Facts::new(), &[]).unwrap())
    }

    #[test]
    fn parameters_of_no_source_command_or_value_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write(
            "k.c",
            "#include \"k.h\"\nvoid f(double *y) { y[0] = tile; }\n",
        );
        write("k.h", "#define STEP unroll\n");
        let kernel = r#"
name = "p"
[parameters]
tile = [1, 2]
unroll = [1, 2]
level = [1, 2]
ghost = [1, 2]
[hard]
small = "ghost < 3"
[build]
language = "c"
sources = ["k.c"]
entry = "f"
flags = ["-O{level}"]
[[arguments]]
name = "y"
type = "f64"
size = 8
role = "out"
"#;
        // Flags are the same for all configs.
        assert_eq!(
            idle(dir.path(), &kernel.replace("-O{level}", "-O2")),
            ["level", "ghost"]
        );
        let command = "name = 'c'\nparameters = { a = [1, 2], b = [3, 4], ghost = [1, 2] }\nrun = { command = 'echo {a}', environment = { B = '{b}' } }\n";
        assert_eq!(idle(dir.path(), command), ["ghost"]);
        assert!(idle(dir.path(), &command.replace("{a}", "{a} {ghost}")).is_empty());
    }
}
