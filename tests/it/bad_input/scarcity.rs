//! Little memory, no listener.

use std::process::{Command, Stdio};

use crate::desk::Desk;

/// The program in a shell that has run `first`.
fn after(first: &str, desk: &Desk, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{first}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_lfield")]);
    command.args(arguments).current_dir(desk.path(""));
    command
}

#[test]
fn with_few_addresses_it_refuses_in_one_line_or_works() {
    let desk = Desk::enlarged(25);
    let (mut n_refused, mut n_done) = (0, 0);
    // Kilobytes: from hardly a program to plenty.
    for limit in [30_000, 50_000, 80_000, 120_000, 200_000, 300_000, 420_000, 600_000, 1_000_000, 2_000_000] {
        let limit_addresses = format!("ulimit -v {limit}");
        let arguments = ["segment", "disc.png", "--threads", "2", "--max-iterations", "3", "--color", "never"];
        let output = after(&limit_addresses, &desk, &arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.status.code() {
            Some(0) => n_done += 1,
            // Below this the loader or the runtime gives up before the program has begun.
            _ if limit < 50_000 && !said.contains("panicked") => {}
            Some(1) => {
                n_refused += 1;
                assert!(said.starts_with("error: ") && said.lines().count() == 1, "{limit} kB: {said}");
                assert!(said.contains("memory") || said.contains("threads"), "{limit} kB: {said}");
            }
            code => panic!("exit code {code:?} at {limit} kB: {said}"),
        }
    }
    assert!(n_refused > 0 && n_done > 0, "{n_refused} refused, {n_done} done");
}

#[test]
fn nobody_has_to_listen() {
    let desk = Desk::with_strokes();
    let runs: [(&[&str], i32); 5] = [
        (&["man"], 0),
        (&["completions", "bash"], 0),
        (&["--help"], 0),
        (&["segment", "disc.png"], 0),
        (&["segment", "missing.png"], 1),
    ];
    for (arguments, code) in runs {
        for first in ["exec >&-", "exec 2>&-", "exec >&- 2>&- <&-"] {
            let status = after(first, &desk, arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
            assert_eq!(status.code(), Some(code), "{first}: {arguments:?}");
        }
    }
}

#[test]
fn what_cannot_be_printed_is_a_failure_that_says_so() {
    let desk = Desk::with_strokes();
    let runs: [&[&str]; 5] =
        [&["man"], &["completions", "bash"], &["--help"], &["segment", "--help"], &["batch", ".", "--dry-run"]];
    for arguments in runs {
        let output = after("exec >/dev/full", &desk, arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.starts_with("error: cannot write to standard output; check where it leads"), "{said}");
    }
    let status = after("exec 2>/dev/full", &desk, &["segment", "disc.png"]).status().unwrap();
    assert!(status.success(), "results do not depend on who listens");
}

#[test]
fn a_reader_of_the_plan_may_hang_up() {
    let desk = Desk::with_strokes();
    for i in 0..300 {
        desk.put(&format!("in/p{i}.png"), b"never read");
    }
    let mut child = Command::new(env!("CARGO_BIN_EXE_lfield"))
        .args(["batch", "in", "--dry-run"])
        .current_dir(desk.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
