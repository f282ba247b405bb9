//! How a worker ended.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// Exit code of a worker behind a launcher that a signal ended, less the signal: as shells have it. Launchers pass codes on, not
/// signals.
pub(crate) const SIGNALLED: i32 = 128;
/// Exit code of `ssh` for errors of its own.
const SSH: i32 = 255;

/// What ended a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndOf {
    /// Its kernel.
    Kernel,
    /// Itself behind a launcher, as its job took too long.
    Alarm,
    /// Its launcher.
    Connection,
}

/// How a worker ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) of: EndOf,
    /// In words.
    pub(super) message: String,
}

impl End {
    /// By its status, or its launcher's if it is `remote`, and what came out of its standard error.
    pub(super) fn of(status: Option<ExitStatus>, errors: &str, remote: bool) -> Self {
        let signal = status.and_then(|s| s.signal());
        let code = status.and_then(|s| s.code());
        let passed_on = code
            .filter(|c| remote && (SIGNALLED + 1..SIGNALLED + 65).contains(c))
            .map(|c| c - SIGNALLED);
        let of = match (passed_on, code, signal) {
            (Some(libc::SIGALRM), ..) => EndOf::Alarm,
            (None, Some(SSH), _) | (None, _, Some(_)) if remote => EndOf::Connection,
            _ => EndOf::Kernel,
        };
        let mut message = match (passed_on.or(signal), code) {
            (Some(n), _) => format!("it was killed by signal {n}{}", name(n)),
            (None, Some(c)) => format!("its process ended with code {c}"),
            (None, None) => "its process ended".into(),
        };
        if let Some(last) = errors.trim().lines().last() {
            message.push_str(": ");
            message.push_str(last.trim());
        }
        Self { of, message }
    }
}

fn name(n: i32) -> &'static str {
    match n {
        libc::SIGSEGV => " (invalid memory access)",
        libc::SIGBUS => " (bus error)",
        libc::SIGFPE => " (arithmetic error)",
        libc::SIGILL => " (illegal instruction)",
        libc::SIGABRT => " (abort)",
        libc::SIGKILL => " (kill; out of memory?)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_behind_a_launcher_are_told_from_those_of_kernels() {
        let code = |c: i32| Some(ExitStatus::from_raw(c << 8));
        let signal = |s: i32| Some(ExitStatus::from_raw(s));
        for (status, remote, of, message) in [
            (signal(11), false, EndOf::Kernel, "signal 11 (invalid"),
            (code(139), true, EndOf::Kernel, "signal 11 (invalid"),
            (code(139), false, EndOf::Kernel, "code 139"),
            (code(142), true, EndOf::Alarm, "signal 14"),
            (code(255), false, EndOf::Kernel, "code 255"),
            (code(255), true, EndOf::Connection, "code 255: lost"),
            (signal(9), true, EndOf::Connection, "signal 9"),
            (code(3), true, EndOf::Kernel, "code 3"),
        ] {
            let end = End::of(status, "first\nlost\r\n", remote);
            assert_eq!(end.of, of, "{status:?} {remote}");
            assert!(end.message.contains(message), "{end:?}");
        }
    }
}
