//! `lfield paint` without a browser: strokes by HTTP, files, restarts; and what must not get in.

mod attack;
mod client;

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::desk::{Desk, bytes, without_seconds};
use client::Painter;

/// A stroke file's labels: 0, 128, 255.
fn labels(desk: &Desk, name: &str) -> Vec<u8> {
    image::open(desk.path(name)).unwrap().into_luma8().into_raw()
}

#[test]
fn strokes_are_answered_and_saved_as_segment_would() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png", "-o", "out", "--beta", "3"]).opened();
    let news = painter.get("/api/news?after=0").json();
    assert_eq!((&news["state"], &news["generation"]), (&json!("empty"), &json!(0)));
    let painter = painter.with_answer();
    assert_eq!(painter.post("/api/photos/0/save", &json!({ "bias": null })).status, 202);
    let news = painter.wait(|news| news["saves"] == 1);
    assert_eq!(news["states"], "d", "{news}");
    let command = news["save"]["command"].as_str().unwrap().to_string();
    assert_eq!(command, "lfield segment disc.png --scribbles out/disc.scribbles.png -o out --beta 3");
    assert_eq!(painter.get("/api/photos/0/command?bias=auto").json()["command"], command);
    assert_eq!(painter.get("/api/photos/0/command?bias=0").json()["command"], format!("{command} --bias 0"));

    let words: Vec<&str> = command.split(' ').skip(1).map(|word| if word == "out" { "again" } else { word }).collect();
    desk.lfield(&words).assert().success();
    for name in ["disc.mask.png", "disc.heatmap.png", "disc.marginals.png"] {
        assert_eq!(bytes(&desk.path("out").join(name)), bytes(&desk.path("again").join(name)), "{name}");
    }
    assert_eq!(without_seconds(desk.report("out")), without_seconds(desk.report("again")));
}

#[test]
fn undo_to_empty_and_redo() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png", "-o", "out"]).opened().with_answer();
    let file = labels(&desk, "out/disc.scribbles.png");
    for _ in 0..2 {
        assert_eq!(painter.post("/api/photos/0/undo", &json!({})).status, 200);
    }
    assert_eq!(painter.post("/api/photos/0/undo", &json!({})).status, 409);
    painter.wait(|news| news["state"] == "empty" && news["generation"] == 4 && news["undone"] == 2);
    assert!(!desk.path("out/disc.scribbles.png").exists());
    for _ in 0..2 {
        assert_eq!(painter.post("/api/photos/0/redo", &json!({})).status, 200);
    }
    assert_eq!(painter.post("/api/photos/0/redo", &json!({})).status, 409);
    painter.wait(|news| news["state"] == "proved" && news["generation"] == 6);
    assert_eq!(labels(&desk, "out/disc.scribbles.png"), file);
}

#[test]
fn the_auto_brush_says_the_opposite_of_the_mask_and_the_eraser_nothing() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png", "-o", "out"]).opened().with_answer();
    let label = |x: usize, y: usize| labels(&desk, "out/disc.scribbles.png")[y * 24 + x];
    for (x, y, expected) in [(11.5, 5.5, 128), (20.5, 2.5, 255)] {
        assert_eq!(painter.stroke("auto", 1.0, &[[x, y]]).status, 200);
        assert_eq!(label(x as usize, y as usize), expected);
        assert_eq!(painter.stroke("eraser", 3.0, &[[x, y]]).status, 200);
        assert_eq!(label(x as usize, y as usize), 0);
        let generation = painter.get("/api/news?after=0").json()["revision"].clone();
        painter.wait(|news| news["state"] == "proved" && news["generation"] == generation);
    }
    // With the slider far to one side everything is object, so the brush says background.
    let body = json!({ "tool": "auto", "size": 1, "points": [[20.5, 2.5]], "threshold": -30 });
    assert_eq!(painter.post("/api/photos/0/strokes", &body).status, 200);
    assert_eq!(label(20, 2), 128);
}

#[test]
fn a_restart_restores_strokes_and_results() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png", "-o", "out"]).opened().with_answer();
    let before = painter.get("/api/photos/0/strokes").body;
    drop(painter);
    let painter = Painter::start(&desk, &["disc.png", "-o", "out"]).opened();
    let news = painter.wait(|news| news["state"] == "proved");
    assert_eq!((&news["generation"], &news["strokes"], &news["states"]), (&json!(1), &json!(0), &json!("s")));
    assert_eq!(painter.get("/api/photos/0/strokes").body, before);
    let levels = painter.get(&format!("/api/photos/0/answer?id={}", news["answer"])).body;
    assert_eq!(levels.len(), 2 * 24 * 18);
    assert_eq!(painter.get("/api/photos/0/answer?id=999").status, 204);
}

