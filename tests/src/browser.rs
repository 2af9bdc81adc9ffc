//! Headless Chromium, controlled over the DevTools protocol in two pipes.

use crate::patience::await_that;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Returns the program, if it is in PATH. Debian's package is `chromium`.
pub fn program() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut programs = std::env::split_paths(&path).map(|folder| folder.join("chromium"));
    programs.find(|program| program.is_file())
}

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
    session: String,
    /// Errors in scripts, and failed requests.
    pub errors: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts the browser.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(program: &Path) -> Self {
        let profile = crate::scratch();
        // The protocol uses file descriptors 3 and 4.
        let script = "exec \"$0\" \"$@\" 3<&0 4>&1";
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).arg(program);
        command.args(["--headless", "--no-sandbox", "--disable-gpu"]);
        command.args(["--remote-debugging-pipe", "--window-size=1280,900"]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("a browser");
        let (to, from) = (child.stdin.take(), child.stdout.take());
        let mut browser = Self {
            child,
            to: to.expect("a pipe"),
            from: BufReader::new(from.expect("a pipe")),
            calls: 0,
            session: String::new(),
            errors: Vec::new(),
            _profile: profile,
        };
        let page = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let target = json!({"targetId": page["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", target);
        let session = attached["sessionId"].as_str().expect("a session");
        browser.session = session.to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    /// Calls a method of the protocol.
    ///
    /// # Panics
    /// If the method fails.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        write!(self.to, "{message}\0").expect("the browser is there");
        loop {
            let mut answer = Vec::new();
            let read = self.from.read_until(0, &mut answer);
            assert!(read.expect("the browser is there") > 0, "the browser ended");
            answer.pop();
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            let is_error = answer["method"] == "Runtime.exceptionThrown"
                || answer["params"]["entry"]["level"] == "error";
            if is_error {
                self.errors.push(answer);
            }
        }
    }

    /// Evaluates an expression in the page.
    ///
    /// # Panics
    /// If the expression throws.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    /// If it does not become true.
    pub fn wait(&mut self, expression: &str) {
        await_that(expression, || {
            self.value(&format!("!!({expression})")) == true
        });
    }

    /// Opens a page and waits until it is loaded.
    pub fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": url}));
        self.wait("document.readyState === 'complete'");
    }

    /// Presses keys, one for each letter.
    pub fn type_text(&mut self, text: &str) {
        for letter in text.chars().map(String::from) {
            self.press(&letter, &letter);
        }
    }

    /// Presses a key that writes this text.
    pub fn press(&mut self, key: &str, text: &str) {
        let down = json!({"type": "keyDown", "key": key, "text": text});
        self.call("Input.dispatchKeyEvent", down);
        self.call(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key}),
        );
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
