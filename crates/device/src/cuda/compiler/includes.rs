//! The files that a source includes, so that its cache key changes with them.

use super::Source;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Names and contents of all files that a source includes, directly or not; none where an include has no plain name.
/// Lines of comments and of branches not taken count too: at worst, something is compiled anew.
pub(super) fn read(source: &Source) -> Option<Vec<Vec<u8>>> {
    let folders = folders(source.options);
    let mut out = Vec::new();
    let mut seen = BTreeSet::new();
    let parent = Path::new(source.name).parent().unwrap_or(Path::new(""));
    let mut left = named(source.text, parent)?;
    while let Some((name, parent)) = left.pop() {
        // All that could be meant: which one is the compiler's choice.
        for folder in std::iter::once(&parent).chain(&folders) {
            let path = folder.join(&name);
            let Ok(bytes) = std::fs::read(&path) else {
                continue;
            };
            // One file may have several names.
            if !seen.insert(std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone())) {
                continue;
            }
            let folder = path.parent().unwrap_or(Path::new(""));
            left.extend(named(&String::from_utf8_lossy(&bytes), folder)?);
            out.push(path.into_os_string().into_encoded_bytes());
            out.push(bytes);
        }
    }
    Some(out)
}

/// Folders that the options name.
fn folders(options: &[String]) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut options = options.iter();
    while let Some(o) = options.next() {
        if matches!(o.as_str(), "-I" | "--include-path") {
            out.extend(options.next().map(PathBuf::from));
        } else if let Some(dir) = o.strip_prefix("--include-path=").or(o.strip_prefix("-I")) {
            out.push(dir.trim_start_matches('=').into());
        }
    }
    out
}

/// Names that a text includes, and the folder it lies in.
fn named(text: &str, parent: &Path) -> Option<Vec<(String, PathBuf)>> {
    let rest = |line: &str| {
        let line = line.trim_start().strip_prefix('#')?.trim_start();
        Some(line.strip_prefix("include")?.trim_start().to_owned())
    };
    text.lines()
        .filter_map(rest)
        .map(|rest| {
            let close = match rest.chars().next()? {
                '"' => '"',
                '<' => '>',
                _ => return None,
            };
            let name = rest[1..].split(close).next()?;
            Some((name.to_owned(), parent.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_within_files_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        std::fs::write(at("sub/a.cuh"), "#include \"../b.cuh\"\n").unwrap();
        // Includes itself: read once.
        std::fs::write(
            at("b.cuh"),
            " # include \"b.cuh\"\n#include <cuda_fp16.h>\nint b;",
        )
        .unwrap();
        let options = [format!("--include-path={}", dir.path().display())];
        let source = |text| Source {
            name: "k.cu",
            text,
            arch: "sm_90",
            options: &options,
        };
        let found = read(&source("#include \"sub/a.cuh\"\n")).unwrap();
        assert_eq!(found.len(), 4);
        assert!(found.contains(&b" # include \"b.cuh\"\n#include <cuda_fp16.h>\nint b;".to_vec()));
        assert_eq!(read(&source("int x;")), Some(Vec::new()));
        assert_eq!(read(&source("#include NAME\n")), None);
    }
}
