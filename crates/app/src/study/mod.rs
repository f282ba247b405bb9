//! Studies: an application lists its cases and says how one is set up and run; here they are measured one after another,
//! kept after each, and recorded as trials of a sweep.
//!
//! | module | contents |
//! |---|---|
//! | `bench` | sensors, and work that they measure |
//! | `cases` | the loop over the cases |
//! | `files` | what `--out` names: files, or a folder |
//! | `record` | the sweep that a study adds to, and goes on with |
//! | `trial` | a case with its times and energy, as sweeps record it |

mod bench;
mod cases;
mod files;
mod record;
mod trial;

pub use bench::{Bench, Measured};
pub use cases::{Found, complete, measure};
pub use files::Files;
pub use greenup_tune::sweep::Trial;
pub use record::{Case, Record, facts};
pub use trial::{timed, trial};

/// Numbers of devices that are compared: 1, 2, 4, … and all.
pub fn counts(all: usize) -> Vec<usize> {
    std::iter::successors(Some(1), |n| Some(2 * n))
        .take_while(|n| *n < all)
        .chain([all])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_devices_are_doubled_up_to_all() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(2), [1, 2]);
        assert_eq!(counts(6), [1, 2, 4, 6]);
        assert_eq!(counts(8), [1, 2, 4, 8]);
    }
}