#[test]
fn a_folder_is_gone_through_and_given_to_batch_as_it_is() {
    let desk = Desk::with_photo();
    for name in ["photos/a.png", "photos/sub/b.png", "photos/broken.png"] {
        std::fs::create_dir_all(desk.path(name).parent().unwrap()).unwrap();
        std::fs::copy(desk.path("disc.png"), desk.path(name)).unwrap();
    }
    std::fs::write(desk.path("photos/broken.png"), "no photo").unwrap();
    let painter = Painter::start(&desk, &["photos", "-o", "out"]).opened().with_answer();
    assert_eq!(painter.get("/api/album").json()["photos"], json!(["a.png", "broken.png", "sub/b.png"]));
    assert_eq!(painter.post("/api/photos/1/open", &json!({})).status, 200);
    let news = painter.wait(|news| news["photo"] == 1 && news["state"] == "failed");
    assert!(news["failure"].as_str().unwrap().contains("broken.png"), "{news}");
    assert_eq!(painter.post("/api/photos/2/open", &json!({})).status, 200);
    painter.wait(|news| news["photo"] == 2 && news["state"] == "empty" && !news["size"].is_null());
    for (tool, x) in [("object", 12.0), ("background", 1.0)] {
        let stroke = json!({ "tool": tool, "size": 2, "points": [[x, 9.0]] });
        assert_eq!(painter.post("/api/photos/2/strokes", &stroke).status, 200);
    }
    painter.wait(|news| news["state"] == "proved");
    // Back at the first: its strokes, its answer, and its undo.
    assert_eq!(painter.post("/api/photos/0/open", &json!({})).status, 200);
    let news = painter.wait(|news| news["photo"] == 0 && news["state"] == "proved");
    assert_eq!((&news["strokes"], &news["states"]), (&json!(2), &json!("sus")));
    assert_eq!(painter.get("/api/photos/2/thumbnail").status, 200);
    assert!(desk.path("out/sub/b.scribbles.png").exists());
    drop(painter);
    let told = desk.lfield(&["batch", "photos", "--scribbles", "out", "-o", "results", "--exclude", "broken.png"]);
    let told = { told }.assert().success().get_output().clone();
    assert!(desk.path("results/a.mask.png").exists() && desk.path("results/sub/b.mask.png").exists(), "{told:?}");
}

#[test]
fn what_cannot_be_written_is_said_and_kept() {
    let desk = Desk::with_photo();
    let painter = Painter::start(&desk, &["disc.png", "-o", "out"]).opened().with_answer();
    // A file in the place of the folder: nothing can be written there.
    std::fs::rename(desk.path("out"), desk.path("away")).unwrap();
    std::fs::write(desk.path("out"), "in the way").unwrap();
    let reply = painter.stroke("object", 2.0, &[[12.0, 8.0], [12.0, 10.0]]).json();
    assert_eq!(reply["kept"], false);
    assert!(reply["problem"].as_str().unwrap().contains("out"), "{reply}");
    let reply = painter.post("/api/photos/0/save", &json!({ "bias": 0 }));
    assert!(reply.status == 409 && reply.error().contains("not on disk"), "{}", reply.error());
    painter.wait(|news| news["state"] == "proved" && news["generation"] == 3 && !news["unkept"].is_null());
    std::fs::remove_file(desk.path("out")).unwrap();
    std::fs::rename(desk.path("away"), desk.path("out")).unwrap();
    // The photo itself may go: strokes are answered on, results are not written.
    std::fs::remove_file(desk.path("disc.png")).unwrap();
    assert_eq!(painter.stroke("background", 2.0, &[[22.0, 2.0]]).json()["kept"], true);
    painter.wait(|news| news["state"] == "proved" && news["generation"] == 4 && news["unkept"].is_null());
    assert_eq!(painter.post("/api/photos/0/save", &json!({ "bias": 0 })).status, 202);
    let news = painter.wait(|news| news["saves"] == 1);
    assert!(news["save"]["error"].as_str().unwrap().contains("disc.png"), "{news}");
    assert_eq!(desk.names("out"), ["disc.scribbles.png"]);
}

