//! Files with several sweeps, such as a tuner's database: `FILE#Xgemm,32` names one of them by words.

use super::FormatError;
use std::path::{Path, PathBuf};

/// Sweeps that a message names.
const SHOWN: usize = 6;

/// A file, and the words after `#` that choose one of its sweeps. A file whose own name has a `#` is itself.
pub fn file_and_section(path: &Path) -> (PathBuf, Option<String>) {
    let text = path.to_str().filter(|_| !path.exists());
    match text.and_then(|t| t.rsplit_once('#')) {
        Some((file, section)) if Path::new(file).is_file() => (file.into(), Some(section.into())),
        _ => (path.to_owned(), None),
    }
}

/// The only one of several that has all the words, which are separated by commas. Each is described by its texts: the first
/// is its name. A word is a whole text of it, in whatever letters; a part of one where no sweep has such a text.
pub(super) fn chosen(all: &[Vec<String>], asked: Option<&str>) -> Result<usize, FormatError> {
    let mut left: Vec<usize> = (0..all.len()).collect();
    for word in asked.into_iter().flat_map(|a| a.split(',')) {
        let word = word.trim().to_lowercase();
        let having = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let has = |i: &&usize| all[**i].iter().any(|t| fits(&t.to_lowercase()));
            left.iter().filter(has).copied().collect()
        };
        let whole = having(&|t| t == word);
        left = if whole.is_empty() {
            having(&|t| t.contains(&word))
        } else {
            whole
        };
    }
    match left[..] {
        [one] => Ok(one),
        _ => {
            let of = if left.is_empty() {
                &(0..all.len()).collect()
            } else {
                &left
            };
            Err(FormatError::Sections {
                asked: asked.unwrap_or_default().to_owned(),
                found: left.len(),
                names: listed(all, of),
                example: of.first().map_or_else(String::new, |&i| all[i].join(",")),
            })
        }
    }
}

/// The first names, and how many more there are.
fn listed(all: &[Vec<String>], of: &[usize]) -> String {
    let mut names: Vec<String> = (of.iter().take(SHOWN)).map(|&i| all[i].join(" ")).collect();
    if of.len() > SHOWN {
        names.push(format!("and {} more", of.len() - SHOWN));
    }
    names.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_choose_one_of_several() {
        let of = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect();
        let all = [
            of(&["Xgemm", "32", "GeForce GTX 1070"]),
            of(&["Xgemm", "64", "GeForce GTX 1070"]),
            of(&["XgemmDirectTN", "32", "Tesla K40m"]),
        ];
        for (asked, found) in [("xgemm,64", 1), ("k40", 2), ("direct", 2), ("Xgemm,32", 0)] {
            assert_eq!(chosen(&all, Some(asked)).unwrap(), found, "{asked}");
        }
        assert_eq!(chosen(&all[..1], None).unwrap(), 0);
        for (asked, why) in [
            (None, "holds 3 sweeps"),
            (Some("xgemm"), "2 sweeps have `xgemm`"),
            (Some("xaxpy"), "no sweep of it has `xaxpy`"),
        ] {
            let e = chosen(&all, asked).unwrap_err().to_string();
            assert!(
                e.contains(why) && e.contains("#Xgemm,32,GeForce GTX 1070"),
                "{e}"
            );
        }
    }

    #[test]
    fn a_file_may_have_such_a_name_itself() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a#b.json");
        std::fs::write(&file, "{}").unwrap();
        assert_eq!(file_and_section(&file), (file.clone(), None));
        let named = dir.path().join("a#b.json#32");
        assert_eq!(file_and_section(&named), (file, Some("32".into())));
    }
}
