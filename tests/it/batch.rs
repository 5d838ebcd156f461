//! `lfield batch` and `lfield merge`: whole folders, interrupted, divided and joined again.

use std::collections::BTreeMap;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

use crate::desk::{Desk, bytes, in_disc, without_column, without_seconds};

/// Photos in sub-folders of `in/`, with strokes beside them; each a little different from the others.
fn data_set(names: &[&str]) -> Desk {
    let desk = Desk::with_strokes();
    for (i, name) in (0..).zip(names) {
        add_photo(&desk, name, i);
    }
    desk
}

fn add_photo(desk: &Desk, name: &str, shade: u8) {
    let (photo, strokes) = (desk.path("disc.png"), desk.path("disc.scribbles.png"));
    let target = desk.path("in").join(name);
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    let mut picture = image::open(photo).unwrap().into_rgb8();
    picture.pixels_mut().for_each(|pixel| pixel.0[2] = pixel.0[2].saturating_add(shade));
    picture.save(&target).unwrap();
    std::fs::copy(strokes, target.with_extension("scribbles.png")).unwrap();
}

/// Every file below a folder, by its path; seconds are taken out of those that have any.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(place) = open.pop() {
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_string();
            let raw = bytes(&path);
            let plain = match name.as_str() {
                name if name.ends_with(".report.json") => without_seconds(serde_json::from_slice(&raw).unwrap()),
                name if name.ends_with(".ndjson") => {
                    let plain = |line: &str| match serde_json::from_str::<Value>(line).unwrap() {
                        line if line["status"] == "done" => without_seconds(line),
                        line => line.to_string().into_bytes(),
                    };
                    String::from_utf8(raw).unwrap().lines().flat_map(plain).collect()
                }
                name if name.starts_with("summary.") => {
                    let mut summary: Value = serde_json::from_slice(&raw).unwrap();
                    summary.as_object_mut().unwrap().retain(|key, _| key != "seconds" && key != "run");
                    serde_json::to_vec(&summary).unwrap()
                }
                "index.html" => {
                    let page = String::from_utf8(raw).unwrap();
                    let cells = page.split("<td").filter(|cell| !cell.starts_with(" class=\"seconds\""));
                    cells.collect::<Vec<_>>().join("<td").into_bytes()
                }
                name if name.ends_with(".trace.csv") => without_column(&raw, 1),
                _ => raw,
            };
            files.insert(name, plain);
        }
    }
    files
}

