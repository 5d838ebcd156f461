//! Killed or interrupted, and run again.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{add_photo, contents, records, summary};
use crate::desk::Desk;

const NAMES: [&str; 8] = ["a/1.png", "a/2.png", "a/3.png", "b/4.png", "b/5.png", "b/6.png", "c/7.png", "c/8.png"];

/// Photos large enough to be caught at work.
fn slow_set() -> Desk {
    let desk = Desk::enlarged(12);
    for (i, name) in (0..).zip(NAMES) {
        add_photo(&desk, name, i);
    }
    desk
}

fn start(desk: &Desk, out: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lfield"))
        .args(["batch", "in", "-o", out, "--jobs", "2", "--threads", "2"])
        .current_dir(desk.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn wait_for_results(desk: &Desk, n: usize) {
    let began = Instant::now();
    while !desk.path("out").exists() || n_images(desk) < n {
        assert!(began.elapsed() < Duration::from_secs(300), "no results after five minutes");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Masks in the folders a, b and c; files may come and go meanwhile.
fn n_images(desk: &Desk) -> usize {
    let names = |folder: &str| std::fs::read_dir(desk.path("out").join(folder)).into_iter().flatten().flatten();
    let is_mask = |name: std::ffi::OsString| name.to_str().unwrap().ends_with(".mask.png");
    ["a", "b", "c"].into_iter().flat_map(names).filter(|entry| is_mask(entry.file_name())).count()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn killed_and_run_again_it_ends_like_an_undisturbed_run() {
    let desk = slow_set();
    assert!(start(&desk, "calm").wait().unwrap().success());
    for n in [1, 3, 6] {
        let mut child = start(&desk, "out");
        wait_for_results(&desk, n);
        signal(&child, "-KILL");
        child.wait().unwrap();
        // Whatever has a name is complete, and a report vouches for the files beside it.
        let (calm, now) = (contents(&desk.path("calm")), contents(&desk.path("out")));
        for (name, content) in now.iter().filter(|(name, _)| !name.contains(".part")) {
            assert!(calm[name] == *content, "{name} after {n} results");
        }
        for name in now.keys().filter_map(|name| name.strip_suffix(".report.json")) {
            assert!(now.contains_key(&format!("{name}.mask.png")), "{name}");
        }
    }
    assert!(start(&desk, "out").wait().unwrap().success());
    let (calm, out) = (contents(&desk.path("calm")), contents(&desk.path("out")));
    assert_eq!(calm.keys().collect::<Vec<_>>(), out.keys().collect::<Vec<_>>());
    assert!(calm == out);
}

#[test]
fn an_interrupt_keeps_what_is_done_and_writes_the_summary() {
    let desk = slow_set();
    let child = start(&desk, "out");
    wait_for_results(&desk, 1);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(String::from_utf8(output.stderr).unwrap().contains("the same command goes on from here"));
    let counts = summary(&desk, "out/summary.json")["counts"].clone();
    let (done, pending) = (counts["done"].as_u64().unwrap(), counts["pending"].as_u64().unwrap());
    assert!(done >= 1 && pending >= 1 && done + pending == 8, "{counts}");
    assert_eq!(n_images(&desk) as u64, done);
    assert_eq!(records(&desk, "out/batch.ndjson").len(), 8);
    assert!(contents(&desk.path("out")).keys().all(|name| !name.contains(".part")));
    assert!(start(&desk, "out").wait().unwrap().success());
    assert_eq!(summary(&desk, "out/summary.json")["run"]["resumed"], done);
}
