//! How much memory there is, so that what cannot fit is refused before work.

/// Bytes that this process may still take: what the system has to spare, or what is left of its control group's limit.
/// `None` where neither is known.
pub fn available() -> Option<u64> {
    let number =
        |path: &str| -> Option<u64> { std::fs::read_to_string(path).ok()?.trim().parse().ok() };
    let system = std::fs::read_to_string("/proc/meminfo").ok().and_then(|t| {
        let line = t.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
        let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
        Some(kib << 10)
    });
    let group = number("/sys/fs/cgroup/memory.max")
        .map(|max| max.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
    [system, group].into_iter().flatten().min()
}

/// Whether so many bytes are there; if not, how many were needed and are.
///
/// # Errors
/// They are not.
pub fn check(what: &str, bytes: u64) -> Result<(), String> {
    match available() {
        Some(there) if bytes > there => {
            let gib = |b: u64| b as f64 / f64::from(1 << 30);
            Err(format!(
                "{what} need {:.1} GiB of memory; {:.1} GiB are free",
                gib(bytes),
                gib(there)
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_cannot_fit_is_refused_with_its_size() {
        super::check("a few", 1).unwrap();
        if super::available().is_some() {
            let said = super::check("all pixels", 1 << 60).unwrap_err();
            assert!(said.contains("all pixels need 1073741824.0 GiB"), "{said}");
        }
    }
}
