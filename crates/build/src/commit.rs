//! The git commit of the sources, read from git's own files: git need not be installed, and nobody's settings matter.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// What stands for a commit where there is none.
pub const UNKNOWN: &str = "unknown";

/// A commit, and the files that change with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its hash, or [`UNKNOWN`].
    pub hash: String,
    /// Files that exist now, one of which changes when another commit is checked out or made.
    pub watched: Vec<PathBuf>,
}

/// The commit that is checked out in `root`, which must be the top folder of a checkout.
pub fn commit(root: &Path) -> Commit {
    read(root).unwrap_or(Commit {
        hash: UNKNOWN.to_owned(),
        watched: Vec::new(),
    })
}

fn read(root: &Path) -> Option<Commit> {
    let git = git_folder(root)?;
    // In a worktree the branches are those of the main checkout.
    let common = match read_to_string(git.join("commondir")) {
        Ok(path) => git.join(path.trim_end()),
        Err(_) => git.clone(),
    };
    let head = git.join("HEAD");
    let text = read_to_string(&head).ok()?;
    let mut watched = vec![head];
    let hash = match text.strip_prefix("ref:") {
        None => text.trim().to_owned(),
        Some(name) => {
            let name = name.trim();
            let branch = common.join(name);
            if let Ok(hash) = read_to_string(&branch) {
                watched.push(branch);
                hash.trim().to_owned()
            } else {
                // The next commit writes the branch's own file, which is not there yet: the log tells.
                watched.push(git.join("logs/HEAD"));
                let packed = common.join("packed-refs");
                let line = read_to_string(&packed).ok()?;
                watched.push(packed);
                line.lines()
                    .find_map(|l| l.strip_suffix(name)?.strip_suffix(' '))?
                    .to_owned()
            }
        }
    };
    // A file that is missing would count as changed for ever.
    watched.retain(|f| f.is_file());
    let is_hash = hash.len() >= 40 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then_some(Commit { hash, watched })
}

/// `.git`: a folder, or in a worktree a file that names it.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = read_to_string(git).ok()?;
    Some(root.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Passes the commit, the target and the compiler to the crate as `GREENUP_COMMIT`, `GREENUP_TARGET` and
/// `GREENUP_COMPILER`, and builds it again only when the commit changes. The variable `GREENUP_COMMIT` of whoever builds goes before: a package has no `.git`.
pub fn pass_commit(root: &Path) {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=GREENUP_COMMIT");
    let found = commit(root);
    for file in &found.watched {
        println!("cargo::rerun-if-changed={}", file.display());
    }
    let hash = std::env::var("GREENUP_COMMIT").unwrap_or(found.hash);
    println!("cargo::rustc-env=GREENUP_COMMIT={}", hash.trim());
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=GREENUP_TARGET={target}");
    println!("cargo::rustc-env=GREENUP_COMPILER={}", compiler());
}

/// Name and version of the Rust compiler, without commit and date.
fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let out = std::process::Command::new(rustc).arg("--version").output();
    let text = out.map_or_else(
        |_| String::new(),
        |o| String::from_utf8_lossy(&o.stdout).into_owned(),
    );
    match text.split(" (").next().map(str::trim) {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn put(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        create_dir_all(path.parent().unwrap()).unwrap();
        write(path, text).unwrap();
    }

    fn names(c: &Commit, root: &Path) -> Vec<String> {
        let name = |p: &PathBuf| p.strip_prefix(root).unwrap().display().to_string();
        c.watched.iter().map(name).collect()
    }

    /// A folder of its own, removed at the end. A library of temporary folders would give what is built for build scripts other
    /// features in tests, so that all were compiled twice.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let of = format!("greenup-build-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(of);
            create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_branch_a_packed_branch_and_no_branch() {
        let dir = Folder::new("branches");
        let root = dir.0.as_path();
        assert_eq!(commit(root).hash, UNKNOWN);
        put(root, ".git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(commit(root).hash, UNKNOWN, "no commit yet");
        let packed = format!("# pack-refs\n{B} refs/heads/xmain\n{A} refs/heads/main\n");
        put(root, ".git/packed-refs", &packed);
        let c = commit(root);
        assert_eq!(c.hash, A);
        assert_eq!(names(&c, root), [".git/HEAD", ".git/packed-refs"]);
        put(root, ".git/logs/HEAD", "");
        assert!(names(&commit(root), root).contains(&".git/logs/HEAD".to_owned()));
        put(root, ".git/refs/heads/main", &format!("{B}\n"));
        let c = commit(root);
        assert_eq!(c.hash, B);
        assert_eq!(names(&c, root), [".git/HEAD", ".git/refs/heads/main"]);
        put(root, ".git/HEAD", &format!("{A}\n"));
        assert_eq!(commit(root).hash, A, "a detached head");
        put(root, ".git/HEAD", "nonsense\n");
        assert_eq!(commit(root).hash, UNKNOWN);
    }

    #[test]
    fn a_worktree_has_its_own_head_and_the_branches_of_the_main_one() {
        let dir = Folder::new("worktree");
        let root = dir.0.as_path();
        put(root, "tree/.git", "gitdir: ../main/.git/worktrees/tree\n");
        put(root, "main/.git/worktrees/tree/HEAD", "ref: refs/heads/b\n");
        put(root, "main/.git/worktrees/tree/commondir", "../..\n");
        put(root, "main/.git/refs/heads/b", &format!("{B}\n"));
        assert_eq!(commit(&root.join("tree")).hash, B);
    }
}
