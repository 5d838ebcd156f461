//! Several batches at once in one folder, and in scripts.

use std::process::{Child, Command, Output, Stdio};

use predicates::prelude::*;
use predicates::str::contains;

use super::{contents, data_set, records};
use crate::desk::Desk;

const NAMES: [&str; 3] = ["a/1.png", "a/2.png", "b/3.png"];

fn start(desk: &Desk, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lfield"))
        .args(["batch", "in", "--threads", "1"])
        .args(arguments)
        .current_dir(desk.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// How many photos a run segmented and how many it found done, by what it said; anything out of place is a failure.
fn told(output: &Output) -> (usize, usize) {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(["error", "cannot", "failed", "stopped"].iter().all(|word| !said.contains(word)), "{said}");
    let count = |what: &str| {
        let words: Vec<&str> = said.split([' ', ',', '\n']).filter(|word| !word.is_empty()).collect();
        let place = words.windows(2).position(|pair| pair[1] == what);
        place.map_or(0, |place| words[place].parse().unwrap())
    };
    let (segmented, before) = (count("segmented"), count("done"));
    assert_eq!(segmented == 0, said.contains("nothing was left to do"), "{said}");
    (segmented, before)
}

#[test]
fn of_fifty_pairs_started_at_once_one_waits_and_nothing_is_lost_or_done_twice() {
    let desk = data_set(&NAMES);
    desk.lfield(&["batch", "in", "-o", "calm", "-q"]).assert().success();
    let calm = contents(&desk.path("calm"));
    let mut n_waited = 0;
    for _ in 0..50 {
        let pair = [(); 2].map(|()| start(&desk, &["-o", "out"]));
        let outputs = pair.map(|child| child.wait_with_output().unwrap());
        let mut counts = outputs.each_ref().map(told);
        counts.sort_unstable();
        assert_eq!(counts, [(0, NAMES.len()), (NAMES.len(), 0)]);
        let waited = |output: &&Output| {
            contains("another batch is running here").eval(&*String::from_utf8_lossy(&output.stderr))
        };
        n_waited += outputs.iter().filter(waited).count();
        assert!(contents(&desk.path("out")) == calm);
        std::fs::remove_dir_all(desk.path("out")).unwrap();
    }
    assert!(n_waited > 0, "no two batches ever met");
}

#[test]
fn twenty_shards_requeued_while_they_run_lose_nothing_and_merge_into_the_whole() {
    let desk = data_set(&NAMES);
    desk.lfield(&["batch", "in", "-o", "calm", "-q"]).assert().success();
    let calm = contents(&desk.path("calm"));
    for round in 0..10 {
        // Each of two shards is started, requeued beside itself, and in every other round killed first.
        let mut shards = [(); 2].map(|()| Vec::new());
        for (i, runs) in shards.iter_mut().enumerate() {
            let shard = format!("{}/2", i + 1);
            for n in 0..2 {
                let mut child = start(&desk, &["-o", "out", "--shard", &shard]);
                if n == 0 && round % 2 == 1 {
                    child.kill().unwrap();
                    child.wait().unwrap();
                } else {
                    runs.push(child);
                }
            }
        }
        let mut n_segmented = 0;
        for child in shards.into_iter().flatten() {
            let output = child.wait_with_output().unwrap();
            if !contains("no photo falls to this shard").eval(&*String::from_utf8_lossy(&output.stderr)) {
                n_segmented += told(&output).0;
            }
        }
        assert!(n_segmented <= NAMES.len(), "{n_segmented} in round {round}");
        desk.lfield(&["merge", "out"]).assert().success().stderr(contains("3 photos, 3 done, 0 failed"));
        let mut out = contents(&desk.path("out"));
        out.retain(|name, _| !name.contains("-of-"));
        assert!(out == calm, "round {round}");
        std::fs::remove_dir_all(desk.path("out")).unwrap();
    }
}

#[test]
fn who_will_not_wait_is_told_and_changes_nothing() {
    let desk = data_set(&NAMES);
    let busy = || contains("another batch is running here").and(contains("-o"));
    let lock = lfield::store::Lock::take(&desk.path("out/.lfield"), None).unwrap();
    for arguments in [&["--no-wait"][..], &["--no-wait", "--shard", "1/2"]] {
        desk.lfield(&["batch", "in", "-o", "out"]).args(arguments).assert().code(1).stderr(busy());
    }
    assert_eq!(contents(&desk.path("out")).keys().collect::<Vec<_>>(), [".lfield/lock"]);
    desk.lfield(&["batch", "in", "-o", "out", "--dry-run"]).assert().success();
    drop(lock);
    for shard in ["1/2", "2/2"] {
        desk.lfield(&["batch", "in", "-o", "out", "--shard", shard]).assert().success();
    }
    let _lock = lfield::store::Lock::take(&desk.path("out/.lfield"), Some("2-of-2")).unwrap();
    desk.lfield(&["batch", "in", "-o", "out", "--no-wait", "--shard", "1/2"]).assert().success();
    desk.lfield(&["batch", "in", "-o", "out", "--no-wait", "--shard", "2/2"]).assert().code(1).stderr(busy());
    desk.lfield(&["batch", "in", "-o", "out", "--no-wait"]).assert().code(1).stderr(busy());
    desk.lfield(&["merge", "out"]).assert().code(1).stderr(contains("another batch is running here"));
}

/// A script in the desk's folder, with the program as `$LFIELD`.
fn script(desk: &Desk, text: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", text]).env("LFIELD", env!("CARGO_BIN_EXE_lfield")).current_dir(desk.path(""));
    command.output().unwrap()
}

#[test]
fn scripts_that_stop_at_errors_xargs_and_retry_loops_do_what_they_should() {
    let desk = data_set(&NAMES);
    for text in [
        "set -e; $LFIELD batch in -o out; $LFIELD batch in -o out; echo through",
        "printf '1/2\\n2/2\\n1/2\\n2/2\\n' | xargs -P 4 -n 1 $LFIELD batch in -o parts --shard && $LFIELD merge parts && echo through",
        // A pod that is started again until it ends well; the first time it dies at once.
        "n=0; until (if [ $n = 0 ]; then ulimit -t 0; fi; exec $LFIELD batch in -o pod --shard 1/1 2>pod.log); do \
         n=$((n+1)); [ $n -lt 3 ] || exit 1; done; $LFIELD merge pod && [ $n = 1 ] && echo through",
    ] {
        let output = script(&desk, text);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && output.stdout.ends_with(b"through\n"), "{text}: {said}");
    }
    for folder in ["out", "parts", "pod"] {
        let lines = records(&desk, &format!("{folder}/batch.ndjson"));
        assert!(lines.len() == 3 && lines.iter().all(|line| line["status"] == "done"), "{folder}");
    }
}
