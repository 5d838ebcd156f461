//! HTTP/1.1 on a loopback connection, as much of it as a browser needs: requests one after the other, bodies of known length.
//!
//! What comes in is bounded before it is believed: bytes and number of headers, bytes of a body, and the time that a whole request may
//! take. A slow client therefore holds its own thread for a while and nothing else. A body is read only after the head was admitted.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The most bytes of request line and headers.
pub(super) const MAX_HEAD: usize = 16 << 10;
/// The most headers.
const MAX_HEADERS: usize = 64;
/// The most bytes of a body.
pub(super) const MAX_BODY: usize = 1 << 20;
/// How long a request may take to arrive, and a client to take a piece of the answer.
const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(100) } else { Duration::from_secs(10) };
/// How long a connection may be silent between two requests.
const IDLE: Duration = Duration::from_secs(60);
/// What is still read of a refused request, so that the client sees why before the connection closes.
const LINGER: (usize, Duration) = (8 << 20, Duration::from_secs(1));

/// What answers requests.
pub(super) trait Service: Send + Sync {
    /// Refuses a request by its head alone.
    fn admit(&self, head: &Head) -> Result<(), Response>;

    /// Answers an admitted request.
    fn answer(&self, head: &Head, body: &[u8]) -> Response;
}

/// Request line and headers.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) method: String,
    /// The path, as it was sent.
    pub(super) path: String,
    /// What follows the question mark.
    pub(super) query: String,
    headers: Vec<(String, Vec<u8>)>,
    length: usize,
    keeps_alive: bool,
}

impl Head {
    /// Reads a head that is all there, and says how long it was; `None` when more has to come.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, Response> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if length <= MAX_HEAD => length,
            Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => return Ok(None),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => {
                return Err(Response::refusal(431, "the headers are too large"));
            }
            Err(error) => return Err(Response::refusal(400, &format!("not HTTP: {error}"))),
        };
        let (method, target) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
        if !target.starts_with('/') {
            return Err(Response::refusal(400, "the address must begin with a slash"));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers: Vec<(String, Vec<u8>)> =
            request.headers.iter().map(|header| (header.name.to_ascii_lowercase(), header.value.to_vec())).collect();
        let mut head = Self {
            method: method.to_string(),
            path: path.to_string(),
            query: query.to_string(),
            headers,
            length: 0,
            keeps_alive: request.version == Some(1),
        };
        head.length = head.body_length()?;
        head.keeps_alive &= !head.header("connection")?.is_some_and(|value| value.eq_ignore_ascii_case("close"));
        Ok(Some((head, length)))
    }

    /// The one header of that name, in lower case. Two of them, or bytes that are no text, are refused.
    pub(super) fn header(&self, name: &str) -> Result<Option<&str>, Response> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        match (found.next(), found.next()) {
            (None, _) => Ok(None),
            (Some((_, value)), None) => match std::str::from_utf8(value) {
                Ok(text) => Ok(Some(text.trim())),
                Err(_) => Err(Response::refusal(400, &format!("the header {name} is not text"))),
            },
            _ => Err(Response::refusal(400, &format!("two headers {name}"))),
        }
    }

    fn body_length(&self) -> Result<usize, Response> {
        if self.header("transfer-encoding")?.is_some() {
            return Err(Response::refusal(411, "send the body with its length"));
        }
        match self.header("content-length")? {
            None => Ok(0),
            Some(text) if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Err(Response::refusal(400, "the length of the body is no number"))
            }
            Some(text) => match text.parse() {
                Ok(length) if length <= MAX_BODY => Ok(length),
                _ => Err(Response::refusal(413, &format!("the body is longer than {MAX_BODY} bytes"))),
            },
        }
    }
}

/// Status, headers that differ from answer to answer, body.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    kind: &'static str,
    allow: Option<&'static str>,
    body: Vec<u8>,
}

