//! Available memory, checked before large allocations.

use std::fs::read_to_string;

/// More memory is needed than is available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} needs about {} of memory, but {} are available", size(*.needed), size(*.available))]
pub struct OutOfMemory {
    /// What needs the memory.
    pub what: String,
    /// Bytes that it needs.
    pub needed: u64,
    /// Bytes that are available.
    pub available: u64,
}

/// Bytes that this process can still allocate: free memory of the host, within the limits of its container and of
/// `ulimit -v`; `None` where the host does not tell.
pub fn available() -> Option<u64> {
    let host = field(&read_to_string("/proc/meminfo").ok()?, "MemAvailable:")? << 10;
    [Some(host), container(), address_space()]
        .into_iter()
        .flatten()
        .min()
}

/// The largest memory that this process has had so far, bytes; `None` where the host does not tell.
pub fn peak() -> Option<u64> {
    Some(field(&read_to_string("/proc/self/status").ok()?, "VmHWM:")? << 10)
}

/// Checks that `bytes` of memory are available for `what`.
///
/// # Errors
/// They are not.
pub fn check(what: &str, bytes: u64) -> Result<(), OutOfMemory> {
    match available() {
        Some(free) if bytes > free => Err(OutOfMemory {
            what: what.to_owned(),
            needed: bytes,
            available: free,
        }),
        _ => Ok(()),
    }
}

/// A number of bytes as text, in MiB or GiB.
pub fn size(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    if gib >= 0.1 {
        format!("{gib:.1} GiB")
    } else {
        format!("{:.1} MiB", 1024.0 * gib)
    }
}

/// The first number of the line that begins with `name`.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .find_map(|l| l.strip_prefix(name))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

fn container() -> Option<u64> {
    let read = |name: &str| read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let limit: u64 = read("memory.max")?.trim().parse().ok()?;
    let used: u64 = read("memory.current")?.trim().parse().ok()?;
    // The system frees cached files when memory is needed.
    let cached = field(&read("memory.stat")?, "file ")?;
    Some(limit.saturating_sub(used.saturating_sub(cached)))
}

fn address_space() -> Option<u64> {
    let limit = field(
        &read_to_string("/proc/self/limits").ok()?,
        "Max address space",
    )?;
    let used = field(&read_to_string("/proc/self/status").ok()?, "VmSize:")? << 10;
    Some(limit.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_both_numbers() {
        check("a", 1000).unwrap();
        let e = check("a run", 1 << 60).unwrap_err().to_string();
        assert!(
            e.starts_with("a run needs about 1073741824.0 GiB of memory, but"),
            "{e}"
        );
        assert_eq!(
            field(
                "Max address space         8000 unlimited bytes",
                "Max address space"
            ),
            Some(8000)
        );
        assert_eq!(
            field(
                "Max address space         unlimited unlimited bytes",
                "Max address space"
            ),
            None
        );
    }
}
