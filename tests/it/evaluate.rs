//! `lfield evaluate`: what is scored, what is written, and what an interrupt leaves behind.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use assert_cmd::Command;
use image::{GrayImage, Luma, Rgb, RgbImage};
use lfield::dataset::evaluate::{Case, Contender, Evaluation, Event, Grid, Options, evaluate};
use lfield::grid::{Marginals, Mask, Picture, Shape, Truth};
use lfield::metric::Scores;
use lfield::read::{Format, Limits, Strokes};
use ndarray::Array2;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;

/// A folder of tiny photos: discs of different sizes, grainy, with a stroke in the disc and one at the margin.
struct Album(tempfile::TempDir);

const WIDTH: u32 = 30;
const HEIGHT: u32 = 20;

impl Album {
    fn new(names: &[&str]) -> Self {
        let album = Self(tempfile::tempdir().unwrap());
        for folder in ["images", "scribbles", "masks"] {
            std::fs::create_dir(album.path(folder)).unwrap();
        }
        for (index, name) in names.iter().enumerate() {
            album.add(name, 16.0 + 12.0 * index as f64);
        }
        album
    }

    fn add(&self, name: &str, area: f64) {
        let inside = |x: u32, y: u32| (f64::from(x) - 14.5).powi(2) + (f64::from(y) - 9.5).powi(2) < area;
        let colour = |x: u32, y: u32| {
            let grain = ((x * 7919 + y * 104_729 + x * y * 31) % 97) as u8;
            if inside(x, y) { [110 + grain, 90 + grain / 2, 70] } else { [70 + grain, 80 + grain / 2, 100] }
        };
        let stroke = |x: u32, y: u32| match (x, y) {
            (13..=16, 8..=10) => 255,
            (0..=1 | 28..=29, _) => 128,
            _ => 0,
        };
        let truth = |x: u32, y: u32| if inside(x, y) { 255 } else { 0 };
        RgbImage::from_fn(WIDTH, HEIGHT, |x, y| Rgb(colour(x, y)))
            .save(self.path(&format!("images/{name}.png")))
            .unwrap();
        self.save_grey(&format!("scribbles/{name}.png"), stroke);
        self.save_grey(&format!("masks/{name}.png"), truth);
    }

    fn save_grey(&self, name: &str, level: impl Fn(u32, u32) -> u8) {
        GrayImage::from_fn(WIDTH, HEIGHT, |x, y| Luma([level(x, y)])).save(self.path(name)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn lfield(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lfield"));
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    fn json(&self, folder: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(folder).join("results.json")).unwrap()).unwrap()
    }

    /// Every file of a run but the cache.
    fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        let read = |name: &&str| (name.to_string(), std::fs::read(self.path(folder).join(name)).unwrap());
        Evaluation::FILES.iter().map(read).collect()
    }

    /// The journals in the cache of an output folder.
    fn journals(&self, folder: &str) -> Vec<PathBuf> {
        let Ok(files) = std::fs::read_dir(self.path(folder).join("cache")) else { return Vec::new() };
        files.map(|file| file.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect()
    }

    /// The rows of results.csv by column name.
    fn csv(&self, folder: &str) -> Vec<BTreeMap<String, String>> {
        let text = std::fs::read_to_string(self.path(folder).join("results.csv")).unwrap();
        let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<_>>());
        let header = lines.next().unwrap();
        lines.map(|row| header.iter().cloned().zip(row).collect()).collect()
    }