impl Response {
    /// A body of a media type.
    pub(super) fn new(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, kind, allow: None, body: body.into() }
    }

    pub(super) fn json(value: &serde_json::Value) -> Self {
        Self::new("application/json", value.to_string())
    }

    pub(super) fn with_status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// An error, as JSON that says it in words.
    pub(super) fn refusal(status: u16, why: &str) -> Self {
        Self::json(&serde_json::json!({ "error": why })).with_status(status)
    }

    /// The verb is wrong; these are right.
    pub(super) fn wrong_verb(allow: &'static str) -> Self {
        Self { allow: Some(allow), ..Self::refusal(405, "this address does not take that verb") }
    }

    fn head(&self, keeps_alive: bool) -> String {
        let Self { status, kind, allow, body } = self;
        let allow = allow.map_or(String::new(), |verbs| format!("Allow: {verbs}\r\n"));
        let (connection, length) = (if keeps_alive { "keep-alive" } else { "close" }, body.len());
        format!(
            "HTTP/1.1 {status} {}\r\n\
             Content-Type: {kind}\r\n\
             Content-Length: {length}\r\n\
             Connection: {connection}\r\n\
             {allow}\
             Cache-Control: no-store\r\n\
             Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\
             Cross-Origin-Opener-Policy: same-origin\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n\
             Referrer-Policy: no-referrer\r\n\
             X-Content-Type-Options: nosniff\r\n\
             X-Frame-Options: DENY\r\n\r\n",
            reason(*status)
        )
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    }
}

/// Answers the requests of one connection until it ends.
pub(super) fn converse(stream: TcpStream, service: &dyn Service) {
    let mut connection = Connection { stream, buffer: Vec::new() };
    // Whatever fails here is a client that has gone.
    let _ = connection.stream.set_nodelay(true);
    let _ = connection.stream.set_write_timeout(Some(PATIENCE));
    while let Some((response, keeps_alive)) = connection.exchange(service) {
        let head = response.head(keeps_alive);
        let sent = connection.stream.write_all(&[head.as_bytes(), &response.body].concat());
        if sent.is_err() || !keeps_alive {
            connection.linger();
            return;
        }
    }
}

struct Connection {
    stream: TcpStream,
    /// What has arrived and was not used yet.
    buffer: Vec<u8>,
}

impl Connection {
    /// The answer to the next request, and whether another may follow; `None` when there is no next one.
    fn exchange(&mut self, service: &dyn Service) -> Option<(Response, bool)> {
        if self.buffer.is_empty() && !matches!(self.fill(Instant::now() + IDLE), Ok(1..)) {
            return None;
        }
        let deadline = Instant::now() + PATIENCE;
        let head = match self.head(deadline) {
            Ok(head) => head?,
            Err(refusal) => return Some((refusal, false)),
        };
        if let Err(refusal) = service.admit(&head) {
            return Some((refusal, head.keeps_alive && head.length == 0));
        }
        match self.body(head.length, deadline)? {
            Ok(body) => Some((service.answer(&head, &body), head.keeps_alive)),
            Err(refusal) => Some((refusal, false)),
        }
    }

    fn head(&mut self, deadline: Instant) -> Result<Option<Head>, Response> {
        loop {
            if let Some((head, length)) = Head::parse(&self.buffer)? {
                self.buffer.drain(..length);
                return Ok(Some(head));
            }
            match self.fill(deadline) {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                Err(error) => return slow(&error).map_or(Ok(None), Err),
            }
        }
    }

    /// The body; `None` when the client has gone.
    fn body(&mut self, length: usize, deadline: Instant) -> Option<Result<Vec<u8>, Response>> {
        while self.buffer.len() < length {
            match self.fill(deadline) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return slow(&error).map(Err),
            }
        }
        Some(Ok(self.buffer.drain(..length).collect()))
    }

    /// Waits for more; how many bytes have come, 0 at the end.
    fn fill(&mut self, deadline: Instant) -> std::io::Result<usize> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut piece = [0; 8 << 10];
        let n = self.stream.read(&mut piece)?;
        self.buffer.extend(&piece[..n]);
        Ok(n)
    }

    /// Closing while bytes are on the way would make the system take the answer back.
    fn linger(&mut self) {
        let (most, patience) = LINGER;
        let deadline = Instant::now() + patience;
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut n_read = 0;
        while n_read < most {
            self.buffer.clear();
            match self.fill(deadline) {
                Ok(n) if n > 0 => n_read += n,
                _ => return,
            }
        }
    }
}

