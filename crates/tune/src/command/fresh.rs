//! Whether a run wrote the files that are read after it: what an earlier run left says nothing of this one.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Time within which two changes of a file may bear the same time stamp.
const TICK: Duration = Duration::from_millis(10);

/// Files of results as they were before a run.
pub(super) struct Before(Vec<(PathBuf, Option<SystemTime>)>);

impl Before {
    /// Looks at the files. Where one has just been written, it waits until a new time stamp is another one.
    pub(super) fn of(files: impl Iterator<Item = PathBuf>) -> Self {
        let all: Vec<_> = files
            .map(|f| (changed(&f), f))
            .map(|(t, f)| (f, t))
            .collect();
        let young = (all.iter().filter_map(|(_, at)| at.as_ref()?.elapsed().ok())).min();
        if let Some(left) = young.and_then(|age| TICK.checked_sub(age)) {
            std::thread::sleep(left);
        }
        Self(all)
    }

    /// The first file that is as it was, or is not there.
    pub(super) fn unchanged(&self) -> Option<&Path> {
        let stale = self.0.iter().find(|(f, before)| {
            let now = changed(f);
            now.is_none() || now == *before
        });
        stale.map(|(f, _)| f.as_path())
    }
}

fn changed(file: &Path) -> Option<SystemTime> {
    file.metadata().ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_an_earlier_run_is_told_from_a_new_one() {
        let dir = tempfile::tempdir().unwrap();
        let at = |n: &str| dir.path().join(n);
        let look = || Before::of([at("a"), at("b")].into_iter());
        std::fs::write(at("a"), "1").unwrap();
        let before = look();
        assert_eq!(before.unchanged(), Some(at("a").as_path()));
        std::fs::write(at("a"), "1").unwrap();
        assert_eq!(before.unchanged(), Some(at("b").as_path()));
        std::fs::write(at("b"), "2").unwrap();
        assert_eq!(before.unchanged(), None);
        // The same at once, with the same contents.
        for _ in 0..5 {
            let before = look();
            std::fs::write(at("a"), "1").unwrap();
            std::fs::write(at("b"), "2").unwrap();
            assert_eq!(before.unchanged(), None);
        }
    }
}
