//! How many threads a command may start: what `--threads N` means in every command.

use std::num::NonZero;
use std::thread::available_parallelism;

/// More than this many are never of use; a thread takes megabytes.
const LEAST_LIMIT: usize = 1024;

/// The most threads that a command takes: a few for each processor of this host.
pub fn limit() -> usize {
    let cores = available_parallelism().map_or(1, NonZero::get);
    LEAST_LIMIT.max(4 * cores)
}

/// Reads a number of threads; a parser for `clap`.
///
/// # Errors
/// It is not a whole number from 1 to [`limit`].
pub fn parse(text: &str) -> Result<usize, String> {
    let limit = limit();
    match text.parse::<usize>() {
        Ok(n) if (1..=limit).contains(&n) => Ok(n),
        _ => Err(format!("take 1 to {limit} threads")),
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
            assert!(parse(text).unwrap_err().contains("take 1 to"), "{text}");
        }
    }
}
