//! A browser driven through two pipes by its debugging protocol.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What an answer may take on a busy host.
const LIMIT: Duration = Duration::from_secs(60);

/// A headless Chromium with an empty profile; ended when dropped.
pub struct Browser {
    child: Child,
    to: Option<ChildStdin>,
    from: Receiver<Value>,
    next: u64,
    /// Events that arrived while an answer was awaited.
    events: Vec<Value>,
    /// Removed at the end.
    _profile: TempDir,
}

impl Browser {
    /// Starts Chromium.
    ///
    /// # Panics
    /// Without Chromium, with the package to install.
    pub fn start() -> Self {
        let known = Command::new("sh")
            .args(["-c", "command -v chromium"])
            .stdout(Stdio::null())
            .status();
        assert!(
            known.expect("a shell").success(),
            "Chromium is missing: apt install chromium"
        );
        let profile = tempfile::tempdir().expect("a folder");
        // Descriptors 3 and 4 are the protocol's own; a shell gives them to the browser.
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(
                "exec chromium --headless=new --no-sandbox --disable-gpu --disable-quic \
                 --no-first-run --hide-scrollbars --disable-background-networking \
                 --disable-component-update --disable-extensions --disable-sync \
                 --remote-debugging-pipe --user-data-dir=\"$1\" about:blank \
                 3<&0 4>&1 </dev/null >/dev/null",
            )
            .arg("sh")
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take();
        let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let (send, from) = channel();
        std::thread::spawn(move || {
            let mut raw = Vec::new();
            while answers.read_until(0, &mut raw).is_ok_and(|n| n > 0) {
                raw.pop();
                let value = serde_json::from_slice(&raw).expect("an answer is JSON");
                if send.send(value).is_err() {
                    return;
                }
                raw.clear();
            }
        });
        Self {
            child,
            to,
            from,
            next: 0,
            events: Vec::new(),
            _profile: profile,
        }
    }

    fn receive(&mut self) -> Value {
        self.from
            .recv_timeout(LIMIT)
            .unwrap_or_else(|e| panic!("Chromium does not answer: {e}"))
    }

    /// Result of a method of the protocol, in a session or of the browser.
    pub(super) fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = json!(self.next);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(s) = session {
            message["sessionId"] = json!(s);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let to = self.to.as_mut().expect("open until the end");
        to.write_all(&bytes).expect("Chromium listens");
        loop {
            let value = self.receive();
            if value["id"] == id {
                assert!(value["error"].is_null(), "{method}: {}", value["error"]);
                return value["result"].clone();
            }
            self.events.push(value);
        }
    }

    /// Waits until a session has reported an event; all events are kept.
    pub(super) fn wait_for(&mut self, session: &str, method: &str) {
        let is_it = |e: &Value| e["method"] == *method && e["sessionId"] == *session;
        while !self.events.iter().any(is_it) {
            let value = self.receive();
            self.events.push(value);
        }
    }

    /// The events of a session so far, which are forgotten.
    pub(super) fn take_events(&mut self, session: &str) -> Vec<Value> {
        let all = std::mem::take(&mut self.events);
        let (own, others) = all.into_iter().partition(|e| e["sessionId"] == *session);
        self.events = others;
        own
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The browser ends its own children when its input ends.
        drop(self.to.take());
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(2) {
            if matches!(self.child.try_wait(), Ok(Some(_)) | Err(_)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