fn records(desk: &Desk, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(desk.path(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn summary(desk: &Desk, name: &str) -> Value {
    serde_json::from_slice(&bytes(&desk.path(name))).unwrap()
}

/// Masks in the folders a, b and c; files may come and go meanwhile.
fn n_images(desk: &Desk) -> usize {
    let names = |folder: &str| std::fs::read_dir(desk.path("out").join(folder)).into_iter().flatten().flatten();
    let is_mask = |name: std::ffi::OsString| name.to_str().unwrap().ends_with(".mask.png");
    ["a", "b", "c"].into_iter().flat_map(names).filter(|entry| is_mask(entry.file_name())).count()
}

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
    run(&[]).code(3).stderr(contains("3 done before"));
    assert_eq!(before, ["a/x.mask.png", "batch.ndjson", "summary.json", "index.html"].map(stamp));

    run(&["--beta", "3"]).success().stderr(contains("3 segmented"));
    run(&["--beta", "3", "--force"]).success().stderr(contains("3 segmented"));
    std::fs::copy(desk.path("in/z.png"), desk.path("in/a/x.png")).unwrap();
    run(&["--beta", "3"]).success().stderr(contains("1 segmented, 2 done before"));
    std::fs::remove_file(desk.path("out/b/y.heatmap.png")).unwrap();
    run(&["--beta", "3"]).success().stderr(contains("1 segmented, 2 done before"));
    std::fs::remove_file(desk.path("out/index.html")).unwrap();
    run(&["--beta", "3"]).code(3);
    assert!(desk.path("out/index.html").exists());
    run(&["--beta", "3", "--emit", "mask"]).success().stderr(contains("3 segmented"));
    run(&["--beta", "3", "--emit", "mask"]).code(3);
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
    desk.lfield(&["batch", "in", "-o", "out"]).assert().code(3);
    assert_eq!(records(&desk, "out/batch.ndjson")[0]["status"], "done");
}

#[test]
fn shards_and_merge_are_the_whole() {
    let names: Vec<String> = (0..12).map(|i| format!("d{}/p{i}.png", i % 2)).collect();
    let desk = data_set(&names.iter().map(String::as_str).collect::<Vec<_>>());
    std::fs::write(desk.path("in/d0/broken.jpg"), "no photo").unwrap();
    desk.lfield(&["batch", "in", "-o", "whole", "--truth", "in"]).assert().code(1);
    desk.lfield(&["merge", "whole"]).assert().code(3);
    let mut n_done = 0;
    for index in [2, 4, 1, 3] {
        desk.lfield(&["merge", "parts"]).assert().code(1);
        let shard = format!("{index}/4");
        let run = desk.lfield(&["batch", "in", "-o", "parts", "--truth", "in", "--shard", &shard]).assert();
        assert!([0, 1, 3].contains(&run.get_output().status.code().unwrap()));
        let summary = summary(&desk, &format!("parts/summary.{index}-of-4.json"));
        n_done += summary["counts"]["done"].as_u64().unwrap();
    }
    assert_eq!(n_done, 12);
    desk.lfield(&["merge", "parts"]).assert().success().stderr(contains("13 photos, 12 done, 1 failed"));
    let (whole, mut parts) = (contents(&desk.path("whole")), contents(&desk.path("parts")));
    let n_shard_files = parts.keys().filter(|name| name.contains("-of-")).count();
    assert_eq!(n_shard_files, 8);
    parts.retain(|name, _| !name.contains("-of-"));
    assert_eq!(whole.keys().collect::<Vec<_>>(), parts.keys().collect::<Vec<_>>());
    for (name, content) in &whole {
        assert!(parts[name] == *content, "{name} differs");
    }

    desk.lfield(&["batch", "in", "-o", "parts", "--shard", "2/4", "--beta", "1", "-q"]).output().unwrap();
    desk.lfield(&["merge", "parts"]).assert().code(1).stderr(contains("different plans"));
    std::fs::remove_file(desk.path("parts/summary.2-of-4.json")).unwrap();
    desk.lfield(&["merge", "parts"]).assert().code(1).stderr(contains("no report of shard 2/4"));
    desk.lfield(&["merge", "nowhere"]).assert().code(1).stderr(contains("nowhere"));
}

#[test]
fn a_scheduler_says_which_shard_it_is() {
    let desk = data_set(&["x.png"]);
    let run = |variables: &[(&str, &str)], shard: &str| {
        let mut command = desk.lfield(&["batch", "in", "-o", "out", "--dry-run", "--shard", shard]);
        command.env_remove("SLURM_ARRAY_TASK_ID").env_remove("JOB_COMPLETION_INDEX");
        command.envs(variables.iter().copied()).assert()
    };
    let owner = (1..=3).find(|i| {
        let output = run(&[], &format!("{i}/3")).success().get_output().stdout.clone();
        String::from_utf8(output).unwrap().contains("x.png")
    });
    let owner = owner.unwrap();
    let (from_one, from_zero) = (owner.to_string(), (owner - 1).to_string());
    let slurm = [("SLURM_ARRAY_TASK_ID", &*from_one), ("SLURM_ARRAY_TASK_MIN", "1"), ("SLURM_ARRAY_TASK_COUNT", "3")];
    run(&slurm, "auto").success().stdout(contains("x.png"));
    run(&[("JOB_COMPLETION_INDEX", &from_zero), ("JOB_COMPLETIONS", "3")], "auto").success().stdout(contains("x.png"));
    run(&[("JOB_COMPLETION_INDEX", &from_zero)], "auto/3").success().stdout(contains("x.png"));
    run(&[], "auto").code(2).stderr(contains("SLURM_ARRAY_TASK_ID"));
    for nonsense in ["0/3", "4/3", "auto/", "autumn", "1"] {
        run(&slurm, nonsense).code(2).stderr(contains("2/4"));
    }
}

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
fn results_may_lie_beside_photos_or_below_them() {
    let desk = data_set(&["a/x.png"]);
    for out in ["in", "in/results"] {
        desk.lfield(&["batch", "in", "-o", out]).assert().success();
        desk.lfield(&["batch", "in", "-o", out]).assert().code(3).stderr(contains("of 1"));
    }
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
    desk.lfield(&scored).args(labels).assert().code(3);
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
    let hasty = ["batch", "in", "-o", "out", "--beta", "1", "--max-iterations", "1", "--tolerance", "1e-300"];
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

#[cfg(unix)]
mod stopped {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

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
        assert!([0, 3].contains(&start(&desk, "out").wait().unwrap().code().unwrap()));
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
