//! Whether the arguments of a problem fit into this machine's memory, known before any is asked for.

use crate::problem::Data;

/// Copies of every array: what kernels work on, and what it holds before a run.
const COPIES: u128 = 2;

/// Bytes of memory that this process may use at most: the machine's, the control group's, the limit of its addresses.
fn available() -> Option<u128> {
    // SAFETY: both calls only read settings of the system.
    let (pages, page) = unsafe {
        (
            libc::sysconf(libc::_SC_PHYS_PAGES),
            libc::sysconf(libc::_SC_PAGESIZE),
        )
    };
    let machine = u128::try_from(pages).ok()? * u128::try_from(page).ok()?;
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max")
        .ok()
        .and_then(|t| t.trim().parse().ok());
    let mut limit = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the pointer is valid for writes.
    unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) };
    let own = (limit.rlim_cur != libc::RLIM_INFINITY).then_some(u128::from(limit.rlim_cur));
    [Some(machine), group, own].into_iter().flatten().min()
}

/// Arguments that exceed the memory of this machine.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "the arguments need {needed_gb:.1} GB of memory (each array twice; `{largest}` has {largest_gb:.1} GB), and there are {available_gb:.1} GB: make them smaller"
)]
pub struct OutOfMemory {
    /// What all arrays need, GB.
    pub needed_gb: f64,
    /// Name of the largest array.
    pub largest: String,
    /// Its size, GB.
    pub largest_gb: f64,
    /// What this process may use, GB.
    pub available_gb: f64,
}

/// Refuses arguments that do not fit, with the numbers.
///
/// # Errors
/// What they need and what there is.
pub fn refuse_too_large(data: &[Data]) -> Result<(), OutOfMemory> {
    available().map_or(Ok(()), |limit| within(data, limit))
}

fn within(data: &[Data], limit: u128) -> Result<(), OutOfMemory> {
    let bytes = |d: &Data| d.len.unwrap_or(0) as u128 * d.kind.bytes() as u128;
    let need = COPIES * data.iter().map(bytes).sum::<u128>();
    let Some(largest) = data.iter().rev().max_by_key(|d| bytes(d)) else {
        return Ok(());
    };
    if need <= limit {
        return Ok(());
    }
    Err(OutOfMemory {
        needed_gb: gb(need),
        largest: largest.name.clone(),
        largest_gb: gb(bytes(largest)),
        available_gb: gb(limit),
    })
}

fn gb(bytes: u128) -> f64 {
    bytes as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Fill, Role, Type};

    #[test]
    fn what_does_not_fit_is_refused_with_numbers() {
        let array = |name: &str, len| Data {
            name: name.into(),
            kind: Type::F64,
            len,
            value: 0.0,
            bytes: Vec::new(),
            fill: Fill::Number(0.0),
            role: Role::In,
            answer: None,
            symbol: None,
        };
        let data = [
            array("n", None),
            array("a", Some(1000)),
            array("b", Some(500_000_000)),
        ];
        assert!(within(&data, 9_000_000_000).is_ok());
        let m = within(&data, 8_000_000_000).unwrap_err().to_string();
        assert!(
            m.contains("8.0 GB of memory") && m.contains("`b` has 4.0 GB"),
            "{m}"
        );
        // No sum overflows.
        let huge = [array("a", Some(usize::MAX)), array("b", Some(usize::MAX))];
        assert!(within(&huge, u128::from(u64::MAX)).is_err());
        assert!(refuse_too_large(&huge).is_err() && refuse_too_large(&[]).is_ok());
    }
}
