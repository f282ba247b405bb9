//! The shell line by which a launcher starts a program.

use greenup_setting::shell::{self, single_quoted};

/// Launcher text that stands for the program and its arguments, as one word.
const PLACE: &str = "{}";

/// The line for `sh -c` that starts a program by a launcher.
///
/// The words follow the launcher. Where the launcher has `{}`, they are there as one word, quoted for the shell that splits
/// it; `ssh`, which joins its arguments by spaces for a shell, gets them so too.
pub fn line(launcher: &str, program: &str, arguments: &[&str]) -> String {
    let words: Vec<String> = std::iter::once(program)
        .chain(arguments.iter().copied())
        .map(quoted)
        .collect();
    let words = words.join(" ");
    if launcher.contains(PLACE) {
        return format!("exec {}", launcher.replace(PLACE, &single_quoted(&words)));
    }
    match ssh(launcher) {
        Some(launcher) => format!("exec {launcher} {}", single_quoted(&words)),
        None => format!("exec {launcher} {words}"),
    }
}

/// Whether a launcher is `ssh`.
pub fn is_ssh(launcher: &str) -> bool {
    let first = launcher.split_whitespace().next().unwrap_or_default();
    first.rsplit('/').next() == Some("ssh")
}

/// An `ssh` launcher that never asks at a terminal, which it could not have, and sees within a minute that its connection is lost.
fn ssh(launcher: &str) -> Option<String> {
    if !is_ssh(launcher) {
        return None;
    }
    let launcher = launcher.trim_start();
    let (program, rest) = launcher
        .split_once(char::is_whitespace)
        .unwrap_or((launcher, ""));
    let has = |option: &str| rest.to_lowercase().contains(&option.to_lowercase());
    let mut out = format!("{program} -T");
    for (option, value) in [("BatchMode", "yes"), ("ServerAliveInterval", "15")] {
        if !has(option) {
            out.push_str(&format!(" -o {option}={value}"));
        }
    }
    Some(format!("{out} {rest}"))
}

/// A word for the shell of a host; a leading `~/` stays for it to expand.
pub fn quoted(word: &str) -> String {
    match word.strip_prefix("~/") {
        Some(rest) => format!("~/{}", shell::quoted(rest)),
        None => shell::quoted(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_program_through_one_shell_or_two() {
        let program = "/opt/my tools/it's";
        let run = |launcher: &str| {
            let line = line(launcher, "printf", &["%s|", program, "a b", "$HOME"]);
            let out = std::process::Command::new("sh")
                .args(["-c", &line])
                .output()
                .unwrap();
            String::from_utf8(out.stdout).unwrap()
        };
        let expected = "/opt/my tools/it's|a b|$HOME|";
        assert_eq!(run("env A=1"), expected);
        assert_eq!(run("sh -c {}"), expected);
        assert_eq!(run("env A=1 sh -c 'eval \"$1\"' -- {}"), expected);
    }

    #[test]
    fn ssh_asks_nothing_and_gets_one_word() {
        let program = "~/my tools/greenup";
        assert_eq!(
            line("ssh node1 env A=1", program, &["--version"]),
            r"exec ssh -T -o BatchMode=yes -o ServerAliveInterval=15 node1 env A=1 '~/'\''my tools/greenup'\'' --version'"
        );
        assert_eq!(
            line("/usr/bin/ssh -o batchmode=no n", "greenup", &[]),
            "exec /usr/bin/ssh -T -o ServerAliveInterval=15 -o batchmode=no n 'greenup'"
        );
        assert!(!is_ssh("sshpass -e ssh n") && is_ssh(" ssh n"));
    }
}
