//! Which photos there are, what belongs to them, and what is refused before the first is opened.

use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use super::{add_photo, contents, data_set, records, summary};
use crate::desk::in_disc;

#[test]
fn two_photos_with_one_name_stop_the_batch_before_it_begins() {
    let desk = data_set(&["a/x.png"]);
    image::open(desk.path("in/a/x.png")).unwrap().save(desk.path("in/a/x.bmp")).unwrap();
    let failure = desk.lfield(&["batch", "in", "-o", "out"]).assert().code(1);
    failure.stderr(contains("in/a/x.bmp").and(contains("in/a/x.png")).and(contains("out/a/x")));
    assert!(!desk.path("out").exists());
    desk.lfield(&["batch", "in", "-o", "out", "--exclude", "*.bmp"]).assert().success();
}

#[test]
fn no_input_of_any_photo_is_overwritten() {
    let desk = data_set(&["x.png"]);
    std::fs::rename(desk.path("in/x.scribbles.png"), desk.path("in/y.mask.png")).unwrap();
    add_photo(&desk, "y.png", 3);
    std::fs::write(desk.path("list.csv"), "image,scribbles,scribble_format\nx.png,y.mask.png,labels\ny.png,,\n")
        .unwrap();
    let refused = desk.lfield(&["batch", "in", "--manifest", "list.csv", "-o", "in"]).assert().code(1);
    refused.stderr(contains("in/y.mask.png"));
    desk.lfield(&["batch", "in", "--manifest", "list.csv", "-o", "out"]).assert().success();
}

#[test]
fn a_manifest_names_files_and_options() {
    let desk = data_set(&["a/x.png", "y.png", "z.png"]);
    std::fs::create_dir(desk.path("strokes")).unwrap();
    std::fs::rename(desk.path("in/y.scribbles.png"), desk.path("strokes/other.png")).unwrap();
    let csv = "image,scribbles,scribble-format,beta,paper,layer\n\
               in/a/x.png,,,3,,\"5,5,10\"\nin/y.png,strokes/other.png,labels,,true,\nin/z.png,,,,,\n";
    let json = "{\"image\": \"in/a/x.png\", \"beta\": 3, \"layer\": [\"5,5,10\"]}\n\
                {\"image\": \"in/y.png\", \"scribbles\": \"strokes/other.png\", \"scribble_format\": \"labels\", \"paper\": true}\n\
                {\"image\": \"in/z.png\"}\n";
    std::fs::write(desk.path("list.csv"), csv).unwrap();
    std::fs::write(desk.path("list.ndjson"), json).unwrap();
    let common = ["--beta", "7", "--layer", "9,9,30", "--layer=4,4,9"];
    for list in ["list.csv", "list.ndjson"] {
        desk.lfield(&["batch", "--manifest", list, "-o", list.trim_start_matches("list.")])
            .args(common)
            .assert()
            .success();
    }
    let (csv, json) = (contents(&desk.path("csv")), contents(&desk.path("ndjson")));
    assert!(csv == json);
    for (image, options) in [
        ("in/a/x.png", &["--beta", "3", "--layer", "5,5,10"][..]),
        (
            "in/y.png",
            &[
                "--scribbles",
                "strokes/other.png",
                "--scribble-format",
                "labels",
                "--paper",
                "--beta",
                "7",
                "--layer",
                "9,9,30",
                "--layer",
                "4,4,9",
            ],
        ),
        ("in/z.png", &["--beta", "7", "--layer", "9,9,30", "--layer", "4,4,9"]),
    ] {
        let folder = Path::new("one").join(image).parent().unwrap().to_str().unwrap().to_string();
        desk.lfield(&["segment", "-q", image, "-o", &folder]).args(options).assert().success();
    }
    for (name, content) in contents(&desk.path("one")) {
        assert!(csv[&name] == content, "{name}");
    }
    for (list, hint) in [
        ("image,betta\nin/z.png,3\n", "line 2 has an unknown option `betta`"),
        ("image,beta\nin/z.png,many\n", "line 2"),
        ("image,strict\nin/z.png,true\n", "line 2 has an unknown option `strict`"),
        ("photo\nin/z.png\n", "no column `image`"),
        ("image\nin/z.png\nin/z.png\n", "its line in the manifest"),
    ] {
        std::fs::write(desk.path("bad.csv"), list).unwrap();
        desk.lfield(&["batch", "--manifest", "bad.csv", "-o", "never"]).assert().code(1).stderr(contains(hint));
    }
    assert!(!desk.path("never").exists());
}

