//! The study's page in headless Chromium: no console message, no network request, at 1280 and
//! 400 pixels. Ignored by default: it needs `chromium` and a minute.
#![cfg(unix)]

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A browser driven through two named pipes by its debugging protocol.
struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    next: u64,
    /// Events that arrived while an answer was awaited.
    events: Vec<Value>,
}

impl Browser {
    fn start(dir: &Path) -> Self {
        let fifo = |name: &str| {
            let path = dir.join(name);
            assert!(
                Command::new("mkfifo")
                    .arg(&path)
                    .status()
                    .expect("mkfifo")
                    .success()
            );
            path
        };
        let (to, from) = (fifo("to"), fifo("from"));
        // Descriptors 3 and 4 are the protocol's own; a shell gives them to the browser.
        let child = Command::new("sh")
            .arg("-c")
            .arg(
                "exec chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
                 --disable-background-networking --disable-component-update --disable-sync \
                 --remote-debugging-pipe --user-data-dir=\"$3\" about:blank 3<\"$1\" 4>\"$2\"",
            )
            .args([
                "sh".as_ref(),
                to.as_os_str(),
                from.as_os_str(),
                dir.join("profile").as_os_str(),
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        // Opening blocks until the browser's side is open too.
        let to = OpenOptions::new().write(true).open(to).expect("pipe");
        let from = BufReader::new(File::open(from).expect("pipe"));
        Self {
            child,
            to,
            from,
            next: 0,
            events: Vec::new(),
        }
    }

    fn call(&mut self, session: Option<&str>, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(s) = session {
            message["sessionId"] = json!(s);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let mut raw = Vec::new();
            self.from
                .read_until(0, &mut raw)
                .expect("the browser answers");
            raw.pop();
            let value: Value = serde_json::from_slice(&raw).expect("protocol");
            if value["id"] == json!(id) {
                assert!(value["error"].is_null(), "{method}: {}", value["error"]);
                return value["result"].clone();
            }
            self.events.push(value);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "needs chromium and a study of a minute"]
fn the_page_is_quiet_offline_and_fits_its_window() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("study");
    let start = std::time::Instant::now();
    let run = assert_cmd::Command::cargo_bin("greenup")
        .unwrap()
        .args(["study", "--assume", "i7-950", "--json", "--out"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let printed: Value = serde_json::from_slice(&run.stdout).unwrap();
    let saved: Value =
        serde_json::from_slice(&std::fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(printed, saved);
    assert_eq!(saved["kernels"].as_array().unwrap().len(), 3);
    // The promise is two minutes on two cores; a debug build is not held to it.
    if !cfg!(debug_assertions) {
        assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
    }
    greenup_model::Machine::from_toml(&std::fs::read_to_string(out.join("machine.toml")).unwrap())
        .unwrap();

    let mut b = Browser::start(dir.path());
    for width in [1280, 400] {
        let target = b.call(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = b.call(None, "Target.attachToTarget", attach)["sessionId"]
            .as_str()
            .unwrap()
            .to_owned();
        let s = Some(session.as_str());
        for domain in ["Runtime", "Log", "Network", "Page"] {
            b.call(s, &format!("{domain}.enable"), json!({}));
        }
        let metrics =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        b.call(s, "Emulation.setDeviceMetricsOverride", metrics);
        b.events.clear();
        let url = format!("file://{}", out.join("report.html").display());
        b.call(s, "Page.navigate", json!({ "url": url }));
        let evaluate = |b: &mut Browser, script: &str| {
            let p = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
            b.call(s, "Runtime.evaluate", p)["result"]["value"].clone()
        };
        evaluate(
            &mut b,
            "new Promise(r => document.readyState === 'complete' ? r(1) : addEventListener('load', () => r(1)))",
        );
        // Everything interactive is used once.
        let used = evaluate(
            &mut b,
            "(() => { document.querySelectorAll('button').forEach(b => b.click());
               const e = document.querySelector('circle[data-tip]');
               e.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, clientX: 50, clientY: 50}));
               return !document.getElementById('tip').hidden; })()",
        );
        assert_eq!(used, json!(true), "a tip appears at {width}");
        let overflow = evaluate(&mut b, "document.documentElement.scrollWidth - innerWidth");
        assert!(
            overflow.as_f64().unwrap() <= 0.0,
            "{width}: the page is {overflow} px too wide"
        );
        let svgs = evaluate(&mut b, "document.querySelectorAll('figure svg').length");
        // Time panel, bars, and the three panels of the assumed machine.
        assert!(svgs.as_u64().unwrap() >= 5, "{svgs}");

        for e in &b.events {
            let method = e["method"].as_str().unwrap_or_default();
            assert_ne!(method, "Runtime.exceptionThrown", "{e}");
            assert_ne!(method, "Runtime.consoleAPICalled", "{e}");
            assert_ne!(method, "Log.entryAdded", "{e}");
            if method == "Network.requestWillBeSent" {
                let asked = e["params"]["request"]["url"].as_str().unwrap();
                assert!(
                    asked.starts_with("file://") || asked.starts_with("data:"),
                    "{asked}"
                );
            }
        }
    }
}
