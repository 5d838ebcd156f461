//! The program with its page, and a client that says to it exactly what it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::Desk;

/// `lfield paint`, killed when dropped.
pub(crate) struct Painter {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The sentence of a refusal.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_default().to_string()
    }
}

impl Painter {
    /// Starts in the folder of a desk, on any free port.
    pub(crate) fn start(desk: &Desk, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lfield"));
        let port: &[&str] = if arguments.contains(&"--port") { &[] } else { &["--port", "0"] };
        command.current_dir(desk.path("")).args(["paint", "--no-open"]).args(port).args(arguments);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().expect("a line").unwrap();
        let address = line.strip_prefix("listening on http://127.0.0.1:").unwrap_or_else(|| panic!("{line}"));
        let (port, token) = address.split_once("/#").unwrap();
        let (port, token) = (port.parse().unwrap(), token.to_string());
        // What it says later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, port, token }
    }

    /// Sends bytes as they are and reads all that comes back; status 0 when nothing does.
    pub(crate) fn say(&self, bytes: &[u8]) -> Reply {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else {
            return Reply { status: 0, head: String::new(), body: Vec::new() };
        };
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A refusal may come before all was sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head, body: answer[end..].to_vec() }
    }

    /// A whole request with the right headers.
    pub(crate) fn ask(&self, verb: &str, path: &str, body: &[u8]) -> Reply {
        let Self { port, token, .. } = self;
        let head = format!(
            "{verb} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Lfield-Token: {token}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.say(&[head.as_bytes(), body].concat())
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.ask("POST", path, body.to_string().as_bytes())
    }

    /// Draws on the first photo.
    pub(crate) fn stroke(&self, tool: &str, size: f64, points: &[[f64; 2]]) -> Reply {
        self.post("/api/photos/0/strokes", &json!({ "tool": tool, "size": size, "points": points }))
    }

    /// The news once they are as wanted.
    pub(crate) fn wait(&self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let mut after = 0;
        for _ in 0..1000 {
            let news = self.get(&format!("/api/news?after={after}")).json();
            if is_wanted(&news) {
                return news;
            }
            after = news["sequence"].as_u64().unwrap_or_else(|| panic!("no news: {news}"));
        }
        panic!("it never came");
    }

    /// Waits until a photo is decoded.
    pub(crate) fn opened(self) -> Self {
        self.wait(|news| !news["size"].is_null() || !news["failure"].is_null());
        self
    }

    /// Strokes on the disc and beside it, answered.
    pub(crate) fn with_answer(self) -> Self {
        assert_eq!(self.stroke("object", 3.0, &[[10.0, 8.0], [13.0, 9.0]]).status, 200);
        assert_eq!(self.stroke("background", 2.0, &[[1.0, 1.0], [1.0, 17.0], [23.0, 17.0]]).status, 200);
        self.wait(|news| news["state"] == "proved" && news["generation"] == 2);
        self
    }

    /// Interrupts it, and waits; its exit code.
    #[cfg(unix)]
    pub(crate) fn interrupt(&mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Painter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
