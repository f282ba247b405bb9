//! Files that sources include.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words of a make rule; a space within a name has a backslash before it.
pub(super) fn words(text: &str) -> Vec<String> {
    const SPACE: char = '\u{0}';
    text.replace("\\ ", &SPACE.to_string())
        .split_whitespace()
        .map(|w| w.replace(SPACE, " "))
        .collect()
}

/// Sources and what they include by `#include "NAME"`, found beside the including file.
pub(crate) fn included(sources: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut out = BTreeSet::new();
    let mut left: Vec<PathBuf> = sources.to_vec();
    while let Some(path) = left.pop() {
        if !out.insert(path.clone()) {
            continue;
        }
        let Ok(text) = greenup_files::read_bytes(&path, greenup_files::read::TEXT_LIMIT) else {
            continue;
        };
        let dir = path.parent().unwrap_or(Path::new(""));
        for line in String::from_utf8_lossy(&text).lines() {
            let Some(rest) = line.trim_start().strip_prefix('#') else {
                continue;
            };
            let name = rest
                .trim_start()
                .strip_prefix("include")
                .map(str::trim_start);
            let name = name.and_then(|n| n.strip_prefix('"')?.split('"').next());
            if let Some(file) = name.map(|n| dir.join(n)).filter(|f| f.is_file()) {
                left.push(file);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_files_are_found_without_a_compiler() {
        let dir = tempfile::tempdir().unwrap();
        let at = |n: &str| dir.path().join(n);
        std::fs::create_dir(at("sub")).unwrap();
        std::fs::write(
            at("k.c"),
            "#include <math.h>\n  # include \"sub/a.h\"\n#include \"no.h\"\n",
        )
        .unwrap();
        std::fs::write(at("sub/a.h"), "#include \"b.h\"\n").unwrap();
        std::fs::write(at("sub/b.h"), "#include \"a.h\"\n").unwrap();
        let found = included(&[at("k.c")]);
        assert_eq!(
            found,
            BTreeSet::from([at("k.c"), at("sub/a.h"), at("sub/b.h")])
        );
        assert_eq!(words("a.c my\\ file.h  b.h"), ["a.c", "my file.h", "b.h"]);
    }
}
