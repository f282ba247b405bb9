//! Whether a run wrote the files that are read after it: what an earlier run left says nothing of this one.

use std::fs::{File, FileTimes};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Files are dated back by this before a run: more than the step of any file system's time stamps.
const BACK: Duration = Duration::from_secs(3600);
/// Time within which two changes of a file may bear the same time stamp, where it cannot be dated back.
const TICK: Duration = Duration::from_millis(10);

/// Files of results as they were before a run.
pub(super) struct Before(Vec<(PathBuf, Option<SystemTime>)>);

impl Before {
    /// Dates the files back, so that a new time stamp is another one, whatever its step. Where a file is not this user's, it waits
    /// until a time stamp of common steps is another one.
    pub(super) fn of(files: impl Iterator<Item = PathBuf>) -> Self {
        let mut young: Option<Duration> = None;
        let all: Vec<_> = files
            .map(|file| {
                if let (Some(at), false) = (changed(&file), dated_back(&file))
                    && let Ok(age) = at.elapsed()
                {
                    young = Some(young.map_or(age, |y| y.min(age)));
                }
                let now = changed(&file);
                (file, now)
            })
            .collect();
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

/// Whether it could be done.
fn dated_back(file: &Path) -> bool {
    let past = SystemTime::now().checked_sub(BACK);
    let (Some(past), true) = (past, file.is_file()) else {
        return false;
    };
    // Opened for writing nothing, as reading may not be allowed.
    let open = File::options().append(true).open(file);
    open.is_ok_and(|f| f.set_times(FileTimes::new().set_modified(past)).is_ok())
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
        // The same at once, with the same contents, and time stamps of whole seconds or of two, as some file systems have.
        let step = |name: &str, seconds: u64| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let cut = Duration::from_secs(now.unwrap().as_secs() / seconds * seconds);
            let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH + cut);
            let file = File::options().append(true).open(at(name)).unwrap();
            file.set_times(times).unwrap();
        };
        for seconds in [1, 2, 1, 2] {
            let before = look();
            std::fs::write(at("a"), "1").unwrap();
            std::fs::write(at("b"), "2").unwrap();
            step("a", seconds);
            step("b", seconds);
            assert_eq!(before.unchanged(), None);
        }
    }
}
