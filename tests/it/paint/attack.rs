//! Attacks: each gets its code, nothing is written, nothing leaks, and the program lives.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::client::Painter;
use crate::desk::Desk;

/// A request made of parts.
struct Shot {
    name: String,
    bytes: Vec<u8>,
    status: u16,
}

struct Range<'a> {
    painter: &'a Painter,
    shots: Vec<Shot>,
}

impl Range<'_> {
    /// A request whose headers are given whole, line by line.
    fn raw(&mut self, status: u16, line: &str, headers: &[&str], body: &[u8]) {
        let head: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let name = format!("{line} {}", headers.join(" | ")).chars().take(120).collect();
        let bytes = [format!("{line} HTTP/1.1\r\n{head}\r\n").as_bytes(), body].concat();
        self.shots.push(Shot { name, bytes, status });
    }

    /// A request with the right `Host` and, if wanted, the token.
    fn good(&mut self, status: u16, line: &str, has_token: bool, headers: &[&str], body: &[u8]) {
        let (host, token) =
            (format!("Host: localhost:{}", self.painter.port), format!("x-lfield-token: {}", self.painter.token));
        let mut all = vec![&*host, "Connection: close"];
        all.extend(has_token.then_some(&*token));
        all.extend(headers);
        self.raw(status, line, &all, body);
    }

    /// A stroke by its JSON.
    fn stroke(&mut self, status: u16, body: &str) {
        let length = format!("Content-Length: {}", body.len());
        self.good(status, "POST /api/photos/0/strokes", true, &[&length], body.as_bytes());
    }
}