    /// What `lfield segment` with these options scores on a photo.
    fn segmented(&self, name: &str, arguments: &[&str]) -> Scores {
        let image = format!("images/{name}.png");
        let mut command = self.lfield(&["segment", &image, "-q", "-o", "single", "--emit", "marginals.npy,mask"]);
        command.args(arguments).assert().success();
        let limits = Limits::default();
        let picture = Picture::read(&self.path(&image), &limits).unwrap().value;
        let strokes =
            Strokes::read(&self.path(&format!("scribbles/{name}.png")), &picture, Format::Auto, &limits).unwrap();
        let shape = Shape::new(WIDTH as usize, HEIGHT as usize);
        let truth = Truth::read(&self.path(&format!("masks/{name}.png")), shape, &limits).unwrap();
        let array: Array2<f64> = ndarray_npy::read_npy(self.path(&format!("single/{name}.marginals.npy"))).unwrap();
        let mask = image::open(self.path(&format!("single/{name}.mask.png"))).unwrap().into_luma8();
        let marginals = Marginals::new(shape, array.into_iter().collect()).unwrap();
        let mask = Mask::new(shape, mask.iter().map(|&level| level > 0).collect());
        Scores::of(&marginals, &mask, &truth, Some(&strokes.seeds))
    }
}

fn number(row: &BTreeMap<String, String>, name: &str) -> f64 {
    row[name].parse().unwrap_or_else(|_| panic!("{name} is {:?}", row[name]))
}

#[test]
fn it_scores_what_segment_writes_also_where_one_solve_serves_several_settings() {
    let album = Album::new(&["a", "b"]);
    let grid = ["--grid", "alpha=1,0.1", "--grid", "beta=10,1", "--grid", "gamma=2,0.2"];
    let exact = ["--tolerance", "1e-9", "--max-iterations", "5000"];
    album.lfield(&["evaluate", ".", "-q"]).args(grid).args(exact).assert().success();
    let rows = album.csv("lfield-out");
    let method = |row: &BTreeMap<String, String>| match &row["method"][..] {
        "bp" => "bp",
        "fbp" => "fbp",
        "unary" => "unary",
        "mean-field" => "mean-field",
        _ => "lfield",
    };
    let mut compared = 0;
    for row in rows.iter().filter(|row| row["photo"] == "b") {
        let rival = matches!(&row["method"][..], "mean-field" | "bp" | "fbp");
        let mut arguments =
            vec!["--method", method(row), "--alpha", &row["alpha"], "--beta", &row["beta"], "--gamma", &row["gamma"]];
        if row["method"] != "defaults" {
            arguments.extend(["--bias", "0"]);
        }
        if !rival && row["method"] != "defaults" {
            arguments.extend(exact);
        }
        let scores = album.segmented("b", &arguments);
        let figures = scores.unlabelled.figures;
        let mut pairs = vec![("brier", figures.brier, 2e-5), ("iou", figures.iou, 2e-6)];
        // L-Field's regions are flat up to the gap, and which of their pixels comes first is nobody's promise.
        if !matches!(&row["method"][..], "cut" | "hop" | "full") {
            pairs.push(("auc", figures.auc, 2e-6));
        }
        for (name, figure, within) in pairs {
            let figure = figure.unwrap();
            assert!((number(row, name) - figure).abs() < within, "{name} {figure} in {row:?}");
        }
        compared += 1;
    }
    // unary 2 · three rivals of 4 · cut 4 · superpixels 4 · both 8 · defaults 1
    assert_eq!(compared, 2 + 12 + 4 + 4 + 8 + 1);
}

