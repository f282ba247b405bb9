//! One page in a window of a width.

use super::{Browser, FaultKind, Finding, Findings};
use base64::Engine as _;
use serde_json::{Value, json};
use std::path::Path;

/// The highest picture that Chromium takes, pixels.
const HIGHEST: f64 = 16384.0;

/// A page that has loaded; closed when dropped.
pub struct Tab<'b> {
    browser: &'b mut Browser,
    target: Value,
    session: String,
    width: u32,
    url: String,
    events: Vec<Value>,
}

impl Browser {
    /// Opens a page in a window `width` CSS pixels wide, with light or dark colours asked for.
    ///
    /// Below 500 pixels the window is a telephone's, which obeys `<meta name="viewport">`.
    pub fn open(&mut self, html: &Path, width: u32, dark: bool) -> Tab<'_> {
        let path = std::path::absolute(html).expect("a path");
        assert!(path.is_file(), "{}: there is no such file", path.display());
        let url = address(&path);
        let created = self.call(None, "Target.createTarget", json!({ "url": "about:blank" }));
        let target = created["targetId"].clone();
        let attach = json!({ "targetId": target, "flatten": true });
        let session = self.call(None, "Target.attachToTarget", attach)["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        let mut tab = Tab {
            browser: self,
            target,
            session,
            width,
            url,
            events: Vec::new(),
        };
        for domain in ["Runtime", "Log", "Network", "Page"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        tab.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": features }),
        );
        let window =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        tab.call("Emulation.setDeviceMetricsOverride", window);
        tab.browser.take_events(&tab.session);
        let url = json!({ "url": tab.url });
        let navigated = tab.call("Page.navigate", url);
        assert!(navigated["errorText"].is_null(), "{navigated}");
        tab.browser.wait_for(&tab.session, "Page.loadEventFired");
        tab
    }
}

impl Tab<'_> {
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.browser.call(Some(&self.session), method, params)
    }

    /// Value of a script's expression, awaited where it is a promise.
    ///
    /// # Panics
    /// Where the script throws.
    pub fn evaluate(&mut self, script: &str) -> Value {
        let params = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let result = self.call("Runtime.evaluate", params);
        let thrown = &result["exceptionDetails"];
        assert!(thrown.is_null(), "{script}: {thrown}");
        result["result"]["value"].clone()
    }

    /// What is wrong on the page as it is now; opens its `<details>`.
    pub fn findings(&mut self) -> Findings {
        // Pixels: the smallest text, the tolerance, and the largest mark that is a point.
        let settings = json!({ "smallest": 11, "slack": 1, "point": 24, "width": self.width });
        let script = format!("{}({settings})", include_str!("inspect.js").trim_end());
        let seen = self.evaluate(&script);
        let mut found = self.heard();
        let seen = seen.as_array().expect("a list of findings");
        found.extend(seen.iter().map(|v| Finding::from_json(self.width, v)));
        Findings(found)
    }

    /// Messages, errors and requests so far.
    fn heard(&mut self) -> Vec<Finding> {
        let news = self.browser.take_events(&self.session);
        self.events.extend(news);
        let said = |e: &Value| {
            let p = &e["params"];
            let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
            let asked = text(&p["request"]["url"]);
            Some(match e["method"].as_str()? {
                "Runtime.exceptionThrown" => {
                    let thrown = &p["exceptionDetails"];
                    let more = text(&thrown["exception"]["description"]);
                    (
                        FaultKind::Console,
                        format!("{} {more}", text(&thrown["text"])),
                    )
                }
                "Runtime.consoleAPICalled" => {
                    let words = p["args"].as_array()?.iter();
                    let words = words.map(|a| a.get("value").unwrap_or(&a["description"]));
                    let words: Vec<String> = words.map(Value::to_string).collect();
                    let line = format!("console.{}: {}", text(&p["type"]), words.join(" "));
                    (FaultKind::Console, line)
                }
                "Log.entryAdded" => {
                    let entry = &p["entry"];
                    let line = format!("{}: {}", text(&entry["level"]), text(&entry["text"]));
                    (FaultKind::Console, line)
                }
                "Network.requestWillBeSent" if asked != self.url && !asked.starts_with("data:") => {
                    (FaultKind::Request, asked)
                }
                _ => return None,
            })
        };
        let heard = self.events.iter().filter_map(said);
        heard
            .map(|(kind, detail)| Finding::without_box(kind, self.width, detail))
            .collect()
    }

    /// The whole page as a PNG file, at most 16 384 pixels high.
    pub fn screenshot(&mut self) -> Vec<u8> {
        self.capture(json!({ "format": "png" }), HIGHEST, 1.0)
    }

    /// The first `height` pixels of the page as a WebP file, in this scale.
    pub fn top(&mut self, height: u32, scale: f64) -> Vec<u8> {
        let format = json!({ "format": "webp", "quality": 28 });
        self.capture(format, height.into(), scale)
    }

    fn capture(&mut self, mut params: Value, most: f64, scale: f64) -> Vec<u8> {
        let size = self.call("Page.getLayoutMetrics", json!({}));
        let height = size["cssContentSize"]["height"].as_f64().expect("a height");
        params["captureBeyondViewport"] = json!(true);
        params["clip"] = json!({ "x": 0, "y": 0, "width": self.width, "height": height.min(most), "scale": scale });
        let taken = self.call("Page.captureScreenshot", params);
        base64::engine::general_purpose::STANDARD
            .decode(taken["data"].as_str().expect("a picture"))
            .expect("base64")
    }
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        // A failed test must not fail twice.
        if !std::thread::panicking() {
            let target = json!({ "targetId": self.target });
            self.browser.call(None, "Target.closeTarget", target);
        }
    }
}

/// The address of a file, as the browser writes it.
fn address(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(*byte)),
            b if b.is_ascii_alphanumeric() => url.push(char::from(*b)),
            b => url.push_str(&format!("%{b:02X}")),
        }
    }
    url
}
