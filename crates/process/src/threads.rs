//! Number of threads that a command may start: the meaning of `--threads N` in every command.

use std::num::NonZero;
use std::thread::available_parallelism;

/// A thread takes megabytes, so there is a limit on every host.
const LEAST_LIMIT: usize = 1024;

/// Maximum number of threads: a few for each processor of this host.
pub fn limit() -> usize {
    let cores = available_parallelism().map_or(1, NonZero::get);
    LEAST_LIMIT.max(4 * cores)
}

/// The number of threads is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the number of threads must lie between 1 and {limit}")]
pub struct InvalidThreads {
    /// The largest valid number.
    pub limit: usize,
}

/// Reads a number of threads.
///
/// # Errors
/// It is not an integer from 1 to [`limit`].
pub fn parse(text: &str) -> Result<usize, InvalidThreads> {
    check(text.parse().unwrap_or(0))
}

/// The same number, if a command may start that many threads.
///
/// # Errors
/// It does not lie between 1 and [`limit`].
pub fn check(n: usize) -> Result<usize, InvalidThreads> {
    let limit = limit();
    if (1..=limit).contains(&n) {
        Ok(n)
    } else {
        Err(InvalidThreads { limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_numbers_are_refused() {
        assert_eq!(parse("1"), Ok(1));
        assert_eq!(parse(&limit().to_string()), Ok(limit()));
        for text in ["0", "-1", "", "two", "1000000", "99999999999999999999"] {
            assert!(
                parse(text)
                    .unwrap_err()
                    .to_string()
                    .contains("between 1 and"),
                "{text}"
            );
        }
    }
}