#[test]
fn attacks_get_their_code_and_nothing_else() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png", "-o", "out"]).opened();
    let (port, token) = (painter.port, painter.token.clone());
    let mut range = Range { painter: &painter, shots: Vec::new() };
    let with_token = format!("x-lfield-token: {token}");

    // Foreign names, also with the token.
    for host in [
        "evil.example".to_string(),
        format!("evil.example:{port}"),
        "127.0.0.1".into(),
        "localhost".into(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("[::1]:{port}"),
        format!("LOCALHOST:{port}"),
        format!("EVIL.EXAMPLE:{port}"),
        format!("127.0.0.1:{port}.evil.example"),
        format!("127.0.0.1:{port}@evil.example"),
        format!("0.0.0.0:{port}"),
        format!("127.1:{port}"),
        String::new(),
    ] {
        range.raw(403, "GET /", &[&format!("Host: {host}"), &with_token, "Connection: close"], b"");
    }
    range.raw(403, "GET /api/album", &[&with_token, "Connection: close"], b"");
    let own = format!("Host: 127.0.0.1:{port}");
    range.raw(400, "GET /", &[&own, &format!("Host: evil.example:{port}"), "Connection: close"], b"");

    // Pages of other sites.
    for origin in [
        "http://evil.example".to_string(),
        "null".into(),
        format!("https://127.0.0.1:{port}"),
        "http://127.0.0.1".into(),
        format!("http://localhost:{port}.evil.example"),
        "file://".into(),
    ] {
        range.good(403, "GET /api/album", true, &[&format!("Origin: {origin}")], b"");
        range.good(403, "GET /", false, &[&format!("Origin: {origin}")], b"");
    }

    // No token, a wrong one, one in the wrong place.
    let wrong = format!("x-lfield-token: {}", "0".repeat(48));
    let short = format!("x-lfield-token: {}", &token[..47]);
    let cookie = format!("Cookie: x-lfield-token={token}");
    let bearer = format!("Authorization: Bearer {token}");
    for headers in [&[][..], &[&*wrong], &[&*short], &["x-lfield-token:"], &[&*cookie], &[&*bearer]] {
        range.good(401, "GET /api/album", false, headers, b"");
    }
    range.good(401, &format!("GET /api/album?token={token}"), false, &[], b"");
    range.good(400, "GET /api/album", true, &[&with_token], b"");
    for path in ["/api/news?after=0", "/api/photos/0/picture", "/api/photos/0/strokes", "/nothing", "/favicon.ico"] {
        range.good(401, &format!("GET {path}"), false, &[], b"");
    }
    range.good(401, "POST /api/photos/0/save", false, &["Content-Length: 10"], b"{\"bias\":0}");

    // Ways out of the album.
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/api/photos/../../../disc.png",
        "/api/photos/0/../../../disc.png",
        "/api/photos/disc.png/picture",
        "/api/photos/-1/picture",
        "/api/photos/1/picture",
        "/api/photos/99999999999999999999999/picture",
        "/api/photos/0%2f../picture",
        "/page/main.js",
        "/main.js/",
        "/src/paint/page/main.js",
    ] {
        range.good(404, &format!("GET {path}"), true, &[], b"");
    }
    range.raw(400, "GET http://evil.example/", &[&own, "Connection: close"], b"");
    range.raw(400, "GET *", &[&own, "Connection: close"], b"");

    // Other verbs.
    for verb in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "HEAD", "LFIELD"] {
        range.good(405, &format!("{verb} /"), false, &[], b"");
        range.good(405, &format!("{verb} /api/album"), true, &[], b"");
    }
    for (verb, path) in [("GET", "save"), ("GET", "undo"), ("DELETE", "strokes"), ("PUT", "open"), ("POST", "picture")]
    {
        range.good(405, &format!("{verb} /api/photos/0/{path}"), true, &[], b"");
    }

    // Too much of everything.
    range.good(413, "POST /api/photos/0/strokes", true, &["Content-Length: 1048577"], &vec![b' '; 1_048_577]);
    range.good(413, "POST /api/photos/0/strokes", true, &["Content-Length: 99999999999999999999"], b"");
    range.good(400, "POST /api/photos/0/strokes", true, &["Content-Length: -1"], b"");
    range.good(400, "POST /api/photos/0/strokes", true, &["Content-Length: 1", "Content-Length: 2"], b"ab");
    range.good(411, "POST /api/photos/0/strokes", true, &["Transfer-Encoding: chunked"], b"0\r\n\r\n");
    range.good(431, "GET /", true, &[&format!("X: {}", "x".repeat(20_000))], b"");
    range.good(431, &format!("GET /{}", "x".repeat(20_000)), true, &[], b"");
    range.good(431, "GET /", true, &["X: y"; 100], b"");
    range.shots.push(Shot { name: "noise".into(), bytes: vec![0xff; 300], status: 400 });
    range.shots.push(Shot { name: "HTTP/2".into(), bytes: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), status: 400 });

    // Strokes that no brush draws.
    let many = format!(r#"{{"tool":"object","size":3,"points":[{}[1,1]]}}"#, "[1,1],".repeat(20_000));
    for body in [
        "",
        "{",
        "[]",
        "null",
        "\u{0}",
        r#"{"tool":"object","size":3}"#,
        r#"{"tool":"object","size":3,"points":[]}"#,
        r#"{"tool":"object","size":3,"points":[[NaN,1]]}"#,
        r#"{"tool":"object","size":3,"points":[[1e999,1]]}"#,
        r#"{"tool":"object","size":3,"points":[[1e300,1]]}"#,
        r#"{"tool":"object","size":3,"points":[[-1,1]]}"#,
        r#"{"tool":"object","size":3,"points":[[1,19]]}"#,
        r#"{"tool":"object","size":3,"points":[[1]]}"#,
        r#"{"tool":"object","size":3,"points":[[1,1,1]]}"#,
        r#"{"tool":"object","size":3,"points":[["1","1"]]}"#,
        r#"{"tool":"object","size":0,"points":[[1,1]]}"#,
        r#"{"tool":"object","size":-3,"points":[[1,1]]}"#,
        r#"{"tool":"object","size":1e9,"points":[[1,1]]}"#,
        r#"{"tool":"object","size":null,"points":[[1,1]]}"#,
        r#"{"tool":"lasso","size":3,"points":[[1,1]]}"#,
        r#"{"tool":"object","size":3,"points":[[1,1]],"path":"../x"}"#,
        r#"{"tool":"object","tool":"object","size":3,"points":[[1,1]]}"#,
        &format!("[{}]", r#"{"tool":"object","size":3,"points":[[1,1]]},"#.repeat(10_000)),
        &"[".repeat(100_000),
        &many,
    ] {
        range.stroke(400, body);
    }
    range.good(400, "POST /api/photos/0/strokes", true, &["Content-Length: 4"], b"\xff\xfe\xfd\xfc");
    range.good(400, "POST /api/photos/0/save", true, &["Content-Length: 12"], b"{\"bias\":\"0\"}");
    range.good(409, "POST /api/photos/0/save", true, &["Content-Length: 10"], b"{\"bias\":0}");
    for query in ["", "?after=", "?after=x", "?after=-1", "?after=1e3"] {
        range.good(400, &format!("GET /api/news{query}"), true, &[], b"");
    }
    range.good(400, "GET /api/photos/0/command?bias=NaN", true, &[], b"");
    range.good(404, "GET /api/photos/0/tile?column=99999999999&row=0", true, &[], b"");

    assert!(range.shots.len() >= 40, "{}", range.shots.len());
    for Shot { name, bytes, status } in &range.shots {
        let reply = painter.say(bytes);
        assert_eq!(reply.status, *status, "{name}: {}", String::from_utf8_lossy(&reply.body));
        let body = String::from_utf8_lossy(&reply.body);
        assert!(!body.contains(&token) && !reply.head.contains(&token), "{name} leaks the token");
        assert!(!body.contains(&*desk.path("").to_string_lossy()), "{name} leaks a path: {body}");
        for header in [
            "Content-Security-Policy: default-src 'none'",
            "X-Content-Type-Options: nosniff",
            "Cache-Control: no-store",
        ] {
            assert!(reply.head.contains(header), "{name} has no {header}");
        }
    }
    // Nothing was drawn, nothing was written, and it still answers.
    assert!(!desk.path("out").exists());
    let news = painter.get("/api/news?after=0").json();
    assert_eq!((&news["revision"], &news["state"], &news["saves"]), (&json!(0), &json!("empty"), &json!(0)));
    painter.with_answer();
}

#[test]
fn the_page_needs_no_token_and_holds_no_script_of_its_own() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png"]).opened();
    let page = painter
        .say(format!("GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", painter.port).as_bytes());
    assert_eq!(page.status, 200);
    let text = String::from_utf8(page.body).unwrap();
    assert!(!text.contains(&painter.token) && !text.contains("<style") && !text.contains(" onclick="));
    assert!(!text.contains("<script>") && !text.contains("//cdn") && !text.contains("http"));
    let policy = page.head.lines().find(|line| line.starts_with("Content-Security-Policy")).unwrap();
    assert!(policy.contains("script-src 'self'") && !policy.contains("unsafe"));
    for id in ["id=\"state\"", "data-state=\"solving\"", "data-generation=\"0\"", "id=\"canvas\"", "id=\"bias\""] {
        assert!(text.contains(id), "{id}");
    }
    for action in ["object", "background", "auto", "eraser", "undo", "redo", "save", "next", "previous"] {
        assert!(text.contains(&format!("data-action=\"{action}\"")), "{action}");
    }
    // Every file that the page names is there, and every one of them is needed.
    for word in text.split('"').filter(|word| word.ends_with(".js") || word.ends_with(".css")) {
        assert_eq!(painter.get(&format!("/{word}")).status, 200, "{word}");
    }
}