#[test]
fn every_file_is_written_and_the_table_says_what_was_done() {
    let album = Album::new(&["a", "b", "c"]);
    let said = album.lfield(&["evaluate", ".", "--paper", "-o", "out"]).assert().success().get_output().stderr.clone();
    let said = String::from_utf8(said).unwrap();
    for part in ["3 of 3", "AUC", "unary only", "L-Field superpixels (HOP)", "table.md"] {
        assert!(said.contains(part), "{part} in {said}");
    }
    let json = album.json("out");
    assert_eq!(json["schema"], "lfield.evaluate/1");
    let methods: Vec<&str> =
        json["methods"].as_array().unwrap().iter().map(|m| m["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["unary", "mean-field", "bp", "fbp", "cut", "hop"]);
    assert_eq!(json["methods"][5]["published"]["auc"], 0.9638);
    assert_eq!(json["order"].as_array().unwrap().len(), 9);
    assert_eq!(json["confidence"].as_array().unwrap().len(), 5);
    // 4 + 3 × 60 + 60 + 20 settings on three photos, of which each method chose one per photo.
    let rows = album.csv("out");
    assert_eq!(rows.len(), 3 * (4 + 3 * 60 + 60 + 20));
    assert_eq!(rows.iter().filter(|row| row["chosen"] == "1").count(), 3 * 6);
    let table = String::from_utf8(album.files("out")["table.md"].clone()).unwrap();
    for part in [
        "0.9602 ± 0.0617",
        "printed model",
        "The paper's order",
        "equal settings",
        "2, 4, 6, 8, 10, 12, 14, 16, 18, 20",
    ] {
        assert!(table.contains(part), "{part} in {table}");
    }
    // The table says in words which of the paper's relations do not hold, and the file has the same.
    let said_of = |words: &str| {
        let line = table.lines().find(|line| line.starts_with(words)).unwrap_or_else(|| panic!("{words} in {table}"));
        line.matches(" above ").count()
    };
    let broken = |figure: &str| {
        let order = json["order"].as_array().unwrap().iter();
        order.filter(|relation| relation[figure].as_f64().unwrap() <= 0.0).count()
    };
    assert_eq!(said_of("The order holds in AUC"), broken("auc"));
    assert_eq!(said_of("It holds in AUCT"), broken("auct"));
    assert_eq!(said_of("With one setting per method"), broken("auc_at_best"));
    for method in json["methods"].as_array().unwrap() {
        let (chosen, best) = (&method["summary"]["unlabelled"]["mean"]["auc"], &method["at_best_setting"]["auc"]);
        assert!(best.as_f64().unwrap() >= chosen.as_f64().unwrap() - 1e-12, "{method}");
    }
    let picture = image::load_from_memory(&album.files("out")["gallery.png"]).unwrap();
    assert_eq!((picture.width(), picture.height()), (4 * (WIDTH + 8) + 8, 3 * (HEIGHT + 8) + 8));
}

#[test]
fn the_order_of_messages_is_an_option_that_the_results_name() {
    let album = Album::new(&["a"]);
    let run = |order: &str| {
        let arguments =
            ["--methods", "fbp", "--grid", "beta=30", "--grid", "alpha=0.1", "--bp-schedule", order, "-o", order];
        album.lfield(&["evaluate", ".", "-q"]).args(arguments).assert().success();
        assert_eq!(album.json(order)["parameters"]["bp_schedule"], order);
        album.csv(order)[0]["brier"].clone()
    };
    assert_ne!(run("lines"), run("parallel"));
}

#[test]
fn settings_differ_by_photo_only_where_the_others_say_so() {
    let album = Album::new(&["a", "b", "c"]);
    album.lfield(&["evaluate", ".", "-q", "--methods", "cut", "--grid", "beta=0.1,1,10,100"]).assert().success();
    let rows = album.csv("lfield-out");
    for photo in ["a", "b", "c"] {
        let mean = |beta: &str| -> f64 {
            rows.iter().filter(|row| row["photo"] != photo && row["beta"] == beta).map(|row| number(row, "auc")).sum()
        };
        let best = ["0.1", "1", "10", "100"].into_iter().map(mean).fold(0.0, f64::max);
        let chosen = rows.iter().find(|row| row["photo"] == photo && row["chosen"] == "1").unwrap();
        assert!((mean(&chosen["beta"]) - best).abs() < 1e-5, "{photo}: {chosen:?}");
    }
}

#[test]
fn a_run_that_was_cut_short_goes_on_and_writes_the_same_files() {
    let album = Album::new(&["a", "b", "c"]);
    let command = ["evaluate", ".", "-q", "--methods", "unary,fbp,cut,hop,defaults", "--grid", "paper"];
    album.lfield(&command).args(["-o", "whole"]).assert().success();

    // Killed in the middle of writing a line, in every journal.
    std::fs::create_dir_all(album.path("torn/cache")).unwrap();
    for path in album.journals("whole") {
        let journal = std::fs::read(&path).unwrap();
        std::fs::write(album.path("torn/cache").join(path.file_name().unwrap()), &journal[..journal.len() / 2])
            .unwrap();
    }
    album.lfield(&command).args(["-o", "torn", "--threads", "3"]).assert().success();
    assert_eq!(album.files("whole"), album.files("torn"));
    // And a third run has nothing left to solve.
    let journal = |folder: &str| -> u64 {
        let files = std::fs::read_dir(album.path(folder).join("cache")).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
    };
    let before = journal("torn");
    album.lfield(&command).args(["-o", "torn"]).assert().success();
    assert_eq!(journal("torn"), before);
    assert_eq!(album.files("whole"), album.files("torn"));
}

/// Really stopped: by a signal, while it is at work.
#[cfg(unix)]
mod stopped {
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    fn start(album: &Album, out: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_lfield"))
            .args(["evaluate", ".", "--paper", "--threads", "2", "-q", "-o", out])
            .current_dir(album.0.path())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Finished tasks in the journals.
    fn n_tasks(album: &Album, out: &str) -> usize {
        album.journals(out).iter().map(|path| std::fs::read_to_string(path).unwrap().lines().count()).sum()
    }

    #[test]
    fn killed_or_interrupted_and_run_again_it_writes_the_files_of_an_undisturbed_run() {
        let names: Vec<String> = (0..12).map(|i| format!("disc{i}")).collect();
        let album = Album::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(start(&album, "calm").wait().unwrap().success());
        for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
            let before = n_tasks(&album, "out");
            let mut child = start(&album, "out");
            let began = Instant::now();
            while n_tasks(&album, "out") <= before {
                assert!(began.elapsed() < Duration::from_secs(300), "no result after five minutes");
            }
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
            assert_eq!(child.wait().unwrap().code(), code, "{signal}");
            let written = Evaluation::FILES.iter().filter(|name| album.path("out").join(name).exists());
            assert_eq!(written.count(), 0, "results of half a run after {signal}");
        }
        assert!(n_tasks(&album, "out") < n_tasks(&album, "calm"));
        assert!(start(&album, "out").wait().unwrap().success());
        assert!(album.files("calm") == album.files("out"));
    }
}

#[test]
fn an_observer_that_breaks_leaves_a_cache_to_go_on_from() {
    let album = Album::new(&["a", "b"]);
    let cases = Case::all(album.0.path(), None, None).unwrap();
    let options =
        Options { methods: vec![Contender::Bp, Contender::Cut], grid: Grid::paper(), threads: 2, ..Options::paper() };
    let run = |cache: &str, budget: usize| {
        let (solved, known) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let result = evaluate(&cases, &options, &album.path(cache), &|event| {
            match event {
                Event::Solved(solves) => drop(solved.fetch_add(solves, Ordering::SeqCst)),
                Event::Known(solves) => drop(known.fetch_add(solves, Ordering::SeqCst)),
                _ => {}
            }
            if solved.load(Ordering::SeqCst) >= budget { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (result, solved.into_inner(), known.into_inner())
    };
    let (whole, all, _) = run("one", usize::MAX);
    assert_eq!(all, 2 * (60 + 24));
    let (interrupted, part, _) = run("two", 40);
    assert!(matches!(interrupted, Err(lfield::Error::Interrupted)) && part < all);
    let (resumed, rest, known) = run("two", usize::MAX);
    assert_eq!((known, rest), (part, all - part));
    whole.unwrap().write(&album.path("first"), &options, None).unwrap();
    resumed.unwrap().write(&album.path("second"), &options, None).unwrap();
    assert_eq!(album.files("first"), album.files("second"));

    // The gallery is not solved again: it is what the cache holds.
    let cached = std::fs::read_dir(album.path("two")).unwrap().map(|file| file.unwrap().path());
    let galleries: Vec<_> = cached.filter(|path| path.to_string_lossy().ends_with(".gallery.png")).collect();
    let [gallery] = &galleries[..] else { panic!("{galleries:?}") };
    assert_eq!(std::fs::read(gallery).unwrap(), album.files("second")["gallery.png"]);
    std::fs::write(gallery, "kept").unwrap();
    let (again, rest, known) = run("two", usize::MAX);
    assert_eq!((known, rest), (all, 0));
    again.unwrap().write(&album.path("third"), &options, None).unwrap();
    assert_eq!(album.files("third")["gallery.png"], b"kept");
}

#[test]
fn another_stroke_file_or_another_parameter_is_not_answered_from_the_cache() {
    let album = Album::new(&["a"]);
    // At a temperature that leaves room for doubt: on so easy a photo the figure would be zero whatever changes.
    let brier = |arguments: &[&str]| {
        album
            .lfield(&["evaluate", ".", "-q", "--methods", "cut", "--temperature", "20"])
            .args(arguments)
            .assert()
            .success();
        album.csv("lfield-out")[0]["brier"].clone()
    };
    let first = brier(&[]);
    assert_ne!(first, brier(&["--outlier", "0.2"]));
    assert_eq!(first, brier(&[]));
    album.save_grey("scribbles/a.png", |x, y| match (x, y) {
        (14..=15, 9) => 255,
        (0, _) => 128,
        _ => 0,
    });
    assert_ne!(first, brier(&[]));
}

#[test]
fn one_bad_photo_fails_alone_and_a_truth_of_one_class_is_in_no_mean() {
    let album = Album::new(&["a", "b", "flat", "missing", "odd"]);
    album.save_grey("masks/flat.png", |_, _| 0);
    album.save_grey("masks/odd.png", |_, _| 77);
    std::fs::remove_file(album.path("scribbles/missing.png")).unwrap();
    let run = album.lfield(&["evaluate", ".", "--methods", "unary,defaults"]).assert().code(1);
    run.stderr(
        contains("scribbles/missing.png")
            .and(contains("masks/odd.png"))
            .and(contains("2 photos failed"))
            .and(contains("one class only")),
    );
    let json = album.json("lfield-out");
    let names = |list: &Value| {
        list.as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        (names(&json["photos"]), names(&json["failures"])),
        (vec!["a".into(), "b".into(), "flat".into()], vec!["missing".into(), "odd".into()])
    );
    let summary = &json["methods"][1]["summary"];
    assert_eq!((&summary["photos"], &summary["degenerate"]), (&Value::from(2), &Value::from(1)));
    let rows = album.csv("lfield-out");
    let defaults = |photo: &str| rows.iter().find(|row| row["photo"] == photo && row["method"] == "defaults").unwrap();
    let mean = (number(defaults("a"), "auc") + number(defaults("b"), "auc")) / 2.0;
    assert!((summary["unlabelled"]["mean"]["auc"].as_f64().unwrap() - mean).abs() < 1e-6);
    assert_eq!(defaults("flat")["auc"], "");
    assert_eq!(defaults("flat")["degenerate"], "1");
}

#[test]
fn a_manifest_names_the_files_and_nothing_to_do_is_said() {
    let album = Album::new(&["a", "b"]);
    let lines = "image,scribbles,truth\nimages/b.png,scribbles/b.png,masks/b.png\n";
    std::fs::write(album.path("list.csv"), lines).unwrap();
    album.lfield(&["evaluate", "list.csv", "-q", "--methods", "unary"]).assert().success();
    assert_eq!(album.json("lfield-out")["photos"][0]["name"], "b");
    std::fs::create_dir_all(album.path("empty/images")).unwrap();
    album.lfield(&["evaluate", "empty"]).assert().code(3).stderr(contains("nothing to do"));
    album.lfield(&["evaluate", "nowhere"]).assert().code(1).stderr(contains("nowhere"));
    let usage: [(&[&str], &str); 4] = [
        (&["--methods", "magic"], "unary, mean-field, bp"),
        (&["--grid", "delta=1"], "alpha, beta, gamma or theta"),
        (&["--gallery", "zebra"], "no photo has that name"),
        (&["--choose-by", "beauty"], "boundary_f"),
    ];
    for (arguments, says) in usage {
        album.lfield(&["evaluate", "."]).args(arguments).assert().code(2).stderr(contains(says));
    }
    album.lfield(&["evaluate", ".", "--grid", "alpha=0"]).assert().code(1).stderr(contains("above 0"));
}

#[test]
fn a_robot_strokes_until_the_mask_is_good_and_goes_on_after_an_interrupt() {
    let album = Album::new(&["a", "b", "c"]);
    // The truth of the last one holds a square that looks like background: only strokes can tell.
    let disc = |x: u32, y: u32| (f64::from(x) - 14.5).powi(2) + (f64::from(y) - 9.5).powi(2) < 40.0;
    let square = |x: u32, y: u32| (21..=26).contains(&x) && (2..=6).contains(&y);
    album.save_grey("masks/c.png", |x, y| if disc(x, y) || square(x, y) { 255 } else { 0 });
    let run = |place: &str, folder: &str| {
        let robot = ["evaluate", ".", "-q", "--robot", place, "--radius", "2", "--strokes", "4"];
        album.lfield(&robot).args(["--jitter", "3", "--methods", "unary,defaults", "-o", folder]).assert().success();
        let read = |name: &str| std::fs::read_to_string(album.path(folder).join(name)).unwrap();
        assert!(read("robot.svg").contains("strokes") && read("table.md").contains("| lfield defaults |"));
        read("robot.csv")
    };
    let first = run("error", "robot");
    let rows: Vec<Vec<&str>> = first.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["photo", "method", "strokes", "iou", "seconds"]);
    for photo in ["a", "b", "c"] {
        let of = |method: &str| rows.iter().filter(|row| row[0] == photo && row[1] == method).collect::<Vec<_>>();
        for course in [of("unary"), of("defaults")] {
            assert!(!course.is_empty() && course.len() <= 5);
            assert!(course.iter().enumerate().all(|(count, row)| row[2] == count.to_string()));
            let iou: Vec<f64> = course.iter().map(|row| row[3].parse().unwrap()).collect();
            assert!(iou[..iou.len() - 1].iter().all(|&iou| iou < 0.98), "it stops when the mask is good");
            assert!(iou.last() >= iou.first(), "strokes in the error help");
        }
    }
    // What was done is not done again, not even the seconds; one photo's part of it is.
    let cache = std::fs::read_dir(album.path("robot/cache")).unwrap().map(|entry| entry.unwrap().path());
    std::fs::remove_file(cache.min().unwrap()).unwrap();
    let again = run("error", "robot");
    let known = |text: &str| text.lines().filter(|line| !line.starts_with("a,")).map(String::from).collect::<Vec<_>>();
    let figures =
        |text: &str| text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_string()).collect::<Vec<_>>();
    assert_eq!(known(&first), known(&again));
    assert_eq!(figures(&first), figures(&again));
    assert_ne!(figures(&run("random", "random")), figures(&first));
    run("suggest", "suggest");
}

#[test]
fn on_the_bundled_scenes_the_defaults_beat_colour_alone() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let album = Album::new(&[]);
    for name in ["beetle", "poppy"] {
        for (from, to) in [("", "images"), (".scribbles", "scribbles"), (".truth", "masks")] {
            std::fs::copy(data.join(format!("{name}{from}.png")), album.path(&format!("{to}/{name}.png"))).unwrap();
        }
    }
    album.lfield(&["evaluate", ".", "-q", "--methods", "unary,defaults"]).assert().success();
    let json = album.json("lfield-out");
    let figure =
        |method: usize, name: &str| json["methods"][method]["summary"]["unlabelled"]["mean"][name].as_f64().unwrap();
    for name in ["auc", "iou", "boundary_f"] {
        assert!(figure(1, name) > figure(0, name), "{name}: {} and {}", figure(0, name), figure(1, name));
    }
}