#[cfg(unix)]
#[test]
#[ignore = "needs root, to mount a small file system"]
fn a_full_disk_keeps_the_strokes_of_before_and_the_page_says_so() {
    let desk = Desk::with_photo();
    let disk = desk.path("disk");
    let _disk = crate::bad_input::places::SmallDisk::mount(&disk, 64);
    let painter = Painter::start(&desk, &["disc.png", "-o", "disk/out"]).opened().with_answer();
    let before = labels(&desk, "disk/out/disc.scribbles.png");
    // As much as goes in.
    let _ = std::fs::write(disk.join("ballast"), vec![1; 1 << 20]);
    let reply = painter.stroke("object", 2.0, &[[12.0, 8.0], [12.0, 10.0]]).json();
    assert!(reply["kept"] == false && reply["problem"].as_str().unwrap().contains("No space left"), "{reply}");
    painter.wait(|news| news["state"] == "proved" && news["generation"] == 3 && !news["unkept"].is_null());
    assert_eq!(labels(&desk, "disk/out/disc.scribbles.png"), before);
    std::fs::remove_file(disk.join("ballast")).unwrap();
    assert_eq!(painter.stroke("background", 2.0, &[[22.0, 2.0]]).json()["kept"], true);
    assert_ne!(labels(&desk, "disk/out/disc.scribbles.png"), before);
    drop(painter);
}

#[test]
fn a_taken_port_gives_the_next_and_the_sample_comes_with_the_program() {
    let desk = Desk::with_photo();
    let first = Painter::start(&desk, &["disc.png"]);
    let port = first.port.to_string();
    let second = Painter::start(&desk, &["-o", "sample", "--port", &port]).opened();
    assert_ne!(first.port, second.port);
    assert_eq!(desk.names("sample"), ["beetle.png"]);
    assert_eq!(second.get("/api/news?after=0").json()["size"], json!([640, 427]));
    // The token of one is not that of the other.
    let stolen =
        Painter { token: second.token.clone(), port: first.port, child: Command::new("true").spawn().unwrap() };
    assert_eq!(stolen.get("/api/album").status, 401);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_and_leaves_nothing_half_written() {
    let desk = Desk::with_photo();
    let mut painter = Painter::start(&desk, &["disc.png", "-o", "out"]).opened().with_answer();
    assert_eq!(painter.post("/api/photos/0/save", &json!({ "bias": 0 })).status, 202);
    assert_eq!(painter.interrupt(), Some(130));
    let names = desk.names("out");
    assert!(names.len() == 1 || names.len() == 5, "{names:?}");
    assert!(names.contains(&"disc.scribbles.png".to_string()));
}

#[cfg(unix)]
#[test]
fn a_kill_while_strokes_are_saved_leaves_those_of_before_or_after() {
    let desk = Desk::with_photo();
    let mut n_partial = 0;
    for round in 0..50 {
        let _ = std::fs::remove_dir_all(desk.path("out"));
        let mut painter = Painter::start(&desk, &["disc.png", "-o", "out"]).opened();
        // Every stroke fills one more row. The killer waits for its word, which comes just before one of the strokes, a little earlier or
        // later in every round.
        let kill = format!("read go; kill -KILL {}", painter.child.id());
        let mut killer = Command::new("sh").args(["-c", &kill]).stdin(Stdio::piped()).spawn().unwrap();
        let mut go = killer.stdin.take();
        let mut n_kept = 0;
        for row in 0..18 {
            if row == round % 12 {
                writeln!(go.take().unwrap()).unwrap();
                (0..round * 4_000_u64).for_each(|i| _ = std::hint::black_box(i));
            }
            let y = row as f64 + 0.5;
            match painter.stroke("object", 1.0, &[[0.5, y], [23.5, y]]).status {
                200 => n_kept = row + 1,
                _ => break,
            }
        }
        killer.wait().unwrap();
        painter.child.wait().unwrap();
        if !desk.path("out/disc.scribbles.png").exists() {
            assert_eq!(n_kept, 0, "round {round}: a stroke was said to be kept and is not there");
            continue;
        }
        let file = labels(&desk, "out/disc.scribbles.png");
        let n_rows = (0..18).take_while(|row| file[row * 24..(row + 1) * 24] == [255; 24]).count();
        assert!(file[n_rows * 24..].iter().all(|&label| label == 0), "round {round}: half a stroke");
        assert!(n_rows >= n_kept as usize, "round {round}: {n_rows} of {n_kept} strokes");
        n_partial += usize::from(n_rows < 18);
    }
    assert!(n_partial > 0, "no kill came in time to mean anything");
}