#[test]
fn slow_clients_do_not_hold_up_others() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png"]).opened();
    let slow: Vec<TcpStream> = (0..60)
        .map(|i| {
            let mut stream = TcpStream::connect(("127.0.0.1", painter.port)).unwrap();
            let part: &[u8] = if i % 2 == 0 { b"GET / HT" } else { b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nab" };
            stream.write_all(part).unwrap();
            stream
        })
        .collect();
    let painter = painter.with_answer();
    drop(slow);
    assert_eq!(painter.get("/").status, 200);
}

#[test]
fn many_requests_and_two_tabs_at_once_are_all_answered() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png", "-o", "out"]).opened();
    std::thread::scope(|scope| {
        // Two that draw, two that wait for news, and a crowd that looks.
        for tab in 0..2 {
            let painter = &painter;
            scope.spawn(move || {
                for i in 0..40 {
                    let (tool, x) = if tab == 0 { ("object", 12.0) } else { ("background", 1.0) };
                    let reply = painter.stroke(tool, 1.0, &[[x, f64::from(i % 18) + 0.5]]);
                    assert_eq!(reply.status, 200, "{}", reply.error());
                }
            });
            scope.spawn(move || painter.wait(|news| news["revision"] == 80));
        }
        for _ in 0..120 {
            scope.spawn(|| assert_eq!(painter.get("/api/album").status, 200));
            scope.spawn(|| assert_eq!(painter.get("/").status, 200));
        }
    });
    let news = painter.wait(|news| news["state"] == "proved" && news["generation"] == 80);
    assert_eq!(news["strokes"], 80);
    let file = super::labels(&desk, "out/disc.scribbles.png");
    assert_eq!(file.iter().filter(|&&label| label != 0).count(), 36);
}

#[test]
fn one_connection_carries_many_requests_in_turn() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png"]).opened();
    let mut stream = TcpStream::connect(("127.0.0.1", painter.port)).unwrap();
    let request = format!("GET /style.css HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", painter.port);
    let last = request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    // All at once, as a client may that does not wait for answers.
    stream.write_all([request.repeat(9), last].concat().as_bytes()).unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 10);
}

/// A tunnel that ends at the same port leads to the page, as ssh -L does.
#[test]
fn a_tunnel_works() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png"]).opened();
    let gate = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let entrance = gate.local_addr().unwrap();
    let port = painter.port;
    std::thread::spawn(move || {
        let (mut near, _) = gate.accept().unwrap();
        let mut far = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (mut back, mut forth) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut near, &mut forth));
        let _ = std::io::copy(&mut far, &mut back);
    });
    let mut stream = TcpStream::connect(entrance).unwrap();
    let request = format!("GET / HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
}
