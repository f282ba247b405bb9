//! What the tests of the commands share: full disks, signals, messages, names in a folder, examples of help
//! texts, pages in a browser.
//!
//! For tests only: each function panics where the test cannot go on.
#![warn(missing_docs)]

pub mod browser;
pub mod examples;
pub mod mpi;

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

/// What a command may take to end after a signal: the two seconds that are promised, and what a busy host adds.
pub const END_LIMIT: Duration = Duration::from_secs(5);

/// Bytes as text, whatever they are.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Says that a test, or a part of it, does not run here, and why; also where the test passes.
pub fn skipped(why: &str) {
    // Not by a macro, whose output a test that passes does not show.
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}

/// Runs a command that must succeed.
pub fn succeeds(command: &mut Command) -> Output {
    let out = command.output().expect("it starts");
    assert!(
        out.status.success(),
        "{command:?}: {:?} {}",
        out.status,
        text(&out.stderr)
    );
    out
}

/// Standard error of a command that must fail with a message and code 1.
pub fn fails(command: &mut Command) -> String {
    failure(command, &[1])
}

/// Standard error of a command that must fail with a message: code 1, or 2 for wrong arguments.
pub fn is_refused(command: &mut Command) -> String {
    failure(command, &[1, 2])
}

fn failure(command: &mut Command, codes: &[i32]) -> String {
    let out = command.output().expect("it starts");
    let said = text(&out.stderr);
    // A panic ends with 101, an abort with a signal.
    assert!(
        out.status.code().is_some_and(|c| codes.contains(&c)),
        "{command:?}: {:?} {said}",
        out.status
    );
    assert!(
        said.contains("error:") && !said.contains("panicked"),
        "{command:?}: {said}"
    );
    said
}

/// The same command on a full disk: no file can grow beyond `blocks` of 512 bytes.
pub fn on_a_full_disk(command: &Command, blocks: u32) -> Command {
    let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
    wrapped("sh", &["-c", &script], command)
}

/// The same command with the signals of a terminal: the caller of the tests may have switched them off.
pub fn at_a_terminal(command: &Command) -> Command {
    wrapped("env", &["--default-signal=INT,TERM,HUP"], command)
}

/// The same command, environment and folder, started by another program; without input.
pub fn wrapped(program: &str, args: &[&str], command: &Command) -> Command {
    let mut out = Command::new(program);
    out.args(args)
        .arg(command.get_program())
        .args(command.get_args())
        .stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => out.env(name, value),
            None => out.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        out.current_dir(folder);
    }
    out
}

/// Starts a command without input and output.
pub fn started(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// Waits until `ready`, at most two minutes; the child must go on.
pub fn wait_until(child: &mut Child, mut ready: impl FnMut() -> bool) {
    let start = Instant::now();
    while !ready() {
        let ended = child.try_wait().expect("it can be waited for");
        assert!(ended.is_none(), "it ended too early: {ended:?}");
        assert!(start.elapsed() < Duration::from_secs(120), "it hangs");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal: `INT`, `TERM`, `HUP`, `KILL`, `STOP`, `CONT`.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), child.id().to_string()])
        .status();
    assert!(sent.expect("kill starts").success(), "{name}");
}

/// Whether a process handles a signal by now, where `/proc` says it; else true.
pub fn handles(pid: u32, name: &str) -> bool {
    let number = match name {
        "HUP" => 1,
        "INT" => 2,
        _ => 15,
    };
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else {
        return true;
    };
    status.lines().any(|l| {
        l.strip_prefix("SigCgt:").is_some_and(|mask| {
            u64::from_str_radix(mask.trim(), 16).is_ok_and(|m| m >> (number - 1) & 1 == 1)
        })
    })
}

/// Waits until a child handles a signal: one that comes earlier ends it without code 130.
pub fn wait_until_handled(child: &mut Child, name: &str) {
    let pid = child.id();
    wait_until(child, || handles(pid, name));
}

/// Waits for the end; `None` after [`END_LIMIT`], when the child is killed.
pub fn ended(child: &mut Child) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < END_LIMIT {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// Sends a signal and asserts that the child ends in time with code 130.
pub fn is_ended_by(child: &mut Child, name: &str) {
    let line = std::fs::read(format!("/proc/{}/cmdline", child.id())).unwrap_or_default();
    let line = text(&line).replace('\0', " ");
    signal(child, name);
    let Some(status) = ended(child) else {
        panic!("{line}: it went on for {END_LIMIT:?} after {name}");
    };
    let by = status.signal();
    assert_eq!(status.code(), Some(130), "{line}: {name}, ended by {by:?}");
}

/// Sorted names in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut all: Vec<String> = entries
        .flatten()
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    all.sort();
    all
}