#[test]
fn mirrored_folders_hold_strokes_truths_and_probabilities() {
    let desk = data_set(&["a/x.png", "y.png"]);
    std::fs::create_dir_all(desk.path("strokes/a")).unwrap();
    for name in ["a/x", "y"] {
        let beside = desk.path("in").join(format!("{name}.scribbles.png"));
        std::fs::rename(beside, desk.path("strokes").join(format!("{name}.png"))).unwrap();
    }
    std::fs::create_dir_all(desk.path("truth/a")).unwrap();
    let disc = |x, y| image::Luma([if in_disc(x, y) { 255 } else { 0 }]);
    image::GrayImage::from_fn(24, 18, disc).save(desk.path("truth/a/x.png")).unwrap();
    let labels = ["--scribble-format", "labels"];
    let scored = ["batch", "in", "-o", "out", "--scribbles", "strokes", "--truth", "truth"];
    desk.lfield(&scored).args(labels).assert().success().stderr(contains("over 1 photo\n"));
    let lines = records(&desk, "out/batch.ndjson");
    assert!(lines[0]["scores"]["all_pixels"]["iou"].is_number() && lines[1].get("scores").is_none());
    let summary = summary(&desk, "out/summary.json");
    assert_eq!(summary["scores"]["all_pixels"]["mean"]["iou"], lines[0]["scores"]["all_pixels"]["iou"]);
    desk.lfield(&scored).args(labels).assert().success().stderr(contains("nothing was left to do"));
    // Another truth means another score, and a broken one is a failure of that photo.
    image::GrayImage::new(24, 18).save(desk.path("truth/y.png")).unwrap();
    desk.lfield(&scored).args(labels).assert().success().stderr(contains("1 segmented, 1 done before"));
    image::GrayImage::new(5, 5).save(desk.path("truth/y.png")).unwrap();
    desk.lfield(&scored).args(labels).assert().code(1).stderr(contains("truth/y.png is 5×5"));

    std::fs::create_dir_all(desk.path("net/a")).unwrap();
    desk.save_array("net/a/x.npy", |x, _| if x > 8 { 0.9 } else { 0.2 });
    let run = desk.lfield(&["batch", "in", "-o", "clean", "--prior", "net"]).assert().success();
    run.stderr(contains("1 segmented, 1 skipped").and(contains("no partner in net")));
    std::fs::create_dir(desk.path("none")).unwrap();
    let run = desk.lfield(&["batch", "in", "-o", "unscored", "--prior", "net", "--truth", "none"]).assert().success();
    run.stderr(contains("scores   none: no photo has a truth"));
    desk.lfield(&["batch", "in", "-o", "x", "--scribbles", "nowhere"]).assert().code(1).stderr(contains("nowhere"));
}

#[test]
fn a_dry_run_shows_the_plan_and_does_nothing() {
    let desk = data_set(&["a/x.png", "b/y.png"]);
    std::fs::remove_file(desk.path("in/b/y.scribbles.png")).unwrap();
    let shown = desk.lfield(&["batch", "in", "-o", "out", "--dry-run"]).assert().success();
    shown.stdout(contains("segment  a/x.png").and(contains("out/a/x.*")).and(contains("skip     b/y.png: no strokes")));
    let shown = desk.lfield(&["batch", "in", "-o", "out", "--dry-run"]).assert().success();
    shown.stdout(contains("2 photos: 1 to segment, 1 to skip; 1 file beside photos left out"));
    assert!(!desk.path("out").exists());
    desk.lfield(&["batch", "in", "-o", "out", "--include", "none*"]).assert().code(3).stderr(contains("no photos"));
    desk.lfield(&["batch", "nowhere", "-o", "out"]).assert().code(1).stderr(contains("nowhere"));
    desk.lfield(&["batch"]).assert().code(2).stderr(contains("DIR"));
    desk.lfield(&["batch", "in", "--max-memory", "lots"]).assert().code(2).stderr(contains("16G"));
}
