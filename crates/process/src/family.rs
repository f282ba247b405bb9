//! Processes by their parents and groups, as the system lists them; none where it does not.

/// A process that the system lists.
struct Listed {
    pid: i32,
    parent: i32,
    group: i32,
    /// It ended, and nobody has asked how.
    ended: bool,
}

fn listed() -> impl Iterator<Item = Listed> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|e| {
        let pid = e.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read(e.path().join("stat")).ok()?;
        // The name in parentheses may hold anything.
        let after = stat.iter().rposition(|&b| b == b')')?;
        let rest = String::from_utf8_lossy(&stat[after + 1..]);
        let mut words = rest.split_whitespace();
        Some(Listed {
            pid,
            ended: matches!(words.next()?, "Z" | "X"),
            parent: words.next()?.parse().ok()?,
            group: words.next()?.parse().ok()?,
        })
    })
}

/// Processes below one.
pub fn descendants(of: i32) -> Vec<i32> {
    let all: Vec<Listed> = listed().collect();
    let mut found = vec![of];
    let mut at = 0;
    while let Some(&parent) = found.get(at) {
        let below = all.iter().filter(|p| p.parent == parent && p.pid != of);
        found.extend(below.map(|p| p.pid));
        at += 1;
        if found.len() > all.len() + 1 {
            break;
        }
    }
    found.split_off(1)
}

/// Whether a process of this group lives.
pub(crate) fn lives_in(group: i32) -> bool {
    listed().any(|p| p.group == group && !p.ended)
}
