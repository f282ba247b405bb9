//! Files that a command reads and writes, checked before its work.

use greenup_app::Result;
use greenup_files::Outputs;
use std::path::{Path, PathBuf};
use toml::Value;

/// The outputs of a command that reads an input file: neither it nor what it names may be overwritten.
pub fn outputs(input: &Path) -> Outputs {
    let mut out = Outputs::new();
    out.input(input);
    for file in named(input) {
        out.input(file);
    }
    out
}

/// The files that an input file names, such as meshes and tables of materials; relative paths start at its folder.
pub fn named(input: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    // The reader of the file reports its errors.
    let text = greenup_files::read_text(input).unwrap_or_default();
    if let Ok(table) = toml::from_str(&text) {
        collect(&Value::Table(table), &mut names);
    }
    names.iter().map(|n| beside(input).join(n)).collect()
}

fn collect(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Table(table) => {
            for (key, value) in table {
                match value {
                    Value::String(name) if key == "file" => names.push(name.clone()),
                    other => collect(other, names),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|v| collect(v, names)),
        _ => {}
    }
}

/// The folder of an input file, where the relative paths in it start.
pub fn beside(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

/// Writes a file whole or not at all.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result {
    Ok(greenup_files::write(path, bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_that_an_input_names_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let input = dir.path().join("s.toml");
        let text = "[materials]\ngold = { file = 'gold.csv' }\n[[particles]]\n\
                    form = { shape = 'mesh', file = 'a.obj' }\n[[particles.parts]]\n\
                    form = { shape = 'mesh', file = '/b.ply' }\n";
        std::fs::write(&input, text).unwrap();
        let want = ["gold.csv", "a.obj"].map(|n| dir.path().join(n));
        assert_eq!(named(&input), [&want[0], &want[1], Path::new("/b.ply")]);
        assert_eq!(named(Path::new("/none.toml")), [] as [PathBuf; 0]);
    }
}
