//! The processes of a run that a launcher such as `mpirun` started: the first prints, all must run the same program, and an
//! error of one ends all with one message.

mod boards;
mod team;

pub use boards::Boards;
pub use team::{RankTeam, RanksArg, check_alone};

use crate::error::{AppError, Result};
use crate::print::{self, Level};
use crate::stdout;
use greenup_ranks::{Ranks, launched};
use greenup_report::provenance::arguments;
use greenup_report::version::version;
use std::sync::Arc;
use std::time::Duration;

/// Time in which the first process ends all, before others print an error that is probably the same.
const ORDER: Duration = Duration::from_secs(2);

/// The ranks of this run: those that a launcher started, else one alone. All run the same program with the same arguments.
///
/// # Errors
/// MPI is missing or not the launcher's, or the programs or arguments differ.
pub fn world() -> Result<Arc<dyn Ranks>> {
    let ranks = greenup_ranks::world()?;
    check_same_binary(&*ranks)?;
    Ok(ranks)
}

/// Checks that all ranks run the same program with the same arguments.
///
/// # Errors
/// They do not; all ranks get the same error.
pub fn check_same_binary(ranks: &dyn Ranks) -> Result {
    let own = format!("{}\n{}", version().long(), arguments());
    agree(ranks, &own, |first, other, rank| {
        let differs = first.lines().zip(other.lines()).find(|(a, b)| a != b);
        let (a, b) = differs.unwrap_or((first, other));
        format!(
            "rank {rank} runs another program or has other arguments than rank 0: `{b}`, not `{a}`. Fix: install the same version on all hosts"
        )
    })
}

/// Checks that a text is the same on all ranks; `message` says what is wrong from the text of rank 0, another text, and
/// the rank of that.
///
/// # Errors
/// It is not the same; all ranks get the same error.
pub fn agree(
    ranks: &dyn Ranks,
    own: &str,
    message: impl Fn(&str, &str, usize) -> String,
) -> Result {
    let all = ranks.gather(own.as_bytes()).unwrap_or_default();
    let odd = all.iter().enumerate().find(|(_, text)| **text != all[0]);
    let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
    let mut wrong = odd
        .map(|(rank, other)| message(&text(&all[0]), &text(other), rank))
        .unwrap_or_default()
        .into_bytes();
    ranks.broadcast(&mut wrong);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(AppError::new(text(&wrong)))
    }
}

/// Threads of a rank where the user named no number: the cores of the host, shared by its ranks, or those that the
/// launcher bound this process to.
pub fn threads(asked: Option<usize>, ranks: &dyn Ranks) -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, usize::from);
    // SAFETY: a question.
    let cores = usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) });
    asked.unwrap_or(if cores.is_ok_and(|all| allowed < all) {
        allowed
    } else {
        (allowed / ranks.local().1).max(1)
    })
}

/// Whether this is a process of a run whose first one prints.
pub(crate) fn is_another_printing() -> bool {
    launched().is_some_and(|l| l.rank > 0)
}

/// Leaves printing to the first process.
pub(crate) fn mute_all_but_one() {
    if is_another_printing() {
        print::set_level(Level::Silent);
        stdout::mute();
    }
}

/// Ends MPI, if it was used.
pub(crate) fn finish() {
    greenup_ranks::finish();
}

/// Prints an error and, in a run of several processes, ends all.
pub(crate) fn end_all(e: &AppError, code: u8) {
    let Some(launched) = launched() else {
        return print::error(e);
    };
    if launched.rank > 0 {
        // The same error of all is printed once, by the first.
        std::thread::sleep(ORDER);
        print::error(&AppError {
            message: format!("rank {}: {}", launched.rank, e.message),
            ..e.clone()
        });
    } else {
        print::error(e);
    }
    if let Some(ranks) = greenup_ranks::joined() {
        ranks.abort("", code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use greenup_ranks::{Alone, threads as team};

    #[test]
    fn all_ranks_get_the_error_of_one() {
        let errors = team::run(3, |r| {
            let own = if r.rank() == 2 { "b" } else { "a" };
            let e = agree(&*r, own, |first, other, rank| {
                format!("{first} {other} {rank}")
            });
            agree(&*r, "same", |_, _, _| unreachable!()).map_err(|e| e.message)?;
            Ok::<_, String>(e.err().map(|e| e.message))
        });
        let same = Some("a b 2".to_owned());
        assert_eq!(errors, Ok(vec![same.clone(), same.clone(), same]));
    }

    #[test]
    fn ranks_of_a_host_share_its_cores() {
        assert_eq!(threads(Some(7), &Alone), 7);
        let cores = std::thread::available_parallelism().unwrap().get();
        assert_eq!(threads(None, &Alone), cores);
        let each = team::run(cores + 1, |r| Ok::<_, ()>(threads(None, &*r)));
        let each = each.unwrap();
        assert!(each.iter().all(|threads| *threads == 1));
    }
}
