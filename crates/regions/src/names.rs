//! Paths of regions: the names from the outermost region to this one, each path with a number.

use hashbrown::HashMap;
use std::sync::Arc;

/// Number of a path; 0 is outside of all regions.
pub type PathId = u32;

/// Outside of all regions.
pub const ROOT: PathId = 0;

/// Where regions go once there are too many paths.
pub const OTHER: PathId = 1;

/// Name of that region.
pub const OTHER_NAME: &str = "(other names)";

/// Paths that are kept apart; a program that puts numbers into names must not fill the memory.
pub const MOST_PATHS: usize = 65_536;

/// Bytes of a name that are kept.
pub const MOST_BYTES: usize = 256;

/// All paths of a process.
pub struct Paths {
    /// Parent and name, by number.
    entries: Vec<(PathId, Arc<[u8]>)>,
    known: HashMap<(PathId, Arc<[u8]>), PathId>,
}

impl Paths {
    pub fn new() -> Self {
        let entries = vec![
            (ROOT, Arc::from(&b""[..])),
            (ROOT, Arc::from(OTHER_NAME.as_bytes())),
        ];
        Self {
            entries,
            known: HashMap::new(),
        }
    }

    /// The path of a region in another; [`OTHER`] if there are too many.
    pub fn inside(&mut self, parent: PathId, name: &Arc<[u8]>) -> PathId {
        if let Some(&id) = self.known.get(&(parent, name.clone())) {
            return id;
        }
        if self.entries.len() >= MOST_PATHS {
            return OTHER;
        }
        let id = self.entries.len() as PathId;
        self.entries.push((parent, name.clone()));
        self.known.insert((parent, name.clone()), id);
        id
    }

    /// Numbers of the paths from the outermost region to this one.
    pub fn ids(&self, mut id: PathId) -> Vec<PathId> {
        let mut ids = Vec::new();
        while id != ROOT {
            ids.push(id);
            id = self.entries[id as usize].0;
        }
        ids.reverse();
        ids
    }

    /// Names from the outermost region to this one.
    pub fn names(&self, mut id: PathId) -> Vec<String> {
        let mut names = Vec::new();
        while id != ROOT {
            let (parent, name) = &self.entries[id as usize];
            names.push(String::from_utf8_lossy(name).into_owned());
            id = *parent;
        }
        names.reverse();
        names
    }
}

/// At most [`MOST_BYTES`] of a name, cut where a character of UTF-8 begins.
pub fn cut(name: &[u8]) -> &[u8] {
    if name.len() <= MOST_BYTES {
        return name;
    }
    let mut end = MOST_BYTES;
    while end > MOST_BYTES - 4 && name[end] & 0xC0 == 0x80 {
        end -= 1;
    }
    &name[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_apart_up_to_a_limit() {
        let mut paths = Paths::new();
        let name = |s: &str| Arc::from(s.as_bytes());
        let a = paths.inside(ROOT, &name("a"));
        let b = paths.inside(a, &name("b"));
        assert_eq!(paths.inside(a, &name("b")), b);
        assert_ne!(paths.inside(ROOT, &name("b")), b);
        assert_eq!(paths.names(b), ["a", "b"]);
        for i in 0..MOST_PATHS {
            paths.inside(ROOT, &name(&i.to_string()));
        }
        assert_eq!(paths.inside(ROOT, &name("one more")), OTHER);
        assert_eq!(paths.inside(a, &name("b")), b);
        assert_eq!(paths.names(OTHER), [OTHER_NAME]);
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(cut(b"ab"), b"ab");
        let long = "é".repeat(200);
        assert!(std::str::from_utf8(cut(long.as_bytes())).is_ok());
        let long = format!("x{long}");
        let cut_name = cut(long.as_bytes());
        assert!(std::str::from_utf8(cut_name).is_ok() && cut_name.len() == 255);
        // Not UTF-8 at all.
        assert!(cut(&[0x80; 1000]).len() >= MOST_BYTES - 4);
    }
}