/// What is said to a client that takes too long, and nothing to one that has gone.
fn slow(error: &std::io::Error) -> Option<Response> {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
        .then(|| Response::refusal(408, "the request took too long"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn status(bytes: &[u8]) -> u16 {
        Head::parse(bytes).map_or_else(|refusal| refusal.status, |head| if head.is_some() { 200 } else { 0 })
    }

    #[test]
    fn heads_are_read_or_refused() {
        let (head, length) = Head::parse(b"GET /a?b=c HTTP/1.1\r\nHost: x\r\nX-Y:  z \r\n\r\nrest").unwrap().unwrap();
        assert_eq!((&*head.method, &*head.path, &*head.query), ("GET", "/a", "b=c"));
        assert_eq!((head.header("host").unwrap(), head.header("x-y").unwrap()), (Some("x"), Some("z")));
        assert_eq!((head.header("none").unwrap(), length, head.keeps_alive), (None, 42, true));
        for (expected, text) in [
            (0, "GET / HTTP/1.1\r\nHost: x\r\n"),
            (200, "GET / HTTP/1.0\r\n\r\n"),
            (200, "POST / HTTP/1.1\r\nContent-Length: 1048576\r\n\r\n"),
            (413, "POST / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n"),
            (413, "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
            (400, "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
            (400, "POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n"),
            (400, "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
            (411, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            (400, "GET http://elsewhere/ HTTP/1.1\r\n\r\n"),
            (400, "GET * HTTP/1.1\r\n\r\n"),
            (400, "GET / HTTP/3\r\n\r\n"),
            (400, "\x16\x03\x01\x02\x00"),
        ] {
            assert_eq!(status(text.as_bytes()), expected, "{text:?}");
        }
        assert_eq!(status(format!("GET / HTTP/1.1\r\nA: {}", "a".repeat(MAX_HEAD)).as_bytes()), 431);
        assert_eq!(status(format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MAX_HEADERS + 1)).as_bytes()), 431);
    }

    /// Admits everything and sends the body back.
    struct Echo;

    impl Service for Echo {
        fn admit(&self, _: &Head) -> Result<(), Response> {
            Ok(())
        }

        fn answer(&self, _: &Head, body: &[u8]) -> Response {
            Response::new("text/plain", body)
        }
    }

    #[test]
    fn a_client_that_takes_too_long_is_told_so() {
        for part in ["GET / HT", "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nab"] {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let server = listener.accept().unwrap().0;
            let thread = std::thread::spawn(move || converse(server, &Echo));
            client.write_all(part.as_bytes()).unwrap();
            let mut answer = String::new();
            client.read_to_string(&mut answer).unwrap();
            drop(client);
            thread.join().unwrap();
            assert!(answer.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{answer}");
        }
    }

    proptest! {
        #![proptest_config(crate::cases(256))]

        /// Whatever arrives, in whatever pieces, the head is the same or refused, and nothing panics.
        #[test]
        fn pieces_do_not_matter(noise in prop::collection::vec(any::<u8>(), 0..60), cut in 0_usize..80, at in 0_usize..60) {
            let mut bytes = b"POST /a/b?c HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 3\r\n\r\n".to_vec();
            let at = at.min(bytes.len());
            bytes.splice(at..at, noise);
            let cut = cut.min(bytes.len());
            let (whole, part) = (Head::parse(&bytes), Head::parse(&bytes[..cut]));
            // A head that is complete in its first part is that of the whole; one that is refused stays refused.
            match part {
                Ok(Some((_, length))) => prop_assert!(matches!(whole, Ok(Some((_, same))) if same == length)),
                Err(_) => prop_assert!(whole.is_err()),
                Ok(None) => {}
            }
        }
    }
}