/// Files under way in a folder and those below it.
pub fn unfinished(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(unfinished(&path));
        } else if ["unfinished", "tmp"]
            .map(|e| Some(OsStr::new(e)))
            .contains(&path.extension())
        {
            found.push(path);
        }
    }
    found
}

/// Writes a program. A process of its own writes it: while this one had the file open, another of its threads could start
/// a process, which holds it open too, and the system refuses to run what is open for writing.
pub fn program(path: &Path, content: impl AsRef<[u8]>) {
    let source = path.with_extension("source");
    std::fs::write(&source, content).expect("a file");
    let script = "cp \"$1\" \"$2\" && chmod 755 \"$2\" && rm \"$1\"";
    let mut copy = Command::new("sh");
    copy.args(["-c", script, "sh"]).arg(source).arg(path);
    assert!(
        copy.status().expect("a shell").success(),
        "{}",
        path.display()
    );
}

/// Copies the files of a folder.
pub fn copy_files(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
    }
}

/// Starts a command without input and output and kills it `later` than `ready`, before it ends.
pub fn kill_after(command: &mut Command, ready: impl FnMut() -> bool, later: Duration) {
    let mut child = started(command);
    wait_until(&mut child, ready);
    std::thread::sleep(later);
    let ended = child.try_wait().expect("it can be waited for");
    assert!(ended.is_none(), "it ended too early: {ended:?}");
    child.kill().expect("it can be killed");
    child.wait().expect("it can be waited for");
}

/// Arguments of every command of a program in the data of the papers.
///
/// # Panics
/// The data cannot be read.
pub fn commands_of_papers(program: &str) -> Vec<Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers");
    let start = format!("{program} ");
    let mut found = Vec::new();
    let files = fs::read_dir(folder).expect("papers").flatten();
    for path in files.map(|e| e.path()).filter(|p| p.is_file()) {
        let text = fs::read_to_string(path).expect("text");
        // Commands of items and of measurements stand alone in quotes.
        let lines = text.lines().map(str::trim_start);
        let kept = lines.filter(|l| {
            ["command = \"", "run = [", "\""]
                .iter()
                .any(|s| l.starts_with(s))
        });
        for line in kept
            .flat_map(|l| l.split('"'))
            .filter_map(|l| l.strip_prefix(&start))
        {
            // What follows `--` is another program's.
            let own = line.split(" -- ").next();
            found.push(words(own.unwrap_or_default()));
        }
    }
    found
}

/// Words of a command as a shell splits them.
///
/// # Panics
/// A quote is open.
pub fn words(command: &str) -> Vec<String> {
    shell_words::split(command).expect("quotes in pairs")
}

/// The page that `greenup analyze` makes of a sweep, by the program beside the tests.
///
/// # Panics
/// It fails, or a build of the whole workspace did not put it there.
pub fn analyzed(sweep: &Path) -> String {
    let test = std::env::current_exe().expect("a test");
    let greenup = test.ancestors().nth(2).expect("a folder").join("greenup");
    assert!(
        greenup.is_file(),
        "cargo build --workspace makes {greenup:?}"
    );
    let out = sweep.with_extension("analysis");
    succeeds(
        Command::new(greenup)
            .args(["analyze", "--out"])
            .args([&out, sweep]),
    );
    fs::read_to_string(out.join("report.html")).expect("a page")
}

/// The whole lines of a sweep's trials.
///
/// # Panics
/// A line is no JSON.
pub fn trials(sweep: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(sweep.join("trials.jsonl")).unwrap_or_default();
    text.split_inclusive('\n')
        .filter(|l| l.ends_with('\n'))
        .map(|l| serde_json::from_str(l).expect("a trial"))
        .collect()
}

/// Loops that keep cores busy, ended with it.
pub struct Busy(Vec<Child>);

impl Busy {
    /// Starts loops.
    pub fn new(n: usize) -> Self {
        let one = |_| {
            Command::new("sh")
                .args(["-c", "while :; do :; done"])
                .spawn()
                .expect("sh starts")
        };
        Self((0..n).map(one).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
