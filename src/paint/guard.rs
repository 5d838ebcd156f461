//! Who may ask: the browser that was given the address, and no page of another site.
//!
//! A page from elsewhere can make a browser send requests to a loopback port, and by rebinding its name even read the answers; the
//! `Host` it sends then names that site. So only our own names pass, an `Origin` must be ours, and everything but the page
//! itself needs the token that only the printed address carries, in its fragment, which browsers do not send.

use std::fmt::Write;

use super::http::{Head, Response};

/// Bytes of the token: 192 bits.
const TOKEN_BYTES: usize = 24;

/// What a request must carry.
#[derive(Debug)]
pub(super) struct Guard {
    hosts: [String; 2],
    origins: [String; 2],
    token: String,
}

impl Guard {
    pub(super) fn new(port: u16, token: String) -> Self {
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        let origins = hosts.clone().map(|host| format!("http://{host}"));
        Self { hosts, origins, token }
    }

    /// A new token, from the system's random source.
    pub(super) fn token() -> std::io::Result<String> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        }))
    }

    /// Refuses foreign names and pages; and, for all that `is_page` does not say is the page itself, a missing or wrong token.
    pub(super) fn admit(&self, head: &Head, is_page: bool) -> Result<(), Response> {
        if !head.header("host")?.is_some_and(|host| self.hosts.iter().any(|own| own == host)) {
            return Err(Response::refusal(403, "open the address that lfield printed: this name is not its own"));
        }
        if head.header("origin")?.is_some_and(|origin| self.origins.iter().all(|own| own != origin)) {
            return Err(Response::refusal(403, "a page of another site may not ask this"));
        }
        if is_page || head.header("x-lfield-token")?.is_some_and(|token| is_same(token, &self.token)) {
            return Ok(());
        }
        Err(Response::refusal(401, "open the whole address that lfield printed, with all that follows the #"))
    }
}

/// Compares in a time that does not tell where the difference is.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_have_192_bits() {
        let (a, b) = (Guard::token().unwrap(), Guard::token().unwrap());
        assert!(a != b && a.len() == 48 && a.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn only_own_names_and_the_token_pass() {
        let guard = Guard::new(80, "abc".into());
        let status = |headers: &str, is_page| {
            let (head, _) = Head::parse(format!("GET / HTTP/1.1\r\n{headers}\r\n").as_bytes()).unwrap().unwrap();
            guard.admit(&head, is_page).map_or_else(|refusal| refusal.status, |()| 200)
        };
        assert_eq!(status("Host: 127.0.0.1:80\r\n", true), 200);
        assert_eq!(status("Host: localhost:80\r\nOrigin: http://127.0.0.1:80\r\nX-Lfield-Token: abc\r\n", false), 200);
        for host in ["", "Host: 127.0.0.1\r\n", "Host: LOCALHOST:80\r\n", "Host: [::1]:80\r\n", "Host: evil:80\r\n"] {
            assert_eq!(status(&format!("{host}X-Lfield-Token: abc\r\n"), true), 403, "{host}");
        }
        for origin in ["null", "http://evil:80", "https://127.0.0.1:80", "http://127.0.0.1", "http://127.0.0.1:80.evil"]
        {
            assert_eq!(status(&format!("Host: localhost:80\r\nOrigin: {origin}\r\n"), true), 403, "{origin}");
        }
        for token in ["", "X-Lfield-Token:\r\n", "X-Lfield-Token: ab\r\n", "X-Lfield-Token: abd\r\n"] {
            assert_eq!(status(&format!("Host: localhost:80\r\n{token}"), false), 401, "{token}");
        }
    }
}
