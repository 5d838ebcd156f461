//! Photos done, failed, skipped and done before; what is said and written about them.

use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use super::{contents, data_set, records, summary};
use crate::desk::{bytes, in_disc};

#[test]
fn thirty_photos_of_which_four_are_no_good() {
    let names: Vec<String> = (0..30).map(|i| format!("{}/p{i:02}.png", ["a", "b", "b/deep"][i % 3])).collect();
    let desk = data_set(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let bad = |name: &str| desk.path("in").join(name);
    let whole = bytes(&bad("a/p00.png"));
    std::fs::write(bad("a/p00.png"), &whole[..whole.len() / 2]).unwrap();
    std::fs::remove_file(bad("b/p01.png")).unwrap();
    std::fs::write(bad("b/p01.jpg"), "Dear photo, I am a letter.").unwrap();
    std::fs::remove_file(bad("b/deep/p02.scribbles.png")).unwrap();
    image::GrayImage::new(5, 5).save(bad("a/p03.scribbles.png")).unwrap();

    let failure = desk.lfield(&["batch", "in", "-o", "out", "--threads", "2"]).assert().code(1).stdout("");
    failure.stderr(
        contains("a/p00.png is damaged")
            .and(contains("b/p01.jpg is not an image"))
            .and(contains("b/deep/p02.png: no strokes; looked for in/b/deep/p02.scribbles.png"))
            .and(contains("a/p03.scribbles.png is 5×5"))
            .and(contains("26 segmented, 3 failed, 1 skipped of 30")),
    );
    let lines = records(&desk, "out/batch.ndjson");
    let mut expected: Vec<String> = names.iter().map(|name| name.replace("p01.png", "p01.jpg")).collect();
    expected.sort();
    assert_eq!(lines.iter().map(|line| line["image"].as_str().unwrap()).collect::<Vec<_>>(), expected);
    assert_eq!(
        lines.iter().map(|line| line["index"].as_u64().unwrap()).collect::<Vec<_>>(),
        (0..30).collect::<Vec<_>>()
    );
    let status = |wanted: &str| lines.iter().filter(|line| line["status"] == wanted).count();
    assert_eq!((status("done"), status("failed"), status("skipped")), (26, 3, 1));
    let summary = summary(&desk, "out/summary.json");
    assert_eq!(summary["counts"]["done"], 26);
    assert_eq!(summary["failed"].as_array().unwrap().len(), 3);
    assert!(summary["run"]["images_per_second"].as_f64().unwrap() > 0.0);

    for name in names.iter().filter(|name| !["p00", "p01", "p02", "p03"].iter().any(|bad| name.contains(bad))) {
        let folder = Path::new("one").join(name).parent().unwrap().to_str().unwrap().to_string();
        desk.lfield(&["segment", "-q", &format!("in/{name}"), "-o", &folder]).assert().success();
    }
    let (one, mut all) = (contents(&desk.path("one")), contents(&desk.path("out")));
    all.retain(|name, _| !name.starts_with(".lfield/") && name.contains('/'));
    assert_eq!(one.len(), 4 * 26);
    assert!(one == all, "batch and segment write the same bytes");
    desk.lfield(&["batch", "in", "-o", "out"]).assert().code(1).stderr(contains("26 done before, 3 failed"));
}

#[test]
fn what_is_done_is_not_done_again() {
    let desk = data_set(&["a/x.png", "b/y.png", "z.png"]);
    let run = |arguments: &[&str]| {
        let mut command = desk.lfield(&["batch", "in", "-o", "out"]);
        command.args(arguments).assert()
    };
    let stamp = |name: &str| std::fs::metadata(desk.path("out").join(name)).unwrap().modified().unwrap();
    run(&[]).success();
    let before = ["a/x.mask.png", "batch.ndjson", "summary.json", "index.html"].map(stamp);
    run(&[]).success().stderr(contains("3 done before").and(contains("nothing was left to do")));
    assert_eq!(before, ["a/x.mask.png", "batch.ndjson", "summary.json", "index.html"].map(stamp));

    run(&["--beta", "3"]).success().stderr(contains("3 segmented"));
    run(&["--beta", "3", "--force"]).success().stderr(contains("3 segmented"));
    std::fs::copy(desk.path("in/z.png"), desk.path("in/a/x.png")).unwrap();
    run(&["--beta", "3"]).success().stderr(contains("1 segmented, 2 done before"));
    std::fs::remove_file(desk.path("out/b/y.heatmap.png")).unwrap();
    run(&["--beta", "3"]).success().stderr(contains("1 segmented, 2 done before"));
    std::fs::remove_file(desk.path("out/index.html")).unwrap();
    run(&["--beta", "3"]).success().stderr(contains("nothing was left to do"));
    assert!(desk.path("out/index.html").exists());
    run(&["--beta", "3", "--emit", "mask"]).success().stderr(contains("3 segmented"));
    run(&["--beta", "3", "--emit", "mask"]).success().stderr(contains("nothing was left to do"));
}

#[test]
fn a_result_that_was_cut_short_is_made_again() {
    let desk = data_set(&["a/x.png", "b/y.png"]);
    let every = ["batch", "in", "-o", "out", "--emit", "all"];
    desk.lfield(&every).assert().success();
    let whole = contents(&desk.path("out"));
    let files: Vec<String> = whole.keys().filter(|name| name.starts_with("a/x.")).cloned().collect();
    assert!(files.len() > 10, "{files:?}");
    for name in files {
        let path = desk.path("out").join(&name);
        let content = bytes(&path);
        std::fs::write(&path, &content[..content.len() / 2]).unwrap();
        desk.lfield(&every).assert().success().stderr(contains("1 segmented, 1 done before"));
        assert!(contents(&desk.path("out")) == whole, "{name}");
    }
    desk.lfield(&every).assert().success().stderr(contains("2 done before"));
}

#[test]
fn a_photo_without_strokes_is_a_failure_where_that_is_asked_for() {
    let desk = data_set(&["x.png", "y.png"]);
    std::fs::remove_file(desk.path("in/y.scribbles.png")).unwrap();
    let plain = ["batch", "in", "-o", "out"];
    desk.lfield(&plain).assert().success().stderr(contains("1 segmented, 1 skipped"));
    let strict = desk.lfield(&plain).arg("--fail-on-skip").assert().code(1);
    strict.stderr(contains("1 done before, 1 skipped").and(contains("y.png: no strokes")));
    std::fs::remove_file(desk.path("in/x.scribbles.png")).unwrap();
    desk.lfield(&plain).assert().success().stderr(contains("nothing could be done: every photo was skipped"));
    desk.lfield(&plain).arg("--fail-on-skip").assert().code(1);
}

#[test]
fn what_it_remembers_is_missed_when_it_cannot_be_read() {
    let desk = data_set(&["a.png"]);
    desk.lfield(&["batch", "in", "-o", "out"]).assert().success();
    // Without it the report would lose scores and thumbnails, and nobody would know.
    std::fs::remove_file(desk.path("out/.lfield/a.json")).unwrap();
    std::fs::create_dir(desk.path("out/.lfield/a.json")).unwrap();
    let mut again = desk.lfield(&["batch", "in", "-o", "out"]);
    again.assert().code(1).stderr(contains("cannot read out/.lfield/a.json"));
}

#[test]
fn results_of_segment_count_as_done() {
    let desk = data_set(&["a/x.png"]);
    desk.lfield(&["segment", "-q", "in/a/x.png", "-o", "out/a"]).assert().success();
    desk.lfield(&["batch", "in", "-o", "out"]).assert().success().stderr(contains("1 done before"));
    assert_eq!(records(&desk, "out/batch.ndjson")[0]["status"], "done");
}

#[test]
fn results_may_lie_beside_photos_or_below_them() {
    let desk = data_set(&["a/x.png"]);
    for out in ["in", "in/results"] {
        desk.lfield(&["batch", "in", "-o", out]).assert().success();
        desk.lfield(&["batch", "in", "-o", out]).assert().success().stderr(contains("1 done before of 1"));
    }
}

#[test]
fn quiet_prints_errors_only_and_verbose_a_line_per_photo() {
    let desk = data_set(&["a/x.png", "b/y.png"]);
    desk.lfield(&["batch", "in", "-q", "-o", "out"]).assert().success().stdout("").stderr("");
    desk.lfield(&["batch", "in", "-v", "-o", "out2"])
        .assert()
        .success()
        .stderr(contains("a/x.png").and(contains("b/y.png")));
    std::fs::write(desk.path("in/z.jpg"), "no photo").unwrap();
    let failed = desk.lfield(&["batch", "in", "-q", "-o", "out"]).assert().code(1);
    failed.stderr(predicate::str::starts_with("error: ").and(contains("z.jpg")).and(contains("\n").count(1)));
}

#[test]
fn a_photo_that_needs_too_much_memory_is_refused_by_name() {
    let desk = data_set(&["x.png"]);
    let refused = desk.lfield(&["batch", "in", "-o", "out", "--max-memory", "20M"]).assert().code(1);
    refused.stderr(contains("in/x.png").and(contains("--max-memory")));
    assert!(summary(&desk, "out/summary.json")["seconds"]["total"].as_f64().unwrap().is_sign_positive());
    desk.lfield(&["batch", "in", "-o", "out", "--max-memory", "60M", "--jobs", "2"]).assert().success();
}

#[test]
fn strict_asks_for_every_photo_to_be_certified() {
    let desk = data_set(&["x.png", "y.png"]);
    let hasty =
        ["batch", "in", "-o", "out", "--beta", "0.1", "--gamma", "0", "--max-iterations", "1", "--tolerance", "1e-300"];
    desk.lfield(&hasty).assert().success().stderr(contains("not converged"));
    desk.lfield(&hasty).arg("--strict").assert().code(4);
    desk.lfield(&hasty).arg("--strict").assert().code(4);
}

#[test]
fn the_page_carries_everything_inside_itself() {
    let desk = data_set(&["a & b/<x>.png", "y.png"]);
    std::fs::write(desk.path("in/z.jpg"), "no photo").unwrap();
    desk.lfield(&["batch", "in", "-o", "out"]).assert().code(1);
    let page = std::fs::read_to_string(desk.path("out/index.html")).unwrap();
    assert_eq!(page.matches("<img src=\"data:image/jpeg;base64,").count(), 6);
    assert_eq!(page.matches("<img").count(), 6);
    assert!(page.contains("a &amp; b/&lt;x&gt;.png") && !page.contains("<x>"));
    assert!(page.contains("href=\"a%20%26%20b/%3Cx%3E.mask.png\""));
    assert!(!page.contains("http") && !page.contains("{rows}") && !page.contains("{head}"));
    assert!(page.contains("<td class=\"failed\"") && page.contains("data-status=\"failed\""));
    assert!(page.contains("in/z.jpg is not an image"));
    let n_columns = page.matches("<th ").count();
    for row in page.split("<tr>").skip(2) {
        let spans = row.split("colspan=\"").nth(1).and_then(|rest| rest.split('"').next());
        let extra = spans.map_or(0, |n| n.parse::<usize>().unwrap() - 1);
        assert_eq!(row.matches("<td").count() + extra, n_columns, "{row:.200}");
    }
}

#[cfg(unix)]
#[test]
fn names_that_talk_to_the_terminal_are_shown_and_not_obeyed() {
    let desk = data_set(&["a\u{1b}[2J\nb.png", "c\nd.png"]);
    std::fs::remove_file(desk.path("in/c\nd.scribbles.png")).unwrap();
    let calm = || contains("a\\u{1b}[2J\\nb.png").and(contains("c\\nd.png")).and(contains('\u{1b}').not());
    desk.lfield(&["batch", "in", "-o", "out", "--dry-run"]).assert().success().stdout(calm());
    desk.lfield(&["batch", "in", "-o", "out", "-v"]).assert().success().stderr(calm());
}

#[test]
fn scores_are_those_of_evaluate() {
    let desk = data_set(&["x.png", "y.png"]);
    for (folder, name) in
        [("set/images", "x.png"), ("set/images", "y.png"), ("set/scribbles", "x"), ("set/scribbles", "y")]
    {
        let from = if folder.ends_with("images") { name.to_string() } else { format!("{name}.scribbles.png") };
        std::fs::create_dir_all(desk.path(folder)).unwrap();
        let to = format!("{}.png", name.trim_end_matches(".png"));
        std::fs::copy(desk.path("in").join(from), desk.path(folder).join(to)).unwrap();
    }
    std::fs::create_dir_all(desk.path("set/masks")).unwrap();
    for (name, shift) in [("x", 1), ("y", 2)] {
        let disc = |x, y| image::Luma([if in_disc(x + shift, y) { 255 } else { 0 }]);
        image::GrayImage::from_fn(24, 18, disc).save(desk.path(&format!("set/masks/{name}.png"))).unwrap();
    }
    desk.lfield(&["evaluate", "set", "--methods", "defaults", "-o", "evaluated", "-q"]).assert().success();
    desk.lfield(&["batch", "set/images", "--truth", "set/masks", "-o", "out", "-q"]).assert().success();
    let evaluated: Value = serde_json::from_slice(&bytes(&desk.path("evaluated/results.json"))).unwrap();
    let batch = summary(&desk, "out/summary.json");
    for region in ["unlabelled", "all_pixels"] {
        let expected = &evaluated["methods"][0]["summary"][region]["mean"];
        assert!(expected["auc"].is_number());
        assert_eq!(&batch["scores"][region]["mean"], expected, "{region}");
    }
}
